"""How long takes of a score are, told by its own times: nothing is performed."""

from mimegen.choreography.score import Score
from mimegen.choreography.timing import frame_moments
from mimegen.choreography.variation import is_written, vary


def seconds_of(score: Score, seed: int = 0, style: str | None = None) -> float:
    """Return how long a seed's take of a score is, in seconds.

    Raises RequestError for an unknown style.
    """
    if is_written(seed, style):
        return score.duration + sum((repeat.times - 1) * (repeat.until - repeat.after)
                                    for repeat in score.repeat)
    # How much of a variation is left changes no times.
    return vary(score, seed, style)[0].line.duration


def frames_of(score: Score, seed: int, style: str | None, fps: float) -> int:
    """Return how many frames ``perform_scene`` makes of a take at a rate. Raises as seconds_of."""
    return len(frame_moments(seconds_of(score, seed, style), fps))
