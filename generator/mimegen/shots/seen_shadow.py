"""The shadow on the ground as a camera sees it.

Each pixel is the mean of samples of the ground, weighted by Cycles' pixel filter.
"""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.arrays import ByteArray
from mimegen.base.grid import on_grid
from mimegen.base.vectors import product
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import Camera
from mimegen.shots.shadow import WEIGHT, GroundShadow

# Samples of the ground per pixel, across and down; more down, as the ground is seen at an angle.
SAMPLES = (4, 6)
# Full width of the pixel filter. Measured: Cycles' filter width of 1.5 is its radius.
FILTER_PIXELS = 3.0
# The smallest visible step of a shadow.
FAINTEST = 1.0 / 255.0


def seen_shadow(shadow: GroundShadow, camera: Camera, strength: float,
                samples: tuple[int, int] = SAMPLES) -> tuple[ByteArray, tuple[int, int]]:
    """Return the shadow a camera sees, cropped (h, w), 0 to 255, and its upper left pixel.

    ``strength`` scales it: 0 is no shadow, 1 is as dark as computed. ``samples`` is the number of
    samples of the ground per pixel, across and down.
    """
    left, top, right, bottom = seen_bounds(shadow, camera, strength)
    weights, offsets = pixel_filter(samples)
    seen = np.zeros((bottom - top, right - left), np.float32)
    columns = np.arange(left, right, dtype=np.float32) + np.float32(0.5)
    rows = np.arange(top, bottom, dtype=np.float32)[:, None] + np.float32(0.5)
    homography = to_cells(shadow, camera)
    for weight, (aside, below) in zip(weights, offsets, strict=True):
        column, row, depth = (a * (columns + aside) + b * (rows + below) + c
                              for a, b, c in homography)
        ahead = depth > 1e-6
        depth = np.where(ahead, depth, 1.0)
        places = np.where(ahead, [row / depth, column / depth], -10.0)
        seen += weight * scipy.ndimage.map_coordinates(shadow.missing, places, order=1,
                                                       mode="constant")
    return np.round(np.clip(seen * strength, 0, 1) * 255).astype(np.uint8), (left, top)


def mean_shadow(seen: Sequence[tuple[ByteArray, tuple[int, int]]], size: tuple[int, int]
                ) -> tuple[ByteArray, tuple[int, int]]:
    """Return the mean of shadows in a picture of ``size`` (width, height), cropped.

    Each shadow, and the result, is an array and its upper left pixel. A single one is returned
    unchanged.
    """
    if len(seen) == 1:
        return seen[0]
    whole = np.zeros((size[1], size[0]), np.uint16)
    for shadow, (left, top) in seen:
        whole[top:top + shadow.shape[0], left:left + shadow.shape[1]] += shadow
    rows, columns = (np.flatnonzero(whole.any(axis=axis)) for axis in (1, 0))
    if len(rows) == 0:
        return np.zeros((0, 0), np.uint8), (0, 0)
    left, top = int(columns[0]), int(rows[0])
    part = whole[top:rows[-1] + 1, left:columns[-1] + 1]
    return ((part + len(seen) // 2) // len(seen)).astype(np.uint8), (left, top)


def pixel_filter(samples: tuple[int, int]
                 ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return weights (N,) and offsets x y (N, 2), in pixels, of the samples for one pixel.

    They follow Cycles' pixel filter, a Blackman-Harris window (Harris 1978), as figures do.
    """
    across, down = ((np.arange(count) + 0.5) / count - 0.5 for count in samples)
    x, y = (grid.ravel() for grid in np.meshgrid(across, down))
    weights = _blackman_harris(x) * _blackman_harris(y)
    return (np.asarray(on_grid(weights / weights.sum(), WEIGHT), np.float32),
            (FILTER_PIXELS * np.stack([x, y], axis=-1)).astype(np.float32))


def _blackman_harris(place: FloatArray) -> FloatArray:
    turns = 2.0 * np.pi * (place[:, None] + 0.5) * np.arange(4)
    return product(np.cos(turns), [0.35875, -0.48829, 0.14128, -0.01168])


def to_cells(shadow: GroundShadow, camera: Camera) -> NDArray[np.float32]:
    """Return the homography (3, 3) from pixels (x, y, 1) to cells of the ground (column, row, 1).

    Its third component is negative for pixels above the horizon.
    """
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    rays = camera.rays(corners)
    to_rays = np.stack([rays[1] - rays[0], rays[2] - rays[0], rays[0]], axis=1)
    x, y, height = camera.position
    to_ground = np.array([
        [height, 0.0, shadow.corner[0] - x], [0.0, height, shadow.corner[1] - y],
        [0.0, 0.0, -shadow.cell_m],
    ])
    return np.asarray(product(to_ground, to_rays), np.float32)


def seen_bounds(shadow: GroundShadow, camera: Camera,
                strength: float) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom pixels (ends exclusive) of the visible shadow."""
    dark = shadow.missing * strength > FAINTEST / 2
    rows = np.flatnonzero(dark.any(axis=1))
    if len(rows) == 0:
        return 0, 0, 0, 0
    # The ends of each row bound the shadow, unless some of it is behind the camera.
    ends = [dark[rows].argmax(axis=1), dark.shape[1] - 1 - dark[rows, ::-1].argmax(axis=1)]
    seen = _projected(shadow, camera, np.tile(rows, 2), np.concatenate(ends))
    if (seen[:, 2] <= 0.1).any():
        seen = _projected(shadow, camera, *np.nonzero(dark))
        seen = seen[seen[:, 2] > 0.1]
    if len(seen) == 0:
        return 0, 0, 0, 0
    size = np.array([camera.width, camera.height])
    low = np.clip(np.floor(seen[:, :2].min(axis=0)) - 2, 0, size).astype(int)
    high = np.clip(np.ceil(seen[:, :2].max(axis=0)) + 2, 0, size).astype(int)
    if (high <= low).any():
        return 0, 0, 0, 0
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _projected(shadow: GroundShadow, camera: Camera, rows: NDArray[np.intp],
               columns: NDArray[np.intp]) -> FloatArray:
    flat = np.stack([columns, rows, np.zeros_like(rows)], axis=-1) * shadow.cell_m
    return camera.project(flat + np.array([*shadow.corner, 0.0]))
