"""Spots on the floor, and the conversion of keys from one performer's world to another."""

from typing import NamedTuple

import numpy as np

from mimegen.base.angles import wrapped_deg
from mimegen.choreography.body import FLOOR, PARTNER
from mimegen.choreography.places import LEFT, RIGHT, Direction, Place
from mimegen.choreography.score import GazeKey, HandKey, Key, PropKey

DIRECTIONS = ("palm", "fingers", "bar")


class Spot(NamedTuple):
    """A position on the floor, in centimetres to the left and forward, and a turn to the left.

    Left and forward are those of a person in the middle who faces front; the turn is in degrees.
    """

    left: float
    forward: float
    turn: float = 0.0

    def of(self, inner: "Spot") -> "Spot":
        """Return a spot given relative to this one as a spot relative to the middle."""
        left, forward = self.turned(inner.left, inner.forward)
        return Spot(self.left + left, self.forward + forward, self.turn + inner.turn)

    def turned(self, left: float, forward: float) -> tuple[float, float]:
        """Return a displacement in this spot's axes as a displacement in the middle's axes."""
        sine, cosine = float(np.sin(np.deg2rad(self.turn))), float(np.cos(np.deg2rad(self.turn)))
        # Rounded, because last bits differ between machines.
        return round(left * cosine + forward * sine, 6), round(forward * cosine - left * sine, 6)

    def seen_from(self, other: "Spot") -> "Spot":
        """Return this spot relative to another one."""
        back = Spot(0.0, 0.0, -other.turn)
        return back.of(Spot(self.left - other.left, self.forward - other.forward, self.turn))

    def distance(self, other: "Spot") -> float:
        """Return the distance between two spots, in centimetres."""
        return float(np.hypot(self.left - other.left, self.forward - other.forward))

    def heading(self, other: "Spot") -> float:
        """Return the turn, in degrees, of a person who faces another spot from here."""
        return float(np.rad2deg(np.arctan2(other.left - self.left, other.forward - self.forward)))

    def to_turn_to(self, turn: float) -> float:
        """Return the turn to the left, from -180 to 180 degrees, that leads to ``turn``."""
        return wrapped_deg(turn - self.turn)


def in_world(track: str, key: Key, spot: Spot) -> Key:
    """Return a complete key of a take, converted to a world in which the take's origin is ``spot``.

    Keys of feet, which are relative to the performer's own floor, and keys with anchors on the body
    do not change.
    """
    place: Place | None = getattr(key, "to", None)
    if place is None or not isinstance(key, HandKey | GazeKey | PropKey) or not (
            place.anchor == FLOOR or place.anchor.startswith(PARTNER)):
        return key
    side = RIGHT if track == "right_hand" else LEFT
    out, forward, up = place.offset
    left, forward = spot.turned(side * out, forward)
    if place.anchor == FLOOR:
        left, forward = left + spot.left, forward + spot.forward
    update: dict[str, object] = {"to": Place(place.anchor, (side * left, forward, up))}
    if isinstance(key, PropKey):
        update["turn"] = (key.turn or 0.0) + spot.turn
    if isinstance(key, HandKey):
        update |= {name: _turned(direction, side, spot) for name in DIRECTIONS
                   if (direction := getattr(key, name)) is not None}
    return key.model_copy(update=update)


def _turned(direction: Direction, side: float, spot: Spot) -> Direction:
    left, forward = spot.turned(side * direction.out + direction.left, direction.forward)
    return Direction(0.0, forward, direction.up, left)
