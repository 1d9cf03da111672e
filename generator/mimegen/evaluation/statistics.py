"""Estimates with what is known of their error, where answers come in clusters."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from mimegen.base.arrays import FloatArray
from mimegen.base.seeds import generator

Interval = tuple[float, float]
# One less than 5000: a percentile of R + 1 is then a whole number.
RESAMPLES = 4999
# An error below is rounding's: all clusters say the same.
ALIKE = 1e-9
# With fewer wrong (or right) answers the bootstrap's intervals cover less than they say
# (docs/explanation/statistics.md).
FEW_RARE = 5


@dataclass(frozen=True)
class Estimate:
    """A difference of shares, its standard error and the degrees of freedom of t."""

    value: float
    se: float
    df: float

    def interval(self, level: float = 0.95) -> Interval:
        """Return the two-sided interval, which ends where differences of shares end."""
        reach = float(stats.t.ppf((1 + level) / 2, self.df)) * self.se
        return max(self.value - reach, -1.0), min(self.value + reach, 1.0)

    def p(self) -> float:
        """Return the two-sided probability of a value as far from zero, were there none."""
        return min(2 * self._beyond(abs(self.value)), 1.0)

    def p_outside(self, margin: float) -> float:
        """Return the p of two one-sided tests (TOST) that the truth lies within +- ``margin``."""
        return max(self._beyond(margin - self.value), self._beyond(margin + self.value))

    def _beyond(self, distance: float) -> float:
        if self.se == 0:
            return 0.5 if distance == 0 else float(distance < 0)
        return float(stats.t.sf(distance / self.se, self.df))


def weighted_mean(values: FloatArray, weights: FloatArray) -> Estimate:
    """Return the mean of clusters' values (K,) under weights (K,), with its robust error.

    The error is CR2's, which is unbiased where a cluster's variance goes with 1 / weight, and the
    degrees of freedom are Satterthwaite's (Bell & McCaffrey 2002; Pustejovsky & Tipton 2018): with
    equal weights it is the t test over clusters. Needs two clusters.
    """
    share = weights / weights.sum()
    mean = float(share @ values)
    # A cluster pulls the mean towards itself: its residual has (1 - share) of its variance.
    error = share**2 / (1 - share)
    se = float(np.sqrt(error @ (values - mean) ** 2))
    # Satterthwaite: twice the squared expectation of that variance over its variance.
    df = 1 / (share @ share + error.sum() ** 2 - error @ error)
    return Estimate(mean, se, float(df))


def clustered_share(right: FloatArray, asked: FloatArray, level: float = 0.95) -> Interval:
    """Return the interval of a share from clusters' sums of scores and counts, each (K,).

    Wilson's with clusters' error and t (Korn & Graubard 1998; Dean & Pagano 2015): of as many
    independent answers as tell as much. Where clusters spread more than independent answers do, it
    goes towards the logit interval, by the share of their variance that is more. With few clusters
    that differ much, that one misses less. As of independent answers where clusters tell no spread:
    all right, all wrong, or all clusters alike.
    """
    found = _clustered_mean(right, asked)
    return _share_interval(float(right.sum()), float(asked.sum()), found, level)


def crossed_share(right: FloatArray, first: Sequence[str], second: Sequence[str],
                  level: float = 0.95) -> Interval:
    """Return the interval of a share of answers (N,) in two crossed kinds of clusters.

    As actions and people are. The variances of both add up, less that of independent answers, which
    both contain (Cameron, Gelbach & Miller 2011).
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
    """Return clusters' sums and counts (K,)."""
    _, number = np.unique(names, return_inverse=True)
    return np.bincount(number, right).astype(float), np.bincount(number).astype(float)


def _clustered_mean(right: FloatArray, asked: FloatArray) -> Estimate | None:
    """Return the share with its clusters' error; None where they tell no spread."""
    if len(asked) < 2 or not 0 < right.sum() < asked.sum():
        return None
    found = weighted_mean(right / asked, asked)
    return found if found.se > ALIKE else None


def _share_interval(right: float, n: float, found: Estimate | None, level: float) -> Interval:
    share = right / n
    if found is None:
        return wilson(share, n, float(stats.norm.ppf((1 + level) / 2)))
    # Few wrong answers fix a part of the clusters' spread, so it varies less than t assumes.
    df = found.df * more_degrees(min(right, n - right))
    reach = float(stats.t.ppf((1 + level) / 2, df))
    variance = share * (1 - share)
    # The design effect: n / design independent answers would tell as much.
    design = found.se**2 * n / variance
    ends = wilson(share, n / design, reach)
    # The error of a logit is that of the share over share (1 - share), by the delta method.
    logits = expit(logit(share) + np.array([-1, 1]) * reach * found.se / variance)
    # The share of the variance that independent answers would not have.
    more = max(1 - 1 / design, 0.0)
    low, high = (1 - more) * np.array(ends) + more * logits
    return float(low), float(high)


def more_degrees(rare: float) -> float:
    """Return by how much ``rare`` wrong (or right) answers make degrees of freedom more than many.

    Given their number w, the spread of clusters varies less by 1 / w.
    """
    return rare / (rare - 1) if rare > 1 else np.inf


def wilson(share: float, n: float, z: float = 1.959963984540054) -> Interval:
    """Return Wilson's score interval (1927) of a share of ``n`` answers."""
    # The share is drawn towards a half, as if z^2 more answers had been half right.
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return max(float(middle - reach), 0.0), min(float(middle + reach), 1.0)


def cluster_bootstrap(values: FloatArray, weights: FloatArray, level: float, *name: int | str
                      ) -> Interval | None:
    """Return the BCa interval (Efron 1987) of the weighted mean over resampled clusters.

    Its level is widened for few clusters, as t is wider than the normal distribution (Hesterberg
    2015). ``name`` seeds the resampling. None where all clusters say the same.
    """
    # Resamples of equal values are equal: an interval of no width would pass for certainty.
    if np.ptp(values) == 0:
        return None
    # scipy warns of what is looked for below: no interval where resamples hardly differ.
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
    # Means of resamples spread less than they should: their squares are divided by K, not K - 1.
    reach = stats.t.ppf((1 + level) / 2, clusters - 1) * np.sqrt(clusters / (clusters - 1))
    return 1 - 2 * float(stats.norm.sf(reach))


@dataclass(frozen=True)
class McNemar:
    """The exact test of pairs, from those that disagree."""

    pairs: int
    first_only: int
    second_only: int

    @property
    def discordance(self) -> float:
        """The share of pairs that disagree."""
        return (self.first_only + self.second_only) / self.pairs

    @property
    def p(self) -> float:
        """The exact two-sided p: binomial, over the pairs that disagree."""
        disagree = self.first_only + self.second_only
        # Pairs that agree say nothing of which variant is easier; of the others each side is as
        # likely.
        return float(stats.binomtest(self.first_only, disagree).pvalue) if disagree else 1.0

    @property
    def odds_ratio(self) -> float | None:
        """First over second; infinite where only the first ones are right, None without any."""
        if self.second_only:
            return self.first_only / self.second_only
        return float("inf") if self.first_only else None

    def odds_interval(self, level: float = 0.95) -> Interval | None:
        """Return the odds ratio's exact interval, from Clopper and Pearson's of its share."""
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
        # A larger p never becomes the smaller one by its lesser factor.
        highest = max(highest, min(1.0, ps[place] * (len(ps) - rank)))
        adjusted[place] = highest
    return adjusted
