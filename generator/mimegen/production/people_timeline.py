"""The timeline of a display in which one of two performers is manipulated alone."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import FloatArray
from mimegen.manifest.parts import PersonShown
from mimegen.manifest.timeline import PARTNER, PERFORMER, RELATION, Interval, cut, retold
from mimegen.pointlight.record import is_flipped

# The names of a scene's performers in timelines, in order.
PEOPLE = (PERFORMER, PARTNER)


def people_timeline(intervals: Sequence[Interval], people: Sequence[PersonShown], own: FloatArray,
                    fps: float) -> list[Interval] | None:
    """Return what each performer still does, at the times at which the display shows it.

    ``own`` (F, P) are the performers' times in seconds. What concerns both is left out, because
    it may no longer be so: contact, relations in space, whatever is directed at the other, and the
    whole action if one is not shown or is from another action. None if nothing remains.
    """
    together = all(one.shown and one.action is None for one in people)
    found = [interval for one in people if one.shown
             for interval in _of_person(intervals, one, own[:, one.who - 1], fps)
             if together or interval.kind not in ("action", "role")]
    return sorted(found, key=lambda one: one.start_s) or None


def _of_person(intervals: Sequence[Interval], person: PersonShown, moments: FloatArray, fps: float
               ) -> Iterator[Interval]:
    """Yield what one performer does alone; nothing if time does not run forwards."""
    alone = [one for one in intervals if one.performer == PEOPLE[person.who - 1]
             and one.kind != RELATION and one.target not in PEOPLE]
    if is_flipped(person.manipulations):
        alone = retold(alone, mirror=True)
    span = _running(moments, fps)
    if span is not None:
        yield from cut(alone, *span)


def _running(moments: FloatArray, fps: float
             ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the times (K,) of the motion and of the display while a performer moves."""
    steps = np.diff(moments)
    moving = np.flatnonzero(steps)
    if not moving.size or (steps < 0).any():
        return None
    first, last = int(moving[0]), int(moving[-1]) + 1
    running, shown = moments[first:last + 1], np.arange(first, last + 1) / fps
    if last == len(moments) - 1:
        # The last frame lasts as long as the others.
        running, shown = np.append(running, 2 * running[-1] - running[-2]), np.append(
            shown, len(moments) / fps)
    return running, shown
