"""How values get smoothly from one to another, and how they are softly limited.

Nothing here calls ``pow``, whose last bit is not the same on every processor.
"""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from mimegen.base.arrays import FloatArray


def smoothstep(share: FloatArray) -> FloatArray:
    """Return 0 to 1 at shares of 0 to 1, of any shape, with no slope at the ends."""
    return cast(FloatArray, share * share * (3 - 2 * share))


def ramp(values: ArrayLike, start: float, end: float) -> FloatArray:
    """Return 0 for values, of any shape, up to ``start``, 1 from ``end`` on, smooth between.

    ``end`` may be less than ``start``.
    """
    return smoothstep(np.clip((np.asarray(values, float) - start) / (end - start), 0.0, 1.0))


def minimum_jerk(share: FloatArray) -> FloatArray:
    """Return how far a movement from 0 to 1 has got at shares of its time, from rest to rest.

    Flash and Hogan, "The coordination of arm movements", J. Neurosci. 5 (1985).
    """
    return cast(FloatArray, share * share * share * (10 - share * (15 - 6 * share)))


def soft_excess(over: FloatArray, room: ArrayLike) -> FloatArray:
    """Return how much of what is ``over`` a limit (0 or more) is let through: less than ``room``.

    It begins with a slope of one, so that limited values have no corner.
    """
    return cast(FloatArray, room * (1.0 - np.exp(-over / np.asarray(room))))


def softly_limited(vectors: FloatArray, most: float) -> FloatArray:
    """Return vectors (..., 3), short ones as they are, long ones never as long as ``most``."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return cast(FloatArray, vectors * most * np.tanh(size / most) / np.maximum(size, 1e-9))
