"""Pushes move wrists smoothly: elbows bend, hands keep their rotation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.vectors import lengths
from mimegen.characters.helpers import with_helpers_turned
from mimegen.motion import Motion, quaternions
from mimegen.motion.contacts import velocities
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded
from mimegen.retarget.hands import arms_bent, smoothed_shifts, wrists_of


@dataclass(frozen=True)
class PushParameters:
    """How pushes move wrists. Chosen by trial, checked as clearance's parameters."""

    # Shoulders go with wrists by this share, round by round: by more they would be drawn up.
    girdle: float = 0.2
    # Smaller shifts (m) move no hand; what staying where nothing pushes weighs, against a push.
    faint_m: float = 2e-4
    free_of_pushes: float = 0.2
    # Hands that go so fast (m/s) about the hips, now or so shortly (s) before or after, settle as
    # quickly as pushes ask, slower ones less quickly, down to this share: they would tremble.
    quick_m_s: float = 0.4
    around_s: float = 0.2
    least_quick: float = 0.4


PUSHES = PushParameters()


def wrists_pushed(motion: Motion, joints: Mapping[str, int],
                  pushes: FloatArray) -> tuple[Motion, NDArray[np.intp]]:
    """Return the motion with wrists ``pushes`` (F, 2, 3) further, and the frames (N,) that moved.

    All others stay as they are, to the bit.
    """
    pushing = lengths(pushes) > 0
    if not pushing.any():
        return motion, np.zeros(0, np.intp)
    # The sixth power: `smoothest` is of sixth order, so weights less by that settle at a cutoff
    # that is lower by the share itself.
    weights = np.maximum(pushing, PUSHES.free_of_pushes) * quickness(motion, joints) ** 6
    shifts = smoothed_shifts(pushes, weights, motion.fps)
    far = lengths(shifts)[..., None]
    # All shifts are shorter by what is too faint: a threshold alone would let hands jump at it.
    faint = PUSHES.faint_m
    shifts = np.where(far > faint, (1 - faint / np.maximum(far, faint)) * shifts, 0.0)
    frames = np.flatnonzero(shifts.any(axis=(1, 2)))
    if not len(frames):
        return motion, frames
    part = motion.at(frames)
    part = rounded(arms_bent(part, joints, wrists_of(part, joints) + shifts[frames], PUSHES.girdle))
    rotations = motion.rotations.copy()
    rotations[frames] = rounded(with_helpers_turned(part)).rotations
    return replace(motion, rotations=quaternions.without_flips(rotations)), frames


def quickness(motion: Motion, joints: Mapping[str, int]) -> FloatArray:
    """Return how quickly (F, 2) hands settle, as a share of how quickly they can.

    A push that comes and goes by turns, as of a hand that just touches, is none of a slow hand's.
    """
    hips = motion.global_pose.positions[:, [joints["hips"]]]
    speeds = lengths(velocities(wrists_of(motion, joints) - hips, motion.fps))
    frames = 2 * round(PUSHES.around_s * motion.fps) + 1
    around = scipy.ndimage.maximum_filter1d(speeds, frames, axis=0, mode="nearest")
    return np.asarray(np.clip(around / PUSHES.quick_m_s, PUSHES.least_quick, 1.0))
