"""Relations between people and places of a scene, moment by moment, and where things lie."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mimegen.base.angles import half_turn
from mimegen.base.names import words
from mimegen.base.spans import spans
from mimegen.manifest.timeline import PARTNER, PERFORMER, RELATION, Interval
from mimegen.motion.quaternions import FloatArray
from mimegen.scenes.spots import Spot

Way = Sequence[tuple[float, Spot]]
RATE_HZ = 20.0
# People are near each other, and near a place, within so far (cm); they face what is so nearly
# ahead of them (degrees); at their left is what is no nearer than that to ahead and behind.
NEAR_CM = 120.0
AT_CM = 60.0
FACING_DEG = 30.0
BESIDE_DEG = 30.0
SHORTEST_S = 0.3


def relations(ways: Sequence[Way], marks: Mapping[str, Spot], duration: float
              ) -> Iterator[Interval]:
    """Yield who is near whom or what, who faces whom, who is on whose left or right, and when.

    ``ways`` are the moments and spots that performers walk between. Left and right are the
    other's own.
    """
    moments = np.arange(0.0, duration, 1 / RATE_HZ)
    tracks = [_track(way, moments) for way in ways]
    for name, track in zip((PERFORMER, PARTNER), tracks, strict=False):
        for mark, spot in marks.items():
            near = _apart(track, np.array([spot])) < AT_CM
            yield from _spans(near, moments, duration, name, "near", words(mark))
    if len(tracks) == 2:
        yield from _of_two(tracks[0], tracks[1], moments, duration)


def _of_two(one: FloatArray, other: FloatArray, moments: FloatArray, duration: float
            ) -> Iterator[Interval]:
    near = _apart(one, other) < NEAR_CM
    yield from _spans(near, moments, duration, PERFORMER, "near", PARTNER)
    for who, whom, own, seen in ((PERFORMER, PARTNER, one, other),
                                 (PARTNER, PERFORMER, other, one)):
        bearing = _bearing(own, seen)
        yield from _spans(np.abs(bearing) < FACING_DEG, moments, duration, who, "facing", whom)
        beside = np.abs(np.abs(bearing) - 90.0) < 90.0 - BESIDE_DEG
        for side, sign in (("left", 1), ("right", -1)):
            yield from _spans(beside & (sign * bearing > 0), moments, duration, whom,
                              f"{side} of", who)


def _track(way: Way, moments: FloatArray) -> FloatArray:
    """Return left, forward, turn (F, 3) at moments (F,)."""
    times = [moment for moment, _ in way]
    return np.stack([np.interp(moments, times, [spot[part] for _, spot in way])
                     for part in range(3)], axis=-1)


def _apart(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray(np.hypot(*(one - other)[:, :2].T))


def _bearing(own: FloatArray, seen: FloatArray) -> FloatArray:
    """Return where (F,) in degrees to the left of ahead, -180 to 180, the other one is seen."""
    left, forward = (seen - own)[:, :2].T
    heading = np.rad2deg(np.arctan2(left, forward))
    return half_turn(heading - own[:, 2])


def _spans(true: NDArray[np.bool_], moments: FloatArray, duration: float, who: str, name: str,
           target: str) -> Iterator[Interval]:
    """Yield when it is true for longer than a moment."""
    ends = np.r_[moments, duration]
    for first, last in spans(true):
        if ends[last] - ends[first] >= SHORTEST_S:
            yield Interval(kind=RELATION, name=name, performer=who, target=target,
                           start_s=round(float(ends[first]), 3), end_s=round(float(ends[last]), 3))
