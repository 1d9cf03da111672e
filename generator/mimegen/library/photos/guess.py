"""Estimate the camera of a photograph from its content, its EXIF and its owner's hints."""

from dataclasses import dataclass
from math import atan2, degrees, radians, tan
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.compositing.background import Panorama, PhotoLight, Picture
from mimegen.library.photos.light import measured_tint
from mimegen.library.photos.opening import OpenedPhoto
from mimegen.library.photos.vanishing import (
    USUAL_FOCAL,
    PhotoView,
    level_row,
    straight_lines,
    view_of_lines,
)
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import SENSOR_WIDTH_MM, Camera

# Assumed camera height in metres if unknown: that of a hand-held camera.
USUAL_HEIGHT_M = 1.6
# Accepted camera heights in metres: from a mouse's view to a drone's.
LOWEST_M = 0.05
HIGHEST_M = 500.0
# The ground is assumed to begin this far below the horizon, as a fraction of picture height.
GROUND_FROM = 0.04
# Smallest area of ground, as a fraction of the picture.
MIN_GROUND = 0.001
# If the horizon's row is less than this (from the top, as a fraction), much of what lies below it
# is often no ground: walls, tables, water.
HIGH_HORIZON = 0.4
# Largest roll, in degrees; a photograph tilted further must be rotated upright first.
MAX_ROLL_DEG = 1.5


@dataclass(frozen=True)
class KnownHeight:
    """An upright object of known height: pixel rows of top and foot in the file, height in metres.
    """

    top: float
    foot: float
    height_m: float

    @classmethod
    def of(cls, text: str) -> "KnownHeight":
        """Return the object in a text ``TOP:FOOT=METRES``. Raises RequestError for other text."""
        rows, _, metres = text.partition("=")
        top, _, foot = rows.partition(":")
        try:
            known = cls(float(top), float(foot), float(metres))
        except ValueError:
            known = cls(0, 0, 0)
        if not (0 <= known.top < known.foot and 0 < known.height_m < 1000):
            raise RequestError(f"--known-height {text}: expected the pixel rows of its top and foot"
                               " and its height, TOP:FOOT=METRES, as in 412:698=1.75")
        return known


@dataclass(frozen=True)
class CameraHints:
    """The user's values that replace estimates, and whether to measure the light."""

    horizon: float | None = None
    camera_height_m: float | None = None
    known: KnownHeight | None = None
    ground: tuple[tuple[float, float], ...] | None = None
    harmonise: bool = False
    sun_from_deg: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Guess:
    """A photograph's camera; ``reasons`` explain, in a line each, where it comes from."""

    photo: OpenedPhoto
    view: PhotoView
    camera_height_m: float
    ground: tuple[tuple[float, float], ...]
    reasons: tuple[str, ...]
    light: PhotoLight | None = None

    @property
    def horizon(self) -> float:
        """The row of the horizon as a fraction of the picture's height."""
        return self.view.horizon(*self.photo.image.size)

    @property
    def field_of_view_deg(self) -> float:
        """The horizontal field of view in degrees."""
        width, height = self.photo.image.size
        return 2 * degrees(atan2(width / 2, self.view.focal * max(width, height)))

    def picture(self) -> Picture:
        """Return the photograph's entry for a background's file."""
        return Picture.model_validate({
            "file": self.photo.path.name, "horizon": round(self.horizon, 4),
            "camera_height_m": round(self.camera_height_m, 2),
            "field_of_view_deg": round(self.field_of_view_deg, 2), "ground": self.ground,
            "light": self.light})

    def camera(self, width: int) -> Camera:
        """Return the camera above the world's origin, looking along +Y, ``width`` pixels wide."""
        across, down = self.photo.image.size
        height = round(width * down / across / 2) * 2
        turn = quaternions.from_euler("xyz", np.array([90.0 - self.view.pitch_deg, 0.0, 0.0]))
        w, x, y, z = turn.tolist()
        lens = self.view.focal * max(across, down) / across * SENSOR_WIDTH_MM
        return Camera((0.0, 0.0, self.camera_height_m), (w, x, y, z), lens, width, height)


def corners(text: str) -> tuple[tuple[float, float], ...]:
    """Return the corners in a text ``X,Y X,Y X,Y``. Raises RequestError for other text."""
    try:
        found = tuple((float(x), float(y)) for x, y in (pair.split(",") for pair in text.split()))
    except ValueError:
        found = ()
    if len(found) < 3 or not all(0 <= share <= 1 for corner in found for share in corner) or (
            _area(found) < MIN_GROUND):
        raise RequestError(f"--ground {text}: expected three or more corners X,Y of an area, as"
                           " fractions of width and height, as in '0,0.6 1,0.6 1,1 0,1'")
    return found


def _area(outline: tuple[tuple[float, float], ...]) -> float:
    """Return the area inside an outline, as a fraction of the picture."""
    pairs = zip(outline, (*outline[1:], outline[0]), strict=True)
    return abs(sum(x * next_y - next_x * y for (x, y), (next_x, next_y) in pairs)) / 2


def sun_of(text: str) -> tuple[float, float]:
    """Return the angles in a text ``AZIMUTH,ELEVATION``. Raises RequestError for other text."""
    try:
        azimuth, elevation = (float(part) for part in text.split(","))
    except ValueError:
        azimuth, elevation = 0.0, 0.0
    if not (-180 <= azimuth <= 180 and 5 <= elevation <= 90):
        raise RequestError(f"--sun {text}: expected AZIMUTH,ELEVATION in degrees, -180 to 180 and 5"
                           " to 90, as in -60,35")
    return azimuth, elevation


def guess_camera(photo: OpenedPhoto, hints: CameraHints) -> Guess:
    """Return the camera of a photograph: the given hints, and estimates for the rest.

    Raises RequestError if the photograph is tilted, if OpenCV is needed but not installed, if the
    object of known height does not stand on the ground, and if the ground lies above the horizon.
    """
    view, reasons = _view(photo, hints.horizon)
    size = photo.image.size
    if abs(view.roll_deg) > MAX_ROLL_DEG and hints.horizon is None:
        raise RequestError(f"{photo.path}: is tilted by {abs(view.roll_deg):.1f} degrees; rotate it"
                           " upright and crop it, or give --horizon ROW")
    height, height_reason = _camera_height(photo, view, hints)
    horizon = view.horizon(*size)
    if not 0 <= horizon < 1 - GROUND_FROM:
        raise RequestError(f"{photo.path}: its horizon, row {horizon:.2f}, is outside the"
                           " photograph or at its bottom edge; choose one that shows ground up to"
                           " the horizon, or give"
                           f" {'another' if hints.horizon is not None else '--horizon'} ROW")
    if hints.ground and max(row for _, row in hints.ground) <= horizon:
        raise RequestError(f"--ground: lies completely above the horizon, row {horizon:.2f}; rows"
                           " are counted from the top")
    start = round(min(horizon + GROUND_FROM, 0.99), 3)
    ground = hints.ground or ((0.0, start), (1.0, start), (1.0, 1.0), (0.0, 1.0))
    return Guess(photo, view, height, ground, (*reasons, height_reason), _light(photo, hints))


def floating_risk(picture: Picture) -> str | None:
    """Return a warning that people may float in a picture; None if nothing suggests it.

    It applies if everything below a high horizon, across the whole width, counts as ground.
    """
    across = [column for column, _ in picture.ground]
    down = [row for _, row in picture.ground]
    everywhere = len(down) == 4 and (min(across), max(across), max(down)) == (0.0, 1.0, 1.0) and (
        min(down) <= picture.horizon + 2 * GROUND_FROM)
    if picture.horizon >= HIGH_HORIZON or not everywhere:
        return None
    return (f"its horizon is high, row {picture.horizon:.2f}, and everything below it counts as"
            " ground: people may float in front of walls or objects")


def _light(photo: OpenedPhoto, hints: CameraHints) -> PhotoLight | None:
    if hints.harmonise:
        return PhotoLight(tint=measured_tint(photo.image), sun_from_deg=hints.sun_from_deg)
    if hints.sun_from_deg is not None:
        raise RequestError("--sun requires --harmonise")
    return None


def _view(photo: OpenedPhoto, horizon: float | None) -> tuple[PhotoView, tuple[str, ...]]:
    """Return the camera's view and two reasons: for the horizon and for the focal length."""
    width, height = photo.image.size
    lens = "focal length from EXIF" if photo.focal else "focal length as telephones have it"
    if horizon is not None:
        rise = (0.5 - horizon) * height / max(width, height)
        return _looking(photo, rise), ("horizon as you said", lens)
    lines = straight_lines(photo.image)
    found = view_of_lines(lines, photo.focal)
    if found is None:
        return _level_view(photo, lines, lens)
    lens = lens if photo.focal else "focal length from them, too"
    return found, (f"horizon from {found.lines} straight edges and where they meet", lens)


def _level_view(photo: OpenedPhoto, lines: FloatArray,
                lens: str) -> tuple[PhotoView, tuple[str, ...]]:
    """Return the camera given by a level edge or, without one, a level camera."""
    row = level_row(lines, photo.image.width / max(photo.image.size))
    if row is None:
        return _looking(photo, 0.0), (
            "horizon unknown: too few straight edges, so the camera is assumed to be level; correct"
            " it with --horizon ROW", lens)
    return _looking(photo, -row), (
        "horizon at a level edge across the picture; if it is wrong, give --horizon ROW", lens)


def _looking(photo: OpenedPhoto, rise: float) -> PhotoView:
    """Return a camera with the horizon ``rise`` above the middle, in units of the longer side."""
    focal = photo.focal or USUAL_FOCAL
    return PhotoView(focal, degrees(atan2(rise, focal)))


def _camera_height(photo: OpenedPhoto, view: PhotoView, hints: CameraHints) -> tuple[float, str]:
    """Return the camera's height in metres and the reason for it."""
    if hints.camera_height_m is not None and hints.known is not None:
        raise RequestError("--known-height and --camera-height are mutually exclusive: both set the"
                           " height of the camera")
    if hints.camera_height_m is not None:
        return hints.camera_height_m, "camera height as you said"
    if hints.known is None:
        return USUAL_HEIGHT_M, ("camera height a mere guess: where people hold theirs; say"
                                " --known-height TOP:FOOT=METRES or --camera-height")
    return (height_by(photo, view, hints.known),
            f"camera height by what is {hints.known.height_m:g} m")


def height_by(photo: OpenedPhoto, view: PhotoView, known: KnownHeight) -> float:
    """Return the height, in metres, of a camera that sees an object of known height like this.

    Seen from height h, an object of height H at distance d has its foot h / d below the horizon and
    its top (h - H) / d below it, as tangents. Raises RequestError if the foot is above the horizon
    or outside the picture, and if the height is implausible.
    """
    width, height = photo.image.width / photo.shrunk, photo.image.height / photo.shrunk
    below, above = (tan(radians(view.pitch_deg) + atan2(row - height / 2, view.focal
                                                         * max(width, height)))
                    for row in (known.foot, known.top))
    if known.foot > height or below <= 0.005:
        horizon = view.horizon(*photo.image.size) * height
        raise RequestError(f"--known-height: the foot at row {known.foot:g} is not on the ground:"
                           f" the horizon is at row {horizon:.0f} of {height:.0f}")
    height_m = known.height_m / (1 - above / below)
    if not LOWEST_M <= height_m <= HIGHEST_M:
        raise RequestError(f"--known-height: an object of {known.height_m:g} m in rows"
                           f" {known.top:g} to {known.foot:g} puts the camera {height_m:.3g} m"
                           " high; check the rows and the height")
    return height_m


def guess_panorama(photo: OpenedPhoto, camera_height_m: float | None) -> Panorama:
    """Return the file entry of an equirectangular panorama; its file is named later.

    Raises RequestError if the picture is not twice as wide as high.
    """
    width, height = photo.image.size
    if abs(width - 2 * height) > 2 + width // 100:
        raise RequestError(f"{photo.path}: is {width} x {height} pixels; expected an"
                           " equirectangular panorama, twice as wide as high")
    return Panorama(file=Path(photo.path.name),
                    camera_height_m=camera_height_m or USUAL_HEIGHT_M)
