"""From rendered light to stored bytes."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import ByteArray
from mimegen.base.srgb import Floats, encoded

# The bits of 1 as a half float.
OPAQUE = 0x3C00


def to_straight_srgb(premultiplied_linear: NDArray[np.float32]) -> ByteArray:
    """Turn premultiplied linear RGBA (h, w, 4) into straight sRGB with alpha, 8 bits.

    Color is divided by alpha before the transfer curve (IEC 61966-2-1), so edges keep their hue.
    Where alpha rounds to 0 color is 0 too.
    """
    alpha = np.clip(premultiplied_linear[..., 3:], 0.0, 1.0)
    color = premultiplied_linear[..., :3] / np.maximum(alpha, 1e-6)
    straight = np.concatenate([_transfer(np.clip(color, 0.0, 1.0)), alpha], axis=-1)
    result: ByteArray = (straight * 255.0 + 0.5).astype(np.uint8)
    result[result[..., 3] == 0] = 0
    return result


def halves_to_straight_srgb(premultiplied_linear: NDArray[np.float16]) -> ByteArray:
    """Do the same to half floats (h, w, 4), byte by byte: only edges are worked out.

    What is opaque or empty, which is most of a picture, is looked up.
    """
    bits = premultiplied_linear.view(np.uint16)
    result: ByteArray = np.take(_table(), bits)
    # Their bits are in the order of numbers, which numpy would make of them one by one.
    some = bits[..., 3].astype(np.int16) > 0
    result[~some] = 0
    edges = some & (bits[..., 3] < OPAQUE)
    result[edges] = to_straight_srgb(premultiplied_linear[edges].astype(np.float32))
    return result


@cache
def _table() -> ByteArray:
    """Return the bytes (65536,) of opaque light by the bits of its half floats."""
    light = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
    opaque = np.stack([*3 * (np.nan_to_num(light),), np.ones_like(light)], axis=-1)
    return to_straight_srgb(opaque)[:, 0]


def _transfer(linear: NDArray[np.float32]) -> Floats:
    # In double precision, so that the last bit, which differs between CPUs, never changes a byte.
    return encoded(linear.astype(float))
