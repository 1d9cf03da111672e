"""Seeds: another take of the same score by the same rules."""

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mimegen.choreography.places import Place
from mimegen.choreography.score import (
    FootKey,
    HandKey,
    Key,
    PelvisKey,
    Phase,
    PropKey,
    Score,
    Turned,
)
from mimegen.choreography.tracks import Timeline, timeline
from mimegen.motion.quaternions import FloatArray

# Places in free space grow with the amplitude; elsewhere the hand touches something.
FREE = ("chest", "pelvis", "navel", "belly", "shoulder", "other_shoulder", "hip", "floor", "head")


FAST_SPAN_S = 0.32
FAR_CM = 44.0


class Variant(NamedTuple):
    """A score as one seed performs it."""

    line: Timeline
    mirror: bool
    turn_deg: float


class _Manner(NamedTuple):
    """How one take differs: sizes as factors, offsets in centimetres and degrees."""

    amplitude: float
    angles: float
    width: float
    stagger: float
    sink: float
    lean: float
    head: float
    hands: dict[str, tuple[float, float, float]]


def vary(score: Score, seed: int, style: str | None = None) -> tuple[Variant, ...]:
    """Return each performer's part as seed ``seed`` performs it; seed 0 leaves it as written.

    Performers of one scene keep the same time.
    """
    parts = score.parts()
    if seed == 0:
        return tuple(Variant(timeline(part), False, score.facing) for part in parts)
    rng = np.random.default_rng([seed, zlib.crc32(score.name.encode())])
    mirror = bool(rng.uniform() < 0.4) and score.vary.mirror
    turn = (-score.facing if mirror else score.facing) + float(rng.uniform(-9, 9))
    repeats = tuple(
        repeat.model_copy(update={"times": max(1, repeat.times + int(
            rng.integers(-score.vary.repeats, score.vary.repeats + 1)))})
        for repeat in score.repeat
    )
    lines = []
    for part in parts:
        line = timeline(part.model_copy(update={"repeat": repeats}))
        manner = _manner(score, rng)
        lines.append(replace(line, phases=tuple(
            _in_manner(phase, manner, rng) for phase in line.phases)))
    return tuple(Variant(line, mirror, turn) for line in _timed(lines, score, rng))


def _manner(score: Score, rng: np.random.Generator) -> _Manner:
    size, stance = score.vary.amplitude, score.vary.stance
    return _Manner(
        amplitude=float(np.exp(rng.uniform(-size, size))),
        angles=float(np.exp(rng.uniform(-size, size))),
        width=float(1 + stance * rng.uniform(-0.12, 0.28)),
        stagger=float(stance * rng.uniform(-4, 4)),
        sink=float(stance * rng.uniform(0, 2.5)),
        lean=float(rng.uniform(-5, 5)),
        head=float(rng.uniform(-3, 3)),
        hands={side: _three(rng.normal(0, 0.9, 3)) for side in ("left_hand", "right_hand")},
    )


def _three(numbers: FloatArray) -> tuple[float, float, float]:
    return float(numbers[0]), float(numbers[1]), float(numbers[2])


def _timed(lines: Sequence[Timeline], score: Score, rng: np.random.Generator) -> list[Timeline]:
    """Stretch the whole take, and every span of it a little for itself, for all alike."""
    tempo = float(np.exp(rng.uniform(-score.vary.tempo, score.vary.tempo)))
    moments = np.unique([*(phase.at for line in lines for phase in line.phases),
                         lines[0].duration])
    written = np.diff(moments)
    spans = written * tempo * np.exp(rng.normal(0, score.vary.tempo / 3, len(written)))
    # Fast spans are written at a person's full speed: no seed is faster.
    spans = np.where(written < FAST_SPAN_S, np.maximum(spans, written), spans)
    again = np.r_[0.0, np.cumsum(spans)]
    return [
        Timeline(tuple(phase.model_copy(update={"at": float(np.interp(phase.at, moments, again))})
                       for phase in line.phases), float(again[-1]), line.rounds)
        for line in lines
    ]


def _in_manner(phase: Phase, manner: _Manner, rng: np.random.Generator) -> Phase:
    update: dict[str, object] = {}
    for track, key in phase.moves():
        if not isinstance(key, PropKey):
            update[track] = _varied(track, key, manner, rng)
    props = {name: _varied(name, key, manner, rng) for name, key in phase.props.items()}
    if phase.at == 0:
        update.setdefault("chest", _varied("chest", Turned(lean=0), manner, rng))
        update.setdefault("head", _varied("head", Turned(lean=0), manner, rng))
        update.setdefault("pelvis", _varied("pelvis", PelvisKey(up=0), manner, rng))
    return phase.model_copy(update={**update, "props": props, "hands": None, "feet": None})


def _varied(track: str, key: Key, manner: _Manner, rng: np.random.Generator) -> Key:
    update: dict[str, Any] = {}
    if isinstance(key, Turned) and not isinstance(key, PropKey):
        for name in ("turn", "lean", "tilt"):
            if (value := getattr(key, name)) is not None:
                update[name] = value * manner.angles
    if track in ("chest", "head") and "lean" in update:
        update["lean"] = update["lean"] + (manner.lean if track == "chest" else manner.head)
    if isinstance(key, PelvisKey) and key.up is not None:
        update["up"] = key.up - (manner.sink if abs(key.up) < 12 else 0.0)
    if isinstance(key, FootKey) and key.to is not None:
        update["to"] = _foot_place(track, key.to, manner)
    if isinstance(key, HandKey) and key.to is not None and key.to.anchor in FREE:
        own = np.array(manner.hands[track]) + rng.normal(0, 0.7, 3)
        update["to"] = _hand_place(key.to, manner, own)
    return key.model_copy(update=update)


def _foot_place(track: str, place: Place, manner: _Manner) -> Place:
    out, forward, up = place.offset
    sign = 1 if track.startswith("left") else -1
    return Place(place.anchor, (out * manner.width, forward + sign * manner.stagger, up))


def _hand_place(place: Place, manner: _Manner, own: FloatArray) -> Place:
    # What is near the end of the arm's reach gets nearer, never farther.
    far = np.linalg.norm(place.offset) > FAR_CM and place.anchor in ("shoulder", "floor")
    factor = 1 + 0.6 * (manner.amplitude - 1)
    return Place(place.anchor, _three(
        np.array(place.offset) * (min(factor, 1.0) if far else factor) + own
    ))
