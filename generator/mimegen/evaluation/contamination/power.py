"""Power analysis: how many pairs of answers are needed to detect a fall."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from mimegen.base.errors import RequestError

# More pairs than this are not searched for.
MAX_PAIRS = 10**9


@dataclass(frozen=True)
class PowerDesign:
    """A fall to detect, as a share, the share of pairs that disagree, alpha and power.

    ``actions`` is the number of actions over which the pairs are spread; None means many.
    """

    fall: float
    discordance: float
    alpha: float = 0.05
    power: float = 0.8
    actions: int | None = None

    def check(self) -> None:
        """Raise RequestError if no such pairs can exist."""
        if not 0 < self.fall <= 1:
            raise RequestError(f"a fall of {100 * self.fall:g} points; expected above 0, up to 100")
        if not self.fall <= self.discordance <= 1:
            raise RequestError(f"discordance {self.discordance:g} with a fall of"
                               f" {100 * self.fall:g} points; expected {self.fall:g} to 1, because"
                               " only discordant pairs make a fall")


def pairs_needed(design: PowerDesign) -> int:
    """Return the pairs that McNemar's test needs (Connor 1987, formula 1), rounded.

    With a number of ``actions``, return the pairs that the t test over actions needs.
    """
    design.check()
    # Without a fall the variance is that of all discordant pairs; with the fall it is a little
    # less.
    high, target = stats.norm.ppf([1 - design.alpha / 2, design.power])
    reach = high * np.sqrt(design.discordance) + target * _spread(design)
    connor = round(float((reach / design.fall) ** 2))
    if design.actions is None:
        return max(connor, 1)
    return _pairs_over_actions(design, connor)


def _spread(design: PowerDesign) -> float:
    """Return the standard deviation of a pair's difference."""
    return float(np.sqrt(design.discordance - design.fall**2))


def _pairs_over_actions(design: PowerDesign, low: int) -> int:
    """Return the smallest number of pairs, a multiple of the actions, that has the power."""
    assert design.actions is not None
    # From half of what many actions need: the t test over few needs at least about that.
    each = max(1, low // design.actions // 2)
    while power_of(design, each * design.actions) < design.power:
        each += max(1, each // 200)
        if each * design.actions > MAX_PAIRS:
            raise RequestError(f"no number of pairs over {design.actions} actions reaches that"
                               " power; use more actions")
    return each * design.actions


def power_of(design: PowerDesign, pairs: int) -> float:
    """Return the power of ``pairs``: Connor's, or that of the t test over ``actions``."""
    if design.actions is None:
        high = stats.norm.ppf(1 - design.alpha / 2)
        reach = design.fall * np.sqrt(pairs) - high * np.sqrt(design.discordance)
        return float(stats.norm.cdf(reach / max(_spread(design), 1e-9)))
    df = design.actions - 1
    # If all pairs disagree in one direction, there is no spread and any number has full power.
    shift = design.fall * np.sqrt(pairs) / max(_spread(design), 1e-9)
    # Capped: at 30 the power is 1, and far beyond it SciPy's noncentral t loses accuracy.
    reached = stats.nct.sf(stats.t.ppf(1 - design.alpha / 2, df), df, min(float(shift), 30.0))
    return float(reached)


def smallest_fall(design: PowerDesign, pairs: int) -> float | None:
    """Return the smallest fall that ``pairs`` detect with the design's power; None if none."""

    def short(fall: float) -> float:
        return power_of(_with_fall(design, fall), pairs) - design.power

    # A fall cannot exceed the share of pairs that disagree.
    low, high = 1e-6, design.discordance * (1 - 1e-9)
    if short(high) < 0:
        return None
    return float(optimize.brentq(short, low, high, xtol=1e-6))


def _with_fall(design: PowerDesign, fall: float) -> PowerDesign:
    return PowerDesign(fall, design.discordance, design.alpha, design.power, design.actions)
