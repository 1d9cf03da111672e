"""Nothing but feet is left to sink into the ground: bodies are lifted, elbows bend."""

from collections.abc import Iterable, Mapping

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from mimegen.characters.character import Character
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.roles import SIDES
from mimegen.retarget.hands import arms_bent
from mimegen.retarget.stance import outermost_points

UP = np.array([0.0, 0.0, 1.0])


def above_ground(motion: Motion, character: Character, joints: Mapping[str, int]) -> Motion:
    """Lift the body where it would sink, bend the elbows where hands would, and lift what is left.

    Legs below the knee are left to the repair of the feet.
    """
    points = outermost_points(character)
    arms, legs = ([_below(motion, joints[f"{side}_{part}"]) for side in SIDES]
                  for part in ("forearm", "shin"))
    body = set(points).difference(*legs)
    motion = _lifted(motion, _lowest(motion, points, body.difference(*arms)))
    if any(f"{side}_hand" not in joints for side in SIDES):
        return motion
    lifts = np.stack([smooth_cover(-_lowest(motion, points, arm), motion.fps) for arm in arms],
                     axis=1)
    if np.any(lifts):
        hands = [joints[f"{side}_hand"] for side in SIDES]
        goals = motion.global_pose.positions[:, hands] + lifts[..., None] * UP
        motion = arms_bent(motion, joints, goals)
    return _lifted(motion, _lowest(motion, points, body))


def _lifted(motion: Motion, lowest: FloatArray) -> Motion:
    lift = smooth_cover(-lowest, motion.fps)
    return Motion(motion.skeleton, motion.fps, motion.root_positions + lift[:, None] * UP,
                  motion.rotations)


def _below(motion: Motion, joint: int) -> set[int]:
    found = {joint}
    for child, parent in enumerate(motion.skeleton.parents):
        if int(parent) in found:
            found.add(child)
    return found


def _lowest(motion: Motion, points: Mapping[int, FloatArray],
            joints: Iterable[int]) -> FloatArray:
    """Return the height (F,) of the lowest flesh of some joints."""
    pose = motion.global_pose
    lowest = np.full(motion.frames, np.inf)
    for joint in points.keys() & set(joints):
        down = quaternions.rotate(quaternions.conjugate(pose.rotations[:, joint]), UP)
        height = pose.positions[:, joint, 2] + (down @ points[joint].T).min(axis=1)
        lowest = np.minimum(lowest, height)
    return lowest


def smooth_cover(values: FloatArray, fps: float) -> FloatArray:
    """Return a smooth curve (F,) that is nowhere much below ``values`` (F,), nor below zero."""
    values = np.maximum(values, 0.0)
    if not np.any(values > 0):
        return values
    width = max(1, round(0.06 * fps))
    return np.asarray(gaussian_filter1d(maximum_filter1d(values, 4 * width + 1), float(width),
                                        mode="nearest"))
