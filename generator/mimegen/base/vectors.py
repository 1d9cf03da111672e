"""Operations on vectors in 3D, in arrays of any leading shape."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from mimegen.base.arrays import FloatArray

# The azimuth of MIME's camera at angle 0, in degrees.
MIME_AZIMUTH_DEG = 48.5


def lengths(vectors: ArrayLike) -> FloatArray:
    """Return the lengths of vectors (..., 3), the same on every machine; fast for few vectors."""
    v = np.asarray(vectors, float)
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    return cast(FloatArray, np.sqrt(x * x + y * y + z * z))


def product(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Return matrix products (..., I, K) of (..., I, J) and (..., J, K), or with a vector (J,).

    The result is equal to the last bit on every kind of CPU, unlike that of ``@``, which uses BLAS.
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    rule = "j,...jk->...k" if a.ndim == 1 else "...j,j->..." if b.ndim == 1 else (
        "...ij,...jk->...ik")
    return cast(FloatArray, np.einsum(rule, a, b))


def unit(vectors: ArrayLike) -> FloatArray:
    """Return vectors (..., 3) scaled to unit length; zero vectors stay zero."""
    v = np.asarray(vectors, float)
    return cast(FloatArray, v / np.maximum(lengths(v)[..., None], 1e-12))


def unit_or_nan(vectors: FloatArray) -> FloatArray:
    """Return vectors (..., 3) scaled to unit length; zero vectors become NaN."""
    size = lengths(vectors)[..., None]
    return cast(FloatArray, vectors / np.where(size > 1e-9, size, np.nan))


def spread_directions(count: int) -> FloatArray:
    """Return unit vectors (N, 3) spread evenly over all directions on a golden spiral."""
    level = 1 - (2 * np.arange(count) + 1) / count
    turn = np.pi * (3 - np.sqrt(5)) * np.arange(count)
    flat = np.sqrt(1 - level * level)
    return np.stack([flat * np.cos(turn), flat * np.sin(turn), level], axis=-1)


def direction_from(azimuth_deg: float, elevation_deg: float) -> FloatArray:
    """Return the unit vector (3,) from a person towards the viewer, in world coordinates.

    Azimuth 0 is in front of the person (-Y), 90 at their left hand (+X); elevation 0 is horizontal.
    """
    azimuth, elevation = np.radians(azimuth_deg), np.radians(elevation_deg)
    return np.array([np.sin(azimuth) * np.cos(elevation), -np.cos(azimuth) * np.cos(elevation),
                     np.sin(elevation)])
