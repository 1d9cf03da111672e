"""Where the performer of a score faces."""

from mimegen.choreography.score import Score
from mimegen.choreography.variation import vary


def front_deg(score: Score, seed: int, style: str | None = None) -> float:
    """Return the azimuth that the first performer of a take faces, in degrees.

    It is the score's forward: 0 is -Y of the world, 90 is +X. ``facing`` in the score turns it,
    and so does a seed other than 0. Raises RequestError for an unknown style.
    """
    return vary(score, seed, style)[0].turn_deg if seed else score.facing
