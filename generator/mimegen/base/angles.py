"""Angles in degrees."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Degrees = TypeVar("Degrees", float, NDArray[np.float64])


def wrapped_deg(degrees: Degrees) -> Degrees:
    """Return angles in degrees, numbers or arrays, wrapped to the range [-180, 180)."""
    return (degrees + 180.0) % 360.0 - 180.0
