"""Move wrists smoothly by pushes: elbows bend, hands keep their rotation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy

from mimegen.base.vectors import lengths
from mimegen.characters.helpers import with_helpers_turned
from mimegen.motion import Motion, quaternions
from mimegen.motion.contacts import velocities
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded
from mimegen.retarget.hands import arms_bent, smoothed_shifts, wrists_of


@dataclass(frozen=True)
class PushParameters:
    """How pushes move wrists; chosen by trial, checked as ``clearance.ClearanceParameters``."""

    # Shoulders follow wrists by this fraction in each round; with more they would be drawn up.
    girdle: float = 0.2
    # Smaller shifts (m) do not move a hand; and the weight of not moving in frames without a push.
    faint_m: float = 2e-4
    free_of_pushes: float = 0.2
    # A hand at least this fast (m/s), relative to the hips, within this time (s) before or after a
    # frame settles as fast as pushes ask. Slower hands settle at a cutoff lowered in proportion,
    # down to this fraction: else they would tremble.
    quick_m_s: float = 0.4
    around_s: float = 0.2
    least_quick: float = 0.4


PUSHES = PushParameters()


def wrists_pushed(motion: Motion, joints: Mapping[str, int], pushes: FloatArray) -> Motion:
    """Return the motion with wrists moved by ``pushes`` (F, 2, 3).

    Frames in which no hand moves stay identical to the last bit.
    """
    pushing = lengths(pushes) > 0
    if not pushing.any():
        return motion
    # The sixth power, because `smoothest` is of sixth order: its cutoff is then lowered by the
    # factor ``quickness`` itself.
    weights = np.maximum(pushing, PUSHES.free_of_pushes) * quickness(motion, joints) ** 6
    shifts = smoothed_shifts(pushes, weights, motion.fps)
    far = lengths(shifts)[..., None]
    # All shifts are shortened by the threshold: cut off at it, hands would jump.
    faint = PUSHES.faint_m
    shifts = np.where(far > faint, (1 - faint / np.maximum(far, faint)) * shifts, 0.0)
    frames = np.flatnonzero(shifts.any(axis=(1, 2)))
    if not len(frames):
        return motion
    part = motion.at(frames)
    part = rounded(arms_bent(part, joints, wrists_of(part, joints) + shifts[frames], PUSHES.girdle))
    rotations = motion.rotations.copy()
    rotations[frames] = rounded(with_helpers_turned(part)).rotations
    return replace(motion, rotations=quaternions.without_flips(rotations))


def quickness(motion: Motion, joints: Mapping[str, int]) -> FloatArray:
    """Return how quickly (F, 2) hands settle, as a fraction of their fastest.

    Slow hands do not follow a push that comes and goes, as while a hand just touches.
    """
    hips = motion.global_pose.positions[:, [joints["hips"]]]
    speeds = lengths(velocities(wrists_of(motion, joints) - hips, motion.fps))
    frames = 2 * round(PUSHES.around_s * motion.fps) + 1
    around = scipy.ndimage.maximum_filter1d(speeds, frames, axis=0, mode="nearest")
    return np.asarray(np.clip(around / PUSHES.quick_m_s, PUSHES.least_quick, 1.0))
