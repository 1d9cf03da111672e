"""Take hands out of each other.

If one hand lies on the other and both palms face the same way, as behind a head, the outer hand
straightens its fingers and moves off the inner hand's back. In other cases fingers bend out of the
hand that they lie in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mimegen.base.easing import ramp
from mimegen.base.vectors import lengths, unit
from mimegen.characters.character import Character
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded
from mimegen.readers.names import SIDES
from mimegen.retarget.anatomy import FINGERS, last_bone
from mimegen.retarget.fingers import FINGER, with_fingers_out
from mimegen.retarget.hands import Hands, gap, hands_in
from mimegen.retarget.obstacles import Depths, HandAndForearm
from mimegen.retarget.pushes import wrists_pushed
from mimegen.retarget.smoothing import smooth_cover


@dataclass(frozen=True)
class HandOnHandParameters:
    """How hands come out of each other.

    Chosen by trial on takes in which they lie on one another, as behind a head
    (``docs/research/people.md``, ``tests/retarget/test_hand_on_hand.py``).
    """

    # Hands are checked if palms, backs, knuckles or tips of index and thumb are nearer (m) to those
    # of the other hand than this; other points of hands that touch may be nearer.
    near_m: float = 0.12
    # Depth (m) to which fingers may lie in the other hand.
    shallow_m: float = 0.0015
    # Points deeper (m) than this count as past the hand: its surface is open where the wrist
    # begins.
    past_m: float = 0.025
    # Palms face the same way fully from the second cosine on, and not at all below the first.
    unlike_cosine: float = 0.2
    alike_cosine: float = 0.6
    # The outer hand's fingers are fully straight from this depth (m) in the inner hand on, and it
    # moves off this often.
    straight_m: float = 0.006
    moves: int = 3
    # A hand is fully open if its middle finger reaches this fraction (the second) of its reach at
    # rest; from the first fraction down it is a fist, which stays shut.
    fist_share: float = 0.8
    open_share: float = 0.92
    # How often fingers bend out of the other hand, each time by a part of the largest bend.
    bends: int = 4


HAND_ON_HAND = HandOnHandParameters()


def hands_apart(motion: Motion, character: Character, joints: Mapping[str, int],
                fingers: Sequence[HandAndForearm], on_shaft: FloatArray) -> Motion:
    """Return the motion with hands out of each other, unless both are ``on_shaft`` (F,).
    """
    hands = hands_in(motion, character, joints)
    near = np.flatnonzero(gap(hands, 0, hands, 1) < HAND_ON_HAND.near_m)
    if not (len(near) and all(len(hand.fingers) and hand.patches for hand in fingers)):
        return motion
    motion = laid_on_one_another(motion, character, joints, fingers, on_shaft, near)
    for _ in range(HAND_ON_HAND.bends):
        found = in_hands(motion, fingers, on_shaft, near)
        if not any(depths.deep.any() for depths in found):
            break
        motion = rounded(with_fingers_out(motion, fingers, found, FINGER.bend / HAND_ON_HAND.bends))
    return motion


def in_hands(motion: Motion, fingers: Sequence[HandAndForearm], on_shaft: FloatArray,
             near: NDArray[np.intp]) -> Sequence[Depths]:
    """Return how far fingers lie too deep in the other hand, in frames ``near`` (N,), else 0."""
    part, loose = motion.at(near), (1 - on_shaft[near])[:, None]
    found = []
    for hand in fingers:
        points, deep, out = hand.depths(part)
        too_deep = np.where(deep < HAND_ON_HAND.past_m,
                            np.maximum(deep - HAND_ON_HAND.shallow_m, 0.0), 0.0)
        none = np.zeros((motion.frames, *deep.shape[1:], 3))
        found.append(Depths(none, none[..., 0], none).with_frames(
            near, Depths(points, loose * too_deep, out)))
    return found


def laid_on_one_another(motion: Motion, character: Character, joints: Mapping[str, int],
                        fingers: Sequence[HandAndForearm],
                        on_shaft: FloatArray, near: NDArray[np.intp]) -> Motion:
    """Return the motion with the outer of two hands that lie on one another taken out of the inner.
    """
    near = near[alike(hands_in(motion, character, joints).backs())[near] > 0]

    def shifts(motion: Motion) -> FloatArray:
        found = in_hands(motion, fingers, on_shaft, near)
        deep = np.max([depths.deep.max(axis=1) for depths in found], axis=0)
        return shifts_off(hands_in(motion, character, joints), deep)

    pushes = shifts(motion) if len(near) else np.zeros(0)
    if not pushes.any():
        return motion
    motion = straightened(motion, joints, lengths(pushes) / HAND_ON_HAND.straight_m)
    for _ in range(HAND_ON_HAND.moves):
        motion = wrists_pushed(motion, joints, shifts(motion))
    return motion


def shifts_off(hands: Hands, deep: FloatArray) -> FloatArray:
    """Return the shifts (F, 2, 3) that take the outer of two hands off the back of the inner one.

    They are zero unless both palms face the same way. ``deep`` (F,) is how deep one hand's fingers
    lie in the other hand. The same hand stays the outer one for as long as the hands overlap.
    """
    backs, middles = hands.backs(), hands.points[:, :, :2].mean(axis=2)
    deep = alike(backs) * deep
    out = unit(backs.sum(axis=1))
    ahead = np.sum((middles[:, 0] - middles[:, 1]) * out, axis=1)
    touching = deep > 0
    meeting = np.cumsum(~(touching & np.roll(touching, 1)))
    left = (np.bincount(meeting, ahead * deep) >= 0)[meeting]
    return np.asarray(np.stack([left, ~left], axis=1)[..., None] * (deep[:, None] * out)[:, None])


def alike(backs: FloatArray) -> FloatArray:
    """Return how fully (F,), 0 to 1, hands with the normals ``backs`` (F, 2, 3) face the same way.
    """
    return ramp(np.sum(backs[:, 0] * backs[:, 1], axis=1), HAND_ON_HAND.unlike_cosine,
                HAND_ON_HAND.alike_cosine)


def straightened(motion: Motion, joints: Mapping[str, int], wanted: FloatArray) -> Motion:
    """Return the motion with fingers of open hands straightened by ``wanted`` (F, 2).

    At 1 and above they are as straight as at rest.
    """
    rotations = motion.rotations.copy()
    for number, side in enumerate(SIDES):
        share = np.minimum(smooth_cover(wanted[:, number], motion.fps), 1.0)
        share = share * ramp(_reach(motion, joints, side), HAND_ON_HAND.fist_share,
                             HAND_ON_HAND.open_share)
        for joint in finger_joints(joints, side):
            straight = np.broadcast_to(quaternions.IDENTITY, rotations[:, joint].shape)
            rotations[:, joint] = quaternions.slerp(rotations[:, joint], straight, share)
    return rounded(replace(motion, rotations=quaternions.without_flips(rotations)))


def _reach(motion: Motion, joints: Mapping[str, int], side: str) -> FloatArray:
    """Return the middle finger's reach (F,) from the wrist, as a fraction of its reach at rest."""
    last = last_bone(joints, side, "middle")
    ends = [joints[f"{side}_hand"], joints[f"{side}_hand"] if last is None else last]
    now, rest = (lengths(places[..., ends[1], :] - places[..., ends[0], :])
                 for places in (motion.global_pose.positions, motion.skeleton.heads))
    return np.asarray(now / np.maximum(rest, 1e-9))


def finger_joints(joints: Mapping[str, int], side: str) -> list[int]:
    """Return the joint indices of all fingers of a hand."""
    return [joints[name] for finger in FINGERS for bone in (1, 2, 3)
            if (name := f"{side}_{finger}{bone}") in joints]
