"""Excerpts of actions for scenes: from a score, one part per performer, independent of place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np

from mimegen.choreography.action import Action
from mimegen.choreography.hands import hangs
from mimegen.choreography.happenings import (
    NOTHING,
    TIMELINE_SUFFIX,
    happenings,
    read_happenings,
)
from mimegen.choreography.places import Place
from mimegen.choreography.score import HandKey, Key, Phase, Prop, PropKey, Score, WalkKey
from mimegen.choreography.tracks import Timeline, timeline, track_keys
from mimegen.choreography.variation import vary
from mimegen.manifest.timeline import SPEECH, CueFacts, Interval, cut
from mimegen.scenes.postures import complete, posture
from mimegen.scenes.spots import Spot

LEGS = ("pelvis", "left_foot", "right_foot")
HANDS = ("left_hand", "right_hand")
# An event counts only if the excerpt contains more than this fraction of it.
SEEN = 0.6
ANYWHERE = PropKey(to=Place("chest", (0.0, 35.0, -5.0)))


@dataclass(frozen=True)
class NamedScore:
    """What a step's ``do`` refers to: a score with its file, and its action unless a gesture."""

    file: Path
    score: Score
    action: Action | None = None

    @property
    def name(self) -> str:
        """The action's id, or the gesture's."""
        return self.action.id if self.action else self.score.take


@dataclass(frozen=True)
class PerformerPart:
    """One performer's part: complete keys by track, with times in seconds from its beginning.

    ``walks`` are its walks as (setting off, arrival, destination, key). ``begins`` is where the
    performer stands at first, in the part's own world. ``props`` are its imagined objects.
    """

    keys: Mapping[str, Sequence[tuple[float, Key]]]
    walks: Sequence[tuple[float, float, Spot, WalkKey]]
    begins: Spot
    props: Mapping[str, Prop]
    balanced: bool

    def uses(self, side: str) -> bool:
        """Return whether the part uses a hand for anything but hanging."""
        return any(not hangs(cast(HandKey, key)) for _, key in self.keys[f"{side}_hand"])


@dataclass(frozen=True)
class ActionExcerpt:
    """The excerpt of an action that a step uses: its parts, duration in seconds, and events.

    ``stands`` is where the second performer stands, seen from the first; None if there is one.
    """

    parts: tuple[PerformerPart, ...]
    stands: Spot | None
    duration: float
    happens: tuple[Interval, ...]


def excerpt(known: NamedScore, style: str | None, start: float | None, end: float | None,
            legs: bool) -> ActionExcerpt:
    """Return the excerpt of an action between two of its times, in a style.

    It begins and ends at the phases nearest to ``start`` and ``end``, in seconds of the score; None
    is the action's own beginning and end. Without ``legs`` it has no keys of pelvis and feet, and
    no walks. Raises RequestError for an unknown style.
    """
    lines = _lines(known.score, style)
    moments = np.unique([phase.at for line in lines for phase in line.phases])
    wanted = np.interp([start or 0.0, known.score.duration if end is None else end],
                       *lines[0].clock[::-1])
    first, last = (float(moments[np.abs(moments - moment).argmin()]) for moment in wanted)
    if end is None:
        last = lines[0].duration
    parts = tuple(_part(score, line, first, last, legs)
                  for score, line in zip(known.score.parts(), lines, strict=True))
    partner = known.score.partner
    stands = Spot(partner.stands.left, partner.stands.forward, partner.stands.turn) \
        if partner else None
    whole = [one for one in _happens(known, style)
             if min(one.end_s, last) - max(one.start_s, first) > SEEN * (one.end_s - one.start_s)]
    window = np.array([first, last]), np.array([0.0, last - first])
    return ActionExcerpt(parts, stands, last - first, tuple(cut(whole, *window)))


def _lines(score: Score, style: str | None) -> tuple[Timeline, ...]:
    """Return each part's timeline, as written or in a style.

    Unevenness is not added here: performing the scene adds it.
    """
    if style is None:
        return tuple(timeline(part) for part in score.parts())
    return tuple(rendition.line for rendition in vary(score, 0, style))


def _happens(known: NamedScore, style: str | None) -> list[Interval]:
    """Return the events of an action, except the whole action and its speech."""
    path = known.file.with_name(known.score.take + TIMELINE_SUFFIX)
    written = read_happenings(path, known.score) if path.is_file() else NOTHING
    action = known.action
    cue = (action.labels[0], CueFacts(**action.cue.model_dump(mode="json", exclude_none=True))) \
        if action and action.cue else None
    found = [one for one in happenings(known.score, written, 0, style, cue)
             if one.kind not in ("action", SPEECH)]
    return found if style else cut(found, *vary(known.score, 0)[0].line.clock)


def _part(score: Score, line: Timeline, first: float, last: float, legs: bool) -> PerformerPart:
    phases = line.phases
    begins = posture("standing")
    tracks: dict[str, Key] = {**begins, **dict.fromkeys(score.props, ANYWHERE)}
    keys = {track: _within([(timed.time, complete(timed.key))
                            for timed in track_keys(phases, track, start)], first, last)
            for track, start in tracks.items() if legs or track not in LEGS}
    walked = _walked(line) if legs else []
    before = [there for _, arrives, there, _ in walked if arrives <= first + 1e-6]
    start = before[-1] if before else _begin(phases[0]) if legs else Spot(0, 0)
    ways = [(max(since, first) - first, arrives - first, there, key)
            for since, arrives, there, key in walked if first + 1e-6 < arrives <= last + 1e-6]
    return PerformerPart(keys, ways, start, score.props, score.balanced)


def _within(keys: Sequence[tuple[float, Key]], first: float, last: float
            ) -> list[tuple[float, Key]]:
    """Return a track's keys between two times, the last one before them moved to the first time.

    The track stops at both ends: if it passed through them, it would swing far out before a long
    rest.
    """
    before = [key if moment >= first - 1e-6 else key.held() for moment, key in keys
              if moment <= first + 1e-6]
    inside = [(moment - first, key) for moment, key in keys
              if first + 1e-6 < moment <= last + 1e-6]
    found = [(0.0, before[-1]), *inside]
    for end in (0, -1):
        moment, key = found[end]
        found[end] = moment, key.model_copy(update={"how": "stop"})
    return found


def _begin(phase: Phase) -> Spot:
    key = phase.walk or WalkKey()
    return Spot(key.left or 0.0, key.forward or 0.0, key.turn or 0.0)


def _walked(line: Timeline) -> list[tuple[float, float, Spot, WalkKey]]:
    """Return each walk's time of setting off, time of arrival, destination and key."""
    performed, written = line.clock
    phases = line.phases
    here, found = _begin(phases[0]), []
    for before, phase in pairwise(phases):
        if (key := phase.walk) is None:
            continue
        here = Spot(*(now if new is None else new for now, new in zip(
            here, (key.left, key.forward, key.turn), strict=True)))
        since = before.at if key.since is None else float(np.interp(key.since, written, performed))
        found.append((since, phase.at, here, key))
    return found
