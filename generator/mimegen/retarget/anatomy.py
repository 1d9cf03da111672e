"""Directions of bones and hands in a skeleton, by role."""

from collections.abc import Mapping

import numpy as np

from mimegen.base.decisions import first_least
from mimegen.base.vectors import product, unit
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
NEXT = {"upper_arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot", "foot": "toe",
        "clavicle": "upper_arm"}
# The trunk's roles from bottom to top.
TRUNK = ("hips", *(f"spine{i}" for i in range(1, 12)), "chest",
         *(f"neck{i}" for i in range(1, 6)), "head")


def next_roles(role: str, known: Mapping[str, int]) -> list[str]:
    """Return the known roles that a bone may point at, the nearest first."""
    side, _, part = role.partition("_")
    if part in NEXT:
        return [r for r in (f"{side}_{NEXT[part]}",) if r in known]
    if part[-1:] in ("1", "2"):
        return [r for r in (f"{role[:-1]}{int(role[-1]) + 1}",) if r in known]
    return [r for r in TRUNK[TRUNK.index(role) + 1 :] if r in known] if role in TRUNK else []


def bone_direction(skeleton: Skeleton, joints: Mapping[str, int], role: str) -> FloatArray | None:
    """Return a bone's unit direction (3,) in the rest pose, or None if it has no length."""
    joint = joints[role]
    ends = [skeleton.heads[joints[r]] for r in next_roles(role, joints)]
    for end in [*ends, skeleton.tails[joint]]:
        vector = end - skeleton.heads[joint]
        if np.linalg.norm(vector) > 1e-3:
            return unit(vector)
    return None


def hand_axes(places: FloatArray, joints: Mapping[str, int],
              side: str) -> tuple[FloatArray, FloatArray] | None:
    """Return two unit vectors (3,): wrist to knuckles, and the outward normal of the hand's back.

    ``places`` (J, 3) are positions of all joints. Returns None if wrist, index or little finger are
    missing, or in one line.
    """
    names = [f"{side}_hand", f"{side}_index1", f"{side}_pinky1"]
    if any(name not in joints for name in names):
        return None
    wrist, index, pinky = (places[joints[name]] for name in names)
    # Right hands are left hands mirrored, so the cross product points the other way.
    normal = np.cross(index - wrist, pinky - wrist) * (1.0 if side == "left" else -1.0)
    if np.linalg.norm(normal) < 1e-6:
        return None
    middle = places[joints[f"{side}_middle1"]] if f"{side}_middle1" in joints else (
        index + pinky) / 2
    return unit(middle - wrist), unit(normal)


def last_bone(joints: Mapping[str, int], side: str, finger: str) -> int | None:
    """Return the joint of a finger's last bone, or None if the finger has no bones."""
    roles = [f"{side}_{finger}{bone}" for bone in (3, 2, 1)]
    return next((joints[role] for role in roles if role in joints), None)


def matching(along: FloatArray, beside: FloatArray, goal_along: FloatArray,
             goal_beside: FloatArray) -> FloatArray:
    """Return the rotation (4,) that maps ``along`` to ``goal_along``.

    Of all such rotations it brings ``beside`` nearest to ``goal_beside``.
    """
    turn = product(_frame(goal_along, goal_beside), _frame(along, beside).T)
    return quaternions.from_matrices(turn)


def _frame(along: FloatArray, beside: FloatArray) -> FloatArray:
    first = unit(along)
    second = beside - first * np.sum(beside * first)
    if np.linalg.norm(second) < 1e-6:
        second = np.cross(first, np.eye(3)[first_least(np.abs(first))])
    second = unit(second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


def leg_length(skeleton: Skeleton, joints: Mapping[str, int]) -> float:
    """Return the total length (m) of thighs and shins, both legs together."""
    legs = [[joints[f"{side}_{part}"] for part in ("thigh", "shin", "foot")]
            for side in ("left", "right")]
    return float(np.linalg.norm(np.diff(skeleton.heads[legs], axis=1), axis=2).sum())
