"""Transfer a motion to the skeleton that a file format prescribes."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from mimegen.base.vectors import lengths, unit
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.anatomy import TRUNK
from mimegen.retarget.rest import Alignment

# Leg ratios that differ from 1 by less than this are taken as 1.
SAME = 1e-4


def on_skeleton(motion: Motion, roles: Mapping[str, str], target: Skeleton,
                target_roles: Mapping[str, str]) -> Motion:
    """Return a motion in metres, Z up, facing -Y, transferred to another such skeleton by roles.

    The root's path is scaled by leg length. If bones have the same directions at rest in both
    skeletons, rotations are copied; else they are aligned as in retargeting.
    """
    turns = _same_rest(motion, roles, target, target_roles)
    if turns is None:
        turns = _aligned(motion, roles, target, target_roles)
    _follow(turns, target, target_roles, motion, roles)
    ratio = leg(target, target_roles) / max(leg(motion.skeleton, roles), 1e-9)
    if abs(ratio - 1.0) < SAME:
        ratio = 1.0
    return Motion.from_global_rotations(target, motion.fps, motion.root_positions * ratio,
                                        quaternions.without_flips(turns))


def leg(skeleton: Skeleton, roles: Mapping[str, str]) -> float:
    """Return the mean length (m) of thigh and shin."""
    total = 0.0
    for side in SIDES:
        line = [skeleton.heads[skeleton.index[roles[f"{side}_{part}"]]]
                for part in ("thigh", "shin", "foot")]
        total += sum(float(lengths(b - a)) for a, b in pairwise(line))
    return total / 2


def _same_rest(motion: Motion, roles: Mapping[str, str], target: Skeleton,
               target_roles: Mapping[str, str]) -> FloatArray | None:
    """Return the motion's global rotations (F, J, 4) if both rest poses agree, else None."""
    own = motion.skeleton
    shared = [role for role in target_roles if role in roles]
    if {"hips", "head"} - set(shared) or any(roles[r] != target_roles[r] for r in shared):
        return None
    apart = [unit(own.offsets[own.index[roles[role]]])
             - unit(target.offsets[target.index[target_roles[role]]])
             for role in shared if role != "hips"]
    if np.abs(apart).max() > 0.02:
        return None
    turns = np.tile(quaternions.IDENTITY, (motion.frames, len(target.names), 1))
    for role in shared:
        turns[:, target.index[target_roles[role]]] = motion.global_pose.rotations[
            :, own.index[roles[role]]]
    return turns


def _aligned(motion: Motion, roles: Mapping[str, str], target: Skeleton,
             target_roles: Mapping[str, str]) -> FloatArray:
    alignment = Alignment(motion, roles, target, target_roles)
    turns = np.tile(quaternions.IDENTITY, (motion.frames, len(target.names), 1))
    for role, correction in alignment.corrections.items():
        if role in target_roles and role in roles:
            turns[:, target.index[target_roles[role]]] = quaternions.multiply(
                motion.global_pose.rotations[:, motion.skeleton.index[roles[role]]],
                quaternions.conjugate(correction))
    return turns


def _follow(turns: FloatArray, target: Skeleton, target_roles: Mapping[str, str], motion: Motion,
            roles: Mapping[str, str]) -> None:
    """Fill in, in place, the rotations of joints that the motion lacks.

    Joints of the trunk are interpolated between their neighbours; others follow their parents.
    """
    del motion
    role_of = {joint: role for role, joint in target_roles.items()}
    known = {joint for joint, role in role_of.items() if role in roles}
    line = [target_roles[role] for role in TRUNK if role in target_roles]
    for number, name in enumerate(line):
        if name not in known:
            below = max((n for n in range(number) if line[n] in known), default=0)
            above = min((n for n in range(number, len(line)) if line[n] in known), default=below)
            share = (number - below) / max(above - below, 1)
            turns[:, target.index[name]] = quaternions.slerp(
                turns[:, target.index[line[below]]], turns[:, target.index[line[above]]], share)
    for joint, name in enumerate(target.names):
        if name not in known and name not in line and target.parents[joint] >= 0:
            turns[:, joint] = turns[:, target.parents[joint]]
