"""The background behind the figure, as a shot's camera sees it, in linear light."""

import warnings
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageOps

from mimegen.base.errors import RequestError
from mimegen.compositing.background import Background, Panorama, Picture
from mimegen.compositing.color import LightArray, bytes_to_linear, srgb_to_linear
from mimegen.compositing.panorama import Mapping, panorama_view, resampled, turned_picture
from mimegen.compositing.pictures import in_srgb, refuse_large
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import Camera

# The height of a person for placing pictures, in metres.
PERSON_M = 1.7
# A picture that is enlarged more than this looks too blurred beside a sharp figure.
MAX_ENLARGED = 4.0
# Positions on a picture's ground are sampled on a grid of _GRID x _GRID.
_GRID = 512


@dataclass(frozen=True)
class Placement:
    """The part of a picture that fills the frame, in the picture's pixels.

    Frame pixel (x, y) shows the picture's pixel ``(left + x / scale, top + y / scale)``.
    """

    left: float
    top: float
    scale: float


def backdrop(background: Background, camera: Camera, still: Path | None, angle_deg: float = 0.0
             ) -> LightArray:
    """Return the background (H, W, 3) behind a figure at the world's origin, linear light 0 to 1.

    ``still`` is the rendered PNG if the background is a set. ``angle_deg`` is the camera's rotation
    around the figure from a variant's @0; photographs are turned with it as far as they show what
    the camera would see. Raises RequestError if a picture cannot be placed so that the figure
    stands on its ground, ValueError if the still is missing, damaged or not of the camera's size.
    """
    if background.color is not None:
        color = srgb_to_linear(np.array(background.color))
        return np.tile(color, (camera.height, camera.width, 1))
    if background.picture is not None:
        return _picture_backdrop(background.name, background.picture, camera, angle_deg)
    if background.panorama is not None:
        return _panorama_backdrop(background.name, background.panorama, camera, angle_deg)
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


def _picture_backdrop(name: str, picture: Picture, camera: Camera, angle_deg: float) -> LightArray:
    image = _opened(picture.file)
    place = place_picture(name, picture, image.size, camera)
    turned = turned_view(picture, image.size, place, camera, angle_deg)
    if turned is None:
        return _resample(image, place, camera.width, camera.height)
    return resampled(np.asarray(image), turned, (camera.width, camera.height),
                     ceil(1 / place.scale))


def _opened(file: Path) -> Image.Image:
    with warnings.catch_warnings(action="ignore"), Image.open(file) as stored:
        refuse_large(stored)
        return ImageOps.exif_transpose(in_srgb(stored))


def turned_view(picture: Picture, size: tuple[int, int], place: Placement, camera: Camera,
                angle_deg: float) -> Mapping | None:
    """Return the mapping from frame pixels to those of a picture turned by ``angle_deg``.

    ``place`` is the placement for @0. Returns None if the angle is 0 or the picture cannot be
    turned: without a known focal length, or if the frame would extend beyond the picture or the
    feet leave its ground.
    """
    lens = picture.lens(*size)
    left = (np.radians(angle_deg) + np.pi) % (2 * np.pi) - np.pi
    if lens is None or left == 0:
        return None
    turn = turned_picture(lens[1], size, lens[0], left)

    def mapping(pixels: FloatArray) -> FloatArray:
        """Return the picture's pixels (..., 2) for those of the frame."""
        return turn(np.array([place.left, place.top]) + pixels / place.scale)

    corners = mapping(np.array([[x, y] for x in (0, camera.width) for y in (0, camera.height)]))
    feet = mapping(camera.project(np.zeros(3))[:2])
    inside = np.all((corners >= 0) & (corners <= np.array(size)))
    return mapping if inside and _on_ground(picture, feet / np.array(size)) else None


def _on_ground(picture: Picture, place: FloatArray) -> bool:
    """Whether a position, in fractions of the picture's width and height, is on its ground."""
    return bool(np.abs(_ground_places(picture) - place).max(axis=1).min() < 1 / _GRID)


def _panorama_backdrop(name: str, panorama: Panorama, camera: Camera, angle_deg: float
                       ) -> LightArray:
    image = _opened(panorama.file)
    focal = camera.focal_pixels
    finer = image.width / (2 * np.pi * focal)
    if finer * MAX_ENLARGED < 1:
        raise RequestError(
            f"background {name}: the panorama would be enlarged {1 / finer:.1f} times; use one"
            f" that is at least {ceil(2 * np.pi * focal / MAX_ENLARGED)} pixels wide, or a smaller"
            " frame")
    mapping = panorama_view(
        focal, (camera.width, camera.height), level_pitch(name, panorama.camera_height_m, camera),
        np.radians(angle_deg), image.size, panorama.front, panorama.horizon)
    return resampled(np.asarray(image), mapping, (camera.width, camera.height), ceil(finer),
                     around=True)


def level_pitch(name: str, height_m: float, camera: Camera) -> float:
    """Return the pitch, downwards in radians, of a camera ``height_m`` above level ground.

    It is the one at which this camera, with the shot camera's lens, sees a person with the same
    size and position in the frame as the shot camera does. Raises RequestError if there is none.
    """
    feet, head = _standing(name, camera)
    middle, focal = camera.height / 2, camera.focal_pixels
    below = np.arctan((feet[1] - middle) / focal)
    tangent = np.tan(below - np.arctan((head[1] - middle) / focal))
    # Seen from a distance d and height h, the angle between feet and head has the tangent
    # 1.7 d / (d^2 + h (h - 1.7)). Solve for d.
    root = PERSON_M**2 - 4 * tangent**2 * height_m * (height_m - PERSON_M)
    if root < 0:
        raise RequestError(f"background {name}: seen from {height_m:g} m above the ground, no"
                           " person looks as tall as in this view; frame the figure smaller")
    distance = (PERSON_M + np.sqrt(root)) / (2 * tangent)
    return float(np.arctan2(height_m, distance) - below)


def place_picture(
    name: str, picture: Picture, size: tuple[int, int], camera: Camera
) -> Placement:
    """Return the part of a picture of ``size`` (width, height) pixels to show behind the figure.

    The figure's feet, at the world's origin, are placed on the picture's ground. The picture is
    scaled so that a person standing there has the figure's height, and must fill the frame. Of all
    such positions the one with the least enlargement is taken; it is nearest to the picture's
    camera and shows the most. With a known field of view, the one is taken at which the picture's
    focal length is nearest to the frame's, so that the perspective of the ground is right.

    Raises RequestError if there is no such position, or if the picture would be enlarged too much.
    """
    feet, head = _standing(name, camera)
    places = _ground_places(picture) * np.array(size)
    scales = (feet[1] - head[1]) / person_rows(picture, places[:, 1], size)
    # How far the frame would extend beyond the picture at each side, in frame pixels.
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
    costs = _scale_costs(picture, size, camera, scales)
    best = np.lexsort([np.abs(places[:, 0] - middle), costs, ~fits])[0]
    scale = float(scales[best])
    if scale > MAX_ENLARGED:
        raise RequestError(
            f"background {name}: the picture would be enlarged {scale:.1f} times; use one that is "
            f"at least {ceil(size[0] * scale / MAX_ENLARGED)} pixels wide, or a smaller "
            "frame"
        )
    left, top = places[best] - feet[:2] / scale
    return Placement(float(left), float(top), scale)


def _scale_costs(picture: Picture, size: tuple[int, int], camera: Camera, scales: FloatArray
            ) -> FloatArray:
    """Return a cost (N,) for each scale: the mismatch of focal lengths, or else the scale itself.

    The mismatch is rounded to thousandths.
    """
    lens = picture.lens(*size)
    if picture.field_of_view_deg is None or lens is None:
        return scales
    return np.asarray(np.round(1000 * np.abs(np.log(scales * lens[1] / camera.focal_pixels))))


def _standing(name: str, camera: Camera) -> tuple[FloatArray, FloatArray]:
    """Return the projections, pixels and depth, of feet and head of a person at the origin.

    Raises RequestError if the camera does not see the person upright.
    """
    feet, head = camera.project(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, PERSON_M]]))
    if feet[2] <= 0 or head[1] >= feet[1]:
        raise RequestError(f"background {name}: this camera does not see a person at the origin "
                           "upright; use another camera, or a background that is a set")
    return feet, head


def person_rows(picture: Picture, rows: FloatArray, size: tuple[int, int]) -> FloatArray:
    """Return the height (N,) in pixels of a person of 1.7 m whose feet are at ``rows`` (N,).

    ``rows`` count from the top of a picture of ``size`` pixels and must be below its horizon. A
    point at the horizon is as high as the camera, so feet and horizon are ``camera_height_m`` apart
    in height, which gives the scale. For a camera that looks up or down, the scale varies along
    this height; it is then computed from the camera's pitch and focal length.
    """
    height = size[1]
    above = rows - picture.horizon * height
    rise = picture.camera_height_m - PERSON_M
    lens = picture.lens(*size)
    if lens is None:
        return above * (1 - rise / picture.camera_height_m)
    pitch, focal = lens
    distance = picture.camera_height_m / np.tan(pitch + np.arctan((rows - height / 2) / focal))
    head: FloatArray = height / 2 + focal * np.tan(np.arctan2(rise, distance) - pitch)
    return rows - head


def _ground_places(picture: Picture) -> FloatArray:
    """Return positions (N, 2) on the picture's ground: column and row, as fractions of its size."""
    mask = Image.new("1", (_GRID, _GRID))
    corners = [(x * (_GRID - 1), y * (_GRID - 1)) for x, y in picture.ground]
    ImageDraw.Draw(mask).polygon(corners, fill=1)
    rows, columns = np.nonzero(np.asarray(mask))
    places = (np.stack([columns, rows], axis=-1) + 0.5) / _GRID
    return places[places[:, 1] > picture.horizon + 1 / _GRID]


def _what_is_lacking(lacking: FloatArray, camera: Camera) -> str:
    """Return one line that says what the picture lacks at the position that fits best."""
    shares = lacking / np.array([camera.width, camera.height, camera.width, camera.height])
    nearest = shares[np.argmin(shares.max(axis=-1))]
    sides = [f"{share:.0%} of the frame's {'width' if side in ('left', 'right') else 'height'} at "
             f"its {side}" for side, share in
             zip(("left", "top", "right", "bottom"), nearest, strict=True) if share > 1e-6]
    return (f"wherever the figure stands on its ground the picture lacks {' and '.join(sides)}; "
            "use a picture that shows more there, enlarge 'ground', or frame the figure larger")


def _resample(image: Image.Image, place: Placement, width: int, height: int) -> LightArray:
    """Return the placed part of an RGB image as linear light (height, width, 3), by Lanczos."""
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
