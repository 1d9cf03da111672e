"""Small steps of standing people, who now and then move a foot by a few centimetres."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np

from mimegen.base.easing import minimum_jerk
from mimegen.base.seeds import generator
from mimegen.choreography.life import Life, life_values
from mimegen.choreography.score import FootKey
from mimegen.choreography.tracks import TimedKey
from mimegen.choreography.walking import Walk
from mimegen.motion.quaternions import FloatArray

Interval = tuple[float, float]
# A small step keeps this many seconds from every other movement of either foot. None is made while
# a heel is raised by more than HIGH_HEEL_DEG.
CLEAR_S = 0.1
HIGH_HEEL_DEG = 30.0
# The height of a small step: LIFT_CM plus this fraction of its length.
LIFT_CM = 1.2
LIFT_SHARE = 0.08


class SmallStep(NamedTuple):
    """One small step of a foot, from ``begin`` to ``end`` in seconds.

    ``aside`` (2,) is its displacement afterwards from where the score has it, in centimetres
    outward and forward.
    """

    foot: str
    begin: float
    end: float
    aside: FloatArray


def small_steps(feet: Mapping[str, Sequence[TimedKey]], found: Sequence[Walk], life: Life,
                duration: float) -> list[SmallStep]:
    """Return the small steps of a performer; ``feet`` are the score's keys by foot.

    The first step of each foot, before time 0, sets this performer's habitual stance. Vigorous
    performers step more often and farther. The feet alternate, and step only while both stand.
    """
    values, rng = life_values().small_steps, generator(life.steps)
    standing = _both(*(_standing(keys, duration) for keys in feet.values()))
    for walk in found:
        standing = _without(standing, (float(walk.times[0]), float(walk.times[-1])))
    steps = [SmallStep(foot, -2.0, -1.0, rng.normal(0, values.stance_cm, 2))
             for foot in sorted(feet)]
    foot = sorted(feet)[int(rng.integers(2))]
    every = values.every_s / life.vigor**2
    moment = float(rng.uniform(0.3, 1.0)) * every
    while moment < duration:
        lasts = float(rng.uniform(*values.lasts_s))
        displacement = rng.uniform(-1, 1, 2) * values.reach_cm * life.vigor
        wait = float(rng.uniform(0.2, 1.8)) * every
        room = [begin for begin, end in standing if end >= max(begin, moment) + lasts]
        if not room:
            break
        begin = max(room[0], moment)
        steps.append(SmallStep(foot, begin, begin + lasts, displacement))
        foot = next(name for name in feet if name != foot)
        moment = begin + lasts + wait
    return steps


def aside(steps: Sequence[SmallStep], foot: str, moments: FloatArray) -> FloatArray:
    """Return a foot's displacement (F, 3) by small steps, in cm outward, forward and up."""
    displacement, place = np.zeros((len(moments), 3)), np.zeros(2)
    for step in steps:
        if step.foot != foot:
            continue
        share = np.clip((moments - step.begin) / (step.end - step.begin), 0.0, 1.0)
        displacement[:, :2] += minimum_jerk(share)[:, None] * (step.aside - place)
        height = LIFT_CM + LIFT_SHARE * float(np.linalg.norm(step.aside - place))
        displacement[:, 2] += height * 16 * share**2 * (1 - share) ** 2
        place = step.aside
    return displacement


def _standing(keys: Sequence[TimedKey], duration: float) -> list[Interval]:
    """Return the spans in which a foot stands flat, shortened by CLEAR_S at both ends."""
    spans: list[Interval] = []
    after = replace(keys[-1], time=duration + CLEAR_S)
    for first, last in pairwise([*keys, after]):
        if not _stays(first, last):
            continue
        goes_on = bool(spans) and spans[-1][1] == first.time
        begin = spans.pop()[0] if goes_on else first.time
        spans.append((begin, last.time))
    return [(begin + CLEAR_S, end - CLEAR_S) for begin, end in spans]


def _stays(first: TimedKey, last: TimedKey) -> bool:
    one, other = cast(FootKey, first.key), cast(FootKey, last.key)
    assert one.to is not None and other.to is not None
    moved = np.abs(np.subtract(one.to.offset, other.to.offset)).max()
    high = max(abs(one.heel or 0.0), abs(other.heel or 0.0))
    return bool(moved < 0.1 and one.to.offset[2] < 0.5 and high < HIGH_HEEL_DEG)


def _both(first: Sequence[Interval], second: Sequence[Interval]) -> list[Interval]:
    spans = [(max(a, c), min(b, d)) for a, b in first for c, d in second]
    return sorted(span for span in spans if span[0] < span[1])


def _without(spans: Sequence[Interval], taken: Interval) -> list[Interval]:
    left = [(a, min(b, taken[0] - CLEAR_S)) for a, b in spans]
    right = [(max(a, taken[1] + CLEAR_S), b) for a, b in spans]
    return sorted(span for span in (*left, *right) if span[0] < span[1])
