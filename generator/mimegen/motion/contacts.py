"""Find where and when feet rest on the ground."""

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray


def velocities(points: FloatArray, fps: float, smoothing: float = 0.015) -> FloatArray:
    """Return velocities (F, ...) in m/s of points (F, ...), smoothed over ``smoothing`` s."""
    if len(points) < 2:
        return np.zeros_like(points)
    return np.asarray(np.gradient(low_passed(points, smoothing * fps), axis=0) * fps)


def resting_level(points: FloatArray, fps: float) -> float:
    """Return the height (m) at which points (F, K, 3) rest on the ground.

    It is the median height of slow points near their lowest. If points are never slow (a take in
    the air), it is the 1st percentile of all heights.
    """
    heights = points[..., 2]
    # Feet in swing pass 1 m/s even in slow walks; planted ones stay below this also where soft
    # tissue and markers shake.
    slow = np.linalg.norm(velocities(points, fps), axis=-1) < 0.25
    if np.count_nonzero(slow) < 3:
        return float(np.percentile(heights, 1))
    resting = heights[slow]
    # Not the minimum, which may be an outlier of the capture.
    low = np.percentile(resting, 5)
    # 3 cm above is still the same floor; more would be a step, or a foot on its toes.
    return float(np.median(resting[resting < low + 0.03]))


def resting(points: FloatArray, fps: float, level: float, band: float = 0.035,
            speed: float = 0.35) -> NDArray[np.bool_]:
    """Return a mask (F, K) of the frames in which points (F, K, 3) rest on the ground.

    Resting points are at most ``band`` m above the resting ``level`` and slower than ``speed`` m/s,
    for at least 0.06 s; shorter gaps are closed.
    """
    moving = np.linalg.norm(velocities(points, fps), axis=-1)
    still = (points[..., 2] < level + band) & (moving < speed)
    width = np.ones((max(1, round(0.06 * fps)), 1), dtype=bool)
    # A rest at the first or last frame is assumed to continue beyond it, or opening would remove
    # it.
    padded = np.pad(still, ((len(width), len(width)), (0, 0)), mode="edge")
    # Closing first: a rest with one bad frame in the middle should survive opening.
    tidy = scipy.ndimage.binary_opening(scipy.ndimage.binary_closing(padded, width), width)
    return np.asarray(tidy[len(width) : -len(width)], dtype=bool)
