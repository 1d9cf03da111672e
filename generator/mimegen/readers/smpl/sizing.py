"""Estimate the size of a body of unknown shape: its planted feet must stand still."""

import numpy as np

from mimegen.motion.quaternions import FloatArray

# Sizes tried, as multiples of the average body's.
SIZES = np.arange(0.8, 1.2501, 0.005)
# Speed of the pelvis (m/s) above which a frame is used, and how many seconds of such frames are
# needed.
GOING = 0.15
ENOUGH_S = 0.5
# A size is accepted if the feet's remaining speed is at most this fraction of that at the average
# size.
BETTER = 0.97
# Speed (m/s) at which a foot counts as stepping; higher speeds are cut to it.
STEPPING = 0.6
# Most frames that are used.
MAX_MOMENTS = 400


def planted_size(path: FloatArray, feet: FloatArray, fps: float) -> float | None:
    """Return the size, as a multiple of the average, at which standing feet are still, or None.

    ``path`` (F, 3) is the path of the pelvis in metres, ``feet`` (F, K, 3) are points of the
    average body's feet relative to it. In each frame, the slowest point counts; the size minimises
    its mean speed. Return None if the result is unclear.
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
    """Return for each size (S,) the mean speed (m/s) of the feet's slowest point in each frame."""
    every = slice(None, None, max(1, len(going) // MAX_MOMENTS))
    going, from_pelvis = going[every], from_pelvis[every]
    still = np.sum(going**2, axis=1)[:, None]
    across = np.einsum("fc,fkc->fk", going, from_pelvis)
    alone = np.sum(from_pelvis**2, axis=2)
    sizes = SIZES[:, None, None]
    squares = (still + 2.0 * sizes * across + sizes**2 * alone).min(axis=2)
    return np.asarray(np.minimum(np.sqrt(np.maximum(squares, 0.0)), STEPPING).mean(axis=1))
