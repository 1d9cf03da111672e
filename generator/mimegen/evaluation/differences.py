"""Differences between two accuracies over actions, with intervals where these can be trusted."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from scipy import stats

from mimegen.base.arrays import FloatArray
from mimegen.base.grid import on_grid
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
MCNEMAR, T_TEST = "McNemar", "t over actions"
# The power for which detectable differences are given, and the difference that designs are for.
POWER = 0.8
TEN_POINTS = 0.1
# Most pairs per action with which McNemar's test keeps its level (at most 4.5 % false alarms in
# 2,000 studies of 12 to 72 actions); MIME's own set has 1.07. With twenty pairs of each of eight
# actions it gives 23 % where the effect differs between actions by 1 logit, 38 % by 2.
MAX_PAIRS = 1.25
NOT_CORRECTED = ("Intervals are not corrected for the number of comparisons; p after Holm's method"
                 " is.")
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

    ``p`` is from McNemar's exact test if all shares are 0 or 1 and actions rarely have several
    pairs; otherwise it is from the t test over actions. ``interval`` is from t over actions (from
    independent answers if actions do not vary), and ``bootstrap`` is the BCa interval, seeded by
    ``name``. Both are None with too few actions, and extend to 0 if McNemar's test does not reject
    0. ``detectable`` is the true difference that the t test would find with 80 % power on as many
    actions, and ``actions_for_ten`` the number of actions, with as many answers each, at which that
    is ten points; both are None if the actions do not vary.
    """
    lost = sum(one.first > one.second for one in pairs)
    gained = sum(one.second > one.first for one in pairs)
    # The second minus the first.
    shares: list[SharePair] = [(one.action, one.second, one.first) for one in pairs]
    actions = len({one.action for one in pairs})
    # McNemar counts pairs, so each half must be right or wrong; people's halves can be shares. It
    # also assumes independent pairs, which pairs of the same action are not.
    is_exact = all(one.single for one in pairs) and len(pairs) <= MAX_PAIRS * actions
    estimate = _estimated(shares)
    p = McNemar(len(pairs), lost, gained).p if is_exact else _p(estimate)
    interval, bootstrap = _interval(estimate), _bootstrap(shares, *name)
    if is_exact and p >= 1 - LEVEL:
        # With few pairs that differ, t and the bootstrap exclude 0 where an exact test does not.
        interval, bootstrap = _with_zero(interval), _with_zero(bootstrap)
    return {"pairs": len(pairs), "actions": actions,
            "accuracies": [float(np.mean([getattr(one, half) for one in pairs]))
                           for half in ("first", "second")],
            "lost": lost, "gained": gained,
            "difference": float(np.mean([one.second - one.first for one in pairs])),
            "interval": interval and [*interval], "bootstrap": bootstrap and [*bootstrap],
            "test": MCNEMAR if is_exact else T_TEST, "p": p, **_power(estimate, actions)}


def _with_zero(interval: Interval | None) -> Interval | None:
    """Return an interval extended to contain 0."""
    return interval and (min(interval[0], 0.0), max(interval[1], 0.0))


def _power(estimate: Estimate | Fall | None, actions: int) -> dict[str, Any]:
    """Return ``detectable`` and ``actions_for_ten``; see ``difference``."""
    if not isinstance(estimate, Estimate):
        return {"detectable": None, "actions_for_ten": None}
    reach = float(stats.t.ppf((1 + LEVEL) / 2, estimate.df) + stats.t.ppf(POWER, estimate.df))
    spread = estimate.se * np.sqrt(actions)
    normal = float(stats.norm.ppf((1 + LEVEL) / 2) + stats.norm.ppf(POWER))
    needed = ceil(float(on_grid(np.array((normal * spread / TEN_POINTS) ** 2))))
    return {"detectable": min(reach * estimate.se, 1.0), "actions_for_ten": needed}


def power_sentence(found: dict[str, Any]) -> str:
    """Return which differences a comparison can find; empty if unknown."""
    if found["detectable"] is None:
        return ""
    return (f"with these {found['actions']} actions, a true difference of"
            f" {100 * found['detectable']:.0f} points is found with {POWER:.0%} power; ten points"
            f" need about {found['actions_for_ten']} actions with as many answers each")


def with_holm(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return differences with ``p_holm``, their p corrected for the number of differences."""
    adjusted = holm([one["p"] for one in found])
    return [one | {"p_holm": p} for one, p in zip(found, adjusted, strict=True)]


def _bootstrap(shares: Sequence[SharePair], *name: str) -> Interval | None:
    return cluster_bootstrap(*by_action(shares), LEVEL, *name) if has_interval(shares) else None


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
    return _interval(_estimated(pairs))


def difference_p(pairs: Sequence[SharePair]) -> float:
    """Return the two-sided p of the test that ``difference_interval`` inverts; 1 with too few."""
    return _p(_estimated(pairs))


def _interval(estimate: Estimate | Fall | None) -> Interval | None:
    return None if estimate is None else estimate.interval()


def _p(estimate: Estimate | Fall | None) -> float:
    return 1.0 if estimate is None else estimate.p()


def _estimated(pairs: Sequence[SharePair]) -> Estimate | Fall | None:
    """Return the estimate from clusters by action, or from independent answers if all agree.

    None with too few actions.
    """
    if not has_interval(pairs):
        return None
    estimate = weighted_mean(*by_action(pairs))
    # If all actions agree exactly, rounding still leaves standard errors of about 1e-17.
    if estimate.se > ALIKE:
        return estimate
    first = float(np.mean([share for _, share, _ in pairs]))
    second = float(np.mean([share for *_, share in pairs]))
    return Fall(ExposureArms((first, second), (len(pairs), len(pairs))), 1.0, 0.0, np.inf)
