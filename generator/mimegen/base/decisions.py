"""Choices between numbers that do not depend on rounding errors.

Symmetric bodies have many equal distances and weights, whose last bits differ between kinds of CPU.
Here, nearly equal numbers count as equal, and the first of them is chosen.
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.arrays import FloatArray, IndexArray

# Far above accumulated rounding errors, far below anything visible; in metres, or as a weight.
EQUAL = 1e-7


def nearest(points: FloatArray, places: FloatArray, equal: float = EQUAL) -> IndexArray:
    """Return, for every position (N, D), the index (N,) of the nearest point (M, D).

    If the distances of several points differ by at most ``equal``, the first of them counts.
    """
    tree = scipy.spatial.cKDTree(points)
    distances, found = tree.query(places, k=2)
    chosen = found[:, 0].astype(np.intp)
    tied = distances[:, 1] <= distances[:, 0] + equal
    near = tree.query_ball_point(places[tied], distances[tied, 0] + equal)
    chosen[tied] = [min(each) for each in near]
    return np.asarray(chosen)


def first_least(values: NDArray[Any], equal: float = EQUAL) -> IndexArray:
    """Return the index (...,) of the least value along the last axis (..., N).

    If several values are equal to within ``equal``, the first of them counts.
    """
    return np.asarray((values <= values.min(axis=-1, keepdims=True) + equal).argmax(axis=-1))


def first_most(values: NDArray[Any], equal: float = EQUAL) -> IndexArray:
    """Return the index (...,) of the largest value along the last axis (..., N).

    If several values are equal to within ``equal``, the first of them counts.
    """
    return first_least(-values, equal)


def largest(values: FloatArray, count: int, equal: float = EQUAL) -> IndexArray:
    """Return the indices (N, ``count``) of each row's largest values (N, K), largest first."""
    left = values.copy()
    rows, chosen = np.arange(len(values)), np.empty((len(values), count), dtype=np.intp)
    for place in range(count):
        chosen[:, place] = first_most(left, equal)
        left[rows, chosen[:, place]] = -np.inf
    return chosen
