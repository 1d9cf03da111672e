"""Matrices from world coordinates to OpenGL's clip space."""

import numpy as np

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import Camera
from mimegen.shots.crop import Region

NEAREST_M = 0.05


def to_picture(camera: Camera, region: Region, farthest_m: float = 1000.0,
               nearest_m: float = NEAREST_M) -> FloatArray:
    """Return the matrix (4, 4) that maps a region of a camera's picture to all of clip space.

    The picture is upside down for OpenGL, which takes the first row in memory to be the lowest.
    """
    left, top, right, bottom = region
    focal = camera.focal_pixels
    across, down = 2.0 / (right - left), 2.0 / (bottom - top)
    spread = farthest_m - nearest_m
    lens = np.array([
        [focal * across, 0.0, 1.0 - (camera.width / 2 - left) * across, 0.0],
        [0.0, -focal * down, 1.0 - (camera.height / 2 - top) * down, 0.0],
        [0.0, 0.0, -(farthest_m + nearest_m) / spread, -2.0 * farthest_m * nearest_m / spread],
        [0.0, 0.0, -1.0, 0.0],
    ])
    return np.asarray(lens @ _to_camera(camera))


def _to_camera(camera: Camera) -> FloatArray:
    matrix = np.eye(4)
    matrix[:3, :3] = quaternions.to_matrices(np.array(camera.rotation)).T
    matrix[:3, 3] = -matrix[:3, :3] @ np.array(camera.position)
    return matrix


def to_sun(points: FloatArray, direction: FloatArray, room_m: float) -> tuple[FloatArray, float]:
    """Return the orthographic matrix (4, 4) of the sun's view that fits points (N, 3).

    Also returns half the covered width in metres. ``direction`` is that to the sun; ``room_m`` is
    the margin around the points in metres.
    """
    side = np.cross([0.0, 1.0, 0.0] if abs(direction[2]) > 0.9 else [0.0, 0.0, 1.0], direction)
    side /= np.linalg.norm(side)
    axes = np.stack([side, np.cross(direction, side), -direction])
    # Axis by axis: numpy is slow over the short side of (N, 3).
    seen = axes @ points.T.copy()
    low, high = seen.min(axis=1), seen.max(axis=1)
    half = float((high - low)[:2].max() / 2 + room_m)
    deep = float((high - low)[2] / 2 + room_m)
    scale = np.array([1 / half, 1 / half, 1 / deep])
    matrix = np.eye(4)
    matrix[:3, :3] = scale[:, None] * axes
    matrix[:3, 3] = -scale * (low + high) / 2
    return matrix, half
