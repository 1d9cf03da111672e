"""Low-passes that remove twitches which the source does not have, and keep those it has."""

from dataclasses import dataclass

import numpy as np
import scipy

from mimegen.motion import quaternions
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.solving import solve_bands


@dataclass(frozen=True)
class SmoothingParameters:
    """How much low-passes smooth.

    Chosen on recordings by the jerk of a performance relative to that of its source (``jerk_ratio``
    in ``docs/research/retargeting.md``).
    """

    # Standard deviations (s) of the low-passes of rotations, and of a path's difference from the
    # source's.
    calm_s: float = 0.0115
    lively_s: float = 0.03
    # Width (s) of the curve that covers peaks, see `smooth_cover`.
    cover_s: float = 0.06
    # Lowest cutoff (radians a frame) of `smoothest`: below it double precision is not enough.
    lowest: float = 0.05


SMOOTHING = SmoothingParameters()


def calmed(turns: FloatArray, fps: float, seconds: float = SMOOTHING.calm_s) -> FloatArray:
    """Return rotations (F, 4) without twitches faster than trunks and feet move.

    A pelvis solved from few markers twitches about its own middle. That moves nothing in its own
    skeleton, but in a body with other hips all that hangs on it would twitch.
    """
    return quaternions.normalise(low_passed(quaternions.without_flips(turns), seconds * fps))


def as_lively(places: FloatArray, source: FloatArray, fps: float) -> FloatArray:
    """Return a path (F, 3) whose difference from the scaled source's path is low-passed."""
    return np.asarray(source + low_passed(places - source, SMOOTHING.lively_s * fps))


def smooth_cover(values: FloatArray, fps: float) -> FloatArray:
    """Return a smooth curve (F,) that is nowhere much below ``values`` (F,) or zero."""
    values = np.maximum(values, 0.0)
    if not np.any(values > 0):
        return values
    width = max(1, round(SMOOTHING.cover_s * fps))
    # The maximum over twice the Gaussian's width on either side: so the curve stays above most of
    # the peak after smoothing.
    highest = scipy.ndimage.maximum_filter1d(values, 4 * width + 1)
    return np.asarray(scipy.ndimage.gaussian_filter1d(highest, float(width), mode="nearest"))


def smoothest(goals: FloatArray, weights: FloatArray, fps: float, cutoff: float,
              steps: FloatArray | None = None, firm: FloatArray | float = 0.0) -> FloatArray:
    """Return the smoothest curves (F, C) near ``goals`` (F, C) by ``weights`` (F,), least squares.

    Third differences are minimised: with weights of 1 that is a sixth-order low-pass without lag at
    ``cutoff`` Hz, with lower weights one at a lower frequency. If ``steps`` (F - 1, C) are given,
    the curves' differences from frame to frame follow them with the weights ``firm`` (F - 1,).
    """
    count = len(goals)
    if count < 4:
        return goals
    # A sine of this many radians a frame has a third difference of about their cube.
    radians = max(2 * np.pi * cutoff / fps, SMOOTHING.lowest)
    # At the cutoff a third difference is radians**3 times the curve: divided by that, it counts
    # there as much as staying near the goals.
    third = np.array([-1.0, 3.0, -3.0, 1.0]) / radians**3
    bands = np.zeros((4, count))
    # The lower bands of D'D, with D the third differences: solved in a time proportional to the
    # number of frames.
    for row in range(4):
        for below in range(4 - row):
            bands[below, row : count - 3 + row] += third[row] * third[row + below]
    bands[0] += weights
    right = weights[:, None] * goals
    if steps is not None:
        share = np.broadcast_to(firm / radians**2, count - 1)
        bands[0, :-1] += share
        bands[0, 1:] += share
        bands[1, :-1] -= share
        right[:-1] -= share[:, None] * steps
        right[1:] += share[:, None] * steps
    return solve_bands(bands, right)
