"""Infer knees, ankles, toes, elbows and wrists that have no marker, on limbs that have others.

Their bones are as long as the other side's, and markers sit on them as on the other side.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from mimegen.base.vectors import unit_or_nan
from mimegen.markers.centres import SIDES
from mimegen.markers.fitting import Rig
from mimegen.markers.sets import Landmark
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

# For each joint: the landmarks that show it, and the joints of its limb, on one of which there must
# be a marker.
LEG = ("UpLeg", "Leg", "Foot")
ARM = ("Arm", "ForeArm", "Hand")
SHOWN_BY = {"Leg": (("lateral_knee", "medial_knee"), LEG),
            "Foot": (("lateral_ankle", "medial_ankle"), LEG),
            "ToeBase": (("forefoot", "first_toe_joint", "fifth_toe_joint", "toe_tip"), LEG),
            "ForeArm": (("lateral_elbow", "medial_elbow"), ARM),
            "Hand": (("radial_wrist", "ulnar_wrist"), ARM)}
BONE_ABOVE = {"Leg": "UpLeg", "Foot": "Leg", "ToeBase": "Foot", "ForeArm": "Arm",
              "Hand": "ForeArm"}
PLAIN = {"Leg": "knee", "Foot": "ankle", "ToeBase": "toes", "ForeArm": "elbow", "Hand": "wrist"}


def hidden_joints(landmarks: Sequence[Landmark]) -> tuple[str, ...]:
    """Return the joints without a landmark of limbs that have one."""
    carriers = {mark.joint for mark in landmarks}
    hidden = []
    for side, _ in SIDES:
        for joint, (_, limb) in SHOWN_BY.items():
            parts = {f"{side.capitalize()}{part}" for part in limb}
            if parts & carriers and not _shown(landmarks, side, joint):
                hidden.append(f"{side.capitalize()}{joint}")
    return tuple(hidden)


def _shown(landmarks: Sequence[Landmark], side: str, joint: str) -> set[str]:
    """Return the landmarks of a joint that are marked on a side."""
    names = {mark.name for mark in landmarks}
    return {mark for mark in SHOWN_BY[joint][0] if f"{side}_{mark}" in names}


def plain_name(joint: str) -> str:
    """Return ``left knee`` for ``LeftLeg``."""
    side = "left" if joint.startswith("Left") else "right"
    return f"{side} {PLAIN[joint[len(side):]]}"


def stops(skeleton: Skeleton, hidden: Sequence[str]) -> FloatArray:
    """Return 1 for axes (J, 3) about which a hidden joint does not turn in the negative direction.

    These are the knees' X axes, as knees do not bend forward. If a marker shows the knee, no stop
    is needed.
    """
    found = np.zeros((len(skeleton.names), 3))
    for name in hidden:
        if name in ("LeftLeg", "RightLeg"):
            found[skeleton.index[name], 0] = 1.0
    return found


def as_on_the_other_side(rig: Rig, landmarks: Sequence[Landmark]) -> FloatArray:
    """Return the markers' positions (M, 3), mirrored if the other side shows a joint better.

    Wands and similar markers may be put at any height: they keep their own position along the bone.
    """
    markers = rig.markers.copy()
    for (side, _), (other, _) in (SIDES, SIDES[::-1]):
        beside = {f"{side.capitalize()}{part}" for joint, bone in BONE_ABOVE.items()
                  if _shown(landmarks, side, joint) < _shown(landmarks, other, joint)
                  for part in (joint, bone)}
        for n, twin in _twins(landmarks, side, other):
            if landmarks[n].joint in beside:
                markers[n] = rig.markers[twin] * [-1.0, 1.0, 1.0]
                if landmarks[n].loose:
                    markers[n] += _along(rig, n, rig.markers[n] - markers[n])
    return markers


def _twins(landmarks: Sequence[Landmark], side: str, other: str) -> list[tuple[int, int]]:
    """Return pairs of a side's markers and the other side's markers of the same landmark, in order.
    """
    numbers: dict[str, list[int]] = defaultdict(list)
    for n, mark in enumerate(landmarks):
        numbers[mark.name].append(n)
    return [pair for name, own in list(numbers.items()) if name.startswith(f"{side}_")
            for pair in zip(own, numbers[f"{other}_{name.removeprefix(f'{side}_')}"],
                            strict=False)]


def _along(rig: Rig, marker: int, shift: FloatArray) -> FloatArray:
    """Return the part of a shift (3,) along the bone that carries a marker."""
    children = np.flatnonzero(rig.parents == rig.carriers[marker])
    bone = unit_or_nan(rig.offsets[children].mean(axis=0))
    return np.asarray(bone * (shift @ bone))
