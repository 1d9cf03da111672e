"""Bend fingers at their first joints out of the surface that they lie in."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mimegen.base.decisions import first_most
from mimegen.base.vectors import lengths, unit
from mimegen.motion import Motion, quaternions
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.obstacles import Depths, HandAndForearm


@dataclass(frozen=True)
class FingerParameters:
    """How fingers bend out of a surface; chosen and checked as ``clearance.ClearanceParameters``.
    """

    # Clearance (m) at which points end outside the surface, and the largest bend (radians).
    clear_m: float = 0.003
    bend: float = float(np.radians(30.0))
    # The angle for a given depth has no bounds if a finger points along its way out. So it bends as
    # if at least this fraction of its length lay across that way, and at least this length (m).
    slanting: float = 0.4
    shortest_m: float = 0.01
    # Standard deviation (s) of the low-pass of bends.
    slowly_s: float = 0.03


FINGER = FingerParameters()


def with_fingers_out(motion: Motion, limbs: Sequence[HandAndForearm], found: Sequence[Depths],
                     most: float = FINGER.bend) -> Motion:
    """Return the motion with fingers bent, at their first joints, out of the depths ``found``.

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
                                       low_passed(turns, FINGER.slowly_s * motion.fps))
            rotations[:, joint] = quaternions.multiply(
                quaternions.from_rotation_vectors(turns), rotations[:, joint])
    return Motion(motion.skeleton, motion.fps, motion.root_positions, rotations)


def bent_out(arms: FloatArray, depths: FloatArray, ways: FloatArray, most: float) -> FloatArray:
    """Return rotation vectors (F, 3) that take points at ``arms`` (F, P, 3) from a joint out.

    ``depths`` (F, P) and ``ways`` (F, P, 3) are the depths of the points and unit vectors outwards.
    No rotation vector is longer than ``most`` (radians).
    """
    across = lengths(np.cross(arms, ways))
    slanting = np.maximum(across, np.maximum(FINGER.slanting * lengths(arms), FINGER.shortest_m))
    # Angle = arc / radius. The radius is the part of the lever arm that lies across the way out.
    needed = np.where(depths > 0, (depths + FINGER.clear_m) / slanting, 0.0)
    worst, frames = first_most(needed), np.arange(len(arms))
    axes = unit(np.cross(arms[frames, worst], ways[frames, worst]))
    return np.asarray(np.minimum(needed[frames, worst], most)[:, None] * axes)
