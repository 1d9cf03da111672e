"""How good a motion or a retargeted motion is, in numbers."""

import numpy as np

from mimegen.motion.contacts import velocities
from mimegen.motion.quaternions import FloatArray


def foot_skate(feet: FloatArray, fps: float, level: float = 0.0) -> float:
    """Return the mean horizontal speed (cm/s) of feet (F, K, 3) while they are near the ground.

    Each frame counts by how near: 1 at the ``level``, 0 from 5 cm above it (after Ling et al.,
    "Character Controllers Using Motion VAEs", 2020).
    """
    speed = np.linalg.norm(velocities(feet, fps)[..., :2], axis=-1)
    near = np.clip(1.0 - (feet[..., 2] - level) / 0.05, 0.0, 1.0)
    return float(100.0 * np.sum(speed * near) / max(float(np.sum(near)), 1e-9))


def skate_share(feet: FloatArray, fps: float, level: float = 0.0) -> float:
    """Return the share of moments in which feet (F, K, 3) below 5 cm go faster than 0.5 m/s."""
    speed = np.linalg.norm(velocities(feet, fps)[..., :2], axis=-1)
    return float(np.mean((feet[..., 2] < level + 0.05) & (speed > 0.5)))


def ground_penetration(points: FloatArray) -> float:
    """Return how deep (cm) the lowest of points (F, K, 3) goes below Z = 0."""
    return float(100.0 * max(0.0, -points[..., 2].min()))


def direction_errors(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the angles (...,) in degrees between vectors (..., 3)."""
    a = first / np.maximum(np.linalg.norm(first, axis=-1, keepdims=True), 1e-12)
    b = second / np.maximum(np.linalg.norm(second, axis=-1, keepdims=True), 1e-12)
    return np.asarray(np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(a - b, axis=-1) / 2, 0, 1))))


def mean_jerk(points: FloatArray, fps: float) -> float:
    """Return the mean length of the third derivative (m/s^3) of points (F, K, 3)."""
    if len(points) < 4:
        return 0.0
    return float(np.linalg.norm(np.diff(points, n=3, axis=0), axis=-1).mean() * fps**3)
