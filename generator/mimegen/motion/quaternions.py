"""Unit quaternions, w x y z, in arrays of any leading shape."""

from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import ArrayLike

from mimegen.base.arrays import FloatArray as FloatArray
from mimegen.base.decisions import first_least
from mimegen.base.grid import on_grid

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
# Grid of mean rotations. LAPACK finds their eigenvectors, whose last bits differ between machines;
# the grid is far coarser.
_MEAN = 2.0**-30


def cross(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the cross products of vectors (..., 3); much faster than numpy's for few vectors."""
    ax, ay, az = first[..., 0], first[..., 1], first[..., 2]
    bx, by, bz = second[..., 0], second[..., 1], second[..., 2]
    return _joined(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)


def _joined(*components: FloatArray) -> FloatArray:
    """Return components of one shape as vectors; faster than np.stack for few."""
    whole = np.empty((*components[0].shape, len(components)))
    for number, component in enumerate(components):
        whole[..., number] = component
    return whole


def multiply(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Return the Hamilton product (..., 4): the rotation by ``second`` and then by ``first``."""
    a, b = np.asarray(first, float), np.asarray(second, float)
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    return _joined(
        aw * bw - (ax * bx + ay * by + az * bz),
        aw * bx + bw * ax + (ay * bz - az * by),
        aw * by + bw * ay + (az * bx - ax * bz),
        aw * bz + bw * az + (ax * by - ay * bx),
    )


def conjugate(quaternions: ArrayLike) -> FloatArray:
    """Return the inverse rotations (..., 4) of unit quaternions (..., 4)."""
    signs = np.array([1.0, -1.0, -1.0, -1.0])
    return cast(FloatArray, np.asarray(quaternions, float) * signs)


def rotate(quaternions: ArrayLike, vectors: ArrayLike) -> FloatArray:
    """Turn vectors (..., 3) by quaternions (..., 4); leading shapes broadcast."""
    q, v = np.asarray(quaternions, float), np.asarray(vectors, float)
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    vx, vy, vz = v[..., 0], v[..., 1], v[..., 2]
    # v + 2 w (q x v) + 2 q x (q x v): half the multiplications of q v q*.
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    return _joined(
        vx + w * tx + (y * tz - z * ty),
        vy + w * ty + (z * tx - x * tz),
        vz + w * tz + (x * ty - y * tx),
    )


def normalise(quaternions: ArrayLike) -> FloatArray:
    """Return quaternions (..., 4) at unit length."""
    q = np.asarray(quaternions, float)
    return cast(FloatArray, q / np.linalg.norm(q, axis=-1, keepdims=True))


def between(start: ArrayLike, end: ArrayLike) -> FloatArray:
    """Return the smallest rotations that turn vectors ``start`` (..., 3) to point along ``end``.

    For opposite vectors an arbitrary perpendicular axis is used.
    """
    a, b = np.broadcast_arrays(np.asarray(start, float), np.asarray(end, float))
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    # The half-angle without trigonometry: (1 + a.b, a x b) has the direction of (cos, sin of the
    # half angle times the axis), and only has to be normalised.
    scalar = 1.0 + np.sum(a * b, axis=-1, keepdims=True)
    axis = cross(a, b)
    opposite = scalar < 1e-9
    if opposite.any():
        # The coordinate axis with the smallest component is certainly not parallel to the vector.
        least = np.eye(3)[first_least(np.abs(a))]
        axis = np.where(opposite, cross(a, least), axis)
    return normalise(np.concatenate([np.where(opposite, 0.0, scalar), axis], axis=-1))


def slerp(start: ArrayLike, end: ArrayLike, share: ArrayLike) -> FloatArray:
    """Return rotations from ``start`` to ``end`` along the shortest turn, by ``share`` from 0 to 1.

    ``share`` (...) broadcasts.
    """
    a, b = np.broadcast_arrays(np.asarray(start, float), np.asarray(end, float))
    return multiply(a, scale(multiply(conjugate(a), b), share))


def scale(quaternions: ArrayLike, share: ArrayLike) -> FloatArray:
    """Return rotations with their angles scaled by ``share`` (..., broadcast), about the same axes.
    """
    return from_rotation_vectors(to_rotation_vectors(quaternions) * np.asarray(share)[..., None])


def from_rotation_vectors(vectors: ArrayLike) -> FloatArray:
    """Return quaternions (..., 4) of rotation vectors (..., 3) in radians."""
    v = np.asarray(vectors, float)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    # sin(a/2)/a as half a sinc avoids a division by 0 for zero rotations.
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * v], axis=-1)


def to_rotation_vectors(quaternions: ArrayLike) -> FloatArray:
    """Return rotation vectors (..., 3) in radians, at most pi long."""
    q = np.asarray(quaternions, float)
    # q and -q are the same rotation; with w above 0 its angle is the smaller one, at most pi.
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    # atan2 of sine and cosine is exact for small angles; acos of w loses half the digits.
    angle = 2 * np.arctan2(sine, q[..., :1])
    # The limit of angle / sin(angle / 2) at 0 is 2.
    ratio = np.where(sine < 1e-12, 2.0, angle / np.maximum(sine, 1e-12))
    return cast(FloatArray, q[..., 1:] * ratio)


def from_euler(order: str, degrees: ArrayLike) -> FloatArray:
    """Return quaternions of Euler angles (..., 3); ``order`` as in scipy ("ZXY": intrinsic)."""
    halves = np.deg2rad(np.asarray(degrees, float)) / 2
    whole = IDENTITY
    for number, axis in enumerate(order):
        turn = np.zeros((*halves.shape[:-1], 4))
        turn[..., 0] = np.cos(halves[..., number])
        turn[..., 1 + "xyz".index(axis.lower())] = np.sin(halves[..., number])
        # Intrinsic rotations are about axes that have already been turned, so they multiply on the
        # right.
        whole = multiply(whole, turn) if axis.isupper() else multiply(turn, whole)
    return whole


def to_euler(order: str, quaternions: ArrayLike) -> FloatArray:
    """Return the Euler angles (F, 3), in degrees, of quaternions (F, 4), as in `from_euler`."""
    turns = _scipy_rotations(np.asarray(quaternions, float))
    return np.asarray(turns.as_euler(order, degrees=True))


def _scipy_rotations(quaternions: FloatArray) -> Any:
    """Return SciPy's rotations; its module, which is slow to import, is loaded on first use."""
    return scipy.spatial.transform.Rotation.from_quat(quaternions, scalar_first=True)


def to_matrices(quaternions: ArrayLike) -> FloatArray:
    """Return rotation matrices (..., 3, 3)."""
    q = np.asarray(quaternions, float)
    matrices = _scipy_rotations(q.reshape(-1, 4)).as_matrix()
    return np.asarray(matrices).reshape(*q.shape[:-1], 3, 3)


def from_matrices(matrices: ArrayLike) -> FloatArray:
    """Return quaternions (..., 4) of matrices (..., 3, 3) that are at least nearly rotations."""
    m = np.asarray(matrices, float)
    q = scipy.spatial.transform.Rotation.from_matrix(m.reshape(-1, 3, 3)).as_quat(scalar_first=True)
    return np.asarray(q).reshape(*m.shape[:-2], 4)


def from_frames(matrices: FloatArray) -> FloatArray:
    """Return quaternions (..., 4) of matrices (..., 3, 3) that are exact rotations.

    Many times faster for few matrices than `from_matrices` (Shepperd 1978).
    """
    xx, yy, zz = matrices[..., 0, 0], matrices[..., 1, 1], matrices[..., 2, 2]
    wx = matrices[..., 2, 1] - matrices[..., 1, 2]
    wy = matrices[..., 0, 2] - matrices[..., 2, 0]
    wz = matrices[..., 1, 0] - matrices[..., 0, 1]
    xy = matrices[..., 1, 0] + matrices[..., 0, 1]
    xz = matrices[..., 2, 0] + matrices[..., 0, 2]
    yz = matrices[..., 2, 1] + matrices[..., 1, 2]
    # Each row is a multiple of the quaternion; the row with the largest diagonal entry is the most
    # accurate.
    rows = _joined(
        1 + xx + yy + zz, wx, wy, wz, wx, 1 + xx - yy - zz, xy, xz,
        wy, xy, 1 - xx + yy - zz, yz, wz, xz, yz, 1 - xx - yy + zz,
    ).reshape(*xx.shape, 4, 4)
    best = np.argmax(np.diagonal(rows, axis1=-2, axis2=-1), axis=-1)
    return normalise(np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :])


def mean(quaternions: ArrayLike) -> FloatArray:
    """Return the mean rotation (4,) of rotations (N, 4), the same on every machine (Markley 2007).

    Its sign makes w, or else the first component that is not 0, positive.
    """
    found = _scipy_rotations(np.asarray(quaternions, float)).mean()
    return on_grid(found.as_quat(canonical=True, scalar_first=True), _MEAN)


def without_flips(quaternions: ArrayLike) -> FloatArray:
    """Return quaternions (F, ..., 4) with signs such that consecutive ones are close."""
    q = np.asarray(quaternions, float)
    if len(q) < 2:
        return q.copy()
    # If the dot product is below 0, the other sign is nearer to the frame before.
    turned = sum(q[1:, ..., part] * q[:-1, ..., part] for part in range(4)) < 0
    if not np.any(turned):
        return q.copy()
    # Each sign depends on all changes before it: their running product.
    signs = np.cumprod(np.where(turned, -1.0, 1.0), axis=0)
    return np.concatenate([q[:1], q[1:] * signs[..., None]], axis=0)


def twist_about(quaternions: ArrayLike, axes: ArrayLike) -> FloatArray:
    """Return the part of each rotation that turns about unit ``axes`` (..., 3).

    The rotation equals ``multiply(swing, twist)`` (swing-twist decomposition, Dobrowolski 2015).
    """
    q, axis = np.asarray(quaternions, float), np.asarray(axes, float)
    along = np.sum(q[..., 1:] * axis, axis=-1, keepdims=True)
    # The twist is the projection of the vector part on the axis, with the same w.
    twist = np.concatenate([q[..., :1], along * axis], axis=-1)
    length = np.linalg.norm(twist, axis=-1, keepdims=True)
    return cast(FloatArray, np.where(length < 1e-9, IDENTITY, twist / np.maximum(length, 1e-9)))
