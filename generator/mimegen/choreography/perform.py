"""Perform a score: a seed's variation, as much of it as the body can do, as motions.

A seed asks for another size, another place, another posture, and by chance for what an arm cannot
reach, or for a knee that no longer shows a march. A person would do it smaller. So the take is
performed and looked at, and where anything is wrong with it, all in which it differs in space is
taken back towards the score, step by step, until nothing is. What must be seen is kept with
something to spare: the take is for other bodies as well. Small movements fall at other moments in a
take that is faster or slower than the score; where they spoil even what is left of it, others are
tried.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from mimegen.base.files import file_hash
from mimegen.choreography.checks import CheckResult, checks_file, kept
from mimegen.choreography.finding import Finding
from mimegen.choreography.flaws import flaws
from mimegen.choreography.score import Score
from mimegen.choreography.solved import solved_scene
from mimegen.choreography.variation import is_written
from mimegen.motion import Motion

# What may be left of a seed's variation, and the rate at which a take is looked at: the same for
# all rates, so that a take is the same take at any. At 0 it is the score as it was tuned, small
# movements included, with the seed's own tempo, timing, repeats, side and facing.
SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)
# Where something is still wrong, the small movements of these seeds (below zero) are tried.
BORROWED_FROM = (-1.0, -2.0, -3.0, -4.0)
LOOKED_AT_FPS = 30.0
CACHED = 8
# By so much (cm or degrees) a varied take keeps what must be seen, or by this share of what the
# score as it is written does: bodies lose and gain as much by their own proportions.
SPARE = 3.0
OF_WRITTEN = 0.5


@dataclass(frozen=True)
class _Take:
    """A take, told apart by the text of its score and of its checks."""

    text: str
    score: Score = field(compare=False)
    seed: int
    style: str | None


class Settled(NamedTuple):
    """How much of the variation is left (``share_of``), the motions, what must be ``seen`` of them,
    and all that is wrong with them."""

    share: float
    motions: tuple[Motion, ...]
    seen: tuple[CheckResult, ...]
    wrong: tuple[Finding, ...]


def perform(score: Score, seed: int = 0, fps: float = 60.0, style: str | None = None) -> Motion:
    """Return the first performer's motion; all of it, where a score has one performer."""
    return perform_scene(score, seed, fps, style)[0]


def perform_scene(
    score: Score, seed: int = 0, fps: float = 60.0, style: str | None = None
) -> tuple[Motion, ...]:
    """Return the take that a seed makes of a score: one motion per performer, in one world.

    Seed 0 is the score as written; every other seed is another take of it. The same seed always
    gives the same bytes. Raises RequestError where a hand cannot reach its target.
    """
    if is_written(seed, style):
        return solved_scene(score, seed, fps, style)
    found = settled_take(score, seed, style)
    if fps == LOOKED_AT_FPS:
        return found.motions
    return solved_scene(score, seed, fps, style, found.share)


def share_of(score: Score, seed: int, style: str | None) -> float:
    """Return how much of a seed's variation is left so that nothing is wrong with the take.

    Where something always is, it is the share with the fewest findings, the largest of these.
    Below zero it says whose small movements are borrowed (``life.own_share``).
    """
    # With a score as it is written nothing is wrong.
    return 1.0 if is_written(seed, style) else settled_take(score, seed, style).share


def settled_take(score: Score, seed: int, style: str | None) -> Settled:
    """Return a take at the rate at which it is looked at. Raises RequestError as perform_scene."""
    take = _take(score, seed, style)
    return _assessed(take, 1.0) if is_written(seed, style) else _best_share(take)


def _take(score: Score, seed: int, style: str | None) -> _Take:
    checks = checks_file(score)
    seen = file_hash(checks) if checks.is_file() else ""
    return _Take(f"{score.source}{score.model_dump_json()}{seen}", score, seed, style)


@lru_cache(maxsize=CACHED)
def _best_share(take: _Take) -> Settled:
    best = _best_of(take, SHARES)
    return min(best, _best_of(take, BORROWED_FROM), key=_faults) if best.wrong else best


def _best_of(take: _Take, shares: Sequence[float]) -> Settled:
    best, fewest = None, (0, 0)
    for share in shares:
        found = _assessed(take, share)
        faults = len(found.wrong), _scarce(found, take.score)
        if best is None or faults < fewest:
            best, fewest = found, faults
        if not any(fewest):
            break
    assert best is not None
    return best


def _faults(found: Settled) -> int:
    return len(found.wrong)


def _scarce(found: Settled, score: Score) -> int:
    """Return how many checks a take keeps, but by too little."""
    close = [one for one in found.seen if 0 <= one.spare < SPARE]
    # What seed 0 keeps is a performance more: only where it is asked for.
    spare = _spare_of(_take(score, 0, None)) if close else {}
    return sum(one.spare < spare[one.check.about] for one in close)


@lru_cache
def _spare_of(written: _Take) -> Mapping[str, float]:
    """Return by how much (cm or degrees) takes of a score are to keep its checks."""
    spare: dict[str, float] = {}
    motions = solved_scene(written.score, written.seed, LOOKED_AT_FPS, written.style)
    for one in kept(motions, written.score):
        own = min(max(OF_WRITTEN * one.spare, 0.0), SPARE)
        spare[one.check.about] = min(own, spare.get(one.check.about, SPARE))
    return spare


def _assessed(take: _Take, share: float) -> Settled:
    motions = solved_scene(take.score, take.seed, LOOKED_AT_FPS, take.style, share)
    seen = kept(motions, take.score, take.seed, take.style)
    wrong = (*flaws(motions, take.score, take.seed, take.style, share),
             *(one.finding for one in seen if one.spare < 0))
    return Settled(share, motions, tuple(seen), wrong)
