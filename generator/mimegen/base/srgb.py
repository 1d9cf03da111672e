"""The sRGB curve (IEC 61966-2-1), between encoded values and linear light, both from 0 to 1.

Arrays of any shape keep their precision. Colors must be mixed in linear light.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
# Below these limits the curve is a straight line: for encoded values, and for linear light.
_CODED_LINE = 0.04045
_LIGHT_LINE = 0.0031308


def decoded(srgb: Floats) -> Floats:
    """Return the linear light of sRGB values."""
    bright = ((np.maximum(srgb, _CODED_LINE) + 0.055) / 1.055) ** 2.4
    return np.where(srgb <= _CODED_LINE, srgb / 12.92, bright)


def encoded(linear: Floats) -> Floats:
    """Return the sRGB values of linear light."""
    bright = 1.055 * np.maximum(linear, _LIGHT_LINE) ** (1 / 2.4) - 0.055
    return np.where(linear <= _LIGHT_LINE, linear * 12.92, bright)
