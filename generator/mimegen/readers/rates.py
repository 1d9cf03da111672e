"""Frame rates by the times of frames, which are rounded, may be uneven, and may lack frames."""

from typing import NamedTuple

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.base.counted import counted
from mimegen.motion.quaternions import FloatArray

COMMON_RATES = (24, 25, 30, 48, 50, 60, 72, 75, 90, 96, 100, 120, 125, 144, 150, 180, 200, 240,
                250, 300, 360, 480, 500, 1000, 24 / 1.001, 30 / 1.001, 60 / 1.001, 120 / 1.001)
# Times are rounded to so many digits at most.
DIGITS = 9
# Frames are missing within a step longer than this many usual ones; frames that are further than
# this share of a step from even times are uneven.
MISSING_STEPS = 1.75
# Steps are usual that differ by this share, and by what rounding makes of them.
ALIKE = 0.1
UNEVEN = 0.5
# Resampling to even times makes at most so many times as many frames.
MOST_TIMES = 20


class Evened(NamedTuple):
    """Values (F, ...) at even times, and a note where they were not even."""

    values: FloatArray
    notes: tuple[str, ...] = ()


def rate_of_times(times: FloatArray) -> float:
    """Return the frame rate (Hz) that times (F,) in seconds tell, 0 where they tell none.

    Times are rounded, as 0.008 and 0.017 at 120 fps: the mean of all usual steps counts. A common
    or whole rate within what rounding hides is taken.
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
    """Return the power of ten (s) that times (F,) are rounded to."""
    for digits in range(DIGITS):
        scaled = times * 10.0**digits
        if np.abs(scaled - np.round(scaled)).max() < 1e-4:
            return float(10.0**-digits)
    return float(10.0**-DIGITS)


def _missing(steps: FloatArray, rounded_to: float) -> BoolArray:
    """Say in which steps (F - 1,) between times frames are missing."""
    usual = float(np.median(steps[steps > 0]))
    return np.asarray(steps > usual + max((MISSING_STEPS - 1) * usual, 1.5 * rounded_to))


def evened(times: FloatArray, values: FloatArray, rate: float, bridged: bool = False) -> Evened:
    """Return values (F, ...) of times (F,) in seconds at even times, ``rate`` a second.

    Where frames are missing, values are NaN, or with ``bridged`` on a straight line. Nothing is
    changed where no frame is half a step from its even time, or times do not rise.
    """
    steps = np.diff(times)
    if not rate > 0 or len(times) < 2 or not np.isfinite(times).all() or (steps < 0).any():
        return Evened(values)
    rounded_to = _resolution(times)
    since = (times - times[0]) * rate
    off = np.abs(since - np.arange(len(times)))
    if off.max() <= UNEVEN + rounded_to * rate or since[-1] > MOST_TIMES * len(times):
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
    """Return the rows from 0 that frames with these numbers have, where some may be missing.

    Frames may be every second or third one. None where the numbers do not rise, or tell nothing.
    """
    steps = np.diff(numbers)
    if len(steps) == 0 or steps.min() <= 0 or steps.sum() > MOST_TIMES * len(numbers) * steps.min():
        return None
    step = int(np.gcd.reduce(steps))
    return [(number - numbers[0]) // step for number in numbers]


def spread(values: FloatArray, rows: list[int]) -> FloatArray:
    """Return values (F, ...) in the given rows of a longer array, NaN in the others."""
    found = np.full((rows[-1] + 1, *values.shape[1:]), np.nan)
    found[rows] = values
    return found
