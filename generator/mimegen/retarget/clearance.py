"""Hands rest on the surface of their own body as it is skinned: what lies inside it comes out.

Hands are moved so far that their palms are out, and that fingers need to bend by no more than they
can; then fingers bend.
"""

from collections.abc import Mapping

import numpy as np

from mimegen.base.decisions import first_most
from mimegen.base.vectors import lengths, unit
from mimegen.characters.character import Character
from mimegen.characters.helpers import with_helpers_turned
from mimegen.motion import Motion, quaternions
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded
from mimegen.readers.names import SIDES
from mimegen.retarget.hands import arms_bent, has_arms, settled
from mimegen.retarget.obstacles import Limb, limbs_of

# How far (m) out points are taken, and how far (radians) fingers and thumbs bend for it.
CLEAR, BEND = 0.002, np.radians(30.0)
PROJECTIONS, ROUNDS, BENDS = 8, 3, 2
# The weight of staying where nothing pushes, against that of a push; how slowly (s) fingers bend.
FREE_OF_PUSHES, SLOWLY = 0.2, 0.03


def with_hands_clear(motion: Motion, character: Character, joints: Mapping[str, int]) -> Motion:
    """Return the motion with hands moved out of what of their own body they lie in.

    The hand's rotation stays, the elbow bends. Its own arm and the other hand stop no hand. Bodies
    without a surface stay as they are.
    """
    if not (has_arms(joints) and character.meshes):
        return motion
    limbs = limbs_of(character, joints)
    if not all(len(limb.fingers) and limb.others for limb in limbs):
        return motion
    hands = [joints[f"{side}_hand"] for side in SIDES]
    for _ in range(ROUNDS):
        motion = rounded(with_helpers_turned(motion))
        pushes = np.stack([push(limb, motion) for limb in limbs], axis=1)
        pushed = lengths(pushes) > 0
        if not pushed.any():
            break
        shifts = settled(pushes, np.maximum(pushed, FREE_OF_PUSHES), motion.fps)
        goals = motion.global_pose.positions[:, hands] + shifts
        motion = rounded(arms_bent(motion, joints, goals))
    for _ in range(BENDS):
        motion = rounded(with_fingers_out(rounded(with_helpers_turned(motion)), limbs))
    return motion


def push(limb: Limb, motion: Motion) -> FloatArray:
    """Return the shifts (F, 3) that take a hand out of what its fingers cannot bend out of."""
    _, deep, out = limb.depths(motion)
    heads = motion.skeleton.heads[np.maximum(limb.fingers, 0)]
    gives = np.sin(BEND) * lengths(limb.hand.vertices - heads) * (limb.fingers >= 0)
    return pushed_out(np.where(deep > 0, np.maximum(deep + CLEAR - gives, 0.0), 0.0), out)


def pushed_out(depths: FloatArray, ways: FloatArray) -> FloatArray:
    """Return the shifts (F, 3) that take points (F, P) so deep out along ``ways`` (F, P, 3).

    The deepest is taken out, then the one that is now the deepest, and so on.
    """
    shifts, frames = np.zeros((len(depths), 3)), np.arange(len(depths))
    for _ in range(PROJECTIONS):
        left = np.where(depths > 0, depths - np.einsum("fpx,fx->fp", ways, shifts), 0.0)
        worst = first_most(left)
        shifts += np.maximum(left[frames, worst], 0.0)[:, None] * ways[frames, worst]
    return shifts


def with_fingers_out(motion: Motion, limbs: list[Limb]) -> Motion:
    """Return the motion with fingers bent, at their first joints, out of what they lie in."""
    pose = motion.global_pose
    rotations = motion.rotations.copy()
    for limb in limbs:
        points, deep, out = limb.depths(motion)
        for joint in np.unique(limb.fingers[(deep > 0).any(axis=0) & (limb.fingers >= 0)]):
            own = limb.fingers == joint
            turns = bent_out(points[:, own] - pose.positions[:, [joint]], deep[:, own], out[:, own])
            above = pose.rotations[:, motion.skeleton.parents[joint]]
            turns = quaternions.rotate(quaternions.conjugate(above),
                                       low_passed(turns, SLOWLY * motion.fps))
            rotations[:, joint] = quaternions.multiply(
                quaternions.from_rotation_vectors(turns), rotations[:, joint])
    return Motion(motion.skeleton, motion.fps, motion.root_positions, rotations)


def bent_out(arms: FloatArray, depths: FloatArray, ways: FloatArray) -> FloatArray:
    """Return rotation vectors (F, 3) that take points at ``arms`` (F, P, 3) from a joint out."""
    needed = np.where(depths > 0, (depths + CLEAR) / np.maximum(lengths(arms), 0.01), 0.0)
    worst, frames = first_most(needed), np.arange(len(arms))
    axes = unit(np.cross(arms[frames, worst], ways[frames, worst]))
    return np.asarray(np.minimum(needed[frames, worst], BEND)[:, None] * axes)
