"""Knees, ankles, elbows and wrists that no marker shows, on limbs that carry other markers.

They are inferred: bones are as long as the other side's, and markers sit on them as there.
"""

from collections.abc import Sequence

import numpy as np

from mimegen.markers.centres import SIDES, unit
from mimegen.markers.fitting import Rig
from mimegen.markers.sets import Landmark
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

# Each limb's joint, what shows it, and the joints from which markers show the limb at all.
LEG, ARM = ("UpLeg", "Leg", "Foot"), ("Arm", "ForeArm", "Hand")
SHOWN_BY = {"Leg": (("lateral_knee", "medial_knee"), LEG),
            "Foot": (("lateral_ankle", "medial_ankle"), LEG),
            "ForeArm": (("lateral_elbow", "medial_elbow"), ARM),
            "Hand": (("radial_wrist", "ulnar_wrist"), ARM)}
BONE_ABOVE = {"Leg": "UpLeg", "Foot": "Leg", "ForeArm": "Arm", "Hand": "ForeArm"}
PLAIN = {"Leg": "knee", "Foot": "ankle", "ForeArm": "elbow", "Hand": "wrist"}


def hidden_joints(landmarks: Sequence[Landmark]) -> tuple[str, ...]:
    """Return the joints of limbs that none of the landmarks shows."""
    names, carriers = ({mark.name for mark in landmarks}, {mark.joint for mark in landmarks})
    return tuple(
        f"{side.capitalize()}{joint}" for side, _ in SIDES
        for joint, (shown_by, limb) in SHOWN_BY.items()
        if not names & {f"{side}_{mark}" for mark in shown_by}
        and carriers & {f"{side.capitalize()}{part}" for part in limb})


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


def as_on_the_other_side(rig: Rig, landmarks: Sequence[Landmark],
                         hidden: Sequence[str]) -> FloatArray:
    """Return the markers' places (M, 3), those beside hidden joints mirrored from the other side.

    Wands and the like are put at any height: those keep their own place along the bone.
    """
    number = {mark.name: n for n, mark in enumerate(landmarks)}
    markers = rig.markers.copy()
    for joint in hidden:
        (side, _), (other, _) = SIDES if joint.startswith("Left") else SIDES[::-1]
        part = joint.removeprefix(side.capitalize())
        if f"{other.capitalize()}{part}" in hidden:
            continue
        beside = (joint, f"{side.capitalize()}{BONE_ABOVE[part]}")
        for n, mark in enumerate(landmarks):
            twin = number.get(f"{other}_{mark.name.removeprefix(f'{side}_')}")
            if mark.joint in beside and twin is not None:
                markers[n] = rig.markers[twin] * [-1.0, 1.0, 1.0]
                if mark.loose:
                    markers[n] += _along(rig, n, rig.markers[n] - markers[n])
    return markers


def _along(rig: Rig, marker: int, shift: FloatArray) -> FloatArray:
    """Return what of a shift (3,) lies along the bone that carries a marker."""
    children = np.flatnonzero(rig.parents == rig.carriers[marker])
    bone = unit(rig.offsets[children].mean(axis=0))
    return np.asarray(bone * (shift @ bone))
