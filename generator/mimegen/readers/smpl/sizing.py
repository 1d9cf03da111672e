"""How large a body is whose shape no table tells: its planted feet must stand still."""

import numpy as np

from mimegen.motion.quaternions import FloatArray

# Sizes tried, of the average body's.
SIZES = np.arange(0.8, 1.2501, 0.005)
# Frames in which the body goes anywhere (m/s), and how many seconds of them tell something.
GOING = 0.15
ENOUGH_S = 0.5
# A size is believed that leaves this share of the speed that the average size leaves.
BETTER = 0.97
# A foot faster than this (m/s) is not standing.
STEPPING = 0.6
MOST_MOMENTS = 400


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
    moving = np.linalg.norm(going, axis=1) > GOING
    if np.count_nonzero(moving) < ENOUGH_S * fps:
        return None
    left = _left(going[moving], from_pelvis[moving])
    best = int(np.argmin(left))
    if best in (0, len(SIZES) - 1) or left[best] > BETTER * np.interp(1.0, SIZES, left):
        return None
    return float(SIZES[best])


def _left(going: FloatArray, from_pelvis: FloatArray) -> FloatArray:
    """Return by size (S,) the mean speed (m/s) of each frame's slowest point of the feet."""
    every = slice(None, None, max(1, len(going) // MOST_MOMENTS))
    going, from_pelvis = going[every], from_pelvis[every]
    still = np.sum(going**2, axis=1)[:, None]
    across = np.einsum("fc,fkc->fk", going, from_pelvis)
    alone = np.sum(from_pelvis**2, axis=2)
    sizes = SIZES[:, None, None]
    squares = (still + 2.0 * sizes * across + sizes**2 * alone).min(axis=2)
    return np.asarray(np.minimum(np.sqrt(np.maximum(squares, 0.0)), STEPPING).mean(axis=1))
