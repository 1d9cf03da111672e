"""Rotations however files write them, as quaternions: vectors, matrices, 4 or 6 numbers."""

from typing import Any

import numpy as np

from mimegen.base.vectors import unit
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# Numbers of a joint, by the way of writing, in the order in which they are tried.
VECTOR = 3
MATRIX = 9
SIX = 6
QUATERNION = 4
# A matrix of a rotation and a shift, of which the rotation counts.
PLACED = 16
WIDTHS = (VECTOR, MATRIX, SIX, QUATERNION, PLACED)
# A rotation vector longer than a turn and a half is written in degrees, or is no rotation.
LONGEST = 3 * np.pi
# How far off length 1 and off a right angle rows of matrices may be, and quaternions off length 1.
LOOSE = 0.02


class WrongNumbersError(ValueError):
    """Numbers that are no rotations; the message says why."""


def rotations_of(values: FloatArray, joints: int, rows: bool = True) -> FloatArray:
    """Return quaternions (F, joints, 4) of numbers (F, ...): 3, 4, 6, 9 or 16 a joint.

    Of six numbers, they are the first two rows of the matrix (PyTorch3D) or, without ``rows``, its
    first two columns (Zhou et al. 2019, HumanML3D); columns that are written row by row (HMR) are
    told by being of length 1. The first or the last of four numbers is w: most joints turn little.

    Raises WrongNumbersError where they are none, or in degrees.
    """
    flat = values.reshape(len(values), -1)
    each = flat.shape[1] // joints
    if each * joints != flat.shape[1] or each not in WIDTHS:
        raise WrongNumbersError(f"has {flat.shape[1]} numbers a frame, expected 3, 4, 6 or 9 for"
                                f" each of {joints} joints")
    split = flat.reshape(len(flat), joints, each)
    if each == VECTOR:
        return _from_vectors(split)
    if each == QUATERNION:
        return _from_quaternions(split)
    if each == SIX:
        return _from_matrices(from_six(*_paired(split, rows)))
    side = 3 if each == MATRIX else 4
    return _from_matrices(split.reshape(len(flat), joints, side, side)[..., :3, :3])


def _from_quaternions(values: FloatArray) -> FloatArray:
    size = np.linalg.norm(values, axis=-1, keepdims=True)
    if np.abs(size - 1.0).max(initial=0.0) > LOOSE:
        raise WrongNumbersError("has quaternions that are not of length 1")
    first, last = (float(np.abs(values[..., at]).mean()) for at in (0, 3))
    return values / size if first >= last else np.roll(values / size, 1, axis=-1)


def _paired(values: FloatArray, rows: bool) -> tuple[FloatArray, bool]:
    """Return six numbers (..., 6) as one vector after the other, and whether these are rows."""
    woven = np.swapaxes(values.reshape(*values.shape[:-1], 3, 2), -1, -2).reshape(values.shape)
    return (woven, False) if _off(woven) < LOOSE < _off(values) else (values, rows)


def _off(values: FloatArray) -> float:
    """Return how far off length 1 and a right angle pairs of vectors (..., 6) are at most."""
    first, second = values[..., :3], values[..., 3:]
    return float(max(np.abs(np.linalg.norm(first, axis=-1) - 1.0).max(initial=0.0),
                     np.abs(np.linalg.norm(second, axis=-1) - 1.0).max(initial=0.0),
                     np.abs(np.sum(first * second, axis=-1)).max(initial=0.0)))


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
