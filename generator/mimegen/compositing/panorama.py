"""Turn photographs and panoramas with the camera, about the point where they were taken."""

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.compositing.color import LightArray, bytes_to_linear
from mimegen.motion.quaternions import FloatArray

# The most samples per frame pixel, in each direction.
FINEST = 6
# A function from frame pixels x y (..., 2) to the picture's pixels.
Mapping = Callable[[FloatArray], FloatArray]


def turned_rays(rays: FloatArray, pitch: float, left: float, back: float = 0.0) -> FloatArray:
    """Transform rays (..., 3) of a turned camera to the axes of a reference camera.

    The turned camera looks down by ``pitch`` and is rotated to the left by ``left`` about the
    vertical; the reference camera looks down by ``back``. Rays are (right, down, ahead), angles are
    in radians.
    """
    right, down, ahead = np.moveaxis(rays, -1, 0)
    deep = np.cos(pitch) * down + np.sin(pitch) * ahead
    level = np.cos(pitch) * ahead - np.sin(pitch) * down
    east = np.cos(left) * right - np.sin(left) * level
    north = np.cos(left) * level + np.sin(left) * right
    return np.stack([east, np.cos(back) * deep - np.sin(back) * north,
                     np.cos(back) * north + np.sin(back) * deep], axis=-1)


def turned_picture(focal: float, size: tuple[int, int], pitch: float, left: float) -> Mapping:
    """Return the mapping from pixels of a picture turned about its camera to the original's.

    It gives NaN for rays behind the original camera. ``focal`` and ``size`` (width, height) are the
    picture's, in its pixels; ``pitch`` and ``left`` are as in ``turned_rays``.
    """
    middle = np.array(size) / 2

    def mapping(pixels: FloatArray) -> FloatArray:
        """Return the original's pixels (..., 2) for those of the turned picture."""
        ahead = np.full((*pixels.shape[:-1], 1), focal)
        rays = turned_rays(np.concatenate([pixels - middle, ahead], axis=-1), pitch, left, pitch)
        depth = np.where(rays[..., 2:] > 0, rays[..., 2:], np.nan)
        return np.asarray(middle + focal * rays[..., :2] / depth)

    return mapping


def panorama_view(focal: float, size: tuple[int, int], pitch: float, left: float,
                  whole: tuple[int, int], front: float, horizon: float) -> Mapping:
    """Return the mapping from a camera's pixels to those of an equirectangular panorama.

    ``focal`` and ``size`` (width, height) are the camera's, in pixels; ``whole`` is the panorama's
    width and height in pixels. ``front`` and ``horizon`` are the column and row, as fractions of
    these, in the direction of a level camera with ``left`` 0.
    """
    middle = np.array(size) / 2

    def mapping(pixels: FloatArray) -> FloatArray:
        """Return the panorama's pixels (..., 2) for those of the camera."""
        ahead = np.full((*pixels.shape[:-1], 1), focal)
        east, deep, north = np.moveaxis(turned_rays(
            np.concatenate([pixels - middle, ahead], axis=-1), pitch, left), -1, 0)
        columns = (front + np.arctan2(east, north) / (2 * np.pi)) * whole[0]
        rows = (horizon + np.arctan2(deep, np.hypot(east, north)) / np.pi) * whole[1]
        return np.stack([columns, rows], axis=-1)

    return mapping


def resampled(pixels: NDArray[np.uint8], mapping: Mapping, size: tuple[int, int], finer: int,
              around: bool = False) -> LightArray:
    """Return a frame of ``size`` (width, height) as linear light (h, w, 3), sampled bilinearly.

    ``pixels`` (H, W, 3) are sRGB bytes. Each frame pixel is the mean of ``finer`` x ``finer``
    samples, at most FINEST x FINEST. With ``around``, columns wrap around.
    """
    finer = min(finer, FINEST)
    light = bytes_to_linear(pixels)
    if around:
        light = np.concatenate([light[:, -1:], light, light[:, :1]], axis=1)
    total = np.zeros((size[1], size[0], 3), np.float32)
    for across, down in np.ndindex(finer, finer):
        grid = np.stack(np.meshgrid(np.arange(size[0]) + (across + 0.5) / finer,
                                    np.arange(size[1]) + (down + 0.5) / finer), axis=-1)
        columns, rows = np.moveaxis(mapping(grid) - 0.5, -1, 0)
        if around:
            columns = columns % pixels.shape[1] + 1
        for channel in range(3):
            total[..., channel] += scipy.ndimage.map_coordinates(
                light[..., channel], [rows, columns], order=1, mode="nearest")
    return total / np.float32(finer * finer)
