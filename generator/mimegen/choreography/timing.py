"""How much each key counts at each moment: minimum jerk through via points."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.interpolate import make_interp_spline

from mimegen.motion.quaternions import FloatArray

# At an impact the limb still has this multiple of the mean speed from the key before.
IMPACT_SPEED = 1.5
NATURAL_END = [(3, 0.0), (4, 0.0)]


def blend_weights(times: Sequence[float], how: Sequence[str], moments: FloatArray) -> FloatArray:
    """Return the weights (F, K) of K keys at ``moments`` (F,), both in seconds; rows sum to 1.

    Between stops, the motion through pass-through keys is the quintic spline that minimises
    integrated squared jerk (Flash and Hogan 1985), with zero velocity and acceleration at stops.
    An impact ends a stretch at speed. A pass at the first or last key leaves that end free.
    """
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
    return weights


def _stretch(times: FloatArray, begin: str, end: str, moments: FloatArray) -> FloatArray:
    """Return the weights of the keys of one stretch, whose inner keys are passed through."""
    unit = np.eye(len(times))
    if begin == end == "pass" and len(times) == 2:
        share = (moments - times[0]) / (times[1] - times[0])
        return np.stack([1 - share, share], axis=1)
    if len(times) == 2 and begin != "pass" and end == "stop":
        share = (moments - times[0]) / (times[1] - times[0])
        arrived = share**3 * (10 - share * (15 - 6 * share))
        return np.stack([1 - arrived, arrived], axis=1)
    still = np.zeros(len(times))
    start: list[tuple[int, FloatArray]] = [(1, still), (2, still)]
    finish = list(start)
    if begin == "pass":
        start = [(order, still) for order, _ in NATURAL_END]
    if end == "pass":
        finish = [(order, still) for order, _ in NATURAL_END]
    if end == "impact":
        speed = IMPACT_SPEED * (unit[-1] - unit[-2]) / (times[-1] - times[-2])
        finish = [(1, speed), (2, still)]
    spline = make_interp_spline(times, unit, k=5, bc_type=(start, finish))
    return np.asarray(spline(moments))
