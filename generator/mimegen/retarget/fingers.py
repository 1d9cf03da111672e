"""Fingers bend, at their first joints, out of what they lie in."""

from collections.abc import Sequence

import numpy as np

from mimegen.base.decisions import first_most
from mimegen.base.vectors import lengths, unit
from mimegen.motion import Motion, quaternions
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.obstacles import Depths, HandAndForearm

# How far (m) out points are taken, and how far (radians) fingers and thumbs bend for it.
CLEAR = 0.003
BEND = np.radians(30.0)
# A finger that points along its way out bends as if it pointed across by this share.
SLANTING = 0.4
# How slowly (s) fingers bend.
SLOWLY = 0.03


def with_fingers_out(motion: Motion, limbs: Sequence[HandAndForearm], found: Sequence[Depths],
                     most: float = BEND) -> Motion:
    """Return the motion with fingers bent, at their first joints, out of what they lie in.

    They bend by ``most`` (radians) at most.
    """
    pose = motion.global_pose
    rotations = motion.rotations.copy()
    for limb, (points, deep, out) in zip(limbs, found, strict=True):
        for joint in np.unique(limb.fingers[(deep > 0).any(axis=0) & (limb.fingers >= 0)]):
            own = limb.fingers == joint
            turns = bent_out(points[:, own] - pose.positions[:, [joint]], deep[:, own],
                             out[:, own], most)
            above = pose.rotations[:, motion.skeleton.parents[joint]]
            turns = quaternions.rotate(quaternions.conjugate(above),
                                       low_passed(turns, SLOWLY * motion.fps))
            rotations[:, joint] = quaternions.multiply(
                quaternions.from_rotation_vectors(turns), rotations[:, joint])
    return Motion(motion.skeleton, motion.fps, motion.root_positions, rotations)


def bent_out(arms: FloatArray, depths: FloatArray, ways: FloatArray, most: float) -> FloatArray:
    """Return rotation vectors (F, 3) that take points at ``arms`` (F, P, 3) from a joint out.

    None is longer than ``most``.
    """
    across = lengths(np.cross(arms, ways))
    slanting = np.maximum(across, np.maximum(SLANTING * lengths(arms), 0.01))
    needed = np.where(depths > 0, (depths + CLEAR) / slanting, 0.0)
    worst, frames = first_most(needed), np.arange(len(arms))
    axes = unit(np.cross(arms[frames, worst], ways[frames, worst]))
    return np.asarray(np.minimum(needed[frames, worst], most)[:, None] * axes)
