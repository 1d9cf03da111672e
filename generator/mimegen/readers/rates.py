"""Find frame rates from the times of frames, which are rounded, may be uneven, or have gaps."""

from typing import NamedTuple

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.base.counted import counted
from mimegen.motion.quaternions import FloatArray

# Frame rates (Hz) that are preferred if the times fit.
COMMON_RATES = (24, 25, 30, 48, 50, 60, 72, 75, 90, 96, 100, 120, 125, 144, 150, 180, 200, 240,
                250, 300, 360, 480, 500, 1000, 24 / 1.001, 30 / 1.001, 60 / 1.001, 120 / 1.001)
# Most decimal digits of times.
DIGITS = 9
# A step of more than this many median steps has missing frames.
MISSING_STEPS = 1.75
# Steps count as usual if they differ from the median by this fraction of it, beside rounding.
ALIKE = 0.1
# Times are uneven if a frame is further than this fraction of a step from its even time.
UNEVEN = 0.5
# Greatest factor by which resampling to even times may increase the number of frames.
MAX_TIMES = 20


class Evened(NamedTuple):
    """Values (F, ...) at evenly spaced times, and a note if they had to be resampled."""

    values: FloatArray
    notes: tuple[str, ...] = ()


def rate_of_times(times: FloatArray) -> float:
    """Return the frame rate (Hz) of times (F,) in seconds, or 0 if they give none.

    Times are rounded (0.008 and 0.017 at 120 fps), so the rate is that of the mean of all usual
    steps. A common or whole rate is taken if it fits within the rounding.
    """
    times = times[np.isfinite(times)]
    steps = np.diff(times)
    if not np.any(steps > 0) or np.median(steps) < 0:
        return 0.0
    rounded_to = _resolution(times)
    usual = float(np.median(steps[steps > 0]))
    kept = steps[(steps >= 0) & (np.abs(steps - usual) <= ALIKE * usual + 1.01 * rounded_to)]
    lasted = float(kept.sum())
    rate = len(kept) / lasted
    common = min(COMMON_RATES, key=lambda one: abs(one / rate - 1))
    fitting = (float(one) for one in (common, round(rate))
               if one and abs(len(kept) / one - lasted) <= rounded_to)
    return next(fitting, rate)


def _resolution(times: FloatArray) -> float:
    """Return the power of ten, in seconds, to which times (F,) are rounded."""
    for digits in range(DIGITS):
        scaled = times * 10.0**digits
        if np.abs(scaled - np.round(scaled)).max() < 1e-4:
            return float(10.0**-digits)
    return float(10.0**-DIGITS)


def _missing(steps: FloatArray, rounded_to: float) -> BoolArray:
    """Return a mask of the steps (F - 1,) between times in which frames are missing."""
    usual = float(np.median(steps[steps > 0]))
    return np.asarray(steps > usual + max((MISSING_STEPS - 1) * usual, 1.5 * rounded_to))


def evened(times: FloatArray, values: FloatArray, rate: float, bridged: bool = False) -> Evened:
    """Resample values (F, ...) at times (F,) in seconds to even times, ``rate`` per second.

    Missing frames are NaN, or linearly interpolated if ``bridged``. Values are not changed if all
    frames are within half a step of their even times, or if times decrease.
    """
    steps = np.diff(times)
    if not rate > 0 or len(times) < 2 or not np.isfinite(times).all() or (steps < 0).any():
        return Evened(values)
    rounded_to = _resolution(times)
    since = (times - times[0]) * rate
    off = np.abs(since - np.arange(len(times)))
    if off.max() <= UNEVEN + rounded_to * rate or since[-1] > MAX_TIMES * len(times):
        return Evened(values)
    even = np.arange(int(np.floor(since[-1] + UNEVEN)) + 1)
    after = np.clip(np.searchsorted(since, even, side="left"), 1, len(times) - 1)
    share = np.clip((even - since[after - 1]) / np.maximum(since[after] - since[after - 1], 1e-12),
                    0.0, 1.0).reshape(-1, *[1] * (values.ndim - 1))
    found = values[after - 1] * (1 - share) + values[after] * share
    found = np.where(share == 0.0, values[after - 1], np.where(share == 1.0, values[after], found))
    gaps = _missing(steps, rounded_to)
    inside = gaps[after - 1] & (np.abs(since[after] - even) > UNEVEN) & (
        np.abs(since[after - 1] - even) > UNEVEN)
    if not bridged:
        found[inside] = np.nan
    lacking = f", {counted(int(inside.sum()), 'frame')} missing" if inside.any() else ""
    return Evened(found, (f"the times of its {len(times)} frames are uneven{lacking}: the motion is"
                          f" at even times, {rate:g} fps",))


def numbered_rows(numbers: list[int]) -> list[int] | None:
    """Return each frame's row, from 0, by frame numbers of which some may be missing.

    Only every second or third frame may be numbered. Return None if the numbers do not increase,
    or if most frames would be missing.
    """
    steps = np.diff(numbers)
    if len(steps) == 0 or steps.min() <= 0 or steps.sum() > MAX_TIMES * len(numbers) * steps.min():
        return None
    step = int(np.gcd.reduce(steps))
    return [(number - numbers[0]) // step for number in numbers]


def spread(values: FloatArray, rows: list[int]) -> FloatArray:
    """Return values (F, ...) in the given rows of a longer array, NaN in the others."""
    found = np.full((rows[-1] + 1, *values.shape[1:]), np.nan)
    found[rows] = values
    return found
