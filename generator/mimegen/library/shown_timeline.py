"""The timeline of a take as shown at a frame rate: forwards or backwards."""

from collections.abc import Iterable

from mimegen.library.take import LibraryTake
from mimegen.manifest.timeline import RELATION, Interval

# Kinds of intervals that stay true backwards: positions, things held, gaze. Steps become other
# steps (sitting down becomes standing up), and speech becomes meaningless.
TRUE_BACKWARDS = frozenset({"action", "held", "contact", "gaze", RELATION})


def timeline_of(take: LibraryTake, fps: float) -> list[Interval] | None:
    """Return the timeline of a take; None if it is unknown."""
    forwards = take.timeline
    if forwards is None or not take.reverse:
        return forwards
    return backwards(forwards, (take.frames(fps) - 1) / fps)


def backwards(intervals: Iterable[Interval], last_s: float) -> list[Interval]:
    """Return the intervals that stay true if the frame at ``last_s`` becomes the first, sorted."""
    return sorted((_backwards(one, last_s) for one in intervals if one.kind in TRUE_BACKWARDS),
                  key=lambda one: one.start_s)


def _backwards(one: Interval, last_s: float) -> Interval:
    def moved(moment: float) -> float:
        return round(max(last_s - moment, 0.0), 3)

    peak = None if one.peak_s is None else moved(one.peak_s)
    return one.model_copy(update={"start_s": moved(one.end_s), "end_s": moved(one.start_s),
                                  "peak_s": peak})
