"""Detect mirrored markers, as files with left-handed axes hold them."""

from collections.abc import Sequence

import numpy as np

from mimegen.markers.sets import Landmark
from mimegen.motion.quaternions import FloatArray

# Parts of joint names left out: arms move too much to be compared with a rest pose.
LOOSE = ("Arm", "Hand")
# Most frames that are compared, least markers of a frame, and the fraction of frames that must fit
# as a reflection.
MAX_FRAMES = 200
MIN_MARKERS = 6
MIRRORED_SHARE = 0.9


def are_mirrored(landmarks: Sequence[Landmark], seen: FloatArray) -> bool:
    """Return whether markers ``seen`` (F, M, 3), NaN at gaps, fit ``landmarks`` only if mirrored.

    The test is the sign of the best orthogonal fit of trunk, head and legs at rest to each frame
    (Kabsch, "A discussion of the solution for the best rotation to relate two sets of vectors",
    1978).
    """
    members = [n for n, mark in enumerate(landmarks)
               if not any(part in mark.joint for part in LOOSE)]
    if len(members) < MIN_MARKERS:
        return False
    rest = np.array([landmarks[n].place for n in members])
    sample = seen[:: -(-len(seen) // MAX_FRAMES), members]
    there = np.isfinite(sample[..., :1])
    sample = sample[there.sum(axis=(1, 2)) >= MIN_MARKERS]
    there = np.isfinite(sample[..., :1])
    if not len(sample):
        return False
    u, _, vt = np.linalg.svd(_centred(sample, there).transpose(0, 2, 1) @ _centred(rest, there))
    return bool(np.mean(np.linalg.det(u @ vt) < 0) > MIRRORED_SHARE)


def _centred(positions: FloatArray, there: FloatArray) -> FloatArray:
    """Return positions (F, M, 3) about the mean of those ``there`` (F, M, 1), 0 for others."""
    known = np.where(there, positions, 0.0)
    middle = known.sum(axis=1, keepdims=True) / np.maximum(there.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(there, positions - middle, 0.0))
