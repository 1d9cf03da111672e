"""How skin follows joints and helpers: rigs/flesh.npz, as tools/bake_flesh.py wrote it."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.paths import data_file
from mimegen.characters.surface import dense_weights
from mimegen.motion.quaternions import FloatArray


class Flesh(NamedTuple):
    """What vertices follow: numbers of ``names``, joints and helpers, and weights (V, K).

    ``moves`` (M, 3) are rotation vectors of movers where they press most.
    """

    names: tuple[str, ...]
    joints: NDArray[np.int32]
    weights: FloatArray
    moves: FloatArray

    @property
    def dense(self) -> FloatArray:
        """A weight (V, J) for each of the names."""
        return dense_weights(self.joints, self.weights, len(self.names))


def read_flesh() -> Flesh:
    """Return the flesh that comes with mimegen."""
    return _read(data_file("rigs/flesh.npz"))


@cache
def _read(path: Path) -> Flesh:
    with np.load(path) as data:
        weights = data["weights"].astype(float)
        return Flesh(tuple(map(str, data["joint_names"])), data["joints"].astype(np.int32),
                     weights / weights.sum(axis=1, keepdims=True), data["moves"].astype(float))
