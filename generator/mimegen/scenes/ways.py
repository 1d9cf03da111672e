"""From spot to spot on the floor: turns and straight ways, as walk keys."""

from typing import NamedTuple

from mimegen.choreography.walking import TURN_DEG
from mimegen.scenes.spots import Spot

# A calm step lasts so long (s), and goes so far (cm) with the short first and last ones counted;
# who turns less than this (degrees) does so on the way.
STEP_S = 0.56
MEAN_STEP_CM = 52.0
ON_THE_WAY_DEG = 35.0
# So near (cm) and turned so little (degrees) people step aside or back without turning round.
ASIDE_CM = 75.0
ASIDE_DEG = 45.0


class Leg(NamedTuple):
    """A part of a way: where it ends, in how many steps."""

    there: Spot
    steps: int


def legs_of(here: Spot, there: Spot) -> list[Leg]:
    """Return the way from a spot to another: a turn, a straight way, a turn, as far as needed."""
    corners = _corners(here, there)
    found = [_leg(before, after) for before, after in zip([here, *corners], corners, strict=False)]
    # The last step only closes the feet.
    return [*found[:-1], found[-1]._replace(steps=found[-1].steps + 1)]


def _corners(here: Spot, there: Spot) -> list[Spot]:
    """Return where legs end, the last one there; turns go on from that of who is here."""
    far = here.distance(there)
    last = here.turn + here.to_turn_to(there.turn)
    if far < 1.0 or (far < ASIDE_CM and abs(last - here.turn) <= ASIDE_DEG):
        return [there._replace(turn=last)]
    ahead = here._replace(turn=here.turn + here.to_turn_to(here.heading(there)))
    arrived = there._replace(turn=ahead.turn)
    end = there._replace(turn=ahead.turn + ahead.to_turn_to(there.turn))
    return [*([ahead] if abs(ahead.turn - here.turn) > ON_THE_WAY_DEG else []),
            *([arrived] if abs(end.turn - ahead.turn) > ON_THE_WAY_DEG else []), end]


def _leg(here: Spot, there: Spot) -> Leg:
    far = max(here.distance(there) / MEAN_STEP_CM, abs(there.turn - here.turn) / TURN_DEG)
    return Leg(there, max(1, round(far)))
