"""Backgrounds as data: backgrounds/*.yaml."""

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

from PIL import Image
from pydantic import AfterValidator, Field, model_validator

from mimegen.base.files import Stamp, content_key, file_hash, stamp
from mimegen.base.names import inner_path
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.stage.scenery.scenery import Scenery
from mimegen.stage.scenery.shared import completed, shared_files

Fraction = Annotated[float, Field(ge=0, le=1)]


def _beside(file: Path) -> Path:
    return Path(inner_path(file.as_posix()))


class Picture(Strict):
    """A picture on whose ground the figure can stand.

    Rows and columns are shares of the picture's height and width, (0, 0) the left upper corner.
    ``file`` is relative to the background's own file, in its folder or below. ``horizon`` is the
    row where level ground would end, ``camera_height_m`` how high above the ground the picture was
    taken, in metres. ``camera_pitch_deg`` says by how much that camera looked down (negative: up),
    for a picture that was not cropped. ``ground`` is the outline of the ground where a person can
    stand.
    """

    file: Annotated[Path, AfterValidator(_beside)]
    horizon: float = Field(ge=0, lt=1)
    camera_height_m: float = Field(gt=0, le=500)
    camera_pitch_deg: float = Field(default=0.0, gt=-60, lt=60)
    ground: tuple[tuple[Fraction, Fraction], ...] = Field(min_length=3)

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if max(row for _, row in self.ground) <= self.horizon:
            raise ValueError(f"ground: all of it lies above the horizon, row {self.horizon:g}")
        if self.camera_pitch_deg * (0.5 - self.horizon) < 0:
            raise ValueError("camera_pitch_deg: a camera that looks down (more than 0) has its "
                             "horizon in the picture's upper half (less than 0.5), one that "
                             "looks up in its lower")
        return self


class Background(Strict):
    """What is behind the figure: a ``color`` (sRGB 0 to 1), a ``picture``, or a ``set``."""

    name: str = Field(min_length=1)
    description: str
    licence: str
    author: str
    source: str
    color: tuple[Fraction, Fraction, Fraction] | None = None
    picture: Picture | None = None
    set: Scenery | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if sum(kind is not None for kind in (self.color, self.picture, self.set)) != 1:
            raise ValueError("give exactly one of color, picture and set")
        return self


def read_background(path: Path) -> Background:
    """Read a background; its picture's ``file`` becomes relative to the working folder.

    A set gets what it uses and does not define from the folders ``shared``. Raises RequestError,
    naming file, line and key, for a file that is absent or no YAML, a key that is misspelt,
    missing or out of range, and a picture that is absent or cannot be read.
    """
    file = YamlFile(path)
    background = file.parsed(Background, _declaration(file))
    if background.picture is None:
        return background
    picture = background.picture.model_copy(
        update={"file": path.parent / background.picture.file}
    )
    place = ("picture", "file")
    try:
        with Image.open(picture.file) as image:
            image.load()
    except FileNotFoundError as problem:
        raise file.error(place, f"there is no {picture.file}") from problem
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as problem:
        raise file.error(
            place, f"{picture.file} cannot be read as a picture ({problem})"
        ) from problem
    return background.model_copy(update={"picture": picture})


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
    background = read_background(path)
    picture = background.picture.file if background.picture else None
    return content_key(seen_of(background)), picture


def seen_of(background: Background) -> dict[str, Any]:
    """Return all that is seen of a background, but for its picture's bytes, as JSON holds it."""
    unseen = {"vary"} if background.set and background.set.scatter else {"vary", "scatter"}
    return background.model_dump(mode="json", include={"color", "picture", "set"},
                                 exclude={"picture": {"file"}, "set": unseen})


@lru_cache(maxsize=1024)
def _picture_hash(picture: Path, written: Stamp | None) -> str:
    return file_hash(picture)
