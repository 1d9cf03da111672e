"""Rotations however files write them, as quaternions: rotation vectors, matrices, 6 numbers."""

from typing import Any

import numpy as np

from mimegen.base.vectors import unit
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# Numbers of a joint, by the way of writing, in the order in which they are tried.
VECTOR = 3
MATRIX = 9
SIX = 6
# A rotation vector longer than a turn and a half is written in degrees, or is no rotation.
LONGEST = 3 * np.pi
# How far off length 1 and off a right angle rows of matrices may be.
LOOSE = 0.02


class WrongNumbersError(ValueError):
    """Numbers that are no rotations; the message says why."""


def rotations_of(values: FloatArray, joints: int, rows: bool = True) -> FloatArray:
    """Return quaternions (F, joints, 4) of numbers (F, ...): 3, 6 or 9 a joint.

    Of six numbers, they are the first two rows of the matrix (PyTorch3D) or, without ``rows``, its
    first two columns (Zhou et al. 2019, HumanML3D).

    Raises WrongNumbersError where they are none, or in degrees.
    """
    flat = values.reshape(len(values), -1)
    each = flat.shape[1] // joints
    if each * joints != flat.shape[1] or each not in (VECTOR, MATRIX, SIX):
        raise WrongNumbersError(f"has {flat.shape[1]} numbers a frame, expected 3, 6 or 9 for each"
                                f" of {joints} joints")
    split = flat.reshape(len(flat), joints, each)
    if each == VECTOR:
        return _from_vectors(split)
    matrices = split.reshape(len(flat), joints, 3, 3) if each == MATRIX else from_six(split, rows)
    return _from_matrices(matrices)


def _from_vectors(vectors: FloatArray) -> FloatArray:
    longest = float(np.linalg.norm(vectors, axis=-1).max(initial=0.0))
    if longest > LONGEST:
        raise WrongNumbersError(f"has rotations of up to {longest:.0f}, which looks like degrees;"
                                " expected rotation vectors in radians")
    return quaternions.from_rotation_vectors(vectors)


def _from_matrices(matrices: FloatArray) -> FloatArray:
    square = np.einsum("...ij,...kj->...ik", matrices, matrices)
    off = float(np.abs(square - np.eye(3)).max(initial=0.0))
    if off > LOOSE or np.any(np.linalg.det(matrices) < 0):
        raise WrongNumbersError(f"has matrices that are not rotations (off by {off:.2g})")
    return quaternions.from_frames(matrices)


def from_six(values: FloatArray, rows: bool) -> FloatArray:
    """Return matrices (..., 3, 3) of two rows or two columns (..., 6), made square to each other.

    Zhou et al., "On the Continuity of Rotation Representations in Neural Networks" (2019).
    """
    first = unit(values[..., :3])
    second = values[..., 3:] - first * np.sum(first * values[..., 3:], axis=-1, keepdims=True)
    second = unit(second)
    stacked = np.stack([first, second, quaternions.cross(first, second)], axis=-2)
    if np.any(np.linalg.norm(stacked, axis=-1) < 0.5):
        raise WrongNumbersError("has pairs of vectors that define no rotation")
    return stacked if rows else np.swapaxes(stacked, -1, -2)


def is_numeric(found: Any) -> bool:
    """Say whether something is an array of real numbers."""
    return isinstance(found, np.ndarray) and found.dtype.kind in "fiu" and found.size > 0
