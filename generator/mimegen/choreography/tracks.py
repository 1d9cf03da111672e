"""From phases to tracks: each track's keys over time, with repeats and holds written out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from mimegen.base.vectors import product
from mimegen.choreography.score import Key, Phase, Score
from mimegen.choreography.timing import SLOW, Follow, blend_weights
from mimegen.motion.quaternions import FloatArray

# Tracks follow their keys at this rate, beginning BEFORE_S before time 0.
RATE_HZ = 120.0
BEFORE_S = 0.5

KeyKind = TypeVar("KeyKind", bound=Key)


@dataclass(frozen=True)
class TimedKey:
    """A key with its time in seconds; fields that it leaves out are filled from earlier keys."""

    time: float
    key: Key
    line: int

    @property
    def how(self) -> str:
        """How the key is reached: "stop", "pass" or "impact"."""
        return self.key.how


@dataclass(frozen=True)
class Timeline:
    """The phases as performed, with repeats written out, and the whole duration in seconds.

    ``clock`` pairs times of the performance (K,) with times of the score (K,). Walking uses the
    score's times, so that steps and the arms that swing with them stay in time.
    """

    phases: tuple[Phase, ...]
    duration: float
    clock: tuple[FloatArray, FloatArray]

    def score_time(self, moments: FloatArray) -> FloatArray:
        """Return the times of the score (F,) that are performed at ``moments`` (F,)."""
        return np.interp(moments, *self.clock)

    @property
    def phases_in_score_time(self) -> tuple[Phase, ...]:
        """The phases at their times in the score."""
        return tuple(
            phase.model_copy(update={"at": float(self.score_time(np.array(phase.at)))})
            for phase in self.phases
        )


def timeline(score: Score) -> Timeline:
    """Return the timeline of a score as written, with its repeats written out."""
    phases: list[Phase] = []
    shift, begin = 0.0, -1.0
    for repeat in score.repeat:
        before = [p for p in score.phases if begin < p.at <= repeat.after]
        phases += [_moved(p, shift) for p in before]
        body = [p for p in score.phases if repeat.after < p.at <= repeat.until]
        for turn in range(repeat.times):
            phases += [_moved(p, shift + turn * (repeat.until - repeat.after)) for p in body]
        shift += (repeat.times - 1) * (repeat.until - repeat.after)
        begin = repeat.until
    rest = [p for p in score.phases if p.at > begin]
    phases += [_moved(p, shift) for p in rest]
    whole = np.array([0.0, score.duration + shift])
    return Timeline(tuple(phases), score.duration + shift, (whole, whole))


def _moved(phase: Phase, shift: float) -> Phase:
    update: dict[str, object] = {"at": phase.at + shift}
    if phase.walk and phase.walk.since is not None:
        update["walk"] = phase.walk.model_copy(update={"since": phase.walk.since + shift})
    return phase.model_copy(update=update)


def track_keys(phases: Sequence[Phase], track: str, start: KeyKind) -> list[TimedKey]:
    """Return a track's keys; ``start`` is the first if the first phase does not mention the track.

    A track that phases do not mention holds its last key until the phase before its next one,
    unless it passes through that key.
    """
    mentions = dict(_mentions(phases, track))
    keys: list[TimedKey] = []
    for number, phase in enumerate(phases):
        if number not in mentions:
            if not keys:
                keys.append(TimedKey(phase.at, start, phase.line))
            continue
        key = _completed(mentions[number], keys[-1].key if keys else start)
        if keys and keys[-1].time < phases[number - 1].at and keys[-1].how != "pass":
            held = keys[-1]
            still = held.key.held().model_copy(update={"how": "stop"})
            keys.append(replace(held, time=phases[number - 1].at, key=still))
        keys.append(TimedKey(phase.at, key, phase.line))
    return keys


def _mentions(phases: Sequence[Phase], track: str) -> Iterator[tuple[int, Key]]:
    for number, phase in enumerate(phases):
        for name, key in phase.moves():
            if name == track:
                yield number, key


# A hand's key that gives one of these replaces all of them.
ORIENTATION = {"palm", "fingers", "bar", "loose", "straight"}


def _completed(key: Key, before: Key) -> Key:
    """Return a key with the fields that it leaves out taken from the key before."""
    given = key.model_fields_set
    update = {
        name: getattr(before, name) for name in type(key).model_fields
        if name not in given and name not in ("how", *key.once)
    }
    if given & ORIENTATION:
        update = {name: value for name, value in update.items() if name not in ORIENTATION}
    return key.model_copy(update=update)


def track_weights(keys: Sequence[TimedKey], moments: FloatArray, lead: float = 0.0) -> FloatArray:
    """Return the weights (F, K) of the keys at ``moments``, for a track ``lead`` seconds early."""
    times = [key.time for key in keys]
    return blend_weights(times, [key.how for key in keys], moments + lead)


class Clock(NamedTuple):
    """A track's clock: by how many seconds (F,) it is late at ``moments`` (F,)."""

    moments: FloatArray
    late: FloatArray

    def at(self, moments: FloatArray) -> FloatArray:
        """Return the times that the track has reached at ``moments``."""
        return np.asarray(moments - np.interp(moments, self.moments, self.late))

    @property
    def now(self) -> FloatArray:
        """The times (F,) that the track has reached."""
        return self.moments - self.late


def eased_weights(
    keys: Sequence[TimedKey], clock: Clock, follow: Follow, moments: FloatArray | None = None
) -> FloatArray:
    """Return the weights (F, K) of the keys as a part with inertia follows them.

    ``moments`` (F,) are by default those of the clock.
    """
    wanted = clock.moments if moments is None else moments
    steps = np.arange(-round(BEFORE_S * RATE_HZ), int(np.ceil(clock.moments[-1] * RATE_HZ)) + 2)
    grid = steps / RATE_HZ
    weights = np.zeros((len(grid), len(keys)))
    for part, share in ((follow, 1 - follow.slow), (SLOW, follow.slow)):
        asked = track_weights(keys, clock.at(grid), follow.lead + part.delay)
        weights += share * part.followed(asked, RATE_HZ)
    place = np.clip((wanted - grid[0]) * RATE_HZ, 0.0, len(grid) - 1.001)
    before = place.astype(int)
    share = (place - before)[:, None]
    return np.asarray(weights[before] * (1 - share) + weights[before + 1] * share)


def values_of(keys: Sequence[TimedKey], names: Sequence[str]) -> FloatArray:
    """Return the keys' values (K, N) of the fields ``names``; 0 for a field without a value."""
    return np.array([[float(getattr(key.key, name) or 0.0) for name in names] for key in keys])


def track_values(
    keys: Sequence[TimedKey], names: Sequence[str], moments: FloatArray, lead: float = 0.0
) -> FloatArray:
    """Return a track's values (F, N) of the fields ``names`` at ``moments`` (F,)."""
    return np.asarray(product(track_weights(keys, moments, lead), values_of(keys, names)))
