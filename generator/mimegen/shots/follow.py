"""A camera that follows performers: a window moving over the wider picture of a fixed camera.

This is a pan by lens shift, as with a view camera: the principal point moves and the perspective
does not change, so a single still of the set serves all frames.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.grid import on_grid
from mimegen.characters.character import Performance
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import Camera
from mimegen.shots.config import FramedCamera, RenderConfig
from mimegen.shots.framing import points_in_view

# The widest picture tried, as a multiple of the window's width, and the step to the next one.
MAX_WIDTH = 3.0
STEP = 0.05
# The standard deviation, in seconds, of the Gaussian that smooths the window's path.
SOFT_S = 0.5

Offsets = NDArray[np.intp]


def follows(config: RenderConfig) -> bool:
    """Return whether a config's camera follows the performers."""
    return isinstance(config.camera, FramedCamera) and config.camera.follow


def following(camera: Camera, scene: Sequence[Performance], config: RenderConfig
              ) -> tuple[Camera, Offsets]:
    """Return a wider camera, and the window's upper left corner (F, 2) in whole pixels.

    ``camera`` keeps everything in view all the time. The window has the size of its picture and
    contains in every frame what ``camera`` frames: all performers, or a head or hands. The widest
    picture, so the closest view, is taken in which the smoothed window does so. If there is none,
    because performers are far apart, the result is ``camera`` itself and a window that does not
    move.
    """
    if not isinstance(config.camera, FramedCamera):
        raise TypeError("only a camera that frames the performers can follow them")
    size = np.array([camera.width, camera.height])
    boxes = _boxes(camera, scene, config.camera)
    room = config.camera.margin * size
    for number in range(round((MAX_WIDTH - 1) / STEP), 0, -1):
        grown = 1 + number * STEP
        wide = 2 * np.round(grown * size / 2).astype(int)
        boxes_then = boxes * (wide / size)
        offsets = _soft(boxes_then, size, wide, config.fps)
        inside = (boxes_then[:, 0] - room >= offsets) & (boxes_then[:, 1] + room <= offsets + size)
        if inside.all():
            return replace(camera, width=int(wide[0]), height=int(wide[1])), offsets
    return camera, np.zeros((len(boxes), 2), np.intp)


def _boxes(camera: Camera, scene: Sequence[Performance], framed: FramedCamera) -> FloatArray:
    """Return the bounding box of what is framed: upper left and lower right pixels (F, 2, 2)."""
    points, frames = points_in_view(scene, framed)
    pixels = camera.project(points)[:, :2]
    boxes = np.full((scene[0].motion.frames, 2, 2), np.inf)
    boxes[:, 1] = -np.inf
    np.minimum.at(boxes[:, 0], frames, pixels)
    np.maximum.at(boxes[:, 1], frames, pixels)
    return boxes


def _soft(boxes: FloatArray, size: NDArray[np.intp], wide: NDArray[np.intp], fps: float) -> Offsets:
    """Return offsets (F, 2) of a window centred on the boxes, smoothed, within the picture."""
    meant = np.clip(boxes.mean(axis=1) - size / 2, 0, wide - size)
    softened = scipy.ndimage.gaussian_filter1d(meant, SOFT_S * fps, axis=0, mode="nearest")
    return on_grid(softened, 1.0).astype(np.intp)
