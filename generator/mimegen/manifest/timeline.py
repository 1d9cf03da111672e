"""The timeline of a clip: what happens from when to when, known from how the clip was made."""

import re
from collections.abc import Collection, Iterable
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mimegen.manifest.rowpart import Number, RowPart

Hand = Literal["left", "right"]
OTHER_HAND: dict[Hand, Hand] = {"left": "right", "right": "left"}
PERFORMER: Final = "performer"
PARTNER: Final = "partner"
RELATION: Final = "relation"
SPEECH: Final = "speech"
ROLE: Final = "role"
LIES: Final = "lies at"
# Kinds of intervals whose names may contain a side ("right of", "right hand", "left_drum", "walks
# to the left door"), which mirroring swaps. The target of any interval may contain one too.
WITH_SIDES: Final = frozenset({RELATION, "contact", "gaze", "step"})
_SIDE = re.compile(r"(?<![a-z])(?:left|right)(?![a-z])")


class Thing(RowPart):
    """An imagined object."""

    name: str
    size_m: Number | None = Field(
        default=None, description="its longest side, in metres, on a person of 1.73 m")


class CueFacts(RowPart):
    """A nonverbal cue: where on the body it is, and what it may or may not mean."""

    region: str
    facial: bool | None = Field(default=None, description="whether it is seen in the face alone")
    explanations: list[str] = Field(min_length=1, description="mental states, likeliest first")
    sources: list[str] = Field(default=[], description="literature that connects them with it")
    means_in: list[str] = Field(
        default=[], description="situations in which it means the first of them")
    means_nothing_in: list[str] = Field(
        default=[], description="situations in which it means nothing")


class Interval(RowPart):
    """One event in a clip; times are in seconds from the clip's beginning.

    ``kind`` is ``action`` (the whole action), ``step`` (a part that viewers can recognise),
    ``held`` (an object in a hand), ``contact`` (a hand placed on an object of the score or on the
    partner), ``cue``, ``gaze`` (what the performer looks at), ``speech`` (a text that the mouth
    speaks), ``role`` (what the performer does overall and the partner does not) or ``relation``:
    the performer is ``near``, ``facing``, ``left of`` or ``right of`` the target, by the target's
    own left and right, or an object that they left ``lies at`` it.
    """

    kind: str
    name: str = Field(description="what happens, in words: an action's id, a verb, a thing, a cue")
    performer: str = Field(
        default=PERFORMER, description="performer, partner, or a name of the scene's")
    start_s: Number = Field(ge=0)
    end_s: Number = Field(ge=0)
    peak_s: Number | None = Field(default=None, description="when it is at its fullest")
    hand: Hand | None = Field(default=None, description="the performer's own")
    object: Thing | None = None
    target: str | None = Field(default=None, description="who or what it is directed at")
    cue: CueFacts | None = None


def retold(intervals: Iterable[Interval], mirror: bool = False, tempo: float = 1.0
           ) -> list[Interval]:
    """Return intervals as they are in a mirrored or faster take.

    Mirroring swaps the left and right hands and the words "left" and "right" in names and targets.
    ``tempo`` divides times: 2 halves them.
    """
    return [_retold(one, mirror, tempo) for one in intervals]


def _retold(one: Interval, mirror: bool, tempo: float) -> Interval:
    """Return one interval as ``retold`` does."""
    update: dict[str, object] = {name: round(value / tempo, 3)
                                 for name in ("start_s", "end_s", "peak_s")
                                 if (value := getattr(one, name)) is not None}
    if mirror and one.hand is not None:
        update["hand"] = OTHER_HAND[one.hand]
    if mirror and one.kind in WITH_SIDES:
        update["name"] = _SIDE.sub(_other_side, one.name)
    if mirror and one.target is not None:
        update["target"] = _SIDE.sub(_other_side, one.target)
    return one.model_copy(update=update)


def _other_side(found: re.Match[str]) -> str:
    return "right" if found[0] == "left" else "left"


def without_faces(intervals: Iterable[Interval], hidden: Collection[str], everybody: bool,
                  facial: bool) -> list[Interval]:
    """Return intervals without what only the faces of ``hidden`` performers would show.

    That is speech and, if the whole action is ``facial``, its steps. If ``everybody`` is hidden,
    this holds for performers of all names.
    """
    only = {SPEECH, "step"} if facial else {SPEECH}
    return [one for one in intervals
            if one.kind not in only or not (everybody or one.performer in hidden)]


def outermost(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the steps, in order, that are not part of a longer step of the same performer."""
    steps = [one for one in intervals if one.kind == "step"]
    return [one for one in steps if not any(
        other.performer == one.performer and other.start_s <= one.start_s
        and other.end_s >= one.end_s and _length(other) > _length(one) for other in steps)]


def _length(one: Interval) -> float:
    return float(one.end_s - one.start_s)


def role_of(intervals: Iterable[Interval]) -> Interval | None:
    """Return what the performer does and the partner does not; None if both do the same."""
    return next((one for one in intervals if one.kind == ROLE), None)


def cut(intervals: Iterable[Interval], moments: NDArray[np.float64], shown: NDArray[np.float64]
        ) -> list[Interval]:
    """Return intervals with times mapped from ``moments`` (K,), ascending, to ``shown`` (K,).

    Both are in seconds. Intervals wholly outside ``moments`` are dropped; others are clipped to it.
    """
    return [_cut(one, moments, shown) for one in intervals
            if one.end_s > moments[0] and one.start_s < moments[-1]]


def _cut(one: Interval, moments: NDArray[np.float64], shown: NDArray[np.float64]) -> Interval:
    return one.model_copy(update={
        name: round(float(np.interp(value, moments, shown)), 3)
        for name in ("start_s", "end_s", "peak_s") if (value := getattr(one, name)) is not None})
