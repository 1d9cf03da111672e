"""From rendered light to stored bytes."""

import numpy as np
from numpy.typing import NDArray

from mimegen.store.frames import ByteArray


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


def _transfer(linear: NDArray[np.float32]) -> NDArray[np.float64]:
    # In double precision, so that the last bit, which differs between CPUs, never changes a byte.
    exact = linear.astype(float)
    curve = 1.055 * np.power(exact, 1 / 2.4) - 0.055
    return np.where(exact <= 0.0031308, exact * 12.92, curve)
