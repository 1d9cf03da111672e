"""One model's answers about seen and unseen clips, and the comparison of like with like."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mimegen.evaluation.statistics import Array, Estimate, McNemar, weighted_mean

Ints = NDArray[np.int64]
# An error below is rounding's: all actions fell alike.
ALIKE = 1e-9


@dataclass(frozen=True)
class Answers:
    """N answers: scores (N,) from 0 to 1, whether the clip was seen (N,), action and variant (N,).

    Actions and variants are numbers from 0. Like with like: an answer is compared with those of the
    other arm to the same action in the same variant; where there are none, with those to the
    action's other variants that are in one arm only.
    """

    score: Array
    seen: NDArray[np.bool_]
    action: Ints
    variant: Ints

    def arm(self, seen: bool) -> "Answers":
        """Return one arm's answers."""
        return self.where(self.seen == seen)

    def where(self, chosen: NDArray[np.bool_]) -> "Answers":
        """Return the answers chosen (N,)."""
        return Answers(self.score[chosen], self.seen[chosen], self.action[chosen],
                       self.variant[chosen])

    def by_action(self) -> tuple[Array, Array]:
        """Return the sum of scores and the number of answers of each action that has any, (K,)."""
        asked = np.bincount(self.action).astype(float)
        right = np.asarray(np.bincount(self.action, self.score), float)
        return right[asked > 0], asked[asked > 0]


@dataclass(frozen=True)
class Falls:
    """What each of K actions says: the fall from seen to unseen (K,), and its weight (K,).

    ``used`` (N,) says which answers had a partner.
    """

    fall: Array
    weight: Array
    used: NDArray[np.bool_]


def falls_of(answers: Answers) -> Falls:
    """Return the fall in each action: the mean over its strata, weighted as Mantel and Haenszel do.
    """
    stratum = _strata(answers)
    size = int(stratum.max()) + 1
    counts = [np.bincount(stratum[arm], minlength=size) for arm in (answers.seen, ~answers.seen)]
    sums = [np.bincount(stratum[arm], answers.score[arm], size)
            for arm in (answers.seen, ~answers.seen)]
    both = (counts[0] > 0) & (counts[1] > 0)
    seen, unseen = counts[0][both], counts[1][both]
    weight = seen * unseen / (seen + unseen)
    fall = sums[0][both] / seen - sums[1][both] / unseen
    action = np.zeros(size, np.int64)
    action[stratum] = answers.action
    total = np.asarray(np.bincount(action[both], weight), float)
    there = total > 0
    mean: Array = np.bincount(action[both], weight * fall)[there] / total[there]
    return Falls(mean, total[there], both[stratum])


def _strata(answers: Answers) -> Ints:
    """Return each answer's stratum (N,): its action and variant where both arms have it."""
    variants = int(answers.variant.max()) + 2
    cell = answers.action * variants + answers.variant
    shared = np.isin(cell, np.intersect1d(cell[answers.seen], cell[~answers.seen]))
    cell = np.where(shared, cell, answers.action * variants + variants - 1)
    return np.asarray(np.unique(cell, return_inverse=True)[1], np.int64)


def estimate(answers: Answers, falls: Falls) -> Estimate:
    """Return the mean fall over actions.

    Where an arm is all right or all wrong, or all actions fell alike, clusters tell nothing of the
    error: it is not taken to be below that with half a right and half a wrong answer more in each
    arm (Haldane 1956). That error is no estimate from clusters, so the normal distribution goes
    with it (``df`` infinite).
    """
    found = weighted_mean(falls.fall, falls.weight)
    used = answers.where(falls.used)
    scores = [used.arm(seen).score for seen in (True, False)]
    if found.se > ALIKE and all(0 < score.sum() < len(score) for score in scores):
        return found
    least = _error_with_halves(scores)
    return found if found.se >= least else Estimate(found.value, least, np.inf)


def _error_with_halves(arms: list[Array]) -> float:
    shares = [(arm.sum() + 0.5) / (len(arm) + 1) for arm in arms]
    return float(np.sqrt(sum(share * (1 - share) / (len(arm) + 1)
                             for share, arm in zip(shares, arms, strict=True))))


def pairs_of(answers: Answers) -> McNemar | None:
    """Return the pairs of the same action and variant; None without any, or with graded scores.

    Where there are several answers in both arms they are paired in the order they come in.
    """
    if not np.isin(answers.score, (0, 1)).all():
        return None
    both = _pair_scores(answers)
    if not len(both):
        return None
    return McNemar(len(both), int((both[:, 0] > both[:, 1]).sum()),
                   int((both[:, 0] < both[:, 1]).sum()))


def _pair_scores(answers: Answers) -> Array:
    """Return the scores of pairs (P, 2): seen, unseen."""
    cell = answers.action * (int(answers.variant.max()) + 1) + answers.variant
    turn = np.zeros(len(cell), np.int64)
    for arm in (answers.seen, ~answers.seen):
        turn[arm] = _turns(cell[arm])
    name = cell * (len(cell) + 1) + turn
    _, first, second = np.intersect1d(name[answers.seen], name[~answers.seen],
                                      assume_unique=True, return_indices=True)
    return np.stack([answers.score[answers.seen][first], answers.score[~answers.seen][second]], 1)


def _turns(cells: Ints) -> Ints:
    """Return how many of the same cell came before each one, (N,)."""
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    turns = np.empty(len(cells), np.int64)
    for start, end in pairwise([*starts.tolist(), len(cells)]):
        turns[order[start:end]] = np.arange(end - start)
    return turns
