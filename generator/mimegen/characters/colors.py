"""Types of colors and fractions in character files, and color conversions."""

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BeforeValidator, Field

from mimegen.base.vectors import product
from mimegen.motion.quaternions import FloatArray

# The matrix from XYZ to linear sRGB, and the white point D65 (IEC 61966-2-1).
FROM_XYZ = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415],
                     [0.0557, -0.2040, 1.0570]])
WHITE = np.array([0.9505, 1.0, 1.089])


def to_linear(color: object) -> object:
    """Turn ``"#rrggbb"`` (sRGB, IEC 61966-2-1) into linear RGB, 0 to 1.

    Values that are not strings are returned unchanged. Raises ValueError for other strings.
    """
    if not isinstance(color, str):
        return color
    digits = color.removeprefix("#")
    if len(digits) != 6 or not set(digits.lower()) <= set("0123456789abcdef"):
        raise ValueError(f"{color!r} is no color; write it as \"#rrggbb\"")
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


Fraction = Annotated[float, Field(ge=0, le=1)]
Color = Annotated[tuple[Fraction, Fraction, Fraction], BeforeValidator(to_linear)]


def from_lab(lab: ArrayLike) -> FloatArray:
    """Return the linear sRGB channels (3,), clipped to 0 to 1, of a CIELAB color (D65).

    CIELAB is that of CIE 1976.
    """
    light, red, yellow = np.asarray(lab, float)
    y = (light + 16) / 116
    f = np.array([y + red / 500, y, y - yellow / 200])
    share = np.where(f > 6 / 29, f * f * f, 3 * (6 / 29) ** 2 * (f - 4 / 29))
    return np.clip(product(FROM_XYZ, share * WHITE), 0.0, 1.0)
