"""Convert between sRGB and linear light, bytes by lookup tables.

Arrays named "sRGB" are coded values, arrays named "linear" are amounts of light. Colors can be
mixed correctly only in linear light.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import ByteArray
from mimegen.base.srgb import decoded, encoded

# Factors for linear red, green and blue.
Tint = tuple[float, float, float]
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # ITU-R BT.709
LightArray = NDArray[np.float32]

_STEPS = 65535


class Shade(NamedTuple):
    """The light that shadows take from the ground, if the colors of sun and sky are known.

    ``sun`` is the suns' fraction of the ground's light, for linear red, green and blue. A frame's
    shadow, 0 to 1, has the value ``part`` where all of the suns' light is missing, and ``whole``
    where the sky's is missing as well.
    """

    sun: Tint
    part: float
    whole: float

    @property
    def tint(self) -> Tint:
        """The light taken per unit of shadow while only suns' light is missing; 0 without a sun.

        Without a Shade it would be 1 for all of red, green and blue.
        """
        red, green, blue = (round(share / self.part, 3) if self.part else 0.0
                            for share in self.sun)
        return red, green, blue


def srgb_to_linear(srgb: NDArray[np.floating[Any]]) -> LightArray:
    """Return linear light 0 to 1 of sRGB values 0 to 1, any shape."""
    return decoded(srgb).astype(np.float32)


def linear_to_srgb(linear: NDArray[np.floating[Any]]) -> LightArray:
    """Return sRGB values 0 to 1 of linear light 0 to 1, any shape."""
    return encoded(linear).astype(np.float32)


_LINEAR_OF_BYTE = srgb_to_linear(np.arange(256) / 255)
_BYTE_OF_LINEAR = np.round(linear_to_srgb(np.arange(_STEPS + 1) / _STEPS) * 255).astype(np.uint8)


def bytes_to_linear(srgb: ByteArray) -> LightArray:
    """Return linear light 0 to 1 of sRGB bytes, any shape."""
    return np.take(_LINEAR_OF_BYTE, srgb)


def linear_to_bytes(linear: LightArray) -> ByteArray:
    """Return sRGB bytes of linear light, which is clipped to 0 to 1, any shape."""
    steps = np.clip(linear, 0, 1) * np.float32(_STEPS) + np.float32(0.5)
    return np.take(_BYTE_OF_LINEAR, steps.astype(np.uint16))
