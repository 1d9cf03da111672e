"""Recognise tables of joint centres instead of markers: Pose2Sim, Sports2D, OpenCap, FreeMocap.

Labels are those of a pose estimator's joints (BODY_25, HALPE_26, COCO), such as RHip or right_hip.
Other labels, such as the markers that OpenCap's network adds, are not used.
"""

from collections.abc import Mapping

import numpy as np

from mimegen.markers.sets import plain
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.tracked import Tracked
from mimegen.readers.points import Points, stood_up

SIDES = {"right": ("r", "right"), "left": ("l", "left")}
PARTS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
TOES = ("bigtoe", "footindex", "toe")
# Labels of the trunk's joints in files that mimegen writes, in lower case.
SPINE = ("pelvis", "spine_low", "spine_mid", "chest", "neck_base", "right_clavicle",
         "left_clavicle")
HEAD_TOP, NECK, NOSE, EAR = "head", "neck", "nose", "ear"


def tracked_centres(points: Points, kind: str) -> tuple[Points, Tracked] | None:
    """Return joint centres as upright points and as tracked joints, or None.

    It is None if the points do not include all joints of the limbs.
    """
    number: dict[str, int] = {}
    for place, label in enumerate(points.labels):
        # The first label counts: OpenSim's L.Elbow is a marker beside the joint centre LElbow.
        number.setdefault(plain(label), place)
    joints = {f"{side}_{part}": column for side in SIDES for part in PARTS
              if (column := _of(number, side, (part,))) is not None}
    if len(joints) < len(SIDES) * len(PARTS):
        return None
    pairs = ([joints[f"{side}_{part}"] for side in SIDES] for part in ("hip", "shoulder"))
    hips, shoulders = (points.positions[:, pair].mean(axis=1) for pair in pairs)
    trunk_up = shoulders - hips
    trunk_up = trunk_up[np.isfinite(trunk_up).all(axis=1)]
    up = np.median(trunk_up, axis=0) if len(trunk_up) else np.zeros(3)
    if up.any() and np.argmax(np.abs(up)) != 2:
        points = stood_up(points, up, "the trunk's upper end is above its lower end")
    positions = {joint: points.positions[:, column] for joint, column in joints.items()}
    whole = _with_trunk(points, number, positions)
    layout = "centres" if "right_toe" in whole else "centres_without_toes"
    trunk: tuple[str, ...] = ("mid_hip", "neck", "head")
    if "right_toe" in whole and all(plain(name) in number for name in SPINE):
        layout, trunk = "centres_with_spine", (*SPINE, "head")
        whole |= {name: points.positions[:, number[plain(name)]] for name in SPINE}
    toes = ("right_toe", "left_toe") if "right_toe" in whole else ()
    order = [*positions, *toes, *trunk]
    people = {"0": np.stack([whole[one] for one in order], axis=1)}
    return points, Tracked(kind, layout, "Z", people, points.fps, notes=points.notes, is_level=True)


def _of(number: Mapping[str, int], side: str, parts: tuple[str, ...]) -> int | None:
    """Return the column of a side's joint with one of the names ``parts``, or None."""
    return next((number[letter + part] for letter in SIDES[side] for part in parts
                 if letter + part in number), None)


def _with_trunk(points: Points, number: Mapping[str, int], positions: Mapping[str, FloatArray]
                ) -> dict[str, FloatArray]:
    """Return the joints, with toes if there are any, and with mid-hip, neck and head added."""
    def at(column: int) -> FloatArray:
        return np.asarray(points.positions[:, column])

    whole = dict(positions)
    toes = {side: _of(number, side, TOES) for side in SIDES}
    ears = [column for side in SIDES if (column := _of(number, side, (EAR,))) is not None]
    if None not in toes.values():
        whole |= {f"{side}_toe": at(column) for side, column in toes.items() if column is not None}
    whole["mid_hip"] = (positions["right_hip"] + positions["left_hip"]) / 2
    whole["neck"] = (positions["right_shoulder"] + positions["left_shoulder"]) / 2
    if len(ears) == 2:
        whole["head"] = points.positions[:, ears].mean(axis=1)
    elif HEAD_TOP in number:
        whole["head"] = (at(number[HEAD_TOP]) + whole["neck"]) / 2
    elif NOSE in number:
        whole["head"] = at(number[NOSE])
    else:
        whole["head"] = whole["neck"] + (whole["neck"] - whole["mid_hip"]) / 3
    return whole
