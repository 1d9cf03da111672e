"""Seeds and styles: variations of a score, each of which is another take of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mimegen.base.seeds import generator
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.choreography.freedom import FREE
from mimegen.choreography.life import (
    ALL_VARIATION,
    KeptVariation,
    SmallMovements,
    life_values,
    waves,
)
from mimegen.choreography.places import Place
from mimegen.choreography.repetition_noise import middles, uneven
from mimegen.choreography.score import (
    FootKey,
    HandKey,
    Key,
    PelvisKey,
    Phase,
    PropKey,
    Repeat,
    Score,
    ShouldersKey,
    Turned,
    Variety,
)
from mimegen.choreography.styles import Style, drawn_styles, style_named
from mimegen.choreography.tracks import Timeline, timeline
from mimegen.motion.quaternions import FloatArray

# Spans shorter than FAST_SPAN_S that end in a stop or an impact are fast. Seeds never shorten them;
# seed 0 shortens them to HURRIED of their time at most.
FAST_SPAN_S = 0.32
HURRIED = 0.94
# Band of frequencies in which the tempo drifts.
TEMPO_HZ = (0.15, 0.7)
# Offsets and turns at least this large in the score are near the end of people's range.
FAR_CM = 44.0
FAR_DEG = 45.0
# A pelvis between these heights (cm) in the score is lowered by some seeds. A deeper one is written
# for what is done there; above them the person stands.
BENT = -12.0, -3.0
# Range of the share of a style that a seed draws if no style is asked for.
MILDEST = 0.25
FULLEST = 0.8
USUAL_AMPLITUDE = Variety().amplitude


class Rendition(NamedTuple):
    """One performer's part as a seed and a style perform it.

    ``mirror`` is whether the take is mirrored; ``turn_deg`` turns the whole take to the left.
    """

    line: Timeline
    mirror: bool
    turn_deg: float


class _Manner(NamedTuple):
    """How one performer deviates from the score: sizes as factors, offsets in cm and degrees.

    ``middles`` are the mean offsets of each hand and prop by track and anchor.
    """

    style: Style
    amplitude: float
    angles: float
    width: float
    stagger: float
    sink: float
    lean: float
    head: float
    noise: float
    hands: dict[str, FloatArray]
    middles: Mapping[tuple[str, str], FloatArray]


def is_written(seed: int, style: str | None) -> bool:
    """Return whether a take is the score as written: seed 0 without a style."""
    return seed == 0 and style is None


def vary(
    score: Score, seed: int, style: str | None = None,
    variation: KeptVariation = ALL_VARIATION,
) -> tuple[Rendition, ...]:
    """Return each performer's part as a seed performs it in a style.

    If ``is_written``, it is the score itself. Other seeds without a style draw a style and a share
    of it. Performers of one score keep the same time. Only a part of the differences in space is
    applied (``variation``); differences in time, sides and repeats stay.

    Raises RequestError for an unknown style.
    """
    parts = score.parts()
    rng = generator(seed, score.name)
    if is_written(seed, style):
        lines = [uneven(timeline(part), part.name, SmallMovements(seed)) for part in parts]
        kept = _timed(lines, 1.0, life_values().uneven.time, rng, keep=True)
        return tuple(Rendition(line, False, score.facing) for line in kept)
    own = (style_named(style) if style else _drawn_style(rng)).sized(
        min(1.0, score.vary.amplitude / USUAL_AMPLITUDE))
    mirror, turn, repeats, tempo = False, score.facing, score.repeat, 0.0
    if seed:
        mirror, turn, repeats = _drawn_sides(score, rng)
        tempo = score.vary.tempo
    lines, left, small = list[Timeline](), variation.share, variation.small_movements(seed)
    for part in parts:
        line = timeline(part.model_copy(update={"repeat": repeats}))
        manner = _manner(score, line, own.mild(left), rng if seed else None, left)
        lines.append(uneven(replace(line, phases=tuple(
            _in_manner(phase, manner, rng) for phase in line.phases)), part.name, small))
    stretch = own.time * float(np.exp(rng.uniform(-tempo, tempo)))
    wobble = max(tempo / 3, life_values().uneven.time)
    timed = _timed(lines, stretch, wobble, rng, grown=max(1.0, own.size, own.angles))
    return tuple(Rendition(line, mirror, turn) for line in timed)


def _drawn_sides(score: Score, rng: np.random.Generator
                 ) -> tuple[bool, float, tuple[Repeat, ...]]:
    """Draw whether a take is mirrored, its turn in degrees, and its numbers of repeats."""
    mirror = bool(rng.uniform() < 0.4) and score.vary.mirror
    # Mirrored takes are mirror images as seen from MIME's camera.
    turn = 2 * MIME_AZIMUTH_DEG - score.facing if mirror else score.facing
    turn += float(rng.uniform(-9, 9))
    repeats = tuple(
        repeat.model_copy(update={"times": max(repeat.least, repeat.times + int(
            rng.integers(-score.vary.repeats, score.vary.repeats + 1)))})
        for repeat in score.repeat
    )
    return mirror, turn, repeats


def _drawn_style(rng: np.random.Generator) -> Style:
    names = sorted(drawn_styles())
    name = names[int(rng.integers(len(names)))]
    return style_named(name).mild(float(rng.uniform(MILDEST, FULLEST)))


def _manner(score: Score, line: Timeline, style: Style, rng: np.random.Generator | None,
            share: float) -> _Manner:
    size, stance = share * score.vary.amplitude, share * score.vary.stance
    means = middles(line)
    sides = ("left_hand", "right_hand")
    if rng is None:
        return _Manner(style, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0,
                       {side: np.zeros(3) for side in sides}, means)
    return _Manner(
        style,
        amplitude=float(np.exp(rng.uniform(-size, size))),
        angles=float(np.exp(rng.uniform(-size, size))),
        width=float(1 + stance * rng.uniform(-0.12, 0.28)),
        stagger=float(stance * rng.uniform(-4, 4)),
        sink=float(stance * rng.uniform(0, 2.5)),
        lean=float(share * rng.uniform(-4, 4)),
        head=float(share * rng.uniform(-3, 3)),
        noise=0.7 * share,
        hands={side: share * rng.normal(0, 0.9, 3) for side in sides},
        middles=means,
    )


def _timed(lines: Sequence[Timeline], stretch: float, wobble: float, rng: np.random.Generator,
           keep: bool = False, grown: float = 1.0) -> list[Timeline]:
    """Return timelines stretched as a whole and, at random, in each span; alike for all performers.

    ``stretch`` is the factor on the whole duration, ``wobble`` the size of the random part.
    ``keep`` keeps the whole duration; ``grown`` is the factor by which movements are larger.
    """
    moments = np.unique([0.0, *(phase.at for line in lines for phase in line.phases),
                         lines[0].duration])
    written = np.diff(moments)
    # The tempo drifts slowly, and each span varies in addition.
    tempo = waves(rng, TEMPO_HZ, np.array([wobble])).at((moments[1:] + moments[:-1]) / 2)[:, 0]
    spans = written * stretch * np.exp(tempo + rng.normal(0, 0.5 * wobble, len(written)))
    # Fast spans that end in a stop or an impact are written at a person's full speed: no seed makes
    # them faster, and larger movements take longer.
    least = written * grown * (HURRIED if keep else 1.0)
    ends = {phase.at for line in lines for phase in line.phases
            if any(key.how != "pass" for _, key in phase.moves())}
    fast = (written < FAST_SPAN_S) & np.isin(moments[1:], list(ends))
    spans = np.where(fast, np.maximum(spans, least), spans)
    if keep:
        spans *= written.sum() / spans.sum()
    again = np.r_[0.0, np.cumsum(spans)]
    return [
        Timeline(tuple(phase.model_copy(update={"at": float(np.interp(phase.at, moments, again))})
                       for phase in line.phases), float(again[-1]), (again, moments))
        for line in lines
    ]


def _in_manner(phase: Phase, manner: _Manner, rng: np.random.Generator) -> Phase:
    """Return a phase with a performer's deviations; the first gets the keys that they need."""
    moves = dict(phase.moves())
    if phase.at == 0:
        moves = {"chest": Turned(lean=0), "head": Turned(lean=0), "pelvis": PelvisKey(up=0),
                 "shoulders": ShouldersKey(up=0, forward=0), **moves}
    varied = {track: _varied(track, key, manner, rng) for track, key in moves.items()}
    props = {name: varied.pop(name) for name in phase.props}
    return phase.model_copy(update={**varied, "props": props, "hands": None, "feet": None})


def _varied(track: str, key: Key, manner: _Manner, rng: np.random.Generator) -> Key:
    """Return a track's key with a performer's deviations from the score."""
    update: dict[str, Any] = {}
    style = manner.style
    if isinstance(key, Turned) and not isinstance(key, PropKey):
        for name in ("turn", "lean", "tilt"):
            if (value := getattr(key, name)) is not None:
                update[name] = _sized_turn(value, manner.angles * style.angles)
    if "lean" in update and track == "chest":
        update["lean"] += manner.lean + style.lean
    if "lean" in update and track == "head":
        update["lean"] += manner.head + style.head
    if isinstance(key, PelvisKey) and key.up is not None:
        update["up"] = key.up - (manner.sink + style.sink if BENT[0] < key.up < BENT[1] else 0.0)
    if isinstance(key, ShouldersKey):
        update["up"] = (key.up or 0.0) + style.shoulders[0]
        update["forward"] = (key.forward or 0.0) + style.shoulders[1]
    if isinstance(key, FootKey) and key.to is not None:
        update["to"] = _varied_foot_place(track, key.to, manner)
    if isinstance(key, HandKey | PropKey) and key.to is not None and key.to.anchor in FREE:
        update["to"] = _varied_place(track, key, key.to, manner, rng)
    return key.model_copy(update=update)


def _sized_turn(degrees: float, factor: float) -> float:
    """Return a turn scaled by a factor; large turns are enlarged less, not at all from FAR_DEG."""
    room = max(0.0, 1 - abs(degrees) / FAR_DEG)
    return degrees * (1 + (factor - 1) * (room if factor > 1 else 1.0))


def _varied_foot_place(track: str, place: Place, manner: _Manner) -> Place:
    out, forward, up = place.offset
    sign = 1 if track.startswith("left") else -1
    width = manner.width * (1 - manner.style.narrow)
    return Place(place.anchor, (out * width, forward + sign * manner.stagger, up))


def _varied_place(track: str, key: Key, place: Place, manner: _Manner,
                  rng: np.random.Generator) -> Place:
    """Return a place scaled about the mean offset of its track at that anchor, and varied."""
    offset, middle = np.array(place.offset), manner.middles[track, place.anchor]
    size = manner.amplitude * manner.style.size
    if isinstance(key, PropKey):
        # Objects on the floor stay there, and rods stay within reach of both hands.
        size = 1.0 if place.anchor in ("floor", "here") else 1 + 0.4 * (size - 1)
        return Place(place.anchor, _three(middle + size * (offset - middle)))
    far = np.linalg.norm(offset) > FAR_CM and place.anchor in ("shoulder", "floor", "here")
    moved = middle + (min(size, 1.0) if far else size) * (offset - middle)
    if place.anchor not in ("floor", "here", "hip"):
        # Near the end of the arm's reach, only move nearer, never farther.
        moved *= min(1 + 0.3 * (size - 1), 1.0 if far else 2.0)
    moved = moved + manner.hands[track] + rng.normal(0, 1, 3) * manner.noise
    return Place(place.anchor, _three(moved - [0, 0, manner.style.drop]))


def _three(numbers: FloatArray) -> tuple[float, float, float]:
    return float(numbers[0]), float(numbers[1]), float(numbers[2])
