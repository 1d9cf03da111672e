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

    Over the ground the place of each run is free: only changes within it count. ``near`` (F,) is
    how much it counts: 1 at rest, less before and after.
    """

    shifts: FloatArray
    runs: NDArray[np.intp]
    near: FloatArray


def hips_following(feet: Sequence[Stance], fps: float, staying: float) -> FloatArray:
    """Return the hips' shift (F, 3) by which planted feet need the least correction.

    Linear least squares over all frames: the shift equals what each planted foot needs, up to a
    constant for each stance over the ground; third differences are small (a sixth-order zero-lag
    low-pass); and it is drawn to zero by the weight ``staying``.
    """
    count = len(feet[0].runs)
    if count < 4 or not any(foot.runs.any() for foot in feet):
        return np.zeros((count, 3))
    smooth = diags([-1.0, 3.0, -3.0, 1.0], [0, 1, 2, 3], shape=(count - 3, count))
    weight = (fps / (2 * np.pi * CUTOFF_HZ)) ** 3
    known = vstack([weight * smooth, np.sqrt(staying) * identity(count)])
    return np.concatenate([_least_squares(known, feet, slice(0, 2), True),
                           _least_squares(known, feet, slice(2, 3), False)], axis=1)


def _least_squares(known: csc_matrix, feet: Sequence[Stance], axes: slice,
                   free: bool) -> FloatArray:
    """Return the shift (F, C) nearest to the feet's in some ``axes``.

    Where ``free``, each run has a constant of its own. ``known`` (R, F) times the shift is zero.
    """
    count = known.shape[1]
    frames = np.concatenate([np.flatnonzero(foot.runs) for foot in feet])
    weights = np.concatenate([foot.near[foot.runs > 0] for foot in feet])
    wanted = np.concatenate([foot.shifts[foot.runs > 0, axes] for foot in feet])
    starts = np.cumsum([0, *(foot.runs.max(initial=0) for foot in feet)])
    run = np.concatenate([foot.runs[foot.runs > 0] + start - 1
                          for foot, start in zip(feet, starts, strict=False)])
    rows = np.arange(len(frames))
    picks = csc_matrix((weights, (rows, frames)), shape=(len(rows), count))
    own = csc_matrix((-weights, (rows, run)), shape=(len(rows), starts[-1]))
    matrix = vstack([hstack([known, csc_matrix((known.shape[0], starts[-1]))]),
                     hstack([picks, own])]).tocsc()
    matrix = matrix if free else matrix[:, :count]
    goal = np.concatenate([np.zeros((known.shape[0], wanted.shape[1])), weights[:, None] * wanted])
    return np.asarray(splu((matrix.T @ matrix).tocsc()).solve(matrix.T @ goal)[:count])
