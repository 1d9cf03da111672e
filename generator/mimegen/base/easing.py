"""Smooth transitions between values, and soft limits.

Nothing here calls ``pow``, whose last bit differs between processors.
"""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from mimegen.base.arrays import FloatArray


def smoothstep(share: FloatArray) -> FloatArray:
    """Return values eased from 0 to 1, with zero slope at both ends, for fractions of any shape."""
    return cast(FloatArray, share * share * (3 - 2 * share))


def ramp(values: ArrayLike, start: float, end: float) -> FloatArray:
    """Return 0 for values up to ``start``, 1 from ``end`` on, and a smooth transition between.

    Values can have any shape. ``end`` may be less than ``start``.
    """
    return smoothstep(np.clip((np.asarray(values, float) - start) / (end - start), 0.0, 1.0))


def minimum_jerk(share: FloatArray) -> FloatArray:
    """Return the progress, 0 to 1, of a movement from rest to rest at fractions of its time.

    Flash and Hogan, "The coordination of arm movements", J. Neurosci. 5 (1985).
    """
    return cast(FloatArray, share * share * share * (10 - share * (15 - 6 * share)))


def soft_excess(over: FloatArray, room: ArrayLike) -> FloatArray:
    """Return a compressed excess: 0 for 0, rising with ``over``, always less than ``room``.

    ``over`` is how far values exceed a limit (0 or more). The slope at 0 is one, so that limited
    values have no corner.
    """
    return cast(FloatArray, room * (1.0 - np.exp(-over / np.asarray(room))))


def softly_limited(vectors: FloatArray, most: float) -> FloatArray:
    """Return vectors (..., 3) limited softly: short ones hardly change, all stay below ``most``."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return cast(FloatArray, vectors * most * np.tanh(size / most) / np.maximum(size, 1e-9))
