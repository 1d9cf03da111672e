"""Correct impossible sides: mirrored files, and limbs named for the other side.

A file written with left-handed axes holds the mirror image of the recording. As left and right
define the front of the body, its knees, feet and elbows then seem to point backward.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mimegen.motion import Motion, Skeleton
from mimegen.readers.names import SIDES
from mimegen.readers.posture import (
    Posture,
    elbow_bends,
    foot_cosines,
    knee_bends,
    twists_deg,
)

# Parts that move with the arms.
ARMS = ("clavicle", "upper_arm", "forearm", "hand", "thumb", "index", "middle", "ring", "pinky")
# Twists between hips and shoulders, in degrees. Above the first, sides are wrong or the pelvis has
# drifted; above the second, arms or legs have the names of the other side.
MAX_TWIST_DEG = 75.0
OPPOSITE_TWIST_DEG = 135.0
# Least mean cosine between feet and the front for which the feet's direction counts as known.
MIN_FOOT_COSINE = 0.4
# Fraction of the frames that must agree with the mean direction.
MIN_AGREEING_SHARE = 0.9
# Least mean sine of the bends of both knees for which their direction counts as known.
MIN_KNEE_SINE = 0.05
# Sine of the bend above which a knee counts as bent.
MIN_BENT_SINE = 0.3
# If the feet's direction is unknown: least mean sine of a mirrored body's knees, and least mean
# distance, in arm lengths, of its elbows in front of the arm's line.
MIN_KNEE_SINE_WITHOUT_FEET = 0.25
MIN_ELBOW_OFFSET = 0.03


class KneeAndFootSigns(NamedTuple):
    """The direction of knees and feet: 1 forward, -1 backward, 0 unclear.

    The front follows from which side the roles call left.
    """

    knees: int
    feet: int


def knee_and_foot_signs(body: Posture) -> KneeAndFootSigns:
    """Return whether knees and feet point forward or backward over the whole motion."""
    knees, toes = knee_bends(body), foot_cosines(body)
    bent = np.abs(knees) > MIN_BENT_SINE
    knee_sign = _sign(float(knees.mean()), MIN_KNEE_SINE)
    if bent.any() and np.mean(np.sign(knees[bent]) == knee_sign) < 1 - 2 * (1 - MIN_AGREEING_SHARE):
        knee_sign = 0
    foot_sign = _sign(float(toes.mean()), MIN_FOOT_COSINE)
    if (np.sign(toes) == foot_sign).mean(axis=0).min() < MIN_AGREEING_SHARE:
        foot_sign = 0
    return KneeAndFootSigns(knee_sign, foot_sign)


def _sign(value: float, least: float) -> int:
    """Return 1, -1, or 0 if a value is smaller than ``least``."""
    return 0 if abs(value) < least else 1 if value > 0 else -1


def is_mirrored(body: Posture) -> bool:
    """Return whether a body is a mirror image.

    Its knees and feet point backward or, if the feet's direction is unclear, its knees and elbows
    do. A body whose hips and shoulders are twisted too far does not count as mirrored.
    """
    if np.median(twists_deg(body)) > MAX_TWIST_DEG:
        return False
    found = knee_and_foot_signs(body)
    if found.feet:
        return found.feet < 0 and found.knees < 0
    return (found.knees < 0 and float(knee_bends(body).mean()) < -MIN_KNEE_SINE_WITHOUT_FEET
            and float(elbow_bends(body).mean()) <= -MIN_ELBOW_OFFSET)


def reflected(motion: Motion) -> Motion:
    """Return the mirror image of a motion and its skeleton: X becomes -X."""
    flip, turn = np.array([-1.0, 1.0, 1.0]), np.array([1.0, 1.0, -1.0, -1.0])
    skeleton = motion.skeleton
    return Motion(Skeleton(skeleton.names, skeleton.parents, skeleton.heads * flip,
                           skeleton.tails * flip), motion.fps,
                  motion.root_positions * flip, motion.rotations * turn)


def unmirrored(motion: Motion, body: Posture) -> tuple[Motion, tuple[str, ...]]:
    """Return the motion, mirrored back if its ``body`` is a mirror image, and a note if so."""
    if not is_mirrored(body):
        return motion, ()
    wrong = f"{np.mean(knee_bends(body) < 0):.0%}"
    return reflected(motion), (
        f"the file is mirrored: knees bend backward ({wrong} of the frames) and feet point"
        " backward, as where axes are left-handed; the motion is mirrored back. If the file only"
        " swaps the names of left and right, render it with --mirror",)


def exchanged(roles: Mapping[str, str], body: Posture
              ) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Exchange left and right of arms or legs if only they are named for the other side.

    Return the roles, and a note if they changed.
    """
    if np.median(twists_deg(body)) < OPPOSITE_TWIST_DEG:
        return roles, ()
    feet = knee_and_foot_signs(body)
    if not feet.feet or feet.feet != feet.knees:
        return roles, ()
    arms = feet.feet > 0
    limbs = "arms" if arms else "legs"
    return _with_other_sides(roles, arms), (
        f"the {limbs}' left and right are swapped in the names of bones, as knees and feet show:"
        " they are exchanged",)


def _with_other_sides(roles: Mapping[str, str], arms: bool) -> dict[str, str]:
    """Exchange left and right in the roles of ``arms``, or otherwise of legs."""
    swapped = {}
    for role, joint in roles.items():
        side, _, part = role.partition("_")
        if side in SIDES and part.startswith(ARMS) == arms:
            role = f"{SIDES[1 - SIDES.index(side)]}_{part}"
        swapped[role] = joint
    return swapped
