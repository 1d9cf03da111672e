"""Checks: what viewers must see of a take to recognise it, measured on any performer's motion.

``<take>.checks.yaml`` beside a score lists them. Times and sides are those of the score, before a
seed changes the timing or mirrors the take.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from mimegen.base.errors import near_misses
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.choreography.anchors import SIDES
from mimegen.choreography.body import (
    FLOOR,
    HAND_ANCHORS,
    HERE,
    PARTNER,
    centimetre,
    hand_point,
    landmark_frames,
    sideless_anchors,
)
from mimegen.choreography.course import course_of
from mimegen.choreography.finding import Finding
from mimegen.choreography.places import LEFT
from mimegen.choreography.ranges import joint_angles
from mimegen.choreography.score import Score
from mimegen.choreography.variation import vary
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray

CHECKS_SUFFIX = ".checks.yaml"
# Points that each side has: joints, by their names in the skeleton, and points of the hand.
JOINTS = {"shoulder": "Arm", "elbow": "ForeArm", "wrist": "Hand", "hip": "UpLeg", "knee": "Leg",
          "ankle": "Foot", "ball": "ToeBase"}
HAND_POINTS = ("palm", "fingertips", "knuckles")
Moment = Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)]
Pair = tuple[str, str]
KINDS = ("distance", "height", "ahead", "bend", "travel", "turn")


class Check(Strict):
    """One check, in centimetres on the person of 1.73 m or in degrees.

    It measures one of: the ``distance`` between two points; the ``height`` of the first point above
    the second; how far the first is ``ahead`` of the second, in the direction of the pelvis; a
    joint's ``bend``; the ``travel`` of a point relative to the pelvis (the diagonal of the box
    around its positions); the ``turn`` of the pelvis. Exactly one of ``least`` and ``most`` is its
    limit, which must hold at some time between ``from`` and ``to`` (``when: some``), or at all
    times (``when: all``). ``who`` is the performer that is measured.
    """

    about: str = Field(min_length=1)
    distance: Pair | None = None
    height: Pair | None = None
    ahead: Pair | None = None
    bend: str | None = None
    travel: str | None = None
    turn: Literal["pelvis"] | None = None
    least: float | None = None
    most: float | None = None
    when: Literal["some", "all"] = "some"
    start: Moment | None = Field(default=None, alias="from")
    end: Moment | None = Field(default=None, alias="to")
    who: Literal["performer", "partner"] = "performer"

    @model_validator(mode="after")
    def _check_one_kind(self) -> "Check":
        if sum(getattr(self, kind) is not None for kind in KINDS) != 1:
            raise ValueError(f"says one of {', '.join(KINDS)}")
        if (self.least is None) == (self.most is None):
            raise ValueError("says least or most")
        return self

    @property
    def kind(self) -> str:
        """The name of the quantity that is measured."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def limit(self) -> float:
        """The least or the greatest value allowed, in centimetres or degrees."""
        limit = self.most if self.least is None else self.least
        assert limit is not None
        return limit

    @property
    def points(self) -> tuple[str, ...]:
        """The names of the points or joints that are measured."""
        given = getattr(self, self.kind)
        return given if isinstance(given, tuple) else (given,)


class Checks(Strict):
    """One file ``<take>.checks.yaml``."""

    checks: tuple[Check, ...]


def checks_file(score: Score) -> Path:
    """Return the path of a score's checks; the file need not exist."""
    return Path(score.source).with_name(score.take + CHECKS_SUFFIX)


def read_checks(score: Score) -> tuple[Check, ...]:
    """Return the checks in the file beside a score; none if there is no file.

    Raises RequestError with the file, line and key of the first error.
    """
    path = checks_file(score)
    if not path.is_file():
        return ()
    document = YamlFile(path)
    checks = document.parsed(Checks).checks
    known = _known_points(score)
    for number, check in enumerate(checks):
        where = ("checks", number, check.kind)
        names = _bends() if check.kind == "bend" else known
        for name in check.points if check.kind != "turn" else ():
            if name not in names:
                raise document.error(where, f"unknown point {name!r}{near_misses(name, names)}")
        if not 0 <= (check.start or 0.0) < (check.end or score.duration) <= score.duration:
            raise document.error(where[:2], "its time is outside the score, which lasts"
                                            f" {score.duration:g} s")
    return checks


def line_of_check(score: Score, about: str) -> int:
    """Return the line, in the file beside a score, of the check described as ``about``."""
    document = YamlFile(checks_file(score))
    checks = document.parsed(Checks).checks
    number = next(number for number, check in enumerate(checks) if check.about == about)
    return document.line(("checks", number))


def _known_points(score: Score) -> tuple[str, ...]:
    own = (FLOOR, *_middle(), *(
        f"{side}_{name}" for side in ("left", "right") for name in (*JOINTS, *HAND_POINTS)))
    return own if score.partner is None else (*own, *(PARTNER + name for name in own))


def _middle() -> tuple[str, ...]:
    """Return the landmarks in the middle of the body."""
    return tuple(name for name in sideless_anchors() if name not in (FLOOR, HERE, *HAND_ANCHORS))


def _bends() -> tuple[str, ...]:
    return tuple(f"{side}_{joint}" for side in ("left", "right") for joint in ("elbow", "knee"))


class _Seen(NamedTuple):
    """The motion that is measured, the other performer's, and whether sides are swapped."""

    motion: Motion
    other: Motion | None
    mirror: bool


class CheckResult(NamedTuple):
    """The result of a check within one span of a performance.

    ``value`` is the decisive value, at ``time_s``: the best one if the check must hold at some
    time, the worst if at all times. ``spare`` is its margin in centimetres or degrees, negative if
    the check fails.
    """

    check: Check
    time_s: float
    value: float
    spare: float

    @property
    def finding(self) -> Finding:
        """The result as a finding of lint."""
        check = self.check
        return Finding("seen", check.about, self.time_s, self.value, check.limit,
                       "degrees" if check.kind in ("bend", "turn") else "cm")


def missed(motions: Sequence[Motion], score: Score, seed: int = 0, style: str | None = None
           ) -> list[Finding]:
    """Return the checks of a score that the performers' ``motions`` fail.

    Motions may be on any body whose skeleton has the standard skeleton's joints; ``seed`` and
    ``style`` are those they were made with. Raises RequestError as ``read_checks`` does.
    """
    return [one.finding for one in check_results(motions, score, seed, style) if one.spare < 0]


def check_results(motions: Sequence[Motion], score: Score, seed: int = 0, style: str | None = None
                  ) -> list[CheckResult]:
    """Return the result of each check of a score, once for each time its span is performed.

    Arguments and errors are those of ``missed``.
    """
    checks = read_checks(score)
    if not checks:
        return []
    rendition = vary(score, seed, style)[0]
    course, found = course_of(score, rendition), list[CheckResult]()
    for check in checks:
        own = 1 if check.who == "partner" else 0
        other = motions[1 - own] if len(motions) > 1 else None
        spans = list(course.times(check.start or 0.0, check.end or score.duration))
        values = _values(check, _Seen(motions[own], other, rendition.mirror))
        found += [_check_result(check, values, span, motions[own].fps) for span in spans]
    return found


def _check_result(check: Check, values: FloatArray, span: tuple[float, float],
                  fps: float) -> CheckResult:
    """Return the result of a check within a span of the performance, in seconds."""
    first = min(int(span[0] * fps), len(values) - 1)
    inside = values[first : max(first + 1, round(span[1] * fps) + 1)]
    if check.kind == "travel":
        inside = np.array([_spread(inside)])
    if check.kind == "turn":
        inside = np.array([np.ptp(inside)])
    spare = (1.0 if check.least is not None else -1.0) * (inside - check.limit)
    at = int(np.argmax(spare) if check.when == "some" else np.argmin(spare))
    return CheckResult(check, (first + at) / fps, float(inside[at]), float(spare[at]))


def _spread(places: FloatArray) -> float:
    """Return the diagonal of the bounding box of positions (F, 3)."""
    return float(np.linalg.norm(np.ptp(places, axis=0)))


def _values(check: Check, seen: _Seen) -> FloatArray:
    """Return the values (F,) that a check measures; for ``travel`` the point's positions (F, 3)."""
    motion = seen.motion
    if check.turn:
        return np.asarray(np.rad2deg(np.unwrap(_heading(motion))))
    if check.bend:
        side, joint = _side(check.bend, seen.mirror)
        return joint_angles(motion)[f"{joint} bent", f"{side} {joint}"]
    places = [_point_positions(name, seen) / centimetre(motion.skeleton) for name in check.points]
    if check.travel:
        return _against_pelvis(places[0], motion)
    apart = places[0] - places[1]
    if check.distance:
        return np.asarray(np.linalg.norm(apart, axis=-1))
    if check.height:
        return np.asarray(apart[:, 2])
    heading = _heading(motion)
    return np.asarray(np.sin(heading) * apart[:, 0] - np.cos(heading) * apart[:, 1])


def _against_pelvis(places: FloatArray, motion: Motion) -> FloatArray:
    """Return positions (F, 3) in centimetres relative to the pelvis' place and heading."""
    away = places - motion.root_positions * [1.0, 1.0, 0.0] / centimetre(motion.skeleton)
    back = np.zeros((len(away), 3))
    back[:, 2] = -_heading(motion)
    return quaternions.rotate(quaternions.from_rotation_vectors(back), away)


def _heading(motion: Motion) -> FloatArray:
    """Return the direction that the pelvis faces (F,), in radians to the left of -Y."""
    ahead = quaternions.rotate(motion.global_pose.rotations[:, 0], np.array([0.0, -1.0, 0.0]))
    return np.asarray(np.arctan2(ahead[:, 0], -ahead[:, 1]))


def _side(name: str, mirror: bool) -> tuple[str, str]:
    """Return the prefix of joints on the side on which a point is performed, and its bare name."""
    side, rest = name.split("_", 1)
    return ("Left" if (side == "left") != mirror else "Right"), rest


def _point_positions(name: str, seen: _Seen) -> FloatArray:
    """Return the positions (F, 3) of a named point of the body, in metres."""
    if name.startswith(PARTNER):
        # In a mirrored scene both performers are mirrored.
        assert seen.other is not None
        return _point_positions(name.removeprefix(PARTNER), seen._replace(motion=seen.other))
    motion = seen.motion
    pose, skeleton = motion.global_pose, motion.skeleton
    if name == FLOOR:
        return np.asarray(motion.root_positions * [1.0, 1.0, 0.0])
    if name in _middle():
        return landmark_frames(skeleton, pose, name, LEFT).positions
    side, rest = _side(name, seen.mirror)
    if rest in JOINTS:
        return np.asarray(pose.positions[:, skeleton.index[side + JOINTS[rest]]])
    hand = skeleton.index[f"{side}Hand"]
    return np.asarray(pose.positions[:, hand] + quaternions.rotate(
        pose.rotations[:, hand], hand_point(rest, SIDES[side])))
