"""Keep all of the body but feet and shins above the ground: lift the body, bend the elbows."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mimegen.base.decisions import first_most
from mimegen.characters.appendages import appendages
from mimegen.characters.character import Character
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.hands import arms_bent
from mimegen.retarget.smoothing import smooth_cover
from mimegen.retarget.surface import SkinSample, outermost

UP = np.array([0.0, 0.0, 1.0])
TRIES = 2


class Ground:
    """The ground under one character: measures which flesh sinks into it, and lifts it."""

    def __init__(self, character: Character, joints: Mapping[str, int]) -> None:
        self.joints = joints
        skeleton = character.skeleton
        skin = outermost(character)
        most = skin.joints[np.arange(len(skin.joints)), first_most(skin.weights)]
        flesh = ~np.isin(most, appendages(skeleton, joints.values()))
        skin, most = skin.part(flesh), most[flesh]
        self.arms = [_part(skin, most, skeleton.parents, joints[f"{side}_forearm"])
                     for side in SIDES]
        limbs = [_below(skeleton.parents, joints[f"{side}_{part}"])
                 for side in SIDES for part in ("forearm", "shin")]
        # Forearms are bent out of the ground, shins are left to the repair of the feet, and
        # everything else is lifted with the whole body.
        self.trunk = skin.part(~np.isin(most, list(set().union(*limbs))))

    def lifted(self, motion: Motion) -> Motion:
        """Lift the body where it would sink; shins and feet are left to the repair of the feet."""
        motion = _raised(motion, smooth_cover(_sinking(motion, self.trunk), motion.fps))
        # Elbows first: a hand below the ground is no reason to lift the whole body.
        motion = self.hands_lifted(motion)
        arms = np.maximum(*(_sinking(motion, arm) for arm in self.arms))
        return _raised(motion, smooth_cover(arms, motion.fps))

    def sinking(self, motion: Motion, raised: FloatArray) -> FloatArray:
        """Return how deep (F,) the body without forearms and shins sinks if it is ``raised`` (F,).
        """
        return _sinking(motion, self.trunk, raised)

    def hands_lifted(self, motion: Motion) -> Motion:
        """Bend the elbows in frames in which forearms or hands would sink."""
        if any(f"{side}_hand" not in self.joints for side in SIDES):
            return motion
        hands = [self.joints[f"{side}_hand"] for side in SIDES]
        for _ in range(TRIES):
            lifts = np.stack([smooth_cover(_sinking(motion, arm), motion.fps)
                              for arm in self.arms], axis=1)
            if not np.any(lifts):
                return motion
            goals = motion.global_pose.positions[:, hands] + lifts[..., None] * UP
            motion = arms_bent(motion, self.joints, goals)
        return motion


def _raised(motion: Motion, lift: FloatArray) -> Motion:
    return Motion(motion.skeleton, motion.fps, motion.root_positions + lift[:, None] * UP,
                  motion.rotations)


def _part(skin: SkinSample, most: NDArray[np.int32], parents: NDArray[np.intp],
          joint: int) -> SkinSample:
    return skin.part(np.isin(most, list(_below(parents, joint))))


def _below(parents: NDArray[np.intp], joint: int) -> set[int]:
    found = {joint}
    for child, parent in enumerate(parents):
        if int(parent) in found:
            found.add(child)
    return found


def _sinking(motion: Motion, skin: SkinSample, raised: FloatArray | float = 0.0) -> FloatArray:
    """Return how deep (F,) ``skin``, raised by (F,), lies in the ground; 0 above it.

    Skin is posed only in frames in which a joint is nearer to the ground than its flesh reaches.
    """
    deep, raised = np.zeros(motion.frames), np.broadcast_to(raised, motion.frames)
    if len(skin.vertices):
        # A cheap bound rules out most frames before any skin is posed.
        low = np.flatnonzero(skin.least_heights(motion) + raised < 0)
        deep[low] = np.maximum(-(skin.heights(motion, low).min(axis=1) + raised[low]), 0.0)
    return deep
