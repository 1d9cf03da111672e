"""Colors and shares as character files write them."""

from typing import Annotated

from pydantic import BeforeValidator, Field


def to_linear(color: object) -> object:
    """Turn ``"#rrggbb"`` (sRGB, IEC 61966-2-1) into linear RGB, 0 to 1; pass others on."""
    if not isinstance(color, str):
        return color
    digits = color.removeprefix("#")
    if len(digits) != 6 or not set(digits.lower()) <= set("0123456789abcdef"):
        raise ValueError(f"{color!r} is no color; write it as \"#rrggbb\"")
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


Fraction = Annotated[float, Field(ge=0, le=1)]
Color = Annotated[tuple[Fraction, Fraction, Fraction], BeforeValidator(to_linear)]
