"""Undo the filters of unpacked attributes: octahedral, quaternion, exponential and color.

Format: the Khronos specification of KHR_meshopt_compression, appendix B.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]

# Bits of a mantissa, greatest exponent, and the integer that stands for 1.
MANTISSA_BITS = 24
MAX_EXPONENT = 100
SHORT = 32767.0


def octahedral(elements: Bytes) -> Bytes:
    """Return unit vectors as signed integers from their octahedral coordinates.

    A fourth component is kept.
    """
    kind = np.dtype("i1" if elements.shape[1] == 4 else "<i2")
    numbers = elements.view(kind)
    one = np.maximum(numbers[:, 2].astype(float), 1.0)
    x, y = numbers[:, 0] / one, numbers[:, 1] / one
    z = 1.0 - np.abs(x) - np.abs(y)
    below = np.minimum(z, 0.0)
    vectors = np.stack([x - np.copysign(below, x), y - np.copysign(below, y), z], axis=1)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    found = numbers.copy()
    found[:, :3] = _rounded(vectors * np.iinfo(kind).max)
    return found.view(np.uint8)


def quaternion(elements: Bytes) -> Bytes:
    """Return unit quaternions as 16-bit integers from their three smallest components."""
    numbers = elements.view("<i2")
    one = (numbers[:, 3] | 3).astype(float)
    parts = numbers[:, :3] / np.where(one == 0, 1.0, one)[:, None] * np.sqrt(0.5)
    parts = np.clip(parts, -1.0, 1.0)
    largest = np.sqrt(np.maximum(0.0, 1.0 - (parts**2).sum(axis=1)))
    found = np.empty_like(numbers)
    rows, place = np.arange(len(numbers)), numbers[:, 3] & 3
    for step, values in enumerate((largest, *parts.T)):
        found[rows, (place + step) % 4] = _rounded(values * SHORT)
    return found.view(np.uint8)


def exponential(elements: Bytes) -> Bytes:
    """Return 32-bit floats from mantissas of 24 bits and exponents of 8 bits."""
    numbers = elements.view("<i4")
    exponents = np.clip(numbers >> MANTISSA_BITS, -MAX_EXPONENT, MAX_EXPONENT)
    mantissas = numbers << (32 - MANTISSA_BITS) >> (32 - MANTISSA_BITS)
    return np.ldexp(mantissas.astype("<f4"), exponents).astype("<f4").view(np.uint8)


def color(elements: Bytes) -> Bytes:
    """Return RGBA colors as unsigned integers from brightness, two color differences and alpha."""
    wide = elements.shape[1] == 8
    signed = elements.view("<i2" if wide else "i1").astype(np.int64)
    unsigned = elements.view("<u2" if wide else "u1").astype(np.int64)
    y, orange, green, alpha = unsigned[:, 0], signed[:, 1], signed[:, 2], unsigned[:, 3]
    whole = (1 << np.frexp(alpha.astype(float))[1].astype(np.int64)) - 1
    alpha = alpha & whole >> 1
    parts = np.stack([y + orange - green, y + green, y - orange - green, alpha << 1 | alpha & 1],
                     axis=1)
    most = 65535 if wide else 255
    scaled = parts * (most / np.maximum(whole, 1))[:, None]
    return np.clip(_rounded(scaled), 0, most).astype("<u2" if wide else "u1").view(np.uint8)


def _rounded(values: Floats) -> Floats:
    """Round to whole numbers, halves away from zero."""
    return np.asarray(np.trunc(values + np.copysign(0.5, values)))


# Filters by name, with the numbers of bytes that an element may have.
FILTERS: dict[str, tuple[Callable[[Bytes], Bytes], tuple[int, ...]]] = {
    "OCTAHEDRAL": (octahedral, (4, 8)),
    "QUATERNION": (quaternion, (8,)),
    "EXPONENTIAL": (exponential, tuple(range(4, 257, 4))),
    "COLOR": (color, (4, 8)),
}
