"""Angles in degrees."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Degrees = TypeVar("Degrees", float, NDArray[np.float64])


def half_turn(degrees: Degrees) -> Degrees:
    """Return the same directions as angles from -180 up to 180 degrees, numbers or arrays."""
    return (degrees + 180.0) % 360.0 - 180.0
