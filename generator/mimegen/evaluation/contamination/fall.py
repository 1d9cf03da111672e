"""Test the fall from seen to unseen clips by a score test, with actions as clusters."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from mimegen.evaluation.statistics import Interval

# The smallest and largest difference of shares, less a margin for rounding.
ENDS = (-1 + 1e-12, 1 - 1e-12)
# Smaller differences count as zero.
NEAR = 1e-12


@dataclass(frozen=True)
class ExposureArms:
    """The weighted shares of right answers in the seen and unseen arm, and their effective sizes.
    """

    shares: tuple[float, float]
    numbers: tuple[float, float]

    @property
    def fall(self) -> float:
        """Seen minus unseen."""
        return self.shares[0] - self.shares[1]

    def variance(self) -> float:
        """Return the variance of the fall if all answers were independent."""
        return _binomial(self.shares, self.numbers)

    def variance_at(self, fall: float) -> float:
        """Return the variance if the true fall were ``fall``, at the shares most likely then.

        The closed form of Farrington & Manning (1990) and Miettinen & Nurminen (1985).
        """
        # The derivative of the likelihood is a cubic; only its middle root is a share.
        seen, unseen = self.numbers
        all_, right = seen + unseen, self.shares[0] * seen + self.shares[1] * unseen
        # The cubic is in the unseen share; the seen share is this plus the fall.
        a = (seen + 2 * unseen) * fall - all_ - right
        b = (unseen * fall - all_ - 2 * self.shares[1] * unseen) * fall + right
        c = self.shares[1] * unseen * fall * (1 - fall)
        # The most likely share may lie outside the range that keeps both shares between 0 and 1.
        share = min(max(_middle_root(a / all_, b / all_, c / all_), 0.0, -fall), 1.0, 1 - fall)
        return _binomial((min(max(share + fall, 0.0), 1.0), share), self.numbers)


def _binomial(shares: tuple[float, float], numbers: tuple[float, float]) -> float:
    return sum(share * (1 - share) / number for share, number in zip(shares, numbers, strict=True))


def _middle_root(a: float, b: float, c: float) -> float:
    """Return the middle root of x^3 + a x^2 + b x + c, if all three roots are real (Viete)."""
    # Substituting x = t - a / 3 removes the square. The roots are then cosines of three angles a
    # third of a turn apart; the first is the largest root, the one two thirds of a turn further the
    # middle one.
    reach = np.sqrt(max(a**2 / 9 - b / 3, 0.0))
    if reach < NEAR:
        return -a / 3
    turn = np.clip((a * b / 6 - c / 2 - (a / 3)**3) / reach**3, -1, 1)
    return float(2 * reach * np.cos((np.arccos(turn) + 4 * np.pi) / 3) - a / 3)


@dataclass(frozen=True)
class Fall:
    """A fall: the two arms, the spread between actions, and the degrees of freedom of t.

    The standard error at each possible true fall is computed as if that fall were true (a score
    test), so that test, interval and equivalence test agree. Its variance is that of independent
    answers times ``design``, at most 1, plus ``excess``, by which actions vary more than
    independent answers. ``df`` is infinite for the normal distribution.
    """

    arms: ExposureArms
    design: float
    excess: float
    df: float

    @property
    def value(self) -> float:
        """The share of right answers on seen clips minus that on unseen ones."""
        return self.arms.fall

    @property
    def se(self) -> float:
        """The standard error at the observed fall; 0 if both arms are all right or all wrong."""
        return float(np.sqrt(self.design * self.arms.variance() + self.excess))

    def _variance_at(self, fall: float) -> float:
        return self.design * self.arms.variance_at(fall) + self.excess

    def score(self, fall: float = 0.0) -> float:
        """Return by how many standard errors the observed fall exceeds ``fall``, if that were true.
        """
        away = self.value - fall
        error = np.sqrt(self._variance_at(fall))
        if abs(away) < NEAR:
            return 0.0
        return float(away / error) if error > 0 else float(np.copysign(np.inf, away))

    def p(self) -> float:
        """Return the two-sided p of no fall."""
        return float(2 * stats.t.sf(abs(self.score()), self.df))

    def p_outside(self, margin: float) -> float:
        """Return the p of two one-sided tests (TOST) that the truth lies within +- ``margin``."""
        # Both one-sided tests must reject, so the larger p counts.
        return float(max(stats.t.cdf(self.score(margin), self.df),
                         stats.t.sf(self.score(-margin), self.df)))

    def interval(self, level: float = 0.95) -> Interval:
        """Return the interval of falls that the two-sided test at 1 - ``level`` does not reject."""
        reach = float(stats.t.ppf((1 + level) / 2, self.df))
        low, high = (self._end(end, reach) for end in ENDS)
        return low, high

    def _end(self, end: float, reach: float) -> float:
        """Return the end of the interval towards ``end``, ``reach`` standard errors away."""

        def beyond(fall: float) -> float:
            return (self.value - fall)**2 - reach**2 * self._variance_at(fall)

        # Start beside the observed fall, because at it an error of zero has no sign.
        start = self.value + 1e-9 * np.sign(end)
        # If the error is zero there, only the observed fall is not rejected.
        if abs(start) >= abs(end) or beyond(start) >= 0:
            return float(np.clip(self.value, -1, 1))
        # Not even the largest possible difference of shares is rejected.
        if beyond(end) <= 0:
            return float(np.sign(end))
        return round(float(optimize.brentq(beyond, start, end, xtol=1e-10)), 9)
