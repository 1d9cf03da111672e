"""Lint: find the faults of a performance."""

from collections.abc import Sequence

from mimegen.choreography.finding import Finding
from mimegen.choreography.flaws import flaws
from mimegen.choreography.perform import kept_variation
from mimegen.choreography.score import Score
from mimegen.motion import Motion


def lint(
    motions: Sequence[Motion], score: Score, seed: int = 0, style: str | None = None
) -> list[Finding]:
    """Return the faults of motions that ``perform_scene`` made; an empty list if there are none."""
    return flaws(motions, score, seed, style, kept_variation(score, seed, style))
