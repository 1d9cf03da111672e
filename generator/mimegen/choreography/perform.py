"""Perform a score: turn as much of a seed's variation as the body can do into motions.

A seed changes sizes, positions and posture, and by chance it asks for what an arm cannot reach, or
for a knee too low for a march. A person would do less. So the take is performed and examined; if
anything is wrong, all its differences in space from the score are reduced, step by step, until
nothing is. It passes the score's checks with a margin, because it is for other bodies as well.
Small movements occur at other times in a take that is faster or slower than the score; if they
cause faults even at the smallest variation, those of other seeds are tried.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from mimegen.base.files import file_hash
from mimegen.choreography.checks import CheckResult, check_results, checks_file
from mimegen.choreography.finding import Finding
from mimegen.choreography.flaws import flaws
from mimegen.choreography.life import ALL_VARIATION, KeptVariation
from mimegen.choreography.score import Score
from mimegen.choreography.solving import solved_scene
from mimegen.choreography.variation import is_written
from mimegen.motion import Motion

# Shares of a seed's variation, tried in this order. At 0 it is the score as it was tuned, small
# movements included, with the seed's own tempo, timing, repeats, side and facing.
VARIATIONS = tuple(KeptVariation(share) for share in (1.0, 0.75, 0.5, 0.25, 0.0))
# If faults remain, the small movements of these seeds are tried.
BORROWED_VARIATIONS = tuple(KeptVariation(0.0, seed) for seed in (1, 2, 3, 4))
# Takes are examined at this frame rate, whatever the rate asked for, so that the choice of a share
# does not depend on it. The last CACHED of them are kept.
LOOKED_AT_FPS = 30.0
CACHED = 8
# A varied take passes a check with this margin in centimetres or degrees, or with OF_WRITTEN of the
# margin of the score as written, whichever is less: other bodies' proportions change as much.
MARGIN = 3.0
OF_WRITTEN = 0.5


@dataclass(frozen=True)
class _Take:
    """A take as a key of the cache: ``text`` identifies its score and its checks."""

    text: str
    score: Score = field(compare=False)
    seed: int
    style: str | None


class ChosenTake(NamedTuple):
    """A take with its variation chosen.

    ``variation`` is what it keeps (see ``kept_variation``); ``seen`` are the results of the score's
    checks on the motions, ``wrong`` all faults.
    """

    variation: KeptVariation
    motions: tuple[Motion, ...]
    seen: tuple[CheckResult, ...]
    wrong: tuple[Finding, ...]


def perform(score: Score, seed: int = 0, fps: float = 60.0, style: str | None = None) -> Motion:
    """Return the motion of the first or only performer; see ``perform_scene``."""
    return perform_scene(score, seed, fps, style)[0]


def perform_scene(
    score: Score, seed: int = 0, fps: float = 60.0, style: str | None = None
) -> tuple[Motion, ...]:
    """Return the take that a seed makes of a score: one motion per performer, in one world.

    Seed 0 is the score as written; every other seed is another take of it. The same seed always
    gives the same bytes. Raises RequestError if a hand cannot reach its target.
    """
    if is_written(seed, style):
        return solved_scene(score, seed, fps, style)
    found = chosen_take(score, seed, style)
    if fps == LOOKED_AT_FPS:
        return found.motions
    return solved_scene(score, seed, fps, style, found.variation)


def kept_variation(score: Score, seed: int, style: str | None) -> KeptVariation:
    """Return how much of a seed's variation is kept so that nothing is wrong with the take.

    If there are faults at every share, it is the one with the fewest, the largest of these.
    """
    # The score as written is always performed in full.
    return (ALL_VARIATION if is_written(seed, style)
            else chosen_take(score, seed, style).variation)


def chosen_take(score: Score, seed: int, style: str | None) -> ChosenTake:
    """Return a take at LOOKED_AT_FPS. Raises RequestError as ``perform_scene`` does."""
    take = _take(score, seed, style)
    return _assessed(take, ALL_VARIATION) if is_written(seed, style) else _best_variation(take)


def _take(score: Score, seed: int, style: str | None) -> _Take:
    checks = checks_file(score)
    seen = file_hash(checks) if checks.is_file() else ""
    return _Take(f"{score.source}{score.model_dump_json()}{seen}", score, seed, style)


@lru_cache(maxsize=CACHED)
def _best_variation(take: _Take) -> ChosenTake:
    best = _best_of(take, VARIATIONS)
    return min(best, _best_of(take, BORROWED_VARIATIONS), key=_faults) if best.wrong else best


def _best_of(take: _Take, variations: Sequence[KeptVariation]) -> ChosenTake:
    """Return the take at the variation with the fewest faults, then the fewest narrow checks.

    The first variation without either ends the search.
    """
    best, fewest = None, (0, 0)
    for variation in variations:
        found = _assessed(take, variation)
        faults = len(found.wrong), _narrow_checks(found, take.score)
        if best is None or faults < fewest:
            best, fewest = found, faults
        if not any(fewest):
            break
    assert best is not None
    return best


def _faults(found: ChosenTake) -> int:
    return len(found.wrong)


def _narrow_checks(found: ChosenTake, score: Score) -> int:
    """Return how many checks a take passes with too small a margin."""
    close = [one for one in found.seen if 0 <= one.spare < MARGIN]
    # Seed 0's margins cost one more performance: compute them only if needed.
    spare = _spare_of(_take(score, 0, None)) if close else {}
    return sum(one.spare < spare[one.check.about] for one in close)


@lru_cache
def _spare_of(written: _Take) -> Mapping[str, float]:
    """Return the margins, in cm or degrees, with which takes of a score shall pass its checks."""
    spare: dict[str, float] = {}
    motions = solved_scene(written.score, written.seed, LOOKED_AT_FPS, written.style)
    for one in check_results(motions, written.score):
        own = min(max(OF_WRITTEN * one.spare, 0.0), MARGIN)
        spare[one.check.about] = min(own, spare.get(one.check.about, MARGIN))
    return spare


def _assessed(take: _Take, variation: KeptVariation) -> ChosenTake:
    """Return the take performed with some of its variation, with all its faults."""
    motions = solved_scene(take.score, take.seed, LOOKED_AT_FPS, take.style, variation)
    seen = check_results(motions, take.score, take.seed, take.style)
    wrong = (*flaws(motions, take.score, take.seed, take.style, variation),
             *(one.finding for one in seen if one.spare < 0))
    return ChosenTake(variation, motions, tuple(seen), wrong)
