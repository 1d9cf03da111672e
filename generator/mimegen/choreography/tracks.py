"""From phases to tracks: each track's keys in time, repeats written out, holds filled in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from mimegen.base.vectors import product
from mimegen.choreography.score import Key, Phase, Score
from mimegen.choreography.timing import SLOW, Follow, blend_weights
from mimegen.motion.quaternions import FloatArray

# Tracks follow their keys in steps of this rate, from before the beginning.
RATE_HZ = 120.0
BEFORE_S = 0.5

KeyKind = TypeVar("KeyKind", bound=Key)


@dataclass(frozen=True)
class TimedKey:
    """A key at its moment in seconds, complete: what it leaves out is filled from earlier ones."""

    time: float
    key: Key
    line: int

    @property
    def how(self) -> str:
        """How the key is arrived at."""
        return self.key.how


@dataclass(frozen=True)
class Timeline:
    """The phases as performed, repeats written out, and the whole duration in seconds.

    ``clock`` pairs moments of the performance (K,) with those of the score (K,): steps keep
    the score's time, and with it that of arms that swing with them.
    """

    phases: tuple[Phase, ...]
    duration: float
    clock: tuple[FloatArray, FloatArray]

    def written(self, moments: FloatArray) -> FloatArray:
        """Return which moments of the score (F,) are performed at ``moments`` (F,)."""
        return np.interp(moments, *self.clock)

    @property
    def written_phases(self) -> tuple[Phase, ...]:
        """The phases at the moments of the score."""
        return tuple(
            phase.model_copy(update={"at": float(self.written(np.array(phase.at)))})
            for phase in self.phases
        )


def timeline(score: Score) -> Timeline:
    """Write out the repeats."""
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
    """Return a track's keys; where none is at 0, ``start`` is put there.

    A track that a phase does not mention holds until that phase, unless it is passing through.
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


ORIENTATION = {"palm", "fingers", "bar", "loose", "straight"}


def _completed(key: Key, before: Key) -> Key:
    given = key.model_fields_set
    update = {
        name: getattr(before, name) for name in type(key).model_fields
        if name not in given and name not in ("how", *key.once)
    }
    if given & ORIENTATION:
        update = {name: value for name, value in update.items() if name not in ORIENTATION}
    return key.model_copy(update=update)


def track_weights(keys: Sequence[TimedKey], moments: FloatArray, lead: float = 0.0) -> FloatArray:
    """Return the weights (F, K) of the keys at ``moments``, this track ``lead`` seconds ahead."""
    times = [key.time for key in keys]
    return blend_weights(times, [key.how for key in keys], moments + lead)


class Clock(NamedTuple):
    """A track's own time: how late (F,), in seconds, it is at ``moments`` (F,)."""

    moments: FloatArray
    late: FloatArray

    def at(self, moments: FloatArray) -> FloatArray:
        """Return the score's moments that the track has got to."""
        return np.asarray(moments - np.interp(moments, self.moments, self.late))

    @property
    def now(self) -> FloatArray:
        """The score's moments (F,) that the track has got to."""
        return self.moments - self.late


def eased_weights(
    keys: Sequence[TimedKey], clock: Clock, follow: Follow, moments: FloatArray | None = None
) -> FloatArray:
    """Return the weights (F, K) of the keys as a part with inertia follows them."""
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
    """Return plain numbers of keys (K, N) by their field names; what is never given is 0."""
    return np.array([[float(getattr(key.key, name) or 0.0) for name in names] for key in keys])


def track_values(
    keys: Sequence[TimedKey], names: Sequence[str], moments: FloatArray, lead: float = 0.0
) -> FloatArray:
    """Return plain numbers of a track (F, N) by their field names."""
    return np.asarray(product(track_weights(keys, moments, lead), values_of(keys, names)))
