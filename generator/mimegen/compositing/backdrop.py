"""What a shot's camera sees behind the figure, as linear light."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageOps

from mimegen.base.errors import RequestError
from mimegen.compositing.background import Background, Picture
from mimegen.compositing.color import LightArray, bytes_to_linear, srgb_to_linear
from mimegen.motion.quaternions import FloatArray
from mimegen.stage.camera import Camera

PERSON_M = 1.7
# A picture that is enlarged more than this is mush beside a sharp figure.
MOST_ENLARGED = 4.0
_GRID = 512


@dataclass(frozen=True)
class Placement:
    """The part of a picture that fills the frame, in the picture's pixels.

    Frame pixel (x, y) shows the picture at ``(left + x / scale, top + y / scale)``.
    """

    left: float
    top: float
    scale: float


def backdrop(background: Background, camera: Camera, still: Path | None) -> LightArray:
    """Return the background (H, W, 3) behind a figure at the world's origin, linear light 0 to 1.

    ``still`` is the rendered PNG of a background that is a set. Raises RequestError where a
    picture cannot be laid so that the figure stands on its ground, ValueError where the still is
    missing, damaged or of another size than the camera's picture.
    """
    if background.color is not None:
        color = srgb_to_linear(np.array(background.color))
        return np.tile(color, (camera.height, camera.width, 1))
    if background.picture is not None:
        return _picture_backdrop(background.name, background.picture, camera)
    if still is None:
        raise ValueError(f"background {background.name} is a set: it needs its rendered still")
    return _read_still(still, camera)


def _read_still(still: Path, camera: Camera) -> LightArray:
    try:
        with Image.open(still) as image:
            pixels = np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError) as problem:
        raise ValueError(f"{still}: damaged still ({problem})") from problem
    if pixels.shape[:2] != (camera.height, camera.width):
        raise ValueError(f"{still}: damaged still (its size is not the camera's)")
    return bytes_to_linear(pixels)


def _picture_backdrop(name: str, picture: Picture, camera: Camera) -> LightArray:
    with Image.open(picture.file) as stored:
        image = ImageOps.exif_transpose(stored).convert("RGB")
    place = place_picture(name, picture, image.size, camera)
    return _resample(image, place, camera.width, camera.height)


def place_picture(
    name: str, picture: Picture, size: tuple[int, int], camera: Camera
) -> Placement:
    """Say which part of a picture of ``size`` (width, height) pixels lies behind the figure.

    The figure's feet, at the world's origin, come onto the picture's ground, where a person in
    the picture is as tall in pixels as one in the frame; the picture fills the frame. Of all such
    places the nearest to the picture's camera is taken: it needs the least enlargement and shows
    the most of the picture.

    Raises RequestError where there is no such place, or only one that blurs the picture.
    """
    feet = camera.project(np.zeros(3))
    head = camera.project(np.array([0.0, 0.0, PERSON_M]))
    if feet[2] <= 0 or head[1] >= feet[1]:
        raise RequestError(f"background {name}: this camera does not see a person at the origin "
                           "upright; use another camera, or a background that is a set")
    places = _ground_places(picture) * np.array(size)
    scales = (feet[1] - head[1]) / person_rows(picture, places[:, 1], size[1])
    # What the frame needs on each side of the feet and the picture does not have.
    lacking = np.stack([
        feet[0] - places[:, 0] * scales,
        feet[1] - places[:, 1] * scales,
        camera.width - feet[0] - (size[0] - places[:, 0]) * scales,
        camera.height - feet[1] - (size[1] - places[:, 1]) * scales,
    ], axis=-1)
    fits = np.all(lacking <= 1e-6, axis=-1)
    if not fits.any():
        raise RequestError(f"background {name}: {_what_is_lacking(lacking, camera)}")
    middle = places[:, 0].mean()
    best = np.lexsort([np.abs(places[:, 0] - middle), scales, ~fits])[0]
    scale = float(scales[best])
    if scale > MOST_ENLARGED:
        raise RequestError(
            f"background {name}: the picture would be enlarged {scale:.1f} times; use one that is "
            f"at least {int(np.ceil(size[0] * scale / MOST_ENLARGED))} pixels wide, or a smaller "
            "frame"
        )
    left, top = places[best] - feet[:2] / scale
    return Placement(float(left), float(top), scale)


def person_rows(picture: Picture, rows: FloatArray, height: int) -> FloatArray:
    """Return how many of the picture's rows a person of 1.7 m covers who stands at ``rows`` (N,).

    ``rows`` count from the top of a picture ``height`` pixels high and lie below its horizon. What
    is at the horizon is as high as the camera, so that between the feet and the horizon there are
    ``camera_height_m`` metres; a camera that looks up or down shows the far end of that measure
    a little larger or smaller, which its pitch and horizon, together its focal length, tell.
    """
    above = rows - picture.horizon * height
    rise = picture.camera_height_m - PERSON_M
    if picture.camera_pitch_deg == 0 or picture.horizon == 0.5:
        return above * (1 - rise / picture.camera_height_m)
    pitch = np.radians(picture.camera_pitch_deg)
    focal = (0.5 - picture.horizon) * height / np.tan(pitch)
    distance = picture.camera_height_m / np.tan(pitch + np.arctan((rows - height / 2) / focal))
    head: FloatArray = height / 2 + focal * np.tan(np.arctan2(rise, distance) - pitch)
    return rows - head


def _ground_places(picture: Picture) -> FloatArray:
    """Return places (N, 2), column and row as shares of the picture, on its ground."""
    mask = Image.new("1", (_GRID, _GRID))
    corners = [(x * (_GRID - 1), y * (_GRID - 1)) for x, y in picture.ground]
    ImageDraw.Draw(mask).polygon(corners, fill=1)
    rows, columns = np.nonzero(np.asarray(mask))
    places = (np.stack([columns, rows], axis=-1) + 0.5) / _GRID
    return places[places[:, 1] > picture.horizon + 1 / _GRID]


def _what_is_lacking(lacking: FloatArray, camera: Camera) -> str:
    """Return one line on what the place that comes nearest to filling the frame lacks."""
    shares = lacking / np.array([camera.width, camera.height, camera.width, camera.height])
    nearest = shares[np.argmin(shares.max(axis=-1))]
    sides = [f"{share:.0%} of the frame's {'width' if side in ('left', 'right') else 'height'} at "
             f"its {side}" for side, share in
             zip(("left", "top", "right", "bottom"), nearest, strict=True) if share > 1e-6]
    return (f"wherever the figure stands on its ground the picture lacks {' and '.join(sides)}; "
            "use a picture that shows more there, enlarge 'ground', or frame the figure larger")


def _resample(image: Image.Image, place: Placement, width: int, height: int) -> LightArray:
    """Return the placed part of an RGB image (height, width, 3) as linear light, by Lanczos."""
    right, bottom = place.left + width / place.scale, place.top + height / place.scale
    left, top = max(int(place.left), 0), max(int(place.top), 0)
    crop = image.crop((left, top, min(int(right) + 1, image.width),
                       min(int(bottom) + 1, image.height)))
    box = (max(place.left - left, 0), max(place.top - top, 0),
           min(right - left, crop.width), min(bottom - top, crop.height))
    light = bytes_to_linear(np.asarray(crop))
    planes: list[NDArray[np.float32]] = [
        np.asarray(Image.fromarray(light[..., channel]).resize(
            (width, height), Image.Resampling.LANCZOS, box=box))
        for channel in range(3)
    ]
    return np.clip(np.stack(planes, axis=-1), 0, 1)
