"""Nothing but feet is left to sink into the ground: bodies are lifted, elbows bend."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mimegen.base.decisions import first_most
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
    """The ground under one character: what of its flesh would sink, and how it keeps above."""

    def __init__(self, character: Character, joints: Mapping[str, int]) -> None:
        self.joints = joints
        skeleton = character.skeleton
        skin = outermost(character)
        most = skin.joints[np.arange(len(skin.joints)), first_most(skin.weights)]
        self.arms, self.shins = ([_part(skin, most, skeleton.parents, joints[f"{side}_{part}"])
                                  for side in SIDES] for part in ("forearm", "shin"))
        limbs = [_below(skeleton.parents, joints[f"{side}_{part}"])
                 for side in SIDES for part in ("forearm", "shin")]
        self.trunk = skin.part(~np.isin(most, list(set().union(*limbs))))

    def lifted(self, motion: Motion) -> Motion:
        """Lift the body where it would sink; shins and feet are left to the repair of the feet."""
        motion = _raised(motion, smooth_cover(-_lowest(motion, self.trunk), motion.fps))
        motion = self.hands_lifted(motion)
        arms = np.minimum(*(_lowest(motion, arm) for arm in self.arms))
        return _raised(motion, smooth_cover(-arms, motion.fps))

    def clearance(self, motion: Motion) -> FloatArray:
        """Return how high (F,) the lowest of the body but for forearms and shins is."""
        return _lowest(motion, self.trunk)

    def hands_lifted(self, motion: Motion) -> Motion:
        """Bend the elbows where forearms or hands would sink."""
        if any(f"{side}_hand" not in self.joints for side in SIDES):
            return motion
        hands = [self.joints[f"{side}_hand"] for side in SIDES]
        for _ in range(TRIES):
            lifts = np.stack([smooth_cover(-_lowest(motion, arm), motion.fps)
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


def _lowest(motion: Motion, skin: SkinSample) -> FloatArray:
    """Return the height (F,) of the lowest of some flesh."""
    if not len(skin.vertices):
        return np.full(motion.frames, np.inf)
    return np.asarray(skin.heights(motion).min(axis=1))
