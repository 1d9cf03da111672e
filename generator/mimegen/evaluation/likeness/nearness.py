"""Find clips that look too similar: nearer than clips of different actions usually are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.evaluation.likeness.keyframes import ClipAppearance, distances

# Fraction of the given clips that are nearer than this to one of another action.
QUANTILE = 0.05


class NearestPair(NamedTuple):
    """A new clip and the given clip that it is nearest to."""

    new: ClipAppearance
    given: ClipAppearance
    distance: float


@dataclass(frozen=True, eq=False)
class Nearness:
    """Each given clip's distance to its nearest neighbour of the same and of another action.

    ``within`` and ``between`` (N,) are NaN if there is no other clip of that kind.
    """

    given: Sequence[ClipAppearance]
    within: NDArray[np.float64]
    between: NDArray[np.float64]
    threshold: float

    def nearest(self, new: Sequence[ClipAppearance]) -> list[NearestPair]:
        """Return the nearest given clip of each new one."""
        found = distances(new, self.given)
        return [NearestPair(look, self.given[int(row.argmin())], float(row.min()))
                for look, row in zip(new, found, strict=True)]


def nearness_of(given: Sequence[ClipAppearance], threshold: float | None = None) -> Nearness:
    """Return the distances between given clips, and the threshold for new ones.

    The default ``threshold`` is the 5 % quantile of the distances to the nearest clip of another
    action: nearer pictures indicate repetition, not only people in front of a camera. Raises
    RequestError if there are fewer than two actions to estimate it from.
    """
    found = distances(given, given)
    # Exclude the distance of every clip to itself.
    np.fill_diagonal(found, np.inf)
    actions = np.array([look.action for look in given])
    same = actions[:, None] == actions[None, :]
    within, between = (_finite(np.where(kind, found, np.inf).min(axis=1)) for kind in (same, ~same))
    if threshold is None and np.isnan(between).all():
        raise RequestError("--check-frames: the given clips show only one action, so no distance"
                           " threshold can be estimated; give --frame-distance D, as in 0.15")
    return Nearness(given, within, between, float(np.nanquantile(between, QUANTILE))
                    if threshold is None else threshold)


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isinf(values), np.nan, values)
