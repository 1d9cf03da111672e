"""Read marker sets (rigs/marker_sets/*.yaml): which marker sits on which landmark of the body."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from pydantic import field_validator

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.paths import data_file, data_files
from mimegen.base.yaml_file import Strict, Vector, YamlFile, read_yaml_once
from mimegen.motion.quaternions import FloatArray

# Labels fit a set if at least this many, and this fraction, of its markers are among them.
MIN_MARKERS = 8
MIN_SHARE = 0.25
MIDDLE = ("Hips", "Spine2", "Head")
FINGERS = "fingers"


class _Spot(Strict):
    joint: str
    at: Vector
    loose: bool = False


class _BodyMarkers(Strict):
    middle: Mapping[str, _Spot]
    sides: Mapping[str, _Spot]
    freedom: Mapping[str, Vector]

    @field_validator("freedom")
    @classmethod
    def _check_finger_names(cls, freedom: Mapping[str, Vector]) -> Mapping[str, Vector]:
        if FINGERS not in freedom:
            raise ValueError(f"'{FINGERS}' is missing, for all joints without a line of their own")
        return freedom


class _SetFile(Strict):
    name: str
    refusal: str | None = None
    middle: Mapping[str, str | None] = {}
    left_right: tuple[str, str] = ("L", "R")
    sides: Mapping[str, str | None] = {}


@dataclass(frozen=True, eq=False)
class Landmark:
    """A point of the standard body: the joint that carries it, and its position (3,) at rest (m).

    A ``loose`` one may be put at any height along its bone.
    """

    name: str
    joint: str
    place: FloatArray
    loose: bool


@dataclass(frozen=True, eq=False)
class MarkerSet:
    """``landmarks`` by marker label in plain form; ``refusal`` is why a set cannot be solved."""

    name: str
    landmarks: Mapping[str, str]
    refusal: str | None

    def landmark(self, label: str) -> Landmark | None:
        """Return the landmark of a marker label, or None for a label that is not in the set."""
        return body_landmarks().get(self.landmarks.get(plain(label), ""))


def plain(label: str) -> str:
    """Return a label in lower case without spaces and separators; labels are compared in this form.
    """
    return re.sub(r"[\s_.-]+", "", label).lower()


def _body() -> _BodyMarkers:
    return read_yaml_once(data_file("rigs/marker_sets/body.yaml"), _BodyMarkers)


def body_landmarks() -> Mapping[str, Landmark]:
    """Return all landmarks by name, paired ones as ``left_...`` and ``right_...``."""
    return _landmarks(data_file("rigs/marker_sets/body.yaml"))


@cache
def _landmarks(path: Path) -> Mapping[str, Landmark]:
    body = read_yaml_once(path, _BodyMarkers)
    found = {name: Landmark(name, spot.joint, np.array(spot.at), spot.loose)
             for name, spot in body.middle.items()}
    for name, spot in body.sides.items():
        for side, sign in (("left", 1.0), ("right", -1.0)):
            joint = spot.joint if spot.joint in MIDDLE else side.capitalize() + spot.joint
            place = np.array(spot.at) * np.array([sign, 1.0, 1.0])
            found[f"{side}_{name}"] = Landmark(f"{side}_{name}", joint, place, spot.loose)
    return found


def freedom(joint: str) -> tuple[float, float, float]:
    """Return the standard deviations (radians) of a joint's rotations about X, Y and Z at rest."""
    bare = re.sub(r"^(Left|Right)", "", joint)
    return _body().freedom.get(bare, _body().freedom[FINGERS])


def marker_sets() -> tuple[MarkerSet, ...]:
    """Return all marker sets. Raises RequestError that names file and line if one is wrong."""
    return tuple(_read(path, data_file("rigs/marker_sets/body.yaml"))
                 for path in data_files("rigs/marker_sets/*.yaml") if path.name != "body.yaml")


@cache
def _read(path: Path, body: Path) -> MarkerSet:
    file = YamlFile(path)
    content = file.parsed(_SetFile)
    for where, landmark in _landmarks_named(content):
        if landmark not in _landmarks(body):
            raise file.error(where, f"no landmark '{landmark}' in"
                                    f" {body.name}{near_misses(landmark, _landmarks(body))}")
    landmarks = {plain(label): name or "" for label, name in content.middle.items()}
    for pattern, name in content.sides.items():
        for side, letter in zip(("left", "right"), content.left_right, strict=True):
            landmarks[plain(pattern.replace("$", letter))] = f"{side}_{name}" if name else ""
    return MarkerSet(content.name, landmarks, content.refusal)


def _landmarks_named(content: _SetFile) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the location of each landmark's name in a file of a marker set, and the name."""
    yield from ((("middle", marker), name) for marker, name in content.middle.items() if name)
    yield from ((("sides", marker), f"left_{name}")
                for marker, name in content.sides.items() if name)


def find_marker_set(file: str, labels: tuple[str, ...]) -> MarkerSet:
    """Return the marker set that most labels belong to; other labels may be in the file too.

    Raises RequestError that names the ``file`` if labels fit no set, or one that cannot be solved.
    """
    there = {plain(label) for label in labels}
    found = max(marker_sets(), key=lambda one: len(there & set(one.landmarks))
                - 0.01 * len(one.landmarks))
    known = there & set(found.landmarks)
    if len(known) < max(MIN_MARKERS, MIN_SHARE * len(found.landmarks)):
        names = ", ".join(one.name for one in marker_sets() if one.refusal is None)
        raise RequestError(
            f"{file}: its labels ({', '.join(labels[:3])} ...) match no marker set; expected one"
            f" of: {names}; or describe yours in a file of rigs/marker_sets")
    if found.refusal:
        raise RequestError(f"{file}: {found.refusal}")
    return found
