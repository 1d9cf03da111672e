"""Measure the quality of motions and of retargeted motions."""

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label

from mimegen.motion.contacts import velocities
from mimegen.motion.quaternions import FloatArray

SKATE_FPS = 20.0


def foot_skate(feet: FloatArray, fps: float) -> float:
    """Return the mean horizontal speed (cm/s) of feet (F, K, 3) while they are near the ground.

    Each frame is weighted by height: 1 on the ground, 0 from 5 cm above it (after Ling et al.,
    "Character Controllers Using Motion VAEs", 2020).
    """
    speed = np.linalg.norm(velocities(feet, fps)[..., :2], axis=-1)
    # A weight instead of a threshold, or the measure would depend on whether a foot is at 4.9 or
    # 5.1 cm.
    near = np.clip(1.0 - feet[..., 2] / 0.05, 0.0, 1.0)
    return float(100.0 * np.sum(speed * near) / max(float(np.sum(near)), 1e-9))


def skate_share(feet: FloatArray, fps: float) -> float:
    """Return the fraction of samples in which feet (F, K, 3) within 5 cm of the ground slide.

    A foot slides if it moves faster than 0.5 m/s over the ground between samples 1/20 s apart, as
    in Karunratanakul et al., "Guided Motion Diffusion" (2023).
    """
    count = int((len(feet) - 1) / fps * SKATE_FPS + 1e-6) + 1
    if count < 2:
        return 0.0
    moments = np.arange(count) * (fps / SKATE_FPS)
    before = np.minimum(moments.astype(int), len(feet) - 2)
    share = (moments - before)[:, None, None]
    sampled = feet[before] + share * (feet[before + 1] - feet[before])
    speed = np.linalg.norm(np.diff(sampled[..., :2], axis=0), axis=-1) * SKATE_FPS
    # Both ends of the step have to be near the ground: a foot that is lifted or put down does not
    # slide.
    near = np.maximum(sampled[1:, :, 2], sampled[:-1, :, 2]) < 0.05
    return float(np.mean(near & (speed > 0.5)))


def drifts(points: FloatArray, planted: NDArray[np.bool_]) -> FloatArray:
    """Return how far (m) points (F, 3) drift over the ground in each run of ``planted`` (F,).

    That is the largest distance from the run's median position.
    """
    runs, count = label(planted)
    found = []
    for run in range(1, count + 1):
        path = points[runs == run, :2]
        # From the median, not from the first position, at which a foot may not yet have come to
        # rest.
        found.append(float(np.linalg.norm(path - np.median(path, axis=0), axis=1).max()))
    return np.array(found, dtype=float)


def ground_penetration(points: FloatArray) -> float:
    """Return how deep (cm) the lowest of points (F, K, 3) goes below Z = 0."""
    return float(100.0 * max(0.0, -points[..., 2].min()))


def direction_errors(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the angles (...,) in degrees between vectors (..., 3)."""
    a = first / np.maximum(np.linalg.norm(first, axis=-1, keepdims=True), 1e-12)
    b = second / np.maximum(np.linalg.norm(second, axis=-1, keepdims=True), 1e-12)
    # The chord of the unit circle: accurate for small angles, unlike the arc cosine of the dot
    # product.
    return np.asarray(np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(a - b, axis=-1) / 2, 0, 1))))


def mean_jerk(points: FloatArray, fps: float) -> float:
    """Return the mean length of the third derivative (m/s^3) of points (F, K, 3)."""
    if len(points) < 4:
        return 0.0
    return float(np.linalg.norm(np.diff(points, n=3, axis=0), axis=-1).mean() * fps**3)
