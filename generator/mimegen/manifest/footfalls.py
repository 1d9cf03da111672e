"""Foot events of a clip: when each foot strikes the ground and leaves it."""

from collections.abc import Sequence
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mimegen.base.spans import spans
from mimegen.manifest.rowpart import Number, RowPart
from mimegen.manifest.timeline import OTHER_HAND, PARTNER, PERFORMER

Foot = Literal["left", "right"]
FEET: tuple[Foot, Foot] = ("left", "right")


class FootEvent(RowPart):
    """A foot that strikes the ground or leaves it.

    ``frame`` is the clip's first frame in which the foot stands, or no longer stands; ``time_s`` is
    when it is shown, in seconds from the clip's beginning.
    """

    performer: str = PERFORMER
    foot: Foot = Field(description="the performer's own")
    kind: Literal["strike", "off"]
    frame: int = Field(ge=0, description="of the clip, whose first is 0")
    time_s: Number = Field(ge=0)


class StandingFoot(TypedDict):
    """The ``spans`` of a motion's frames, first and past the last, in which a foot stands."""

    performer: str
    foot: Foot
    spans: list[list[int]]


class FootContacts(TypedDict):
    """When the feet of a motion stand; in a ``loop`` the last frame leads into the first."""

    fps: float
    frames: int
    loop: bool
    feet: list[StandingFoot]


def contacts_of(standing: Sequence[NDArray[np.bool_]], fps: float, loop: bool = False
                ) -> FootContacts:
    """Return the contacts for each performer's mask (F, 2) of the frames in which feet stand."""
    feet = [StandingFoot(performer=who, foot=foot, spans=[list(span) for span in spans(mask)])
            for who, masks in zip((PERFORMER, PARTNER), standing, strict=False)
            for foot, mask in zip(FEET, masks.T, strict=True)]
    return FootContacts(fps=fps, frames=len(standing[0]), loop=loop, feet=feet)


def events_shown(contacts: FootContacts, moments: NDArray[np.float64], fps: float,
                 mirrored: bool = False) -> list[FootEvent]:
    """Return the foot events of a clip that shows the ``moments`` (F,) of a motion, in seconds.

    ``fps`` is the clip's; if it is ``mirrored``, left feet are seen as right ones. A foot that
    stands in the first frame has no strike, unless the clip shows a whole loop.
    """
    source = np.rint(moments * contacts["fps"]).astype(int)
    seamless = contacts["loop"] and _is_whole(moments * contacts["fps"], contacts["frames"])
    found = [FootEvent(performer=one["performer"], kind=kind, frame=frame,
                       foot=OTHER_HAND[one["foot"]] if mirrored else one["foot"],
                       time_s=round(frame / fps, 4))
             for one in contacts["feet"]
             for kind, frame in _changes(_standing(one, source), seamless)]
    return sorted(found, key=lambda event: event.frame)


def events_of(contacts: FootContacts | None, performer: int) -> list[FootEvent] | None:
    """Return the foot events of one performer in a whole motion; None if contacts are unknown."""
    if contacts is None:
        return None
    shown = events_shown(contacts, np.arange(contacts["frames"]) / contacts["fps"],
                         contacts["fps"])
    return [one for one in shown if one.performer == (PERFORMER, PARTNER)[performer]]


def _standing(foot: StandingFoot, source: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return a mask of the frames (F,) of a motion in which a foot stands."""
    inside = [(source >= first) & (source < end) for first, end in foot["spans"]]
    return np.any(inside, axis=0) if inside else np.zeros(len(source), bool)


def _changes(standing: NDArray[np.bool_], seamless: bool
             ) -> list[tuple[Literal["strike", "off"], int]]:
    """Return the frames in which a foot begins or ceases to stand."""
    before = np.roll(standing, 1)
    if not seamless:
        before[0] = standing[0]
    return [("strike" if standing[frame] else "off", int(frame))
            for frame in np.flatnonzero(standing != before)]


def _is_whole(shown: NDArray[np.float64], frames: int) -> bool:
    """Return whether the frames shown (F,), forwards or backwards, make up a whole loop."""
    if len(shown) < 2:
        return False
    step = shown[1] - shown[0]
    return bool(np.allclose(np.diff(shown), step)
                and abs(abs(shown[-1] + step - shown[0]) - frames) < 0.5)


def window_of(events: Sequence[FootEvent], first: int, end: int, fps: float) -> list[FootEvent]:
    """Return the events within the frames from ``first`` to before ``end``, counted from there.

    The window's first frame has no event: what came before it is not seen.
    """
    return [one.model_copy(update={"frame": one.frame - first,
                                   "time_s": round((one.frame - first) / fps, 4)})
            for one in events if first < one.frame < end]
