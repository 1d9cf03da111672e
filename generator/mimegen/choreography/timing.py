"""Weights of keys over time, as minimum-jerk splines through them, and how parts follow keys."""

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np
import scipy

from mimegen.base.easing import minimum_jerk
from mimegen.base.recursion import SecondOrder
from mimegen.base.yaml_file import Strict
from mimegen.motion.quaternions import FloatArray

# Speed at an impact, as a multiple of the mean speed since the key before.
IMPACT_SPEED = 1.5
NATURAL_END = [(3, 0.0), (4, 0.0)]
# Number of tracks whose weights are cached while a performance is solved.
KEPT_WEIGHTS = 128
# Ratio of the time steps before and after a key at which the plainer spline begins to replace the
# smoothest one, which then swings far out, and at which it replaces it fully.
UNEQUAL = 3.0, 6.0


class Follow(Strict):
    """How a track follows its keys: as a second-order system, ``lead`` seconds early.

    The fraction ``slow`` of its movement follows the slower system SLOW, so that movements begin
    before and end after their time.
    """

    lead: float
    hertz: float
    damping: float
    slow: float = 0.0

    @property
    def delay(self) -> float:
        """The system's lag behind slow changes, in seconds."""
        return self.damping / (np.pi * self.hertz)

    def followed(self, values: FloatArray, rate: float) -> FloatArray:
        """Return values (G, K), sampled at ``rate`` hertz, as a part with inertia follows them."""
        return _followed(self.hertz, self.damping, rate, values.shape, values.tobytes())


@lru_cache(maxsize=KEPT_WEIGHTS)
def _followed(hertz: float, damping: float, rate: float, shape: tuple[int, int],
              raw: bytes) -> FloatArray:
    """Return values, given as bytes and their shape, as a system follows them from rest."""
    values, system = np.frombuffer(raw).reshape(shape), _system(hertz, damping, rate)
    followed = system.filtered(values, system.still[:, None] * values[:1])
    followed.flags.writeable = False
    return followed


@cache
def _system(hertz: float, damping: float, rate: float) -> SecondOrder:
    """Return a second-order system as a digital filter, by the bilinear transform."""
    turn, root = 2 * np.pi * hertz, np.sqrt(2 * rate)
    stiff, damped = turn**2 * (1 / root) ** 2, 2 * damping * turn * (1 / root) * root
    quick = root * root
    down = np.array([stiff + damped + quick, 2 * stiff - 2 * quick, stiff - damped + quick])
    return SecondOrder(np.array([stiff, 2 * stiff, stiff]) / down[0], down / down[0])


# The slow part of people's movements: the correction after a reach, the weight that shifts before
# and after a step.
SLOW = Follow(lead=0.0, hertz=0.9, damping=0.75)


def blend_weights(times: Sequence[float], how: Sequence[str], moments: FloatArray) -> FloatArray:
    """Return the weights (F, K) of K keys at ``moments`` (F,) in seconds; rows sum to 1.

    Between stops, the motion through pass-through keys is the quintic spline that minimises
    integrated squared jerk (Flash and Hogan 1985), with zero velocity and acceleration at stops.
    An impact ends a stretch at speed. A pass at the first or last key leaves that end free. If the
    keys' time steps are very unequal, a cubic spline replaces it, which hardly overshoots the keys.
    """
    return _blend_weights(tuple(times), tuple(how), np.asarray(moments, float).tobytes())


@lru_cache(maxsize=KEPT_WEIGHTS)
def _blend_weights(times: tuple[float, ...], how: tuple[str, ...], raw: bytes) -> FloatArray:
    """Return the weights at moments (F,), given as bytes so that they can be cached.

    A body is solved repeatedly with the same moments.
    """
    moments = np.frombuffer(raw)
    count = len(times)
    weights = np.zeros((len(moments), count))
    weights[moments <= times[0], 0] = 1.0
    weights[moments >= times[-1], -1] = 1.0
    ends = [k for k in range(count) if how[k] != "pass" or k in (0, count - 1)]
    for first, last in pairwise(ends):
        inside = (moments > times[first]) & (moments < times[last])
        if last != count - 1:
            inside |= moments == times[last]
        keys = slice(first, last + 1)
        weights[inside, keys] = _stretch(
            np.array(times[keys]), how[first], how[last], moments[inside]
        )
    weights.flags.writeable = False
    return weights


def frame_times(duration: float, fps: float) -> FloatArray:
    """Return the times (F,) of a take's frames in seconds, the last at its end.

    Durations that end half-way between two frames are rounded alike on all machines, whatever the
    last bits of ``duration * fps``.
    """
    return np.arange(round(round(duration * fps, 6)) + 1) / fps


def widened(values: FloatArray, hold_s: float, ease_s: float, fps: float) -> FloatArray:
    """Return values (F,) whose maxima are extended by ``hold_s`` both ways and then smoothed."""
    high = scipy.ndimage.maximum_filter1d(values, 2 * round(hold_s * fps) + 1, mode="nearest")
    return np.asarray(scipy.ndimage.gaussian_filter1d(high, ease_s * fps, mode="nearest"))


def _stretch(times: FloatArray, begin: str, end: str, moments: FloatArray) -> FloatArray:
    """Return the weights (F, K) of the keys of one stretch, whose inner keys are passed through."""
    if len(times) == 2 and (begin == end == "pass" or (begin != "pass" and end == "stop")):
        share = (moments - times[0]) / (times[1] - times[0])
        arrived = share if begin == "pass" else minimum_jerk(share)
        return np.stack([1 - arrived, arrived], axis=1)
    last_slope = _last_slope(times, end)
    smoothest = _smoothest(times, begin, end, last_slope, moments)
    unequal = _unequal(times)
    if not unequal.any():
        return smoothest
    slopes = np.gradient(np.eye(len(times)), axis=0) / np.gradient(times)[:, None]
    if begin != "pass":
        slopes[0] = 0.0
    if end != "pass":
        slopes[-1] = last_slope
    plainer = scipy.interpolate.CubicHermiteSpline(times, np.eye(len(times)), slopes)(moments)
    plain = np.interp(moments, times, np.r_[unequal[0], unequal, unequal[-1]])[:, None]
    return np.asarray(smoothest + plain * (plainer - smoothest))


def _last_slope(times: FloatArray, end: str) -> FloatArray:
    """Return the slopes of the weights (K,) at the end of a stretch: 0 unless it is an impact."""
    if end != "impact":
        return np.zeros(len(times))
    unit = np.eye(len(times))
    return np.asarray(IMPACT_SPEED * (unit[-1] - unit[-2]) / (times[-1] - times[-2]))


def _smoothest(times: FloatArray, begin: str, end: str, last_slope: FloatArray,
               moments: FloatArray) -> FloatArray:
    """Return the weights (F, K) by a quintic spline; each end is at rest, free or at a slope."""
    still = np.zeros(len(times))
    passing = [(order, still) for order, _ in NATURAL_END]
    start = passing if begin == "pass" else [(1, still), (2, still)]
    finish = passing if end == "pass" else [(1, last_slope), (2, still)]
    weights = scipy.interpolate.make_interp_spline(
        times, np.eye(len(times)), k=5, bc_type=(start, finish))(moments)
    return np.asarray(weights)


def _unequal(times: FloatArray) -> FloatArray:
    """Return for each inner key (K - 2,) how unequal its two time steps are, from 0 to 1."""
    steps = np.diff(times)
    ratio = np.maximum(steps[1:] / steps[:-1], steps[:-1] / steps[1:])
    return np.asarray(np.clip((ratio - UNEQUAL[0]) / (UNEQUAL[1] - UNEQUAL[0]), 0.0, 1.0))
