"""Measure how far people agree: Krippendorff's alpha."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from mimegen.base.arrays import FloatArray

Level = Literal["nominal", "ordinal", "interval", "ratio"]


def alpha(table: FloatArray, level: Level) -> float | None:
    """Return Krippendorff's alpha of a table (raters, items) with NaN for missing ratings.

    Alpha is one minus the ratio of the disagreement observed within items to that expected by
    chance among all values that can be paired (Krippendorff 2011, Computing Krippendorff's
    alpha-reliability). Returns None if no item has two ratings, or all these ratings are the same.
    """
    # An item's only rating cannot be paired.
    pairable = table[:, (~np.isnan(table)).sum(0) > 1]
    values, numbers = np.unique(pairable[~np.isnan(pairable)], return_inverse=True)
    # Without any spread the expected disagreement is 0, and alpha is undefined.
    if len(values) < 2:
        return None
    counts = np.zeros((pairable.shape[1], len(values)))
    np.add.at(counts, (np.nonzero(~np.isnan(pairable))[1], numbers), 1)
    totals = counts.sum(0)
    distances = _DISTANCES[level](values, totals)
    # The coincidences of values c and k: pairs within an item, divided by its number of ratings
    # minus one.
    shares = counts / (counts.sum(1) - 1)[:, None]
    together = shares.T @ counts - np.diag(shares.sum(0))
    observed = float((together * distances).sum())
    # Minus one, because no rating is paired with itself.
    expected = float(totals @ distances @ totals) / (totals.sum() - 1)
    return 1 - observed / expected if expected > 0 else None


def _nominal(values: FloatArray, _totals: FloatArray) -> FloatArray:
    return 1.0 - np.eye(len(values))


def _ordinal(_values: FloatArray, totals: FloatArray) -> FloatArray:
    """Return squared differences of ranks, each value at the middle of the ranks that it takes."""
    place = np.cumsum(totals) - totals / 2
    return np.asarray((place[:, None] - place) ** 2)


def _interval(values: FloatArray, _totals: FloatArray) -> FloatArray:
    return np.asarray((values[:, None] - values) ** 2)


def _ratio(values: FloatArray, _totals: FloatArray) -> FloatArray:
    # Two zeros do not differ; the divisor of 1 only avoids 0 / 0.
    both = values[:, None] + values
    return np.asarray(((values[:, None] - values) / np.where(both == 0, 1.0, both)) ** 2)


_DISTANCES: dict[Level, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "nominal": _nominal, "ordinal": _ordinal, "interval": _interval, "ratio": _ratio}
