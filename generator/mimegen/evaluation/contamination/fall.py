"""The fall from seen to unseen clips, tested by its score, with actions as clusters."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from mimegen.evaluation.statistics import Interval

# The least and greatest difference of shares, a rounding's width inside.
ENDS = (-1 + 1e-12, 1 - 1e-12)
NEAR = 1e-12


@dataclass(frozen=True)
class ExposureArms:
    """The weighted shares of right answers, seen and unseen, and of how many answers each tells.
    """

    shares: tuple[float, float]
    numbers: tuple[float, float]

    @property
    def fall(self) -> float:
        """Seen minus unseen."""
        return self.shares[0] - self.shares[1]

    def variance(self) -> float:
        """Return the variance of the fall, were all answers independent."""
        return _binomial(self.shares, self.numbers)

    def variance_at(self, fall: float) -> float:
        """Return it were the true fall ``fall``, with the shares that are then most likely.

        The closed form of Farrington & Manning (1990), as Miettinen & Nurminen (1985).
        """
        # The likelihood's derivative is a cubic, of whose roots only the middle one is a share.
        seen, unseen = self.numbers
        all_, right = seen + unseen, self.shares[0] * seen + self.shares[1] * unseen
        # The cubic of the unseen share, with the seen share as this share plus the fall.
        a = (seen + 2 * unseen) * fall - all_ - right
        b = (unseen * fall - all_ - 2 * self.shares[1] * unseen) * fall + right
        c = self.shares[1] * unseen * fall * (1 - fall)
        # The share that is most likely may lie outside of what both shares can be.
        share = min(max(_middle_root(a / all_, b / all_, c / all_), 0.0, -fall), 1.0, 1 - fall)
        return _binomial((min(max(share + fall, 0.0), 1.0), share), self.numbers)


def _binomial(shares: tuple[float, float], numbers: tuple[float, float]) -> float:
    return sum(share * (1 - share) / number for share, number in zip(shares, numbers, strict=True))


def _middle_root(a: float, b: float, c: float) -> float:
    """Return the middle root of x^3 + a x^2 + b x + c, which has three real ones (Viete)."""
    # With x = t - a / 3 there is no square. The roots are cosines a third of a turn apart: that of
    # a third of the angle is the greatest, that two thirds of a turn further the middle one.
    reach = np.sqrt(max(a**2 / 9 - b / 3, 0.0))
    if reach < NEAR:
        return -a / 3
    turn = np.clip((a * b / 6 - c / 2 - (a / 3)**3) / reach**3, -1, 1)
    return float(2 * reach * np.cos((np.arccos(turn) + 4 * np.pi) / 3) - a / 3)


@dataclass(frozen=True)
class Fall:
    """A fall: what the arms say, how far actions spread, and the degrees of freedom of t.

    The error of each possible true fall is that of independent answers, were it the truth (the
    score test), so that test, interval and equivalence agree with one another: ``design`` times its
    variance, 1 at most, and ``excess`` more, by which actions spread further than independent
    answers do. ``df`` is infinite for the normal distribution.
    """

    arms: ExposureArms
    design: float
    excess: float
    df: float

    @property
    def value(self) -> float:
        """Seen minus unseen."""
        return self.arms.fall

    @property
    def se(self) -> float:
        """The standard error at the fall found; none where both arms are all right or wrong."""
        return float(np.sqrt(self.design * self.arms.variance() + self.excess))

    def _variance_at(self, fall: float) -> float:
        return self.design * self.arms.variance_at(fall) + self.excess

    def score(self, fall: float = 0.0) -> float:
        """Return how many errors the fall found is above ``fall``, were that the truth."""
        away = self.value - fall
        error = np.sqrt(self._variance_at(fall))
        if abs(away) < NEAR:
            return 0.0
        return float(away / error) if error > 0 else float(np.copysign(np.inf, away))

    def p(self) -> float:
        """Return the two-sided probability of a fall as far from none, were there none."""
        return float(2 * stats.t.sf(abs(self.score()), self.df))

    def p_outside(self, margin: float) -> float:
        """Return the p of two one-sided tests (TOST) that the truth lies within +- ``margin``."""
        # Both one-sided tests must refuse; the larger p is that of the pair.
        return float(max(stats.t.cdf(self.score(margin), self.df),
                         stats.t.sf(self.score(-margin), self.df)))

    def interval(self, level: float = 0.95) -> Interval:
        """Return the falls that the two-sided test at 1 - ``level`` does not refuse."""
        reach = float(stats.t.ppf((1 + level) / 2, self.df))
        low, high = (self._end(end, reach) for end in ENDS)
        return low, high

    def _end(self, end: float, reach: float) -> float:
        """Return the fall towards ``end`` that is ``reach`` errors away from that found."""

        def beyond(fall: float) -> float:
            return (self.value - fall)**2 - reach**2 * self._variance_at(fall)

        # Beside the fall found, not at it, where an error of zero has no sign.
        start = self.value + 1e-9 * np.sign(end)
        # Without an error there, the fall found is all that is not refused.
        if abs(start) >= abs(end) or beyond(start) >= 0:
            return float(np.clip(self.value, -1, 1))
        # Not even the greatest difference that shares can have is refused.
        if beyond(end) <= 0:
            return float(np.sign(end))
        return round(float(optimize.brentq(beyond, start, end, xtol=1e-10)), 9)
