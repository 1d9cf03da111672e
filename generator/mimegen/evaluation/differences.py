"""Differences between two accuracies over actions, with intervals where these can be trusted."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.evaluation.contamination.fall import ExposureArms, Fall
from mimegen.evaluation.statistics import ALIKE, Estimate, Interval, weighted_mean

# An action, and two shares of right answers.
SharePair = tuple[str, float, float]
# With fewer actions even an exact test is not significant at 0.05 if all agree: 2 x 0.5^5 is
# 0.0625. An interval from t, or from answers assumed independent, would claim more.
LEAST_ACTIONS = 6
NO_INTERVAL = "no interval: too few actions"
ONE_ACTION = "all answers are about one action, so intervals do not apply to other actions"


def by_action(pairs: Sequence[SharePair]) -> tuple[FloatArray, FloatArray]:
    """Return each action's mean of first minus second, and its number of pairs."""
    found: dict[str, list[float]] = defaultdict(list)
    for action, first, second in pairs:
        found[action].append(first - second)
    return (np.array([np.mean(found[action]) for action in sorted(found)]),
            np.array([len(found[action]) for action in sorted(found)], dtype=float))


def has_interval(pairs: Sequence[SharePair]) -> bool:
    """Return whether there are enough actions for any interval."""
    return len({action for action, *_ in pairs}) >= LEAST_ACTIONS


def difference_interval(pairs: Sequence[SharePair]) -> Interval | None:
    """Return the 95 % interval of first minus second; None with too few actions.

    It is from t over actions (CR2), because answers about one action are alike. If all actions
    agree exactly and so show no spread, it is that of independent answers, as in the contamination
    verdict.
    """
    return _estimated(pairs).interval() if has_interval(pairs) else None


def difference_p(pairs: Sequence[SharePair]) -> float:
    """Return the two-sided p of the test that ``difference_interval`` inverts; 1 with too few."""
    return _estimated(pairs).p() if has_interval(pairs) else 1.0


def _estimated(pairs: Sequence[SharePair]) -> Estimate | Fall:
    """Return the estimate from clusters by action, or from independent answers if all agree."""
    estimate = weighted_mean(*by_action(pairs))
    # If all actions agree exactly, rounding still leaves standard errors of about 1e-17.
    if estimate.se > ALIKE:
        return estimate
    first = float(np.mean([share for _, share, _ in pairs]))
    second = float(np.mean([share for *_, share in pairs]))
    return Fall(ExposureArms((first, second), (len(pairs), len(pairs))), 1.0, 0.0, np.inf)
