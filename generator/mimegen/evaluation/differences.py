"""Differences between two accuracies over actions, with intervals where these can be trusted."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.evaluation.contamination.fall import ExposureArms, Fall
from mimegen.evaluation.statistics import (
    ALIKE,
    Estimate,
    Interval,
    McNemar,
    cluster_bootstrap,
    holm,
    weighted_mean,
)

# An action, and two shares of right answers.
SharePair = tuple[str, float, float]
# With fewer actions even an exact test is not significant at 0.05 if all agree: 2 x 0.5^5 is
# 0.0625. An interval from t, or from answers assumed independent, would claim more.
LEAST_ACTIONS = 6
LEVEL = 0.95
MCNEMAR = "McNemar"
# Most pairs per action with which McNemar's test keeps its level (at most 4.5 % false alarms in
# 2,000 studies of 12 to 72 actions); MIME's own set has 1.07. With twenty pairs of each of eight
# actions it gives 23 % where the effect differs between actions by 1 logit, 38 % by 2.
MAX_PAIRS = 1.25
NO_INTERVAL = "no interval: too few actions"
ONE_ACTION = "all answers are about one action, so intervals do not apply to other actions"


@dataclass(frozen=True)
class AnswerPair:
    """Shares of right answers that are compared, and the action that both are about."""

    action: str
    first: float
    second: float

    @property
    def single(self) -> bool:
        """Whether both shares are 0 or 1, so that the pair suits McNemar's test."""
        return {self.first, self.second} <= {0.0, 1.0}


def difference(pairs: Sequence[AnswerPair], *name: str) -> dict[str, Any]:
    """Return the second accuracy minus the first over ``pairs``, as JSON content.

    ``interval`` is from t over actions (from independent answers if actions do not vary), and
    ``bootstrap`` is the BCa interval, seeded by ``name``; both are None with too few actions. ``p``
    is from McNemar's exact test if all shares are 0 or 1 and actions rarely have several pairs.
    Otherwise it is from the t test over actions, which matches ``interval``.
    """
    lost = sum(one.first > one.second for one in pairs)
    gained = sum(one.second > one.first for one in pairs)
    # The second minus the first.
    shares: list[SharePair] = [(one.action, one.second, one.first) for one in pairs]
    interval, actions = difference_interval(shares), len({one.action for one in pairs})
    # McNemar counts pairs, so each half must be right or wrong; people's halves can be shares. It
    # also assumes independent pairs, which pairs of the same action are not.
    is_exact = all(one.single for one in pairs) and len(pairs) <= MAX_PAIRS * actions
    return {"pairs": len(pairs), "actions": actions,
            "accuracies": [float(np.mean([getattr(one, half) for one in pairs]))
                           for half in ("first", "second")],
            "lost": lost, "gained": gained,
            "difference": float(np.mean([one.second - one.first for one in pairs])),
            "interval": None if interval is None else [*interval],
            "bootstrap": _bootstrap(shares, *name),
            "test": MCNEMAR if is_exact else "t over actions",
            "p": McNemar(len(pairs), lost, gained).p if is_exact else difference_p(shares)}


def with_holm(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return differences with ``p_holm``, their p corrected for the number of differences."""
    adjusted = holm([one["p"] for one in found])
    return [one | {"p_holm": p} for one, p in zip(found, adjusted, strict=True)]


def _bootstrap(shares: Sequence[SharePair], *name: str) -> list[float] | None:
    if not has_interval(shares):
        return None
    found = cluster_bootstrap(*by_action(shares), LEVEL, *name)
    return None if found is None else [*found]


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
