"""Which part of a picture a figure can touch."""

import numpy as np

from mimegen.motion.quaternions import FloatArray
from mimegen.stage.camera import Camera

Region = tuple[int, int, int, int]
"""Left, top, right and bottom pixels of a part of the picture, ends exclusive."""

# The pixel filter and rounding reach beyond the projected vertices.
CROP_PADDING = 3
NEAREST_M = 0.1


def seen_region(points: FloatArray, camera: Camera) -> Region:
    """Return the part of the picture that holds points (N, 3); all where one is too near."""
    x, y, depth = camera.project(points).T
    if (depth < NEAREST_M).any():
        return 0, 0, camera.width, camera.height
    size = np.array([camera.width, camera.height])
    low, high = np.array([x.min(), y.min()]), np.array([x.max(), y.max()])
    low = np.clip(np.floor(low) - CROP_PADDING, 0, size).astype(int)
    high = np.clip(np.ceil(high) + CROP_PADDING, 0, size).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def is_empty(region: Region) -> bool:
    """Whether a region has no pixel."""
    left, top, right, bottom = region
    return right <= left or bottom <= top
