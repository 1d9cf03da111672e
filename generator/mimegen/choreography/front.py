"""The direction in which the performer of a score faces."""

from mimegen.choreography.score import Score
from mimegen.choreography.variation import vary


def front_deg(score: Score, seed: int, style: str | None = None) -> float:
    """Return the azimuth, in degrees, of the first performer's forward direction.

    0 is -Y of the world, 90 is +X. It depends on ``facing`` in the score and on a seed other than
    0. Raises RequestError for an unknown style.
    """
    return vary(score, seed, style)[0].turn_deg if seed else score.facing
