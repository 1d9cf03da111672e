"""Solve small systems of linear equations without LAPACK: identical to the last bit everywhere.

LAPACK's results differ in their last bits with the CPU and the number of threads. Decisions that
depend on them (which point of a hand is deepest, when a foot stands) would differ visibly.
"""

import numpy as np

from mimegen.motion.quaternions import FloatArray, cross


def solve_pairs(matrices: FloatArray, right: FloatArray) -> FloatArray:
    """Solve 2x2 systems (F, 2, 2) for right sides (F, 2, C) by Cramer's rule."""
    a, b, c, d = (matrices[:, row, column, None] for row in (0, 1) for column in (0, 1))
    first, second = right[:, 0], right[:, 1]
    solved = np.stack([d * first - b * second, a * second - c * first], axis=1)
    return np.asarray(solved / (a * d - b * c)[:, None])


def solve_triples(matrices: FloatArray, right: FloatArray) -> FloatArray:
    """Solve 3x3 systems (..., 3, 3) for right sides (..., 3), by cross products of rows."""
    first, second, third = np.moveaxis(matrices, -2, 0)
    columns = [cross(second, third), cross(third, first), cross(first, second)]
    volume = np.sum(first * columns[0], axis=-1)
    solved = sum((right[..., row, None] * column for row, column in enumerate(columns)),
                 start=np.zeros_like(right))
    return np.asarray(solved / volume[..., None])


def solve_bands(bands: FloatArray, right: FloatArray) -> FloatArray:
    """Solve symmetric positive definite systems (F, F) with four diagonals for right sides (F, C).

    ``bands`` (4, F): row k holds the entries k below the diagonal, by column. Each row is
    eliminated from the one before, so this is a loop, over plain numbers for speed.
    """
    count, far = right.shape[0], len(bands)
    rows = np.pad(bands, ((0, 0), (0, far))).T.tolist()
    values = np.pad(right, ((0, far), (0, 0))).tolist()
    for row in range(count):
        own, value = rows[row], values[row]
        for below in range(1, far):
            # Positive definite: the diagonal is never 0, and no pivoting is needed.
            share = own[below] / own[0]
            lower = rows[row + below]
            for place in range(below, far):
                lower[place - below] -= share * own[place]
            values[row + below] = [v - share * o
                                   for v, o in zip(values[row + below], value, strict=True)]
    for row in range(count - 1, -1, -1):
        own = rows[row]
        known = values[row + 1 : row + far]
        values[row] = [(value - sum(a * x for a, x in zip(own[1:], below, strict=True))) / own[0]
                       for value, *below in zip(values[row], *known, strict=True)]
    return np.array(values[:count])
