"""Marker sets: which marker sits on which landmark of the body, from rigs/marker_sets/*.yaml."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_file, data_files
from mimegen.base.yaml_file import Strict, YamlFile, read_yaml
from mimegen.motion.quaternions import FloatArray

Vector = tuple[float, float, float]
# Labels fit a set where so many of its markers, and this share of all of them, are there.
LEAST_MARKERS, LEAST_SHARE = 8, 0.25
MIDDLE = ("Hips", "Spine2", "Head")


class _Spot(Strict):
    joint: str
    at: Vector
    loose: bool = False


class _BodyMarkers(Strict):
    middle: Mapping[str, _Spot]
    sides: Mapping[str, _Spot]
    freedom: Mapping[str, Vector]


class _SetFile(Strict):
    name: str
    refusal: str | None = None
    middle: Mapping[str, str | None] = {}
    left_right: tuple[str, str] = ("L", "R")
    sides: Mapping[str, str | None] = {}


@dataclass(frozen=True, eq=False)
class Landmark:
    """A place on the standard body: the joint that carries it, and where (3,) at rest, metres."""

    name: str
    joint: str
    place: FloatArray
    loose: bool


@dataclass(frozen=True, eq=False)
class MarkerSet:
    """``landmarks`` by marker, in labels' plain form; ``refusal`` says why a set cannot serve."""

    name: str
    landmarks: Mapping[str, str]
    refusal: str | None

    def landmark(self, label: str) -> Landmark | None:
        """Return where a marker of this label sits, or None for a label that is not of the set."""
        return body_landmarks().get(self.landmarks.get(plain(label), ""))


def plain(label: str) -> str:
    """Return a label without capitals, spaces and separators, by which labels are compared."""
    return re.sub(r"[\s_.-]+", "", label).lower()


def _body() -> _BodyMarkers:
    return _read_body(data_file("rigs/marker_sets/body.yaml"))


@cache
def _read_body(path: Path) -> _BodyMarkers:
    return read_yaml(path, _BodyMarkers)


def body_landmarks() -> Mapping[str, Landmark]:
    """Return all landmarks by name, paired ones as ``left_...`` and ``right_...``."""
    return _landmarks(data_file("rigs/marker_sets/body.yaml"))


@cache
def _landmarks(path: Path) -> Mapping[str, Landmark]:
    body = _read_body(path)
    found = {name: Landmark(name, spot.joint, np.array(spot.at), spot.loose)
             for name, spot in body.middle.items()}
    for name, spot in body.sides.items():
        for side, sign in (("left", 1.0), ("right", -1.0)):
            joint = spot.joint if spot.joint in MIDDLE else side.capitalize() + spot.joint
            place = np.array(spot.at) * np.array([sign, 1.0, 1.0])
            found[f"{side}_{name}"] = Landmark(f"{side}_{name}", joint, place, spot.loose)
    return found


def freedom(joint: str) -> tuple[float, float, float]:
    """Return how far (radians) a joint is thought to turn about the rest pose's X, Y and Z."""
    bare = re.sub(r"^(Left|Right)", "", joint)
    return _body().freedom.get(bare, _body().freedom["fingers"])


def marker_sets() -> tuple[MarkerSet, ...]:
    """Return all marker sets; raises RequestError, with file and line, for a wrong one."""
    return tuple(_read(path, data_file("rigs/marker_sets/body.yaml"))
                 for path in data_files("rigs/marker_sets/*.yaml") if path.name != "body.yaml")


@cache
def _read(path: Path, body: Path) -> MarkerSet:
    file = YamlFile(path)
    content = file.parsed(_SetFile)
    landmarks = {plain(label): name or "" for label, name in content.middle.items()}
    for pattern, name in content.sides.items():
        for side, letter in zip(("left", "right"), content.left_right, strict=True):
            landmarks[plain(pattern.replace("$", letter))] = f"{side}_{name}" if name else ""
    for label, name in landmarks.items():
        if name and name not in _landmarks(body):
            raise RequestError(f"{path}: {label}: there is no landmark {name!r} in body.yaml")
    return MarkerSet(content.name, landmarks, content.refusal)


def find_marker_set(file: str, labels: tuple[str, ...]) -> MarkerSet:
    """Return the marker set that most labels belong to, whatever else is in the file.

    Raises RequestError, naming the ``file``, where labels fit no set or one that cannot serve.
    """
    there = {plain(label) for label in labels}
    found = max(marker_sets(), key=lambda one: len(there & set(one.landmarks))
                - 0.01 * len(one.landmarks))
    known = there & set(found.landmarks)
    if len(known) < max(LEAST_MARKERS, LEAST_SHARE * len(found.landmarks)):
        names = ", ".join(one.name for one in marker_sets() if one.refusal is None)
        raise RequestError(
            f"{file}: its labels ({', '.join(labels[:3])} ...) fit no marker set, so nobody can"
            f" tell where the markers sit; expected one of: {names}; or describe yours in a file"
            " of rigs/marker_sets")
    if found.refusal:
        raise RequestError(f"{file}: {found.refusal}")
    return found
