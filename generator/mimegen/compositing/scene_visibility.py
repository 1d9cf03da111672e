"""Measure how much of a photograph's scene is visible behind a figure."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

from mimegen.base.files import Stamp, stamp
from mimegen.compositing.backdrop import level_pitch, place_picture, turned_view
from mimegen.compositing.background import Background, Panorama, Picture
from mimegen.compositing.panorama import panorama_view
from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.place_visibility import pixel_centres
from mimegen.shots.camera import Camera

# The EXIF tag of a picture's orientation; from the value 5, width and height are swapped.
_ORIENTATION = 0x0112
_ON_ITS_SIDE = 5


def photograph_shown(background: Background, camera: Camera, angle_deg: float) -> float:
    """Return the fraction of the frame that shows the part of a photograph above its ground.

    A picture's ground ends at the highest corner of its outline, or at the horizon if that is
    lower; a panorama's ends at its horizon. ``angle_deg`` and errors are as for ``backdrop``.
    """
    pixels = pixel_centres(camera)
    if background.picture is not None:
        rows, end = _picture_rows(background.name, background.picture, camera, angle_deg, pixels)
    else:
        assert background.panorama is not None, "colors show no place"
        rows, end = _panorama_rows(background.name, background.panorama, camera, angle_deg, pixels)
    return float((rows < end).mean())


def _picture_rows(name: str, picture: Picture, camera: Camera, angle_deg: float, pixels: FloatArray
                  ) -> tuple[FloatArray, float]:
    """Return the picture's rows (N,) that pixels (N, 2) show, and the row where its ground ends."""
    size = _size(picture.file, stamp(picture.file))
    place = place_picture(name, picture, size, camera)
    turned = turned_view(picture, size, place, camera, angle_deg)
    shown = pixels / place.scale + [place.left, place.top] if turned is None else turned(pixels)
    end = max(picture.horizon, min(row for _, row in picture.ground))
    return shown[:, 1], end * size[1]


def _panorama_rows(name: str, panorama: Panorama, camera: Camera, angle_deg: float,
                   pixels: FloatArray) -> tuple[FloatArray, float]:
    """Return the panorama's rows (N,) that pixels (N, 2) show, and the row of its horizon."""
    size = _size(panorama.file, stamp(panorama.file))
    shown = panorama_view(
        camera.focal_pixels, (camera.width, camera.height),
        level_pitch(name, panorama.camera_height_m, camera), np.radians(angle_deg), size,
        panorama.front, panorama.horizon)(pixels)
    return shown[:, 1], panorama.horizon * size[1]


@lru_cache(maxsize=64)
def _size(file: Path, written: Stamp | None) -> tuple[int, int]:
    """Return a picture's width and height, with its EXIF orientation applied."""
    with Image.open(file) as image:
        turned = image.getexif().get(_ORIENTATION, 1) >= _ON_ITS_SIDE
        return image.size[::-1] if turned else image.size
