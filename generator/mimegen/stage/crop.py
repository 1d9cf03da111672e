"""Which part of a picture a figure can touch."""

import numpy as np

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.stage.camera import Camera

Region = tuple[int, int, int, int]
"""Left, top, right and bottom pixels of a part of the picture, ends exclusive."""

# The pixel filter and rounding reach beyond the projected vertices.
CROP_PADDING = 3
NEAREST_M = 0.1


def seen_region(points: FloatArray, camera: Camera) -> Region:
    """Return the part of the picture that holds points (N, 3); all where one is too near."""
    # Axis by axis: numpy is slow over the short side of (N, 3).
    away = [axis - eye for axis, eye in zip(points.T.copy(), camera.position, strict=True)]
    right, up, ahead = (side[0] * away[0] + side[1] * away[1] + side[2] * away[2]
                        for side in quaternions.to_matrices(camera.rotation).T)
    depth = -ahead
    if (depth < NEAREST_M).any():
        return 0, 0, camera.width, camera.height
    x, y = right / depth, -up / depth
    size, focal = np.array([camera.width, camera.height]), camera.focal_pixels
    low, high = (size / 2 + focal * np.array([of(x), of(y)]) for of in (np.min, np.max))
    low = np.clip(np.floor(low) - CROP_PADDING, 0, size).astype(int)
    high = np.clip(np.ceil(high) + CROP_PADDING, 0, size).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def is_empty(region: Region) -> bool:
    """Whether a region has no pixel."""
    left, top, right, bottom = region
    return right <= left or bottom <= top
