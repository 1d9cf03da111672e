"""Hips that follow the feet: the smoothest shift that leaves planted legs their bend."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, diags, hstack, identity, vstack
from scipy.sparse.linalg import splu

from mimegen.motion.quaternions import FloatArray

# The hips follow what is slower than this.
CUTOFF_HZ = 2.5


@dataclass(frozen=True)
class Stance:
    """How an ankle must move (F, 3) in the ``runs`` (F,) of frames about a foot's rest, 0 for none.

    Over the ground the place of each run is free: only changes within it count. Heights count
    while the foot is ``down`` (F,).
    """

    shifts: FloatArray
    runs: NDArray[np.intp]
    down: NDArray[np.bool_]


def hips_following(feet: Sequence[Stance], fps: float, staying: float) -> FloatArray:
    """Return the hips' shift (F, 3) by which planted feet need the least correction.

    Linear least squares over all frames: the shift equals what each planted foot needs, up to a
    constant for each stance over the ground; third differences are small (a sixth-order zero-lag
    low-pass); and it is drawn to zero by the weight ``staying``.
    """
    count = len(feet[0].runs)
    if count < 4 or not any(foot.down.any() for foot in feet):
        return np.zeros((count, 3))
    smooth = diags([-1.0, 3.0, -3.0, 1.0], [0, 1, 2, 3], shape=(count - 3, count))
    weight = (fps / (2 * np.pi * CUTOFF_HZ)) ** 3
    known = vstack([weight * smooth, np.sqrt(staying) * identity(count)])
    level = [(foot.shifts[:, :2], foot.runs) for foot in feet]
    upright = [(foot.shifts[:, 2:], np.where(foot.down, 0, -1)) for foot in feet]
    return np.concatenate([_least_squares(known, level, 1), _least_squares(known, upright, 0)],
                          axis=1)


def _least_squares(known: csc_matrix, feet: Sequence[tuple[FloatArray, NDArray[np.intp]]],
                   first: int) -> FloatArray:
    """Return the shift (F, C) nearest to the feet's wishes (F, C) in runs from ``first`` on.

    Runs from 1 on have each a constant of their own. ``known`` (R, F) times the shift is zero.
    """
    count = known.shape[1]
    frames = np.concatenate([np.flatnonzero(runs >= first) for _, runs in feet])
    wanted = np.concatenate([wish[runs >= first] for wish, runs in feet])
    starts = np.cumsum([0, *(runs.max(initial=0) for _, runs in feet)])
    run = np.concatenate([runs[runs >= first] + start - 1
                          for (_, runs), start in zip(feet, starts, strict=False)])
    rows = np.arange(len(frames))
    ones = np.ones(len(rows))
    picks = csc_matrix((ones, (rows, frames)), shape=(len(rows), count))
    own = csc_matrix((-ones[run >= 0], (rows[run >= 0], run[run >= 0])),
                     shape=(len(rows), starts[-1]))
    matrix = vstack([hstack([known, csc_matrix((known.shape[0], starts[-1]))]),
                     hstack([picks, own])]).tocsc()
    goal = np.concatenate([np.zeros((known.shape[0], wanted.shape[1])), wanted])
    return np.asarray(splu((matrix.T @ matrix).tocsc()).solve(matrix.T @ goal)[:count])
