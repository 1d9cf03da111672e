"""Backgrounds as data: backgrounds/*.yaml."""

import warnings
from functools import lru_cache
from math import atan2, radians, tan
from pathlib import Path
from typing import Annotated, Any, Self

from PIL import Image
from pydantic import AfterValidator, Field, model_validator

from mimegen.base.errors import near_misses
from mimegen.base.files import Stamp, content_key, file_hash, stamp
from mimegen.base.names import inner_path
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.compositing.pictures import refuse_large, refuse_large_file, too_many_pixels
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shared import completed, shared_files

Fraction = Annotated[float, Field(ge=0, le=1)]
Lit = Annotated[float, Field(gt=0, le=10)]
Azimuth = Annotated[float, Field(ge=-180, le=180)]
Elevation = Annotated[float, Field(ge=5, le=90)]


def _beside(file: Path) -> Path:
    return Path(inner_path(file.as_posix()))


class PhotoLight(Strict):
    """How a photograph is lit, for figures that follow it.

    ``tint`` is the linear light by which an equally lit figure is multiplied: color and exposure.
    ``sun_from_deg`` is from where its sun comes, seen from its camera: azimuth (0 from behind the
    camera, 90 from its right, -90 from its left) and elevation.
    """

    tint: tuple[Lit, Lit, Lit]
    sun_from_deg: tuple[Azimuth, Elevation] | None = None


class Picture(Strict):
    """A picture on whose ground the figure can stand.

    Rows and columns are shares of the picture's height and width, (0, 0) the left upper corner.
    ``file`` is relative to the background's own file, in its folder or below. ``horizon`` is the
    row where level ground would end, ``camera_height_m`` how high above the ground the picture was
    taken, in metres. For a picture that was not cropped, ``camera_pitch_deg`` says by how much that
    camera looked down (negative: up), or better ``field_of_view_deg`` how much it saw from the left
    edge to the right, from which the pitch follows and by which the picture can be turned.
    ``ground`` is the outline of the ground where a person can stand, ``light`` how it is lit.
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
        """Return the pitch in radians, above 0 down, and the focal length in pixels, if known."""
        rise = (0.5 - self.horizon) * height
        if self.field_of_view_deg is not None:
            focal = width / 2 / tan(radians(self.field_of_view_deg / 2))
            return atan2(rise, focal), focal
        if self.camera_pitch_deg == 0 or rise == 0:
            return None
        pitch = radians(self.camera_pitch_deg)
        return pitch, rise / tan(pitch)


class Panorama(Strict):
    """An equirectangular picture: everything around a camera that stands upright, once.

    ``file`` and ``camera_height_m`` are as a picture's, ``horizon`` is its row, ``front`` the
    column that angle 0 looks at, as shares of height and width. The figure stands before the camera
    wherever that looks, on level ground.
    """

    file: Annotated[Path, AfterValidator(_beside)]
    camera_height_m: float = Field(gt=0, le=500)
    horizon: float = Field(default=0.5, ge=0.2, le=0.8)
    front: Fraction = 0.5


class Background(Strict):
    """What is behind the figure: a ``color`` (sRGB 0 to 1), a picture, a panorama, or a set.

    ``tells`` names the set's groups and materials by which one knows what place it is.
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
        """Return the file of its picture or panorama, if it is one."""
        photograph = self.picture or self.panorama
        return None if photograph is None else photograph.file

    def with_file(self, file: Path) -> Self:
        """Return the background with its picture or panorama, if it is one, at ``file``."""
        return self.model_copy(update={
            kind: photograph.model_copy(update={"file": file})
            for kind in ("picture", "panorama") if (photograph := getattr(self, kind)) is not None})


def read_background(path: Path) -> Background:
    """Read a background; its picture's ``file`` becomes relative to the working folder.

    A set gets what it uses and does not define from the folders ``shared``. Raises RequestError,
    naming file, line and key, for a file that is absent or no YAML, a key that is misspelt,
    missing or out of range, and a picture that is absent or cannot be read.
    """
    file = YamlFile(path)
    background = file.parsed(Background, _declaration(file))
    _check_tells(file, background)
    if background.file is None:
        return background
    picture = path.parent / background.file
    place = ("picture" if background.picture else "panorama", "file")
    try:
        refuse_large_file(picture)
        with warnings.catch_warnings(action="ignore"), Image.open(picture) as image:
            refuse_large(image)
            image.load()
            width, height = image.size
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
    """Raise RequestError where what tells a place is no group or material of its set."""
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
    """Return the content key of a background: what is seen of it, and its picture's bytes.

    Names, descriptions, comments and what another seed would change are no part of it. Asked
    again, it looks only at whether its files have changed. Raises RequestError as
    ``read_background`` does.
    """
    files = (path, *shared_files(path))
    declared, picture = _declared(path, tuple(stamp(file) for file in files))
    return content_key(declared, picture and _picture_hash(picture, stamp(picture)))


@lru_cache(maxsize=1024)
def _declared(path: Path, written: tuple[Stamp | None, ...]) -> tuple[str, Path | None]:
    background = background_as_of(path, written)
    return content_key(seen_of(background)), background.file


@lru_cache(maxsize=1024)
def background_as_of(path: Path, written: tuple[Stamp | None, ...]) -> Background:
    """Return a background that was ``written`` then, it and what it shares, reading it once."""
    return read_background(path)


def seen_of(background: Background) -> dict[str, Any]:
    """Return all that is seen of a background, but for its picture's bytes, as JSON holds it."""
    unseen = {"vary", "redrawn"} | ({"scatter"} if background.set and not background.set.scatter
                                    else set())
    # A picture's light is seen on figures alone.
    # What there was not from the beginning counts only where it is said: other keys stay.
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
