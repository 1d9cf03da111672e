"""The duration of a score's takes, computed from its times without performing it."""

from mimegen.choreography.score import Score
from mimegen.choreography.timing import frame_times
from mimegen.choreography.variation import is_written, vary


def seconds_of(score: Score, seed: int = 0, style: str | None = None) -> float:
    """Return the duration of a seed's take of a score, in seconds.

    Raises RequestError for an unknown style.
    """
    if is_written(seed, style):
        return score.duration + sum((repeat.times - 1) * (repeat.until - repeat.after)
                                    for repeat in score.repeat)
    # How much of the variation is kept (``perform.kept_variation``) does not change times.
    return vary(score, seed, style)[0].line.duration


def frames_of(score: Score, seed: int, style: str | None, fps: float) -> int:
    """Return the number of frames of a take at ``fps``; raises RequestError as ``seconds_of``."""
    return len(frame_times(seconds_of(score, seed, style), fps))
