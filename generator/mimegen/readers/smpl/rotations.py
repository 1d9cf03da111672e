"""Convert rotations of any notation to quaternions: vectors, matrices, 4 or 6 numbers."""

from typing import Any

import numpy as np

from mimegen.base.vectors import unit
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# Numbers per joint in each notation, in the order in which they are tried.
VECTOR = 3
MATRIX = 9
SIX = 6
QUATERNION = 4
# A 4 by 4 matrix of a rotation and a translation, of which only the rotation is used.
PLACED = 16
WIDTHS = (VECTOR, MATRIX, SIX, QUATERNION, PLACED)
# Longest rotation vector, in radians. A longer one is in degrees, or is not a rotation.
LONGEST = 3 * np.pi
# Greatest difference of quaternions from length 1, and of matrices from orthonormal ones.
LOOSE = 0.02


class WrongNumbersError(ValueError):
    """Numbers are not rotations; the message says why."""


def rotations_of(values: FloatArray, joints: int, rows: bool = True) -> FloatArray:
    """Return quaternions (F, joints, 4) from numbers (F, ...): 3, 4, 6, 9 or 16 per joint.

    Six numbers are the first two rows of the matrix (PyTorch3D) or, without ``rows``, its first two
    columns (Zhou et al. 2019, HumanML3D). Columns written row by row (HMR) are recognised by their
    length of 1. In quaternions, w is the first or last number, whichever is larger on average,
    because most joints turn little.

    Raises WrongNumbersError if the numbers are not rotations, or are in degrees.
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
    """Return quaternions (F, J, 4), w first, normalised."""
    size = np.linalg.norm(values, axis=-1, keepdims=True)
    if np.abs(size - 1.0).max(initial=0.0) > LOOSE:
        raise WrongNumbersError("has quaternions that are not of length 1")
    first, last = (float(np.abs(values[..., at]).mean()) for at in (0, 3))
    return values / size if first >= last else np.roll(values / size, 1, axis=-1)


def _paired(values: FloatArray, rows: bool) -> tuple[FloatArray, bool]:
    """Return six numbers (..., 6) with one vector after the other, and whether these are rows."""
    woven = np.swapaxes(values.reshape(*values.shape[:-1], 3, 2), -1, -2).reshape(values.shape)
    return (woven, False) if _off(woven) < LOOSE < _off(values) else (values, rows)


def _off(values: FloatArray) -> float:
    """Return the greatest deviation of pairs of vectors (..., 6) from orthonormal ones."""
    first, second = values[..., :3], values[..., 3:]
    return float(max(np.abs(np.linalg.norm(first, axis=-1) - 1.0).max(initial=0.0),
                     np.abs(np.linalg.norm(second, axis=-1) - 1.0).max(initial=0.0),
                     np.abs(np.sum(first * second, axis=-1)).max(initial=0.0)))


def _from_vectors(vectors: FloatArray) -> FloatArray:
    """Return quaternions of rotation vectors in radians."""
    longest = float(np.linalg.norm(vectors, axis=-1).max(initial=0.0))
    if longest > LONGEST:
        raise WrongNumbersError(f"has rotations of up to {longest:.0f}, which looks like degrees;"
                                " expected rotation vectors in radians")
    return quaternions.from_rotation_vectors(vectors)


def _from_matrices(matrices: FloatArray) -> FloatArray:
    """Return quaternions of matrices (F, J, 3, 3)."""
    square = np.einsum("...ij,...kj->...ik", matrices, matrices)
    off = float(np.abs(square - np.eye(3)).max(initial=0.0))
    if off > LOOSE or np.any(np.linalg.det(matrices) < 0):
        raise WrongNumbersError(f"has matrices that are not rotations (off by {off:.2g})")
    return quaternions.from_frames(matrices)


def from_six(values: FloatArray, rows: bool) -> FloatArray:
    """Return rotation matrices (..., 3, 3) from two rows or columns (..., 6), orthonormalised.

    Zhou et al., "On the Continuity of Rotation Representations in Neural Networks" (2019). Raises
    WrongNumbersError if two vectors are parallel or zero.
    """
    first = unit(values[..., :3])
    second = values[..., 3:] - first * np.sum(first * values[..., 3:], axis=-1, keepdims=True)
    second = unit(second)
    stacked = np.stack([first, second, quaternions.cross(first, second)], axis=-2)
    if np.any(np.linalg.norm(stacked, axis=-1) < 0.5):
        raise WrongNumbersError("has pairs of vectors that define no rotation")
    return stacked if rows else np.swapaxes(stacked, -1, -2)


def is_numeric(found: Any) -> bool:
    """Return whether a value is a non-empty array of real numbers."""
    return isinstance(found, np.ndarray) and found.dtype.kind in "fiu" and found.size > 0
