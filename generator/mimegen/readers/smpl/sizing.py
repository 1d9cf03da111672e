"""How large a body is whose shape no table tells: its planted feet must stand still."""

import numpy as np

from mimegen.motion.quaternions import FloatArray

# Sizes tried, of the average body's.
SIZES = np.arange(0.8, 1.2501, 0.005)
# Frames in which the body goes anywhere (m/s), and how many seconds of them tell something.
GOING, ENOUGH_S = 0.15, 0.5
# A size is believed that leaves this share of the speed that the average size leaves.
BETTER = 0.97
# A foot faster than this (m/s) is not standing.
STEPPING = 0.6


def planted_size(path: FloatArray, feet: FloatArray, fps: float) -> float | None:
    """Return how many times the average size a body has whose feet stand still; None if unclear.

    ``path`` (F, 3) is the pelvis's way in metres, ``feet`` (F, K, 3) where points of the feet of
    the average body are from it. The size is the one at which the slowest point of each frame is
    slowest on average.
    """
    if len(path) < 3:
        return None
    going = np.gradient(path, axis=0) * fps
    from_pelvis = np.gradient(feet, axis=0) * fps
    told = np.linalg.norm(going, axis=1) > GOING
    if np.count_nonzero(told) < ENOUGH_S * fps:
        return None
    left = np.array([_left(going[told], from_pelvis[told], size) for size in SIZES])
    best = int(np.argmin(left))
    as_average = _left(going[told], from_pelvis[told], 1.0)
    if best in (0, len(SIZES) - 1) or left[best] > BETTER * as_average:
        return None
    return float(SIZES[best])


def _left(going: FloatArray, from_pelvis: FloatArray, size: float) -> float:
    """Return the mean speed (m/s) of each frame's slowest point of the feet."""
    speeds = np.linalg.norm(going[:, None] + size * from_pelvis, axis=2).min(axis=1)
    return float(np.minimum(speeds, STEPPING).mean())
