"""Knees, ankles, toes, elbows and wrists that no marker shows, on limbs that carry other markers.

They are inferred: bones are as long as the other side's, and markers sit on them as there.
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

# Each limb's joint, what shows it, and the joints from which markers show the limb at all.
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
    """Return the joints that no landmark shows, of limbs that carry one."""
    carriers = {mark.joint for mark in landmarks}
    hidden = []
    for side, _ in SIDES:
        for joint, (_, limb) in SHOWN_BY.items():
            parts = {f"{side.capitalize()}{part}" for part in limb}
            if parts & carriers and not _shown(landmarks, side, joint):
                hidden.append(f"{side.capitalize()}{joint}")
    return tuple(hidden)


def _shown(landmarks: Sequence[Landmark], side: str, joint: str) -> set[str]:
    """Return which of a joint's landmarks are there on a side."""
    names = {mark.name for mark in landmarks}
    return {mark for mark in SHOWN_BY[joint][0] if f"{side}_{mark}" in names}


def plain_name(joint: str) -> str:
    """Return ``left knee`` for ``LeftLeg``."""
    side = "left" if joint.startswith("Left") else "right"
    return f"{side} {PLAIN[joint[len(side):]]}"


def stops(skeleton: Skeleton, hidden: Sequence[str]) -> FloatArray:
    """Return 1 where a hidden joint (J, 3) does not turn below neutral: knees do not bend forward.

    Where a marker shows the knee, that tells it by itself.
    """
    found = np.zeros((len(skeleton.names), 3))
    for name in hidden:
        if name in ("LeftLeg", "RightLeg"):
            found[skeleton.index[name], 0] = 1.0
    return found


def as_on_the_other_side(rig: Rig, landmarks: Sequence[Landmark]) -> FloatArray:
    """Return the markers' places (M, 3), mirrored where the other side shows a joint better.

    Wands and the like are put at any height: those keep their own place along the bone.
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
    """Return a side's markers and those of the other side's like places, in order."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for n, mark in enumerate(landmarks):
        numbers[mark.name].append(n)
    return [pair for name, own in list(numbers.items()) if name.startswith(f"{side}_")
            for pair in zip(own, numbers[f"{other}_{name.removeprefix(f'{side}_')}"],
                            strict=False)]


def _along(rig: Rig, marker: int, shift: FloatArray) -> FloatArray:
    """Return what of a shift (3,) lies along the bone that carries a marker."""
    children = np.flatnonzero(rig.parents == rig.carriers[marker])
    bone = unit_or_nan(rig.offsets[children].mean(axis=0))
    return np.asarray(bone * (shift @ bone))
