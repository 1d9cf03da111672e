"""Find when feet stand on the ground, from the points of their soles."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.motion.contacts import resting_level, velocities
from mimegen.motion.quaternions import FloatArray

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class FootfallParameters:
    """When a foot stands. Chosen on the recordings and gaits of ``docs/research/gait.md``."""

    # A point of the sole stands at most this much (m) above the ground, and before and after that
    # as long as it stays below the second height: captured soles move a little.
    band_m: float = 0.03
    loose_m: float = 0.05
    # It moves slower over the ground than this fraction of the foot's highest speed within
    # ``swing_s`` seconds, and than a speed between these two (m/s): in slow steps all is slower.
    of_swing: float = 0.15
    swing_s: float = 0.6
    speeds: tuple[float, float] = (0.2, 0.6)
    # Shorter contacts are left out, and shorter gaps closed (s).
    shortest_s: float = 0.06
    # The ground moves, as a treadmill does, if this fraction of the lowest points move within
    # ``belt_spread`` of one velocity, which is faster than ``belt_m_s``.
    belt_share: float = 0.6
    belt_spread: float = 0.25
    belt_m_s: float = 0.3
    # The lowest points are those within this height (m) of the lowest of all, over time ...
    lowest_m: float = 0.03
    # ... without the outliers of this percentage of frames.
    outliers: float = 2.0


FOOTFALL = FootfallParameters()


def standing_feet(soles: FloatArray, fps: float, level: float | None = None,
                  loop: bool = False) -> BoolArray:
    """Return a mask (F, K) of the frames in which feet stand on level ground.

    ``soles`` (F, K, P, 3) are points of K soles. The ground is at the height ``level`` (m), by
    default where the soles rest; it may move at a constant speed, as a treadmill's belt does. In a
    ``loop`` the last frame leads into the first, in the same place.
    """
    if loop:
        again = standing_feet(np.concatenate([soles] * 3), fps, level)
        return again[len(soles):-len(soles)]
    over = soles - _belt(soles, fps) * (np.arange(len(soles)) / fps)[:, None, None, None]
    if level is None:
        level = resting_level(over.reshape(len(over), -1, 3), fps)
    speed = np.linalg.norm(velocities(over, fps), axis=-1)
    still = speed < _slow(speed, fps)[..., None]
    firm, loose = ((still & (over[..., 2] < level + height)).any(axis=2)
                   for height in (FOOTFALL.band_m, FOOTFALL.loose_m))
    in_time = np.ones((3, 1), bool)
    return _tidy(scipy.ndimage.binary_propagation(firm, in_time, loose), fps)


def _belt(soles: FloatArray, fps: float) -> FloatArray:
    """Return the velocity (3,) in m/s at which the ground moves under the feet; usually 0."""
    heights = soles[..., 2]
    lowest = np.percentile(heights.min(axis=(1, 2)), FOOTFALL.outliers)
    moving = velocities(soles, fps)[heights < lowest + FOOTFALL.lowest_m] * [1.0, 1.0, 0.0]
    belt = np.median(moving, axis=0)
    speed = float(np.linalg.norm(belt))
    near = np.linalg.norm(moving - belt, axis=1) < FOOTFALL.belt_spread * speed
    return belt if speed > FOOTFALL.belt_m_s and near.mean() > FOOTFALL.belt_share else np.zeros(3)


def _slow(speed: FloatArray, fps: float) -> FloatArray:
    """Return the speed (F, K) below which points stand, from their own speeds (F, K, P)."""
    width = 2 * round(FOOTFALL.swing_s * fps) + 1
    swing = scipy.ndimage.maximum_filter1d(speed.max(axis=2), width, axis=0, mode="nearest")
    return np.asarray(np.clip(FOOTFALL.of_swing * swing, *FOOTFALL.speeds))


def _tidy(standing: BoolArray, fps: float) -> BoolArray:
    """Return a mask (F, K) without very short gaps and contacts."""
    width = np.ones((max(1, round(FOOTFALL.shortest_s * fps)), 1), dtype=bool)
    # A contact at an end of the take goes on beyond it, or opening would remove it.
    beyond = len(width)
    padded = np.pad(standing, ((beyond, beyond), (0, 0)), mode="edge")
    closed = scipy.ndimage.binary_closing(padded, width)
    return np.asarray(scipy.ndimage.binary_opening(closed, width)[beyond:-beyond], dtype=bool)
