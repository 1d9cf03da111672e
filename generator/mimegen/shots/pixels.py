"""Convert rendered linear light to stored sRGB bytes."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import ByteArray
from mimegen.base.srgb import Floats, encoded

# The bits of 1 as a half float.
OPAQUE = 0x3C00


def to_straight_srgb(premultiplied_linear: NDArray[np.float32]) -> ByteArray:
    """Convert premultiplied linear RGBA (h, w, 4) to straight sRGB with alpha, 8 bits each.

    Colors are divided by alpha before the transfer curve (IEC 61966-2-1), so edges keep their hue.
    Where alpha rounds to 0, color is set to 0.
    """
    alpha = np.clip(premultiplied_linear[..., 3:], 0.0, 1.0)
    color = premultiplied_linear[..., :3] / np.maximum(alpha, 1e-6)
    straight = np.concatenate([_transfer(np.clip(color, 0.0, 1.0)), alpha], axis=-1)
    result: ByteArray = (straight * 255.0 + 0.5).astype(np.uint8)
    result[result[..., 3] == 0] = 0
    return result


def halves_to_straight_srgb(premultiplied_linear: NDArray[np.float16]) -> ByteArray:
    """Do the same for half floats (h, w, 4), with equal results but faster.

    Opaque and empty pixels, most of a picture, are looked up in a table; only edges are computed.
    """
    bits = premultiplied_linear.view(np.uint16)
    result: ByteArray = np.take(_table(), bits)
    # Compare the bits as integers, which have the same order as the half floats: numpy would first
    # convert half floats one by one.
    some = bits[..., 3].astype(np.int16) > 0
    result[~some] = 0
    edges = some & (bits[..., 3] < OPAQUE)
    result[edges] = to_straight_srgb(premultiplied_linear[edges].astype(np.float32))
    return result


@cache
def _table() -> ByteArray:
    """Return the sRGB bytes (65536,) of all half floats, indexed by their bits, at alpha 1."""
    light = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
    opaque = np.stack([*3 * (np.nan_to_num(light),), np.ones_like(light)], axis=-1)
    return to_straight_srgb(opaque)[:, 0]


def _transfer(linear: NDArray[np.float32]) -> Floats:
    # In double precision, so that differences in the last bit between CPUs never change a byte.
    return encoded(linear.astype(float))
