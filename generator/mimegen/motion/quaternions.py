"""Unit quaternions, w x y z, in arrays of any leading shape."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

FloatArray = NDArray[np.float64]

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def cross(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the cross products of vectors (..., 3); many times faster than numpy's on few."""
    a, b, c = first[..., 0], first[..., 1], first[..., 2]
    x, y, z = second[..., 0], second[..., 1], second[..., 2]
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=-1)


def multiply(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Return the Hamilton product, the rotation that turns by ``second`` and then by ``first``."""
    a, b = np.asarray(first, float), np.asarray(second, float)
    aw, bw, av, bv = a[..., :1], b[..., :1], a[..., 1:], b[..., 1:]
    scalar = aw * bw - np.sum(av * bv, axis=-1, keepdims=True)
    vector = aw * bv + bw * av + cross(av, bv)
    return cast(FloatArray, np.concatenate([scalar, vector], axis=-1))


def conjugate(quaternions: ArrayLike) -> FloatArray:
    """Return the inverse rotations."""
    signs = np.array([1.0, -1.0, -1.0, -1.0])
    return cast(FloatArray, np.asarray(quaternions, float) * signs)


def rotate(quaternions: ArrayLike, vectors: ArrayLike) -> FloatArray:
    """Turn vectors (..., 3) by quaternions (..., 4); leading shapes broadcast."""
    q, v = np.asarray(quaternions, float), np.asarray(vectors, float)
    twice = 2.0 * cross(q[..., 1:], v)
    return cast(FloatArray, v + q[..., :1] * twice + cross(q[..., 1:], twice))


def normalise(quaternions: ArrayLike) -> FloatArray:
    """Return the quaternions at unit length."""
    q = np.asarray(quaternions, float)
    return cast(FloatArray, q / np.linalg.norm(q, axis=-1, keepdims=True))


def between(start: ArrayLike, end: ArrayLike) -> FloatArray:
    """Return the smallest rotations that turn vectors ``start`` (..., 3) to point along ``end``.

    For opposite vectors an arbitrary perpendicular axis is used.
    """
    a, b = np.broadcast_arrays(np.asarray(start, float), np.asarray(end, float))
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    scalar = 1.0 + np.sum(a * b, axis=-1, keepdims=True)
    axis = np.cross(a, b)
    least = np.eye(3)[np.argmin(np.abs(a), axis=-1)]
    opposite = scalar < 1e-9
    axis = np.where(opposite, np.cross(a, least), axis)
    return normalise(np.concatenate([np.where(opposite, 0.0, scalar), axis], axis=-1))


def slerp(start: ArrayLike, end: ArrayLike, share: ArrayLike) -> FloatArray:
    """Turn from ``start`` to ``end`` the short way by ``share`` (..., broadcast), 0 to 1."""
    a, b = np.broadcast_arrays(np.asarray(start, float), np.asarray(end, float))
    return multiply(a, scale(multiply(conjugate(a), b), share))


def scale(quaternions: ArrayLike, share: ArrayLike) -> FloatArray:
    """Scale the rotation angles by ``share`` (..., broadcast), about the same axes."""
    return from_rotation_vectors(to_rotation_vectors(quaternions) * np.asarray(share)[..., None])


def from_rotation_vectors(vectors: ArrayLike) -> FloatArray:
    """Return quaternions (..., 4) of rotation vectors (..., 3) in radians."""
    v = np.asarray(vectors, float)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * v], axis=-1)


def to_rotation_vectors(quaternions: ArrayLike) -> FloatArray:
    """Return rotation vectors (..., 3) in radians, at most pi long."""
    q = np.asarray(quaternions, float)
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, q[..., :1])
    ratio = np.where(sine < 1e-12, 2.0, angle / np.maximum(sine, 1e-12))
    return cast(FloatArray, q[..., 1:] * ratio)


def from_euler(order: str, degrees: ArrayLike) -> FloatArray:
    """Return quaternions of Euler angles (..., 3); ``order`` as in scipy ("ZXY": intrinsic)."""
    angles = np.asarray(degrees, float)
    flat = Rotation.from_euler(order, angles.reshape(-1, angles.shape[-1]), degrees=True)
    return np.asarray(flat.as_quat(scalar_first=True)).reshape(*angles.shape[:-1], 4)


def to_matrices(quaternions: ArrayLike) -> FloatArray:
    """Return rotation matrices (..., 3, 3)."""
    q = np.asarray(quaternions, float)
    matrices = Rotation.from_quat(q.reshape(-1, 4), scalar_first=True).as_matrix()
    return np.asarray(matrices).reshape(*q.shape[:-1], 3, 3)


def from_matrices(matrices: ArrayLike) -> FloatArray:
    """Return quaternions (..., 4) of rotation matrices (..., 3, 3)."""
    m = np.asarray(matrices, float)
    q = Rotation.from_matrix(m.reshape(-1, 3, 3)).as_quat(scalar_first=True)
    return np.asarray(q).reshape(*m.shape[:-2], 4)


def without_flips(quaternions: ArrayLike) -> FloatArray:
    """Choose signs along the first axis so that consecutive quaternions (F, ..., 4) are close."""
    q = np.asarray(quaternions, float)
    if len(q) < 2:
        return q.copy()
    turned = np.sum(q[1:] * q[:-1], axis=-1) < 0
    signs = np.cumprod(np.where(turned, -1.0, 1.0), axis=0)
    return np.concatenate([q[:1], q[1:] * signs[..., None]], axis=0)


def twist_about(quaternions: ArrayLike, axes: ArrayLike) -> FloatArray:
    """Return the part of each rotation that turns about unit ``axes`` (..., 3).

    The rotation equals ``multiply(swing, twist)`` (swing-twist decomposition, Dobrowolski 2015).
    """
    q, axis = np.asarray(quaternions, float), np.asarray(axes, float)
    along = np.sum(q[..., 1:] * axis, axis=-1, keepdims=True)
    twist = np.concatenate([q[..., :1], along * axis], axis=-1)
    length = np.linalg.norm(twist, axis=-1, keepdims=True)
    return cast(FloatArray, np.where(length < 1e-9, IDENTITY, twist / np.maximum(length, 1e-9)))
