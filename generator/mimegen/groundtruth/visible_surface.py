"""The surface that a camera sees of a scene at each pixel's centre."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import Camera
from mimegen.shots.crop import Region

Floats = NDArray[np.float32]
# From Blender's camera axes (x right, y up, z backwards) to OpenCV's (x right, y down, z ahead).
TO_OPENCV = np.diag([1.0, -1.0, -1.0])


@dataclass(frozen=True, eq=False)
class SeenSurface:
    """The surface seen at the pixel centres of ``region``, top row first.

    ``depth`` (h, w) is in metres along the camera's axis, infinite where no surface is seen.
    ``normals`` (h, w, 3) are unit vectors in world coordinates; ``labels`` (h, w, 3) are person,
    part and garment, 0 for none. ``following`` and ``preceding`` (h, w, 3) are the world positions
    of the same point of the surface one frame later and one frame earlier.
    """

    region: Region
    depth: Floats
    normals: Floats
    labels: NDArray[np.uint8]
    following: Floats
    preceding: Floats

    @staticmethod
    def nothing() -> "SeenSurface":
        """Return an empty region."""
        flat, deep = np.zeros((0, 0), np.float32), np.zeros((0, 0, 3), np.float32)
        return SeenSurface((0, 0, 0, 0), flat, deep, deep.astype(np.uint8), deep, deep)


class SurfaceRenderer(Protocol):
    """An engine that renders the surface of a scene."""

    def render(self, frame: int, camera: Camera) -> SeenSurface:
        """Return the surface of the figures that a camera sees in a frame."""


def camera_axes(camera: Camera) -> FloatArray:
    """Return the rotation (3, 3) from world to OpenCV's camera axes."""
    # Transposed, because a camera's rotation goes from its own axes to the world.
    return np.asarray(TO_OPENCV @ quaternions.to_matrices(np.array(camera.rotation)).T)


def in_camera(vectors: Floats, camera: Camera) -> Floats:
    """Return world directions (..., 3) in camera coordinates: x right, y down, z ahead."""
    return np.asarray(vectors @ camera_axes(camera).T.astype(np.float32), np.float32)


def on_canvas(values: NDArray[np.generic], region: Region, canvas: Region,
              empty: float = 0.0) -> NDArray[np.generic]:
    """Return values (h, w, ...) of a region padded with ``empty`` to a larger one, ``canvas``."""
    left, top, right, bottom = canvas
    large = np.full((bottom - top, right - left, *values.shape[2:]), empty, values.dtype)
    rows, columns = values.shape[:2]
    if rows and columns:
        first, start = region[1] - top, region[0] - left
        large[first:first + rows, start:start + columns] = values
    return large


def union(one: Region, other: Region) -> Region:
    """Return the smallest region that contains both; empty regions are ignored."""
    if one[0] == one[2]:
        return other
    if other[0] == other[2]:
        return one
    return (min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]),
            max(one[3], other[3]))
