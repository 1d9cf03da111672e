"""Parse the conditions and azimuths of point-light displays from the command line."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from mimegen.base.errors import RequestError
from mimegen.commands.angles import EXPECTED
from mimegen.manifest.row import UPRIGHT
from mimegen.plan.front import CameraDirection
from mimegen.pointlight.manipulations import in_order
from mimegen.pointlight.presets import presets, read_display
from mimegen.pointlight.spec import Display, changed
from mimegen.pointlight.stimulus import Stimulus
from mimegen.pointlight.words import worded_display

_MASK = "masked"


@dataclass(frozen=True)
class Condition:
    """One condition of a set: its name and the resulting display."""

    name: str
    display: Display


def conditions_of(text: str | None, name: str, options: Callable[[Display], Display]
                  ) -> list[Condition]:
    """Return the distinct conditions in ``upright,inverted,scrambled:masked=40``, in order.

    ``name`` is the base display, unless a condition names another; ``options`` applies the
    command's other options to it. Raises RequestError for unknown words.
    """
    if text is None:
        return [_condition("", name, options)]
    names = [one.strip() or "''" for one in text.split(",")]
    return [_condition(one, name, options) for one in dict.fromkeys(names)]


def _condition(text: str, name: str, options: Callable[[Display], Display]) -> Condition:
    """Return the condition of words joined by colons. Raises RequestError if one is unknown."""
    words = [] if text in ("", UPRIGHT) else text.split(":")
    named = [word for word in words if word in presets()]
    if len(named) > 1:
        raise RequestError(f"--conditions {text}: a condition names one display, this one names"
                           f" {named[0]} and {named[1]}")
    display = options(read_display(named[0] if named else name))
    try:
        found, _ = worded_display([word for word in words if word not in named], display)
    except RequestError as problem:
        raise RequestError(f"--conditions {text}: {problem}" if text else str(problem)
                           ) from problem
    return Condition(text or ":".join(found.manipulations) or UPRIGHT, found)


def azimuths_of(text: str | None) -> list[CameraDirection | None]:
    """Return the distinct azimuths in ``0,45,front-30``, relative to the performer's front.

    None stands for the display's own. Raises RequestError for an invalid direction.
    """
    if text is None:
        return [None]
    return list(dict.fromkeys(_azimuth(one.strip()) for one in text.split(",")))


def _azimuth(text: str) -> CameraDirection:
    try:
        found = CameraDirection.of(text)
    except ValueError as problem:
        raise RequestError(f"--azimuth {text}: {EXPECTED}") from problem
    if not abs(found.degrees) <= 360:
        raise RequestError(f"--azimuth {text}: expected at most 360 degrees")
    return CameraDirection(found.degrees % 360, True)


def with_shared_masks(displays: Sequence[Display], made: Callable[[int], Stimulus]
                      ) -> list[Display]:
    """Return displays whose masks all have the largest area that any of them needs.

    ``made`` makes the stimulus of a display's index. Masks whose area has a unit are unchanged.
    """
    free = [number for number, display in enumerate(displays)
            if any(_shares(word) for word in display.manipulations)]
    if len(free) < 2:
        return list(displays)
    sides = [mask["area_px"] for number in free for mask in made(number).masks
             if not isinstance(mask["parameters"]["area"], str)]
    wide, high = (ceil(max(side)) for side in zip(*sides, strict=True))
    area = f"{wide}x{high}px"
    return [changed(display, manipulations=tuple(_with_area(display.manipulations, area)))
            for display in displays]


def _shares(word: str) -> bool:
    mask, = in_order([word])
    return mask.name == _MASK and not isinstance(mask.model_dump()["area"], str)


def _with_area(words: Iterable[str], area: str) -> list[str]:
    """Return the manipulations with the area of every mask replaced."""
    return ["/".join([*(part for part in word.split("/") if not part.startswith("area=")),
                      f"area={area}"]) if _shares(word) else word for word in words]
