"""Spots on the floor, and how a take's keys are where its performer stands."""

from typing import NamedTuple

import numpy as np

from mimegen.base.angles import half_turn
from mimegen.choreography.body import FLOOR, PARTNER
from mimegen.choreography.places import LEFT, RIGHT, Direction, Place
from mimegen.choreography.score import GazeKey, HandKey, Key, PropKey

DIRECTIONS = ("palm", "fingers", "bar")


class Spot(NamedTuple):
    """A place on the floor, in centimetres to the left and forward, and a turn to the left.

    Seen by somebody who stands in the middle and faces front; the turn is in degrees.
    """

    left: float
    forward: float
    turn: float = 0.0

    def of(self, inner: "Spot") -> "Spot":
        """Return where a spot is that somebody sees who stands here."""
        left, forward = self.turned(inner.left, inner.forward)
        return Spot(self.left + left, self.forward + forward, self.turn + inner.turn)

    def turned(self, left: float, forward: float) -> tuple[float, float]:
        """Return a step to the left and forward of who stands here, as the middle sees it."""
        sine, cosine = float(np.sin(np.deg2rad(self.turn))), float(np.cos(np.deg2rad(self.turn)))
        # Last bits differ between machines.
        return round(left * cosine + forward * sine, 6), round(forward * cosine - left * sine, 6)

    def seen_from(self, other: "Spot") -> "Spot":
        """Return this spot as somebody sees it who stands at the other."""
        back = Spot(0.0, 0.0, -other.turn)
        return back.of(Spot(self.left - other.left, self.forward - other.forward, self.turn))

    def distance(self, other: "Spot") -> float:
        """Return how far apart two spots are, in centimetres."""
        return float(np.hypot(self.left - other.left, self.forward - other.forward))

    def heading(self, other: "Spot") -> float:
        """Return the turn, in degrees, of who looks from here to another spot."""
        return float(np.rad2deg(np.arctan2(other.left - self.left, other.forward - self.forward)))

    def to_turn_to(self, turn: float) -> float:
        """Return by how much to turn to the left, -180 to 180, to be turned so."""
        return half_turn(turn - self.turn)


def placed(track: str, key: Key, spot: Spot) -> Key:
    """Return a complete key of a take whose own world has its origin at a spot of another.

    Feet count from the performer's own floor and stay as they are, as does what is on the body.
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
        update |= {name: _turned(way, side, spot) for name in DIRECTIONS
                   if (way := getattr(key, name)) is not None}
    return key.model_copy(update=update)


def _turned(way: Direction, side: float, spot: Spot) -> Direction:
    left, forward = spot.turned(side * way.out + way.left, way.forward)
    return Direction(0.0, forward, way.up, left)
