"""Which way is down in what a camera saw: people stand upright more often than not."""

from collections.abc import Mapping

import numpy as np

from mimegen.base.vectors import unit
from mimegen.motion import Motion, quaternions
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray

# A camera that is tilted more than this (degrees) against the body's stance was not held upright,
# or the body lies.
MOST_TILT = 40.0
# The cosine of trunk and legs of who stands.
STANDS = 0.9
# A body that is straight in a smaller share of the frames does not tell.
RARELY = 0.02
# Feet that go so far (metres) tell where the ground is level.
WAY_M = 1.0
# Rotations found frame by frame are smoothed by a Gaussian of this deviation (seconds).
SMOOTH_S = 0.04


def levelled(motion: Motion, roles: Mapping[str, str]) -> tuple[Motion, tuple[str, ...]]:
    """Turn a motion in a camera's axes, Z up, so that who stands in it stands upright; and a note.
    """
    stance = _stance(motion, roles)
    if stance is not None:
        stance = _across_the_way(motion, roles, stance)
    tilt = 180.0 if stance is None else float(np.degrees(np.arccos(np.clip(stance[2], -1.0, 1.0))))
    if stance is None or tilt > MOST_TILT:
        return motion, ("gravity is assumed to point down in the camera's picture",)
    turn = quaternions.between(stance, [0.0, 0.0, 1.0])
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.multiply(turn, rotations[:, 0])
    level = Motion(motion.skeleton, motion.fps, quaternions.rotate(turn, motion.root_positions),
                   rotations)
    return level, (f"gravity is estimated from how the body stands and walks, {tilt:.0f} degrees"
                   " from the camera's",)


def _stance(motion: Motion, roles: Mapping[str, str]) -> FloatArray | None:
    """Return the direction (3,) from feet to head, in the frames in which the body is straight.

    None where there are hardly any: who sits has the feet elsewhere.
    """
    index, places = motion.skeleton.index, motion.global_pose.positions

    def middle(part: str) -> FloatArray:
        pair = [index[roles[f"{side}_{part}"]] for side in ("left", "right")]
        return np.asarray(places[:, pair].mean(axis=1))

    trunk = unit(places[:, index[roles["head"]]] - middle("thigh"))
    legs = unit(middle("thigh") - middle("foot"))
    straight = np.sum(trunk * legs, axis=1) > STANDS
    whole = unit(places[:, index[roles["head"]]] - middle("foot"))
    return unit(np.median(whole[straight], axis=0)) if straight.mean() > RARELY else None


def _across_the_way(motion: Motion, roles: Mapping[str, str], up: FloatArray) -> FloatArray:
    """Return ``up`` (3,) square to where the feet go, if they go anywhere: the ground is level."""
    index = motion.skeleton.index
    feet = motion.global_pose.positions[:, [index[roles[f"{side}_foot"]]
                                            for side in ("left", "right")]]
    lower = np.take_along_axis(feet, np.argmin(feet[..., 2], axis=1)[:, None, None], axis=1)[:, 0]
    away = lower - np.median(lower, axis=0)
    furthest = away[int(np.argmax(np.linalg.norm(away, axis=1)))]
    way = lower[-1] - lower[0] if np.linalg.norm(lower[-1] - lower[0]) > WAY_M else furthest
    if np.linalg.norm(way) < WAY_M:
        return up
    along = unit(way)
    return unit(up - along * float(up @ along))


def smoothed(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """Return a motion whose frames were found one by one without their jitter, and a note."""
    deviation = SMOOTH_S * motion.fps
    turns = low_passed(quaternions.without_flips(motion.rotations), deviation)
    return Motion(motion.skeleton, motion.fps, low_passed(motion.root_positions, deviation),
                  quaternions.normalise(turns)), (
        f"jitter is smoothed by a Gaussian of {SMOOTH_S:g} s",)
