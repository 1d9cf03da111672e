"""What happens in a take as it is shown at a frame rate: forwards or backwards."""

from collections.abc import Iterable

from mimegen.library.take import LibraryTake
from mimegen.manifest.timeline import RELATION, Interval

# What is as true backwards: where things and people are, what is held and looked at. What is done
# becomes something else (who sits down stands up), and what is said becomes nothing.
TRUE_BACKWARDS = frozenset({"action", "held", "contact", "gaze", RELATION})


def timeline_of(take: LibraryTake, fps: float) -> list[Interval] | None:
    """Return what happens in a take, from when to when; None where nobody knows."""
    forwards = take.timeline
    if forwards is None or not take.reverse:
        return forwards
    return backwards(forwards, (take.frames(fps) - 1) / fps)


def backwards(intervals: Iterable[Interval], last_s: float) -> list[Interval]:
    """Return what is true of intervals once the frame at ``last_s`` is the first, in its order."""
    return sorted((_backwards(one, last_s) for one in intervals if one.kind in TRUE_BACKWARDS),
                  key=lambda one: one.start_s)


def _backwards(one: Interval, last_s: float) -> Interval:
    def moved(moment: float) -> float:
        return round(max(last_s - moment, 0.0), 3)

    peak = None if one.peak_s is None else moved(one.peak_s)
    return one.model_copy(update={"start_s": moved(one.end_s), "end_s": moved(one.start_s),
                                  "peak_s": peak})
