"""Pushes move wrists smoothly: elbows bend, hands keep their rotation."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from mimegen.base.vectors import lengths
from mimegen.characters.helpers import with_helpers_turned
from mimegen.motion import Motion, quaternions
from mimegen.motion.contacts import velocities
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded
from mimegen.retarget.hands import arms_bent, smoothed_shifts, wrists_of

# Shoulders go with wrists by this share, round by round: by more they would be drawn up.
GIRDLE = 0.2
# Smaller shifts (m) move no hand; what staying where nothing pushes weighs, against a push.
FAINT = 2e-4
FREE_OF_PUSHES = 0.2
# Hands that go so fast (m/s) about the hips, now or so shortly (s) before or after, settle as
# quickly as pushes ask, slower ones less quickly, down to this share: they would tremble.
QUICK = 0.4
AROUND_S = 0.2
LEAST_QUICK = 0.4


def wrists_pushed(motion: Motion, joints: Mapping[str, int],
                  pushes: FloatArray) -> tuple[Motion, NDArray[np.intp]]:
    """Return the motion with wrists ``pushes`` (F, 2, 3) further, and the frames (N,) that moved.

    All others stay as they are, to the bit.
    """
    pushing = lengths(pushes) > 0
    if not pushing.any():
        return motion, np.zeros(0, np.intp)
    weights = np.maximum(pushing, FREE_OF_PUSHES) * quickness(motion, joints) ** 6
    shifts = smoothed_shifts(pushes, weights, motion.fps)
    far = lengths(shifts)[..., None]
    shifts = np.where(far > FAINT, (1 - FAINT / np.maximum(far, FAINT)) * shifts, 0.0)
    frames = np.flatnonzero(shifts.any(axis=(1, 2)))
    if not len(frames):
        return motion, frames
    part = motion.at(frames)
    part = rounded(arms_bent(part, joints, wrists_of(part, joints) + shifts[frames], GIRDLE))
    rotations = motion.rotations.copy()
    rotations[frames] = rounded(with_helpers_turned(part)).rotations
    return replace(motion, rotations=quaternions.without_flips(rotations)), frames


def quickness(motion: Motion, joints: Mapping[str, int]) -> FloatArray:
    """Return how quickly (F, 2) hands settle, as a share of how quickly they can.

    A push that comes and goes by turns, as of a hand that just touches, is none of a slow hand's.
    """
    hips = motion.global_pose.positions[:, [joints["hips"]]]
    speeds = lengths(velocities(wrists_of(motion, joints) - hips, motion.fps))
    around = maximum_filter1d(speeds, 2 * round(AROUND_S * motion.fps) + 1, axis=0, mode="nearest")
    return np.asarray(np.clip(around / QUICK, LEAST_QUICK, 1.0))
