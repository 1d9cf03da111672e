"""Choices between numbers that the last bit of a number cannot turn.

Symmetric bodies are full of equal distances and equal weights, whose last bits differ from one kind
of CPU to another. What is nearly equal counts as equal here, and the first of equals is chosen.
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.arrays import FloatArray, IndexArray

# Far above what rounding errors add up to, far below what anybody sees: metres, or weights.
EQUAL = 1e-7


def nearest(points: FloatArray, places: FloatArray, equal: float = EQUAL) -> IndexArray:
    """Return for every place (N, D) the number (N,) of the nearest point (M, D).

    Of points whose distances differ by at most ``equal`` it is the first.
    """
    tree = scipy.spatial.cKDTree(points)
    distances, found = tree.query(places, k=2)
    chosen = found[:, 0].astype(np.intp)
    tied = distances[:, 1] <= distances[:, 0] + equal
    near = tree.query_ball_point(places[tied], distances[tied, 0] + equal)
    chosen[tied] = [min(each) for each in near]
    return np.asarray(chosen)


def first_least(values: NDArray[Any], equal: float = EQUAL) -> IndexArray:
    """Return where (...,) along the last axis (..., N) the least value is, or the first that
    equals it.
    """
    return np.asarray((values <= values.min(axis=-1, keepdims=True) + equal).argmax(axis=-1))


def first_most(values: NDArray[Any], equal: float = EQUAL) -> IndexArray:
    """Return where (...,) along the last axis (..., N) the largest value is, or the first that
    equals it.
    """
    return first_least(-values, equal)


def largest(values: FloatArray, count: int, equal: float = EQUAL) -> IndexArray:
    """Return the numbers (N, ``count``) of each row's largest values (N, K), the largest first."""
    left = values.copy()
    rows, chosen = np.arange(len(values)), np.empty((len(values), count), dtype=np.intp)
    for place in range(count):
        chosen[:, place] = first_most(left, equal)
        left[rows, chosen[:, place]] = -np.inf
    return chosen
