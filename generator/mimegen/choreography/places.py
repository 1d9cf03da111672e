"""Places and directions as scores write them, parsed."""

import re
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BeforeValidator

from mimegen.base.errors import near_misses
from mimegen.motion.quaternions import FloatArray

Offset = tuple[float, float, float]

# Each word as a step outward (to the limb's own side), forward, up, and to the person's left.
DIRECTION_WORDS: dict[str, tuple[float, float, float, float]] = {
    "out": (1, 0, 0, 0), "in": (-1, 0, 0, 0), "left": (0, 0, 0, 1), "right": (0, 0, 0, -1),
    "forward": (0, 1, 0, 0), "back": (0, -1, 0, 0), "up": (0, 0, 1, 0), "down": (0, 0, -1, 0),
}
LEFT = 1.0
RIGHT = -1.0


class Place(NamedTuple):
    """An anchor (a landmark or a prop) and an offset in centimetres: outward, forward, up."""

    anchor: str
    offset: Offset


class Direction(NamedTuple):
    """A direction as outward, forward, up, left; for an elbow, its length is its weight."""

    out: float
    forward: float
    up: float
    left: float = 0.0

    def in_axes(self, side: float) -> FloatArray:
        """Return the direction (3,) in the axes of a part at rest; ``side`` is where outward is."""
        return in_body_axes(np.array([self.out + side * self.left, self.forward, self.up]), side)


def parse_place(text: Any) -> Place:
    """Read ``"mouth 2 9 -5"``; an offset left out is zero. Raises ValueError."""
    if isinstance(text, Place):
        return text
    words = str(text).split()
    if len(words) not in (1, 4):
        raise ValueError(
            f"a place is a landmark and three centimetres outward, forward, up,"
            f" such as 'mouth 2 9 -5'; got {text!r}"
        )
    try:
        numbers = [float(word) for word in words[1:]] or [0.0, 0.0, 0.0]
    except ValueError:
        raise ValueError(f"got {text!r} where three numbers should follow {words[0]}") from None
    if not np.all(np.isfinite(numbers)) or max(map(abs, numbers)) > 1000:
        raise ValueError(f"got {text!r}: an offset is at most 1000 cm")
    return Place(words[0], (numbers[0], numbers[1], numbers[2]))


def parse_direction(text: Any) -> Direction:
    """Read ``"in+0.3back"``: a sum of direction words, each with an optional weight."""
    return text if isinstance(text, Direction) else _direction(str(text))


@lru_cache(maxsize=4096)
def _direction(text: str) -> Direction:
    total = np.zeros(4)
    for part in text.replace(" ", "").split("+"):
        found = re.fullmatch(r"(\d*\.?\d*)([a-z]+)", part)
        if not found or found[2] not in DIRECTION_WORDS:
            word = found[2] if found else part
            raise ValueError(
                f"got {text!r}: {word!r} is no direction{near_misses(word, DIRECTION_WORDS)}"
            )
        total += float(found[1] or 1.0) * np.array(DIRECTION_WORDS[found[2]])
    if not np.linalg.norm(total) > 1e-6:
        raise ValueError(f"got {text!r}: these directions cancel out")
    return Direction(*(float(step) for step in total))


PlaceField = Annotated[Place, BeforeValidator(parse_place)]
DirectionField = Annotated[Direction, BeforeValidator(parse_direction)]


def in_body_axes(steps: FloatArray, side: float = LEFT) -> FloatArray:
    """Return steps outward, forward, up (..., 3) in the axes of a part at rest (X left, -Y front).

    ``side`` is LEFT or RIGHT: where outward is.
    """
    return np.asarray(np.asarray(steps) * np.array([side, -1.0, 1.0]))
