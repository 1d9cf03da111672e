"""Estimate the direction of gravity in a camera's recording of a person.

On average over a clip, a standing person's center of mass is above the feet, because a body that
starts and ends at rest has no sideways acceleration on average.
"""

from collections.abc import Mapping

import numpy as np

from mimegen.base.vectors import product, unit
from mimegen.motion import Motion, quaternions
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray

# If the camera is tilted more than this (degrees) against the body's stance, the estimate is not
# used: the camera was not held upright, or the body lies.
MAX_TILT_DEG = 40.0
# Cosine between trunk and legs above which a person is straight, as in standing.
MIN_STANDING_COSINE = 0.9
# A body that is straight in no more than this fraction of the frames gives no estimate.
MIN_STANDING_SHARE = 0.02
# Cosine (of 25 degrees) between the usual direction to the center of mass and that of a frame,
# above which the frame counts.
MIN_BALANCE_COSINE = 0.906
# Segments between two joints: mass of both sides as a fraction of the body's, and position of the
# segment's center of mass as a fraction of its length. Winter, Biomechanics and Motor Control of
# Human Movement, table 4.1. Forearms include hands, and shins include feet.
PARTS = (("upper_arm", "forearm", 0.056, 0.436), ("forearm", "hand", 0.044, 0.682),
         ("thigh", "shin", 0.2, 0.433), ("shin", "foot", 0.122, 0.606),
         ("upper_arm", "thigh", 0.497, 0.5))
HEAD_MASS = 0.081
# Position of the point of support between ankle (0) and toes (1).
ALONG_THE_FOOT = 0.4
# Length of the foot from ankle to toes, as a fraction of the shin, for files without toes.
FOOT_OF_SHIN = 0.33
# Least distance (metres) that the feet must travel for their direction to count as level.
MIN_TRAVEL_M = 1.0
# Standard deviation (seconds) of the Gaussian that smooths poses estimated frame by frame.
SMOOTH_S = 0.04


def levelled(motion: Motion, roles: Mapping[str, str]) -> tuple[Motion, tuple[str, ...]]:
    """Turn a motion in a camera's axes (Z up) so that a standing person is upright.

    Return the motion and a note. The motion stays as it is if the body gives no estimate.
    """
    stance = _stance(motion, roles)
    if stance is not None:
        stance = _perpendicular_to_travel(motion, roles, stance)
    tilt = 180.0 if stance is None else float(np.degrees(np.arccos(np.clip(stance[2], -1.0, 1.0))))
    if stance is None or tilt > MAX_TILT_DEG:
        return motion, ("gravity is assumed to point down in the camera's picture",)
    turn = quaternions.between(stance, [0.0, 0.0, 1.0])
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.multiply(turn, rotations[:, 0])
    level = Motion(motion.skeleton, motion.fps, quaternions.rotate(turn, motion.root_positions),
                   rotations)
    return level, (f"gravity is estimated from how the body stands and walks, {tilt:.0f} degrees"
                   " from the camera's",)


def _stance(motion: Motion, roles: Mapping[str, str]) -> FloatArray | None:
    """Return the mean direction (3,) from the feet to the center of mass while a person stands.

    Frames in which the center of mass is far from its usual direction above the feet, as in
    sitting, are left out. Return None if the body is hardly ever straight, since the feet do not
    support a person who sits.
    """
    trunk = unit(_at(motion, roles, "head") - _middle(motion, roles, "thigh"))
    legs = unit(_middle(motion, roles, "thigh") - _middle(motion, roles, "foot"))
    straight = np.sum(trunk * legs, axis=1) > MIN_STANDING_COSINE
    if straight.mean() <= MIN_STANDING_SHARE:
        return None
    held = _mass(motion, roles) - _support(motion, roles)
    usual = unit(np.median(held[straight], axis=0))
    standing = product(unit(held), usual) > MIN_BALANCE_COSINE
    return unit(held[standing].mean(axis=0)) if standing.any() else None


def _at(motion: Motion, roles: Mapping[str, str], role: str) -> FloatArray:
    """Return the positions (F, 3) of a role's joint."""
    return np.asarray(motion.global_pose.positions[:, motion.skeleton.index[roles[role]]])


def _middle(motion: Motion, roles: Mapping[str, str], part: str) -> FloatArray:
    """Return the midpoint (F, 3) of a part's left and right joints."""
    return (_at(motion, roles, f"left_{part}") + _at(motion, roles, f"right_{part}")) / 2


def _mass(motion: Motion, roles: Mapping[str, str]) -> FloatArray:
    """Return the positions (F, 3) of the center of mass."""
    found = HEAD_MASS * _at(motion, roles, "head")
    for upper, lower, mass, along in PARTS:
        start, end = (_middle(motion, roles, part) for part in (upper, lower))
        found = found + mass * (start + along * (end - start))
    return found


def _support(motion: Motion, roles: Mapping[str, str]) -> FloatArray:
    """Return the point (F, 3) of the feet over which a body is balanced."""
    ankles = _middle(motion, roles, "foot")
    if {"left_toe", "right_toe"} <= roles.keys():
        return ankles + ALONG_THE_FOOT * (_middle(motion, roles, "toe") - ankles)
    leftward = _at(motion, roles, "left_thigh") - _at(motion, roles, "right_thigh")
    ahead = unit(np.cross(leftward, _mass(motion, roles) - ankles))
    shins = np.linalg.norm(_middle(motion, roles, "shin") - ankles, axis=1, keepdims=True)
    return np.asarray(ankles + ALONG_THE_FOOT * FOOT_OF_SHIN * shins * ahead)


def _perpendicular_to_travel(motion: Motion, roles: Mapping[str, str],
                             up: FloatArray) -> FloatArray:
    """Return ``up`` (3,) made perpendicular to the direction in which the feet travel.

    The ground is assumed to be level. ``up`` stays as it is if the feet travel less than
    ``MIN_TRAVEL_M``.
    """
    index = motion.skeleton.index
    feet = motion.global_pose.positions[:, [index[roles[f"{side}_foot"]]
                                            for side in ("left", "right")]]
    lower = np.take_along_axis(feet, np.argmin(feet[..., 2], axis=1)[:, None, None], axis=1)[:, 0]
    away = lower - np.median(lower, axis=0)
    furthest = away[int(np.argmax(np.linalg.norm(away, axis=1)))]
    whole = lower[-1] - lower[0]
    travel = whole if np.linalg.norm(whole) > MIN_TRAVEL_M else furthest
    if np.linalg.norm(travel) < MIN_TRAVEL_M:
        return up
    along = unit(travel)
    return unit(up - along * float(up @ along))


def smoothed(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """Smooth away the jitter of a motion that was estimated frame by frame; return it and a note.
    """
    deviation = SMOOTH_S * motion.fps
    rotations = low_passed(quaternions.without_flips(motion.rotations), deviation)
    return Motion(motion.skeleton, motion.fps, low_passed(motion.root_positions, deviation),
                  quaternions.normalise(rotations)), (
        f"jitter is smoothed by a Gaussian of {SMOOTH_S:g} s",)
