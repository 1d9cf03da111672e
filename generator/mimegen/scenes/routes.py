"""Routes from spot to spot on the floor, as turns and straight legs."""

from typing import NamedTuple

from mimegen.choreography.walking import TURN_DEG
from mimegen.scenes.spots import Spot

# Duration of a calm step, and the mean length of steps, including the short first and last one.
# Turns of less than MAX_TURN_WALKING_DEG are made while walking.
STEP_S = 0.56
MEAN_STEP_CM = 52.0
MAX_TURN_WALKING_DEG = 35.0
# Within this distance and turn people step aside or back instead of turning round.
MAX_SIDESTEP_CM = 75.0
MAX_SIDESTEP_DEG = 45.0


class RouteLeg(NamedTuple):
    """One part of a route: the spot at its end, and its number of steps."""

    there: Spot
    steps: int


def route_legs(here: Spot, there: Spot) -> list[RouteLeg]:
    """Return the legs from one spot to another: a turn, a straight line and a turn, if needed."""
    corners = _corners(here, there)
    found = [_leg(before, after) for before, after in zip([here, *corners], corners, strict=False)]
    # The last step only closes the feet.
    return [*found[:-1], found[-1]._replace(steps=found[-1].steps + 1)]


def _corners(here: Spot, there: Spot) -> list[Spot]:
    """Return the ends of the legs, the last at ``there``; turns continue from that of ``here``."""
    far = here.distance(there)
    last = here.turn + here.to_turn_to(there.turn)
    if far < 1.0 or (far < MAX_SIDESTEP_CM and abs(last - here.turn) <= MAX_SIDESTEP_DEG):
        return [there._replace(turn=last)]
    ahead = here._replace(turn=here.turn + here.to_turn_to(here.heading(there)))
    arrived = there._replace(turn=ahead.turn)
    end = there._replace(turn=ahead.turn + ahead.to_turn_to(there.turn))
    return [*([ahead] if abs(ahead.turn - here.turn) > MAX_TURN_WALKING_DEG else []),
            *([arrived] if abs(end.turn - ahead.turn) > MAX_TURN_WALKING_DEG else []), end]


def _leg(here: Spot, there: Spot) -> RouteLeg:
    far = max(here.distance(there) / MEAN_STEP_CM, abs(there.turn - here.turn) / TURN_DEG)
    return RouteLeg(there, max(1, round(far)))
