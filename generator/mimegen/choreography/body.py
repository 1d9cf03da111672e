"""The standard body of scores: landmarks, capsules, points of the hand, the unit of length."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import Field

from mimegen.base.errors import near_misses
from mimegen.base.paths import data_file
from mimegen.base.vectors import lengths, product
from mimegen.base.yaml_file import Strict, Vector, YamlFile
from mimegen.choreography.places import LEFT, RIGHT, in_body_axes
from mimegen.motion import Skeleton, quaternions, standard_skeleton
from mimegen.motion.motion import GlobalPose
from mimegen.motion.quaternions import FloatArray

# Arm length, shoulder to wrist in metres, of the person for whom scores' centimetres are written.
STANDARD_ARM_M = 0.4856
FLOOR = "floor"
HERE = "here"
PARTNER = "partner_"
HAND_ANCHORS = ("left_hand", "right_hand", "other_hand")


class MovingFrame(NamedTuple):
    """A moving frame of reference: ``positions`` (F, 3) in metres, ``rotations`` (F, 4)."""

    positions: FloatArray
    rotations: FloatArray

    def place(self, offset: FloatArray) -> FloatArray:
        """Return the world positions (F, 3) of an offset in this frame, (3,) or (F, 3) metres."""
        return self.positions + quaternions.rotate(self.rotations, offset)


class Capsule(NamedTuple):
    """A line from ``start`` to ``end`` relative to a joint at rest, with a radius, in metres."""

    joint: int
    start: FloatArray
    end: FloatArray
    radius: float


class _CarriedPoint(Strict):
    point: str
    carrier: str = Field(alias="with")
    at: Vector


class _Landmarks(Strict):
    middle: Mapping[str, _CarriedPoint]
    sided: Mapping[str, _CarriedPoint]
    partner: Mapping[str, _CarriedPoint]


class _CapsuleLine(Strict):
    joint: str
    start: Vector = Field(alias="from")
    end: Vector = Field(alias="to")
    radius: float = Field(gt=0, allow_inf_nan=False)


class _Hand(Strict):
    touch: Mapping[str, Vector]
    bar: Vector


class _BodyFile(Strict):
    landmarks: _Landmarks
    capsules: Mapping[str, _CapsuleLine]
    hand: _Hand


def _data() -> _BodyFile:
    return _read(data_file("mocap/body.yaml"), standard_skeleton())


@cache
def _read(path: Path, skeleton: Skeleton) -> _BodyFile:
    """Read mocap/body.yaml; raises RequestError naming file, line and key."""
    document = YamlFile(path)
    content = document.parsed(_BodyFile)
    for kind, prefix in (("middle", ""), ("sided", "Left"), ("partner", "Left")):
        for name, landmark in getattr(content.landmarks, kind).items():
            where = ("landmarks", kind, name)
            _check_joint(document, (*where, "point"), landmark.point, skeleton, prefix)
            _check_joint(document, (*where, "with"), landmark.carrier, skeleton, prefix)
    for name, capsule in content.capsules.items():
        _check_joint(document, ("capsules", name, "joint"), capsule.joint, skeleton)
    return content


def _check_joint(document: YamlFile, where: tuple[str, ...], name: str, skeleton: Skeleton,
                 prefix: str = "") -> None:
    known = [*skeleton.names, *(joint.removeprefix(prefix) for joint in skeleton.names)]
    if name not in known:
        raise document.error(where, f"'{name}' is not a joint of the standard"
                                    f" skeleton{near_misses(name, known)}")


def landmark_names() -> tuple[str, ...]:
    """Return the names of all anchors on which a hand may be placed, except props and partner."""
    landmarks = _data().landmarks
    sided = tuple(landmarks.sided)
    others = tuple(f"other_{name}" for name in sided)
    return (FLOOR, HERE, *landmarks.middle, *sided, *others, *HAND_ANCHORS)


def partner_landmarks() -> tuple[str, ...]:
    """Return the names of the anchors on the other performer of a scene."""
    landmarks = _data().landmarks
    sided = (*landmarks.sided, *landmarks.partner)
    return (*(f"{PARTNER}{name}" for name in landmarks.middle),
            *(f"{PARTNER}{side}_{name}" for side in ("left", "right") for name in sided))


def sideless_anchors() -> tuple[str, ...]:
    """Return the anchors without a side: the only ones, besides props, for gaze, props and feet."""
    return (FLOOR, HERE, *_data().landmarks.middle, "left_hand", "right_hand")


@lru_cache(maxsize=64)
def centimetre(skeleton: Skeleton) -> float:
    """Return the length of a score's centimetre on this skeleton, in metres.

    It is proportional to the arm's length.
    """
    joints = [skeleton.index[name] for name in ("LeftArm", "LeftForeArm", "LeftHand")]
    places = skeleton.heads[joints]
    return 0.01 * float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()) / STANDARD_ARM_M


def landmark_frames(skeleton: Skeleton, pose: GlobalPose, name: str, side: float) -> MovingFrame:
    """Return a landmark's moving frame; ``side`` is the side of the hand that uses it."""
    landmarks = _data().landmarks
    if name in landmarks.middle:
        entry, prefix, side = landmarks.middle[name], "", LEFT
    else:
        if name.startswith("other_"):
            name, side = name.removeprefix("other_"), -side
        entry = {**landmarks.sided, **landmarks.partner}[name]
        prefix = "Left" if side == LEFT else "Right"
    carrier = _joint(skeleton, entry.carrier, prefix)
    point = skeleton.heads[_joint(skeleton, entry.point, prefix)]
    offset = in_body_axes(np.array(entry.at, float) * centimetre(skeleton), side)
    frame = MovingFrame(pose.positions[:, carrier], pose.rotations[:, carrier])
    return MovingFrame(frame.place(point + offset - skeleton.heads[carrier]), frame.rotations)


def partner_position(skeleton: Skeleton, pose: GlobalPose, name: str) -> FloatArray:
    """Return the positions (F, 3) of a landmark on the other performer, whose pose is ``pose``."""
    name, side = name.removeprefix(PARTNER), LEFT
    for prefix, sign in (("left_", LEFT), ("right_", RIGHT)):
        if name.startswith(prefix):
            name, side = name.removeprefix(prefix), sign
    return landmark_frames(skeleton, pose, name, side).positions


def _joint(skeleton: Skeleton, name: str, prefix: str) -> int:
    return skeleton.index[name if name in skeleton.index else prefix + name]


def capsules() -> Mapping[str, Capsule]:
    """Return the standard body's capsules by name."""
    return _capsules(data_file("mocap/body.yaml"), standard_skeleton())


@cache
def _capsules(path: Path, skeleton: Skeleton) -> Mapping[str, Capsule]:
    unit = centimetre(skeleton)
    return {
        name: Capsule(
            skeleton.index[entry.joint],
            in_body_axes(np.array(entry.start, float) * unit),
            in_body_axes(np.array(entry.end, float) * unit),
            entry.radius * unit,
        )
        for name, entry in _read(path, skeleton).capsules.items()
    }


def away_from_capsule(
    capsule: Capsule, pose: GlobalPose, points: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return points' distances to a capsule's surface, and the unit vectors away from its axis.

    ``points`` are (F, 3) or (F, N, 3) in metres; distances are negative inside.
    """
    joint = MovingFrame(pose.positions[:, capsule.joint], pose.rotations[:, capsule.joint])
    start = joint.place(capsule.start)
    line = quaternions.rotate(joint.rotations, capsule.end - capsule.start)
    if points.ndim == 3:
        start, line = start[:, None], line[:, None]
    length = np.sum((capsule.end - capsule.start) ** 2)
    share = np.einsum("...i,...i->...", points - start, line) / length
    away = points - (start + np.clip(share, 0, 1)[..., None] * line)
    distance = lengths(away)
    return distance - capsule.radius, away / np.maximum(distance, 1e-9)[..., None]


def hand_axes(side: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a hand's axes at rest: along the fingers, out of the palm, towards the thumb."""
    return np.array([side, 0.0, 0.0]), np.array([0.0, 0.0, -1.0]), np.array([0.0, -1.0, 0.0])


def hand_point(name: str, side: float) -> FloatArray:
    """Return a touching point of the hand at rest (3,), relative to the wrist, in metres."""
    steps = np.array(_data().hand.touch[name], float)
    return product(steps, np.stack(hand_axes(side))) * centimetre(standard_skeleton())


def bar_axis(side: float) -> FloatArray:
    """Return the direction of a held bar, towards the thumb, in the axes of the hand at rest."""
    axis = np.array(_data().hand.bar, float) @ np.stack(hand_axes(side))
    return axis / float(np.linalg.norm(axis))
