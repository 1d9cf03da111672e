"""Backgrounds as data: backgrounds/*.yaml."""

import warnings
from functools import lru_cache
from math import atan2, radians, tan
from pathlib import Path
from typing import Annotated, Any, Self

from PIL import Image, ImageOps
from pydantic import AfterValidator, Field, model_validator

from mimegen.base.errors import near_misses
from mimegen.base.files import Stamp, content_key, file_hash, stamp
from mimegen.base.names import inner_path
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.compositing.pictures import (
    is_transparent,
    refuse_large,
    refuse_large_file,
    too_many_pixels,
)
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shared import completed, shared_files

Fraction = Annotated[float, Field(ge=0, le=1)]
Lit = Annotated[float, Field(gt=0, le=10)]
Azimuth = Annotated[float, Field(ge=-180, le=180)]
Elevation = Annotated[float, Field(ge=5, le=90)]


def _beside(file: Path) -> Path:
    return Path(inner_path(file.as_posix()))


class PhotoLight(Strict):
    """How a photograph is lit, so that figures can be lit to match.

    ``tint`` is the linear RGB that a figure's light is multiplied by, for color and exposure.
    ``sun_from_deg`` is the direction that the sun shines from, relative to the photograph's camera:
    azimuth (0 from behind the camera, 90 from its right, -90 from its left) and elevation.
    """

    tint: tuple[Lit, Lit, Lit]
    sun_from_deg: tuple[Azimuth, Elevation] | None = None


class Picture(Strict):
    """A picture on whose ground the figure can stand.

    Rows and columns are fractions of the picture's height and width; (0, 0) is the upper left
    corner. ``file`` is relative to the background's own file, in its folder or below. ``horizon``
    is the row where level ground would end, ``camera_height_m`` the camera's height above the
    ground. For a picture that was not cropped, ``camera_pitch_deg`` is how far the camera looked
    down (negative: up). Better, give ``field_of_view_deg``, the angle from the left edge to the
    right: the pitch follows from it, and the picture can be turned. ``ground`` is the outline of
    the ground where a person can stand, ``light`` how the picture is lit.
    """

    file: Annotated[Path, AfterValidator(_beside)]
    horizon: float = Field(ge=0, lt=1)
    camera_height_m: float = Field(gt=0, le=500)
    camera_pitch_deg: float = Field(default=0.0, gt=-60, lt=60)
    field_of_view_deg: float | None = Field(default=None, ge=5, le=140)
    ground: tuple[tuple[Fraction, Fraction], ...] = Field(min_length=3)
    light: PhotoLight | None = None

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if max(row for _, row in self.ground) <= self.horizon:
            raise ValueError(f"ground: lies completely above the horizon, row {self.horizon:g}")
        if self.field_of_view_deg is not None and self.camera_pitch_deg != 0:
            raise ValueError("camera_pitch_deg: follows from field_of_view_deg and horizon; leave"
                             " one of them out")
        if self.camera_pitch_deg * (0.5 - self.horizon) < 0:
            raise ValueError("camera_pitch_deg: a camera that looks down (more than 0) has its "
                             "horizon in the picture's upper half (less than 0.5), one that "
                             "looks up in its lower")
        return self

    def lens(self, width: int, height: int) -> tuple[float, float] | None:
        """Return pitch in radians, positive downwards, and focal length in pixels; None if unknown.
        """
        rise = (0.5 - self.horizon) * height
        if self.field_of_view_deg is not None:
            focal = width / 2 / tan(radians(self.field_of_view_deg / 2))
            return atan2(rise, focal), focal
        if self.camera_pitch_deg == 0 or rise == 0:
            return None
        pitch = radians(self.camera_pitch_deg)
        return pitch, rise / tan(pitch)


class Panorama(Strict):
    """An equirectangular picture: the whole view around an upright camera.

    ``file`` and ``camera_height_m`` are as in ``Picture``. ``horizon`` is the horizon's row and
    ``front`` the column that the camera looks at from angle 0, as fractions of height and width.
    Whatever the angle, the figure stands in front of the camera on level ground.
    """

    file: Annotated[Path, AfterValidator(_beside)]
    camera_height_m: float = Field(gt=0, le=500)
    horizon: float = Field(default=0.5, ge=0.2, le=0.8)
    front: Fraction = 0.5


class Background(Strict):
    """A background: a ``color`` (sRGB, 0 to 1), a picture, a panorama, or a set.

    ``tells`` names the groups and materials of a set by which the place can be recognised.
    """

    name: str = Field(min_length=1)
    description: str
    licence: str
    author: str
    source: str
    color: tuple[Fraction, Fraction, Fraction] | None = None
    picture: Picture | None = None
    panorama: Panorama | None = None
    set: Scenery | None = None
    tells: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        kinds = self.color, self.picture, self.panorama, self.set
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("give exactly one of color, picture, panorama and set")
        return self

    @property
    def file(self) -> Path | None:
        """The file of the picture or panorama; None for a color or set."""
        photograph = self.picture or self.panorama
        return None if photograph is None else photograph.file

    def with_file(self, file: Path) -> Self:
        """Return the background with the file of its picture or panorama, if any, replaced."""
        return self.model_copy(update={
            kind: photograph.model_copy(update={"file": file})
            for kind in ("picture", "panorama") if (photograph := getattr(self, kind)) is not None})


def read_background(path: Path) -> Background:
    """Read a background; its picture's ``file`` becomes relative to the working folder.

    Names that a set uses but does not define are taken from the folders ``shared``. Raises
    RequestError, naming file, line and key, if the file is absent or not YAML, a key is misspelt,
    missing or out of range, or the picture is absent or cannot be read. On later calls, files are
    read again only if they have changed.
    """
    written = tuple(map(stamp, (path, *shared_files(path))))
    file = _without_picture(path, written).file
    return _without_picture(path, written) if file is None else _with_picture(
        path, written, stamp(path.parent / file))


# Completing a set takes some 20 ms, and permutations ask for all sets again and again.
@lru_cache(maxsize=1024)
def _without_picture(path: Path, written: tuple[Stamp | None, ...]) -> Background:
    """Read a background without its picture, cached by the stamps of all files it may use."""
    file = YamlFile(path)
    background = file.parsed(Background, _declaration(file))
    _check_tells(file, background)
    return background


@lru_cache(maxsize=1024)
def _with_picture(path: Path, written: tuple[Stamp | None, ...], stored: Stamp | None
                  ) -> Background:
    """Return a background with its picture's path after checking the picture, last ``stored``."""
    file, background = YamlFile(path), _without_picture(path, written)
    assert background.file is not None, "without a picture there is nothing to check"
    picture = path.parent / background.file
    place = ("picture" if background.picture else "panorama", "file")
    try:
        refuse_large_file(picture)
        with warnings.catch_warnings(action="ignore"), Image.open(picture) as image:
            refuse_large(image)
            image.load()
            if is_transparent(image):
                raise file.error(place, f"{picture} has transparent parts; put it on a color and"
                                        " save it without alpha")
            width, height = ImageOps.exif_transpose(image).size
    except FileNotFoundError as problem:
        raise file.error(place, f"no such file {picture}") from problem
    except Image.DecompressionBombError as problem:
        raise file.error(place, f"{picture} {too_many_pixels()}") from problem
    except (OSError, SyntaxError, ValueError) as problem:
        raise file.error(place, f"{picture} cannot be read as a picture ({problem})") from problem
    if background.panorama and abs(width - 2 * height) > 2 + width // 100:
        raise file.error(place, f"{picture} is {width} x {height} pixels; expected an"
                         " equirectangular panorama, twice as wide as high")
    return background.with_file(picture)


def _check_tells(file: YamlFile, background: Background) -> None:
    """Raise RequestError if a name in ``tells`` is no group or material of the set."""
    if background.tells and background.set is None:
        raise file.error(("tells",), "applies to sets only; in a picture, everything above the"
                         " ground counts")
    known = {*background.set.groups, *background.set.materials} if background.set else set()
    for number, name in enumerate(background.tells):
        if name not in known:
            raise file.error(("tells", number), "no group or material"
                                                f" '{name}'{near_misses(name, known)}")


def _declaration(file: YamlFile) -> dict[str, Any]:
    content: dict[str, Any] = file.content
    return content | {"set": completed(file, content["set"])} if "set" in content else content


def background_key(path: Path) -> str:
    """Return the content key of a background: of its visible content and its picture's bytes.

    Names, descriptions, comments, and settings for variation by seed do not change the key. On
    later calls, files are read again only if they have changed. Raises RequestError as
    ``read_background`` does.
    """
    files = (path, *shared_files(path))
    declared, picture = _declared(path, tuple(stamp(file) for file in files))
    return content_key(declared, picture and _picture_hash(picture, stamp(picture)))


@lru_cache(maxsize=1024)
def _declared(path: Path, written: tuple[Stamp | None, ...]) -> tuple[str, Path | None]:
    background = read_background(path)
    return content_key(visible_content(background)), background.file


def visible_content(background: Background) -> dict[str, Any]:
    """Return the visible content of a background, without its picture's bytes, as JSON values."""
    unseen = {"vary", "redrawn"} | ({"scatter"} if background.set and not background.set.scatter
                                    else set())
    # A picture's light is visible on figures only. Fields added later are included only if they are
    # set, so that the keys of older backgrounds stay the same.
    kinds, later = {"color", "picture", "set"}, {"file", "light"}
    if background.panorama is not None:
        kinds.add("panorama")
    if background.picture is not None and background.picture.field_of_view_deg is None:
        later.add("field_of_view_deg")
    return background.model_dump(mode="json", include=kinds, exclude={
        "picture": later, "panorama": {"file"}, "set": unseen})


@lru_cache(maxsize=1024)
def _picture_hash(picture: Path, written: Stamp | None) -> str:
    return file_hash(picture)
