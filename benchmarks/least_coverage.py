"""How little an interval of a fall can cover where answers are few and nearly all right.

    python benchmarks/least_coverage.py [--answers 30] [--accuracy]

By enumeration: x of the answers are wrong when seen and y when unseen, all independent. The truths
are those of a row of docs/explanation/statistics.md: 90 to 100 % seen, falls of 0 to 10 points.
Two numbers are printed, both means over these truths: what the score interval covers, and the least
that any interval can cover that covers 95 % or more wherever the truth is (an integer program; the
numbers x and y that a fall goes with are a band, as those of every sensible interval are). Ten
seconds. ``--accuracy`` says the same of an accuracy's interval, in one second.
"""

import argparse
import sys

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse, stats

from mimegen.evaluation.contamination.fall import ExposureArms, Fall

Array = NDArray[np.float64]
LEVEL = 0.95
# No more wrong answers are ever likely here: 20 % of 30 are wrong at the most.
MOST_WRONG = 18
FALLS = np.arange(0.005, 0.1, 0.01)
SHARES_WRONG = np.arange(0.0025, 0.1, 0.005)


def chances(wrong: float, fall: float, answers: int) -> Array:
    """Return how likely each x and y are (K * K,), where the shares wrong are these."""
    counts = np.arange(MOST_WRONG)
    return np.outer(stats.binom.pmf(counts, answers, wrong),
                    stats.binom.pmf(counts, answers, wrong + fall)).ravel()


def score_covers(fall: float, answers: int) -> Array:
    """Return whether the score interval of each x and y covers the fall, (K * K,)."""
    ends = [Fall(ExposureArms((1 - x / answers, 1 - y / answers), (answers, answers)), 1, 0, np.inf)
            .interval() for x in range(MOST_WRONG) for y in range(MOST_WRONG)]
    return np.array([low - 1e-12 <= fall <= high + 1e-12 for low, high in ends], float)


def least_covers(table: Array, fall: float, answers: int) -> float:
    """Return the least mean coverage over the rows of ``table`` (S, K * K), each LEVEL or more."""
    size = MOST_WRONG**2
    x, y = np.divmod(np.arange(size), MOST_WRONG)
    away = y - x - answers * fall
    band = _band(away)
    found = optimize.milp(
        table.mean(0), integrality=np.ones(size), bounds=optimize.Bounds(np.abs(away) < 0.5, 1),
        constraints=[optimize.LinearConstraint(table, np.minimum(LEVEL, table.sum(1))),
                     optimize.LinearConstraint(band, lb=np.zeros(band.shape[0]))])
    return float(found.mip_dual_bound)


def least_covers_share(truth: float, answers: int) -> float:
    """Return the least that a run of numbers of right answers can be of, LEVEL or more."""
    chance = stats.binom.pmf(np.arange(answers + 1), answers, truth)
    ends = np.concatenate([[0.0], np.cumsum(chance)])
    stops = np.searchsorted(ends, ends + LEVEL)
    there = stops < len(ends)
    return float((ends[stops[there]] - ends[there]).min())


def _band(away: Array) -> sparse.csr_matrix:
    """Return what is 0 or more where numbers nearer to the fall are accepted before further ones.
    """
    place = np.arange(len(away)).reshape(MOST_WRONG, MOST_WRONG)
    steps = np.concatenate([np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], 1),
                            np.stack([place[1:].ravel(), place[:-1].ravel()], 1)])
    above = steps[away[steps[:, 0]] >= 0]
    below = steps[away[steps[:, 1]] <= 0][:, ::-1]
    pairs = np.concatenate([above, below])
    rows = np.arange(len(pairs))
    return sparse.csr_matrix(
        (np.tile([1.0, -1.0], len(pairs)), (np.repeat(rows, 2), pairs.ravel())),
        shape=(len(pairs), len(away)))


def main() -> None:
    """Print both at each fall, and their means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=30)
    parser.add_argument("--accuracy", action="store_true")
    if parser.parse_args().accuracy:
        _print_accuracies()
    else:
        _print_falls(parser.parse_args().answers)


def _print_accuracies() -> None:
    for low, answers in ((0.93, 100), (0.9, 100), (0.9, 30)):
        truths = np.linspace(low, 1, 2001)[1:-1]
        least = np.mean([least_covers_share(truth, answers) for truth in truths])
        print(f"{answers} answers, truths of {low:.0%} to 100%: any {least:.2%} at least")


def _print_falls(answers: int) -> None:
    found = []
    for fall in FALLS:
        table = np.array([chances(wrong, fall, answers) for wrong in SHARES_WRONG])
        covered = table @ score_covers(fall, answers)
        found.append((covered.mean(), least_covers(table, fall, answers)))
        print(f"fall {100 * fall:4.1f}: score {found[-1][0]:.2%}, any {found[-1][1]:.2%} at least")
    score, least = np.mean(found, axis=0)
    print(f"all falls: score {score:.2%}, any {least:.2%} at least")


if __name__ == "__main__":
    sys.exit(main())
