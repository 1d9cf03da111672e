"""Nothing but feet is left to sink into the ground: bodies are lifted, elbows bend."""

from collections.abc import Collection, Mapping

import numpy as np

from mimegen.characters.character import Character
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.hands import arms_bent
from mimegen.retarget.smoothing import smooth_cover
from mimegen.retarget.surface import Skin, outermost

UP = np.array([0.0, 0.0, 1.0])


def above_ground(motion: Motion, character: Character, joints: Mapping[str, int]) -> Motion:
    """Lift the body where it would sink, bend the elbows where hands would, and lift what is left.

    Legs below the knee are left to the repair of the feet.
    """
    points = outermost(character)
    arms, legs = ([_below(motion, joints[f"{side}_{part}"]) for side in SIDES]
                  for part in ("forearm", "shin"))
    body = set(range(len(motion.skeleton.names))).difference(*legs)
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


def _lowest(motion: Motion, points: Skin, joints: Collection[int]) -> FloatArray:
    """Return the height (F,) of the lowest flesh of some joints."""
    most = points.joints[np.arange(len(points.joints)), np.argmax(points.weights, axis=1)]
    own = np.isin(most, list(joints))
    if not own.any():
        return np.full(motion.frames, np.inf)
    return points.part(own).heights(motion).min(axis=1)
