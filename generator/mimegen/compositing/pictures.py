"""Pictures from files: no larger than can be held, and in 8 bits at their true values."""

from pathlib import Path

import numpy as np
from PIL import Image

# Pillow itself opens no more pixels than 178.9 million.
MOST_PIXELS = 178_000_000
MOST_MIB = 512
# Pillow turns all other modes into 8 bits by itself; these it cuts off at 255.
_DEEP = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")
# TIFF 6.0: how many bits a sample has, and that 0 is white.
_BITS = 258
_PHOTOMETRIC = 262
_WHITE_IS_ZERO = 0


def refuse_large_file(path: Path) -> None:
    """Raise ValueError for a file larger than any picture that can be held."""
    if path.stat().st_size > MOST_MIB * 2**20:
        raise ValueError(f"it has more than {MOST_MIB} MiB; save it smaller")


def refuse_large(stored: Image.Image) -> None:
    """Raise ValueError for a picture, not yet decoded, of more pixels than can be held."""
    if stored.width * stored.height > MOST_PIXELS:
        raise ValueError(f"it {too_many_pixels()}")


def too_many_pixels() -> str:
    """Say that a picture has too many pixels, and what to do."""
    return f"has more than {MOST_PIXELS // 10**6} million pixels; save it smaller"


def in_8_bits(stored: Image.Image) -> Image.Image:
    """Return a picture whose samples have 8 bits: gray of more bits at its true values.

    Full white is what the file's number of bits allows, however bright the picture is; of
    floating-point samples it is 1. EXIF is kept.
    """
    if stored.mode not in _DEEP:
        return stored
    share = np.asarray(stored, np.float64) / _white(stored)
    if _tag(stored, _PHOTOMETRIC) == _WHITE_IS_ZERO:
        share = 1 - share
    image = Image.fromarray(np.round(np.clip(share, 0, 1) * 255).astype(np.uint8))
    # Which side is up is told there.
    image.getexif().update(stored.getexif())
    return image


def _white(stored: Image.Image) -> float:
    if stored.mode == "F":
        return 1.0
    bits = _tag(stored, _BITS)
    # Only TIFF has others: Pillow brings samples of PNG and PGM to 16 bits.
    return float(2 ** (16 if bits is None else bits) - 1)


def _tag(stored: Image.Image, number: int) -> int | None:
    """Return a TIFF file's tag, of the first sample where it has one for each."""
    tags = getattr(stored, "tag_v2", None)
    value = None if tags is None else tags.get(number)
    first = value[0] if isinstance(value, tuple) and value else value
    return first if isinstance(first, int) else None
