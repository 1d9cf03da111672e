"""Estimates with standard errors and intervals for answers that come in clusters."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from mimegen.base.arrays import FloatArray
from mimegen.base.seeds import generator

Interval = tuple[float, float]
# One less than 5000, so that percentiles of R + 1 are whole numbers.
RESAMPLES = 4999
# A standard error below this is only rounding: all clusters are alike.
ALIKE = 1e-9
# With fewer wrong (or right) answers, bootstrap intervals cover less than their level
# (docs/explanation/statistics.md).
FEW_RARE = 5
# A smaller share would be printed as 0.0 %.
LEAST_SHOWN = 0.0005


@dataclass(frozen=True)
class Estimate:
    """A difference of shares, its standard error and the degrees of freedom of t."""

    value: float
    se: float
    df: float

    def interval(self, level: float = 0.95) -> Interval:
        """Return the two-sided interval, limited to -1 to 1."""
        reach = float(stats.t.ppf((1 + level) / 2, self.df)) * self.se
        return max(self.value - reach, -1.0), min(self.value + reach, 1.0)

    def p(self) -> float:
        """Return the two-sided p of no difference."""
        return min(2 * self._beyond(abs(self.value)), 1.0)

    def p_outside(self, margin: float) -> float:
        """Return the p of two one-sided tests (TOST) that the true value lies within +- ``margin``.
        """
        return max(self._beyond(margin - self.value), self._beyond(margin + self.value))

    def _beyond(self, distance: float) -> float:
        if self.se == 0:
            return 0.5 if distance == 0 else float(distance < 0)
        return float(stats.t.sf(distance / self.se, self.df))


def weighted_mean(values: FloatArray, weights: FloatArray) -> Estimate:
    """Return the mean of clusters' values (K,) with weights (K,), with a robust standard error.

    The error is CR2's, which is unbiased if a cluster's variance is proportional to 1 / weight. The
    degrees of freedom are Satterthwaite's (Bell & McCaffrey 2002; Pustejovsky & Tipton 2018). With
    equal weights this is the t test over clusters. Needs at least two clusters.
    """
    share = weights / weights.sum()
    mean = float(share @ values)
    # A cluster pulls the mean towards itself: its residual has only (1 - share) of its variance.
    error = share**2 / (1 - share)
    se = float(np.sqrt(error @ (values - mean) ** 2))
    # Satterthwaite: twice the squared expectation of the variance estimate, divided by its
    # variance.
    df = 1 / (share @ share + error.sum() ** 2 - error @ error)
    return Estimate(mean, se, float(df))


def clustered_share(right: FloatArray, asked: FloatArray, level: float = 0.95) -> Interval:
    """Return the interval of a share, from clusters' sums of scores and counts, each (K,).

    It is Wilson's interval at the effective number of answers, with t (Korn & Graubard 1998; Dean &
    Pagano 2015). If clusters vary more than independent answers would, it moves towards the logit
    interval, by the fraction of the variance that is in excess: with few clusters that differ much,
    the logit interval misses less often. If clusters show no spread (all right, all wrong or all
    alike), the interval is that of independent answers.
    """
    found = _clustered_mean(right, asked)
    return _share_interval(float(right.sum()), float(asked.sum()), found, level)


def crossed_share(right: FloatArray, first: Sequence[str], second: Sequence[str],
                  level: float = 0.95) -> Interval:
    """Return the interval of a share of answers (N,) in two crossed kinds of clusters.

    For example actions and people. The two variances are added, less that of independent answers,
    which both contain (Cameron, Gelbach & Miller 2011).
    """
    found = [_clustered_mean(*_sums(right, names)) for names in (first, second)]
    known = [one for one in found if one is not None]
    both = known[0] if known else None
    if len(known) == 2:
        one, other = (estimate.se**2 for estimate in known)
        independent = right.mean() * (1 - right.mean()) / len(right)
        # Satterthwaite's degrees of freedom of a sum.
        df = (one + other)**2 / (one**2 / known[0].df + other**2 / known[1].df)
        both = Estimate(known[0].value, float(np.sqrt(max(one + other - independent, one, other))),
                        float(df))
    return _share_interval(float(right.sum()), len(right), both, level)


def _sums(right: FloatArray, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Return the sum and the count of each cluster (K,)."""
    _, number = np.unique(names, return_inverse=True)
    return np.bincount(number, right).astype(float), np.bincount(number).astype(float)


def _clustered_mean(right: FloatArray, asked: FloatArray) -> Estimate | None:
    """Return the share with its clustered standard error; None if clusters show no spread."""
    if len(asked) < 2 or not 0 < right.sum() < asked.sum():
        return None
    found = weighted_mean(right / asked, asked)
    return found if found.se > ALIKE else None


def _share_interval(right: float, n: float, found: Estimate | None, level: float) -> Interval:
    """Return the interval of a share whose clustered estimate is ``found``; see clustered_share."""
    share = right / n
    if found is None:
        return wilson(share, n, float(stats.norm.ppf((1 + level) / 2)))
    # With few wrong answers the clusters' spread varies less than t assumes.
    df = found.df * more_degrees(min(right, n - right))
    reach = float(stats.t.ppf((1 + level) / 2, df))
    variance = share * (1 - share)
    # The design effect: n / design independent answers would be as informative.
    design = found.se**2 * n / variance
    ends = wilson(share, n / design, reach)
    # By the delta method, the error of a logit is that of the share divided by share (1 - share).
    logits = expit(logit(share) + np.array([-1, 1]) * reach * found.se / variance)
    # The fraction of the variance in excess of independent answers.
    more = max(1 - 1 / design, 0.0)
    low, high = (1 - more) * np.array(ends) + more * logits
    return float(low), float(high)


def more_degrees(rare: float) -> float:
    """Return the factor on degrees of freedom if only ``rare`` answers are wrong (or right).

    Given their number w, the clusters' spread varies less, by a fraction 1 / w.
    """
    return rare / (rare - 1) if rare > 1 else np.inf


def wilson(share: float, n: float, z: float = 1.959963984540054) -> Interval:
    """Return Wilson's score interval (1927) of a share of ``n`` answers."""
    # The share is drawn towards one half, as if z^2 more answers were half right.
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(float(middle - reach), 0.0), min(float(middle + reach), 1.0)


def cluster_bootstrap(values: FloatArray, weights: FloatArray, level: float, *name: int | str
                      ) -> Interval | None:
    """Return the BCa interval (Efron 1987) of the weighted mean over resampled clusters.

    Its level is widened for few clusters, as t is wider than the normal distribution (Hesterberg
    2015). ``name`` seeds the resampling. Returns None if all clusters are alike.
    """
    # Resamples of equal values are equal, and an interval of zero width would suggest certainty.
    if np.ptp(values) == 0:
        return None
    # scipy warns if resamples hardly differ, which is handled below by returning None.
    with warnings.catch_warnings(category=RuntimeWarning, action="ignore"), \
            np.errstate(all="ignore"):
        found = stats.bootstrap(
            (values, weights), lambda v, w, axis: (v * w).sum(axis) / w.sum(axis), paired=True,
            vectorized=True, method="BCa", confidence_level=_widened(level, len(values)),
            n_resamples=RESAMPLES, rng=generator("cluster bootstrap", *name)).confidence_interval
    low, high = float(found.low), float(found.high)
    return (low, high) if np.isfinite([low, high]).all() else None


def _widened(level: float, clusters: int) -> float:
    """Return the level at which percentiles of resampled clusters reach as far as t does."""
    # Resampled means vary too little: their squares are divided by K, not K - 1.
    reach = stats.t.ppf((1 + level) / 2, clusters - 1) * np.sqrt(clusters / (clusters - 1))
    return 1 - 2 * float(stats.norm.sf(reach))


@dataclass(frozen=True)
class McNemar:
    """McNemar's exact test of pairs, from those that disagree."""

    pairs: int
    first_only: int
    second_only: int

    @property
    def discordance(self) -> float:
        """The share of pairs that disagree."""
        return (self.first_only + self.second_only) / self.pairs

    @property
    def p(self) -> float:
        """The exact two-sided p, from a binomial test over the pairs that disagree."""
        disagree = self.first_only + self.second_only
        # Pairs that agree do not show which variant is easier; without a difference, the others are
        # equally likely to go either way.
        return float(stats.binomtest(self.first_only, disagree).pvalue) if disagree else 1.0

    @property
    def odds_ratio(self) -> float | None:
        """First over second; infinite if only the first are right, None without discordant pairs.
        """
        if self.second_only:
            return self.first_only / self.second_only
        return float("inf") if self.first_only else None

    def odds_interval(self, level: float = 0.95) -> Interval | None:
        """Return the exact interval of the odds ratio, from Clopper and Pearson's of the share."""
        disagree = self.first_only + self.second_only
        if not disagree:
            return None
        found = stats.binomtest(self.first_only, disagree).proportion_ci(level)
        return _odds(found.low), _odds(found.high)


def _odds(share: float) -> float:
    return float(share / (1 - share)) if share < 1 else float("inf")


def holm(ps: list[float]) -> list[float]:
    """Return p values adjusted for their number (Holm 1979)."""
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        # A larger p must not become smaller than the one before by its smaller factor.
        highest = max(highest, min(1.0, ps[place] * (len(ps) - rank)))
        adjusted[place] = highest
    return adjusted
