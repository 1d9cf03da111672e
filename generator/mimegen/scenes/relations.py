"""Relations between the people and marks of a scene over time: near, facing, left and right."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mimegen.base.angles import wrapped_deg
from mimegen.base.names import words
from mimegen.base.spans import spans
from mimegen.manifest.timeline import PARTNER, PERFORMER, RELATION, Interval
from mimegen.motion.quaternions import FloatArray
from mimegen.scenes.spots import Spot

Trajectory = Sequence[tuple[float, Spot]]
RATE_HZ = 20.0
# People are near each other within NEAR_CM, and near a mark within AT_CM. They face a person whose
# bearing is within FACING_DEG. A person is at their left or right if the bearing is at least
# BESIDE_DEG from straight ahead and from straight behind. Shorter relations are left out.
NEAR_CM = 120.0
AT_CM = 60.0
FACING_DEG = 30.0
BESIDE_DEG = 30.0
MIN_DURATION_S = 0.3


def relations(trajectories: Sequence[Trajectory], marks: Mapping[str, Spot], duration: float
              ) -> Iterator[Interval]:
    """Yield the spans in which people are near each other or a mark, face, or are left or right.

    ``trajectories`` are, for each performer, the times and spots between which they walk. Left and
    right are those of the person beside whom the other is.
    """
    moments = np.arange(0.0, duration, 1 / RATE_HZ)
    tracks = [_track(trajectory, moments) for trajectory in trajectories]
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


def _track(trajectory: Trajectory, moments: FloatArray) -> FloatArray:
    """Return left, forward, turn (F, 3) at moments (F,)."""
    times = [moment for moment, _ in trajectory]
    return np.stack([np.interp(moments, times, [spot[part] for _, spot in trajectory])
                     for part in range(3)], axis=-1)


def _apart(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray(np.hypot(*(one - other)[:, :2].T))


def _bearing(own: FloatArray, seen: FloatArray) -> FloatArray:
    """Return the bearing (F,) of the other person, in degrees to the left of ahead, -180 to 180."""
    left, forward = (seen - own)[:, :2].T
    heading = np.rad2deg(np.arctan2(left, forward))
    return wrapped_deg(heading - own[:, 2])


def _spans(true: NDArray[np.bool_], moments: FloatArray, duration: float, who: str, name: str,
           target: str) -> Iterator[Interval]:
    """Yield the spans of at least SHORTEST_S in which ``true`` (F,) holds."""
    ends = np.r_[moments, duration]
    for first, last in spans(true):
        if ends[last] - ends[first] >= MIN_DURATION_S:
            yield Interval(kind=RELATION, name=name, performer=who, target=target,
                           start_s=round(float(ends[first]), 3), end_s=round(float(ends[last]), 3))
