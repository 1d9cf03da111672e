"""Hips that follow the feet: the smoothest shift that leaves planted legs their bend."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, diags, hstack, vstack
from scipy.sparse.linalg import splu

from mimegen.motion.quaternions import FloatArray

# The hips follow what is slower than this; what they follow it for, against staying where they
# would be alone.
CUTOFF_HZ = 3.5
STAYING = 1e-3


@dataclass(frozen=True)
class Stance:
    """How an ankle must move (F, 3) while its foot rests, and the runs (F,) of rest, 0 for none.

    Over the ground the place of each run is free: only changes within it count.
    """

    shifts: FloatArray
    runs: NDArray[np.intp]


def hips_following(feet: Sequence[Stance], fps: float, staying: float = STAYING) -> FloatArray:
    """Return the hips' shift (F, 3) by which planted feet need the least correction.

    Linear least squares over all frames: the shift equals what each planted foot needs, up to a
    constant for each stance over the ground; third differences are small (a sixth-order zero-lag
    low-pass); and it is drawn to zero by the weight ``staying``.
    """
    count = len(feet[0].runs)
    if count < 4:
        return np.zeros((count, 3))
    smooth = diags([-1.0, 3.0, -3.0, 1.0], [0, 1, 2, 3], shape=(count - 3, count))
    weight = (fps / (2 * np.pi * CUTOFF_HZ)) ** 3
    base = [weight * smooth, np.sqrt(staying) * diags([1.0], [0], shape=(count, count))]
    frames = np.concatenate([np.flatnonzero(foot.runs) for foot in feet])
    wanted = np.concatenate([foot.shifts[foot.runs > 0] for foot in feet])
    before = np.cumsum([0, *(foot.runs.max(initial=0) for foot in feet)])
    run = np.concatenate([foot.runs[foot.runs > 0] - 1 + start
                          for foot, start in zip(feet, before, strict=False)])
    rows = np.arange(len(frames))
    picks = csc_matrix((np.ones(len(rows)), (rows, frames)), shape=(len(rows), count))
    own = csc_matrix((-np.ones(len(rows)), (rows, run)), shape=(len(rows), before[-1]))
    found = np.zeros((count, 3))
    for axes, constants in ((slice(0, 2), own), (slice(2, 3), own[:, :0])):
        known = vstack([_widened(part, constants.shape[1]) for part in base])
        matrix = vstack([known, _joined(picks, constants)]).tocsc()
        goal = np.concatenate([np.zeros((known.shape[0], 3)), wanted])[:, axes]
        normal = (matrix.T @ matrix).tocsc()
        found[:, axes] = splu(normal).solve(matrix.T @ goal)[:count]
    return found


def _widened(matrix: csc_matrix, more: int) -> csc_matrix:
    return _joined(matrix, csc_matrix((matrix.shape[0], more)))


def _joined(left: csc_matrix, right: csc_matrix) -> csc_matrix:
    return hstack([left, right]).tocsc()
