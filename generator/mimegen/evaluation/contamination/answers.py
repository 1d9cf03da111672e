"""One model's answers about seen and unseen clips, compared within actions and variants."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import FloatArray
from mimegen.evaluation.contamination.fall import ExposureArms, Fall
from mimegen.evaluation.statistics import (
    ALIKE,
    McNemar,
    more_degrees,
    weighted_mean,
)

Ints = NDArray[np.int64]
# Lower bound of the design effect where only one arm varies. It keeps intervals at 95 % coverage in
# simulations with 300 answers per arm, where they cover 93 % without it.
MIN_DESIGN_EFFECT = 0.7


@dataclass(frozen=True)
class Answers:
    """N answers: scores (N,) from 0 to 1, whether the clip was seen (N,), action and variant (N,).

    Actions and variants are numbers from 0. An answer is compared with answers in the other arm to
    the same action in the same variant. If there are none, it is compared with answers to the
    action's other variants that occur in only one arm.
    """

    score: FloatArray
    seen: NDArray[np.bool_]
    action: Ints
    variant: Ints

    def arm(self, seen: bool) -> "Answers":
        """Return the answers of one arm."""
        return self.where(self.seen == seen)

    def where(self, chosen: NDArray[np.bool_]) -> "Answers":
        """Return the chosen answers; ``chosen`` is (N,)."""
        return Answers(self.score[chosen], self.seen[chosen], self.action[chosen],
                       self.variant[chosen])

    def by_action(self) -> tuple[FloatArray, FloatArray]:
        """Return the sum of scores and the number of answers of each action that has any, (K,)."""
        asked = np.bincount(self.action).astype(float)
        right = np.asarray(np.bincount(self.action, self.score), float)
        return right[asked > 0], asked[asked > 0]


@dataclass(frozen=True)
class Falls:
    """The fall from seen to unseen in each of K actions (K,), and its weight (K,).

    ``arms`` are both arms over all actions, under the same weights. ``used`` (N,) marks the answers
    that have a counterpart in the other arm.
    """

    fall: FloatArray
    weight: FloatArray
    arms: ExposureArms
    used: NDArray[np.bool_]


def falls_of(answers: Answers) -> Falls:
    """Return the fall in each action, averaged over its strata with Mantel-Haenszel weights."""
    stratum = _strata(answers)
    size = int(stratum.max()) + 1
    counts = [np.bincount(stratum[arm], minlength=size) for arm in (answers.seen, ~answers.seen)]
    sums = [np.bincount(stratum[arm], answers.score[arm], size)
            for arm in (answers.seen, ~answers.seen)]
    both = (counts[0] > 0) & (counts[1] > 0)
    asked = [count[both] for count in counts]
    shares = [total[both] / number for total, number in zip(sums, asked, strict=True)]
    weight = asked[0] * asked[1] / (asked[0] + asked[1])
    action = np.zeros(size, np.int64)
    action[stratum] = answers.action
    total = np.asarray(np.bincount(action[both], weight), float)
    there = total > 0
    mean: FloatArray = (np.bincount(action[both], weight * (shares[0] - shares[1]))[there]
                   / total[there])
    return Falls(mean, total[there], _arms(shares, asked, weight), both[stratum])


def _arms(shares: list[FloatArray], asked: list[Ints], weight: FloatArray) -> ExposureArms:
    """Return the arms' weighted shares over strata (S,), and their effective sizes (Kish 1965)."""
    if not len(weight):
        return ExposureArms((0.0, 0.0), (0.0, 0.0))
    seen, unseen = (round(float(np.average(share, weights=weight)), 12) for share in shares)
    numbers = [float(weight.sum()**2 / (weight**2 / number).sum()) for number in asked]
    return ExposureArms((seen, unseen), (numbers[0], numbers[1]))


def _strata(answers: Answers) -> Ints:
    """Return the stratum of each answer (N,): its action and variant if both arms have them."""
    variants = int(answers.variant.max()) + 2
    cell = answers.action * variants + answers.variant
    shared = np.isin(cell, np.intersect1d(cell[answers.seen], cell[~answers.seen]))
    cell = np.where(shared, cell, answers.action * variants + variants - 1)
    return np.asarray(np.unique(cell, return_inverse=True)[1], np.int64)


def estimate(answers: Answers, falls: Falls) -> Fall:
    """Return the mean fall over actions.

    The spread is CR2's cluster-robust variance, compared with that of independent answers. The
    degrees of freedom are Satterthwaite's, increased if few answers are wrong (or right). If all
    actions fell equally, clusters show no spread and the variance of independent answers is used.
    If an arm is all right or all wrong, clusters show only the other arm's spread; unless it
    exceeds that of independent answers, the normal distribution is used.
    """
    found = weighted_mean(falls.fall, falls.weight)
    independent = falls.arms.variance()
    if found.se <= ALIKE or independent <= ALIKE**2:
        return Fall(falls.arms, 1.0, 0.0, np.inf)
    design = found.se**2 / independent
    if design <= 1 and any(share in (0.0, 1.0) for share in falls.arms.shares):
        return Fall(falls.arms, max(design, MIN_DESIGN_EFFECT), 0.0, np.inf)
    return Fall(falls.arms, min(design, 1.0), max(found.se**2 - independent, 0.0),
                found.df * more_degrees(rarer_count(answers.score[falls.used])))


def rarer_count(scores: FloatArray) -> int:
    """Return the number of wrong or of right answers, whichever is smaller."""
    return int(min((scores < 1).sum(), (scores > 0).sum()))


@dataclass(frozen=True)
class Discordance:
    """The share of ``pairs`` that disagree: one answer right, the other wrong."""

    pairs: int
    share: float


def pairs_of(answers: Answers) -> McNemar | None:
    """Return McNemar's test of actions and variants with one answer in each arm.

    Where an arm has several answers, nothing states which of them belong together. None without
    pairs, or if scores are not all 0 or 1.
    """
    cells = _cells(answers)
    if cells is None:
        return None
    counts, right = cells
    seen, unseen = right[:, (counts == 1).all(0)]
    if not len(seen):
        return None
    return McNemar(len(seen), int((seen > unseen).sum()), int((seen < unseen).sum()))


def discordance_of(answers: Answers) -> Discordance | None:
    """Return how often answers to the same action and variant in the two arms disagree.

    Every answer of one arm is compared with every one of the other, so that their order does not
    matter. A cell counts as many pairs as answers in its smaller arm. None as for ``pairs_of``.
    """
    cells = _cells(answers)
    if cells is None:
        return None
    counts, right = cells
    seen, unseen = right / counts
    weight = counts.min(0)
    share = seen * (1 - unseen) + unseen * (1 - seen)
    return Discordance(int(weight.sum()), float(np.average(share, weights=weight)))


def _cells(answers: Answers) -> tuple[FloatArray, FloatArray] | None:
    """Return the numbers of answers and of right ones, (2, C): seen and unseen, by cell.

    Cells are the C actions and variants that both arms have. None if there are none, or if scores
    are graded.
    """
    if not np.isin(answers.score, (0, 1)).all():
        return None
    cell = answers.action * (int(answers.variant.max()) + 1) + answers.variant
    size = int(cell.max()) + 1
    counts = np.stack([np.bincount(cell[arm], minlength=size)
                       for arm in (answers.seen, ~answers.seen)]).astype(float)
    right = np.stack([np.bincount(cell[arm], answers.score[arm], size)
                      for arm in (answers.seen, ~answers.seen)]).astype(float)
    both = (counts > 0).all(0)
    return (counts[:, both], right[:, both]) if both.any() else None
