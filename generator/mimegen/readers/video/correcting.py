"""Correct the depth of MediaPipe's world landmarks by a linear map that was learned.

Errors of depth depend on the pose and the view. The map predicts them from the vectors between
joints. It was fitted to clips of rendered people (``benchmarks/video_correction.py``,
docs/research/retargeting.md). Limbs keep their lengths; unusual poses stay as they are.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np

from mimegen.base.vectors import lengths, product, unit
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray

COEFFICIENTS = Path(__file__).with_name("correction.npz")
# MediaPipe's landmarks of left and right shoulders, elbows, wrists, hips, knees and ankles.
JOINTS = (11, 12, 13, 14, 15, 16, 23, 24, 25, 26, 27, 28)
SHOULDER, ELBOW, WRIST, HIP, KNEE, ANKLE = range(0, 12, 2)
LIMBS = tuple((upper + side, lower + side) for upper, lower in (
    (SHOULDER, ELBOW), (ELBOW, WRIST), (HIP, KNEE), (KNEE, ANKLE)) for side in (0, 1))
# Landmarks that move with these joints: the face with both shoulders, hands and feet.
LED = {WRIST: (17, 19, 21), WRIST + 1: (18, 20, 22), ANKLE: (29, 31), ANKLE + 1: (30, 32)}
FACE = range(11)
# The picture is turned so that the trunk points up, as MediaPipe does before it looks for joints:
# not at all if the first fraction of the trunk's length or less lies in the picture's plane, and
# fully from the second on.
TRUNK_IN_PLANE = (0.2, 0.5)
# Standard deviation (seconds) of the Gaussian that smooths the correction over time.
SMOOTH_S = 0.1


@dataclass(frozen=True, eq=False)
class Correction:
    """A linear map from features (66) of a pose to changes of its segments' depth (11).

    ``usual`` is the mean training pose (33), ``whitening`` (33, 33) a factor of the training poses'
    inverse covariance. The map counts fully up to the distance ``near`` from the usual pose, and
    not at all from ``far`` on; distances are root mean squares of whitened coordinates.
    """

    usual: FloatArray
    whitening: FloatArray
    slope: FloatArray
    offset: FloatArray
    near: float
    far: float

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the correction in a file of arrays."""
        with np.load(path) as held:
            return cls(**{name: held[name].astype(float) for name in held.files})

    def trust(self, segments: FloatArray) -> FloatArray:
        """Return, for poses (F, 11, 3), 1 near the training poses to 0 far from them."""
        away = segments.reshape(len(segments), -1) - self.usual
        distances = np.sqrt(np.mean(product(away, self.whitening) ** 2, axis=1))
        return np.asarray(np.clip((self.far - distances) / (self.far - self.near), 0.0, 1.0))

    def changes(self, segments: FloatArray) -> FloatArray:
        """Return what to add to the depth (F, 11) of the unit directions of segments."""
        return product(features_of(segments), self.slope) + self.offset


@lru_cache(maxsize=1)
def learned_correction() -> Correction:
    """Return the correction that comes with mimegen."""
    return Correction.read(COEFFICIENTS)


def corrected(positions: FloatArray, fps: float, correction: Correction
              ) -> tuple[FloatArray, FloatArray]:
    """Return corrected landmarks (F, 33, 3) and the trust (F,) in the correction, 0 to 1.

    ``positions`` are MediaPipe's in metres for a person of usual height, with hips at the centers
    of the joints. Frames without a person are NaN and stay so.
    """
    seen = np.isfinite(positions).all(axis=(1, 2))
    found, trust = positions.copy(), np.zeros(len(positions))
    turns = upright_turns(positions[seen])
    segments = segments_of(product(positions[seen], turns))
    trust[seen] = correction.trust(segments)
    deeper = low_passed(trust[seen, None] * correction.changes(segments), SMOOTH_S * fps)
    directions = unit(segments)
    directions[..., 2] += deeper
    after = lengths(segments)[..., None] * unit(directions)
    shifts = joints_of(after) - joints_of(segments)
    found[seen] += product(_spread(shifts), turns.transpose(0, 2, 1))
    return found, trust


def upright_turns(positions: FloatArray) -> FloatArray:
    """Return matrices (F, 3, 3) that, from the right, turn pictures until trunks point up."""
    trunk, (least, most) = segments_of(positions)[:, 2], TRUNK_IN_PLANE
    in_plane = np.hypot(trunk[:, 0], trunk[:, 1]) / np.maximum(lengths(trunk), 1e-9)
    angle = np.arctan2(trunk[:, 0], -trunk[:, 1]) * np.clip(
        (in_plane - least) / (most - least), 0.0, 1.0)
    turns = np.tile(np.eye(3), (len(positions), 1, 1))
    turns[:, 0, 0] = turns[:, 1, 1] = np.cos(angle)
    turns[:, 1, 0], turns[:, 0, 1] = np.sin(angle), -np.sin(angle)
    return turns


def segments_of(positions: FloatArray) -> FloatArray:
    """Return the vectors (F, 11, 3) across shoulders and hips, up the trunk, and along the limbs.

    ``positions`` are 33 landmarks (F, 33, 3) of MediaPipe.
    """
    joints = positions[:, JOINTS]
    chest, hips = (joints[:, part:part + 2].mean(axis=1) for part in (SHOULDER, HIP))
    across = (joints[:, part] - joints[:, part + 1] for part in (SHOULDER, HIP))
    return np.stack([*across, chest - hips,
                     *(joints[:, lower] - joints[:, upper] for upper, lower in LIMBS)], axis=1)


def features_of(segments: FloatArray) -> FloatArray:
    """Return the features (F, 66): segments, and segments times how far the body looks away.

    That factor is -1 for a person who faces the camera and 1 for one seen from behind.
    """
    flat = segments.reshape(len(segments), -1)
    leftward = unit(unit(segments[:, 0]) + unit(segments[:, 1]))
    ahead = unit(np.cross(leftward, segments[:, 2]))
    return np.concatenate([flat, flat * ahead[:, 2:]], axis=1)


def joints_of(segments: FloatArray) -> FloatArray:
    """Return the joints (F, 12, 3) that segments reach from the middle of the hips."""
    joints = np.zeros((len(segments), len(JOINTS), 3))
    for side, half in ((0, 0.5), (1, -0.5)):
        joints[:, SHOULDER + side] = segments[:, 2] + half * segments[:, 0]
        joints[:, HIP + side] = half * segments[:, 1]
    for number, (upper, lower) in enumerate(LIMBS):
        joints[:, lower] = joints[:, upper] + segments[:, 3 + number]
    return joints


def _spread(shifts: FloatArray) -> FloatArray:
    """Return the shifts (F, 33, 3) of all landmarks from those of the joints (F, 12, 3)."""
    every = np.zeros((len(shifts), 33, 3))
    every[:, JOINTS] = shifts
    every[:, FACE] = shifts[:, SHOULDER:SHOULDER + 2].mean(axis=1, keepdims=True)
    for joint, landmarks in LED.items():
        every[:, landmarks] = shifts[:, joint, None]
    return every
