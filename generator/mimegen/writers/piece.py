"""A mesh by itself, for files that hold no skeleton."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, eq=False)
class Piece:
    """One mesh: vertices (V, 3) in metres, triangles (T, 3), colors (V, 3), linear 0 to 1."""

    name: str
    vertices: FloatArray
    triangles: NDArray[np.int32]
    colors: FloatArray
