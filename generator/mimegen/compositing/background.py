"""Backgrounds as data: backgrounds/*.yaml."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Self, get_args

import yaml
from PIL import Image
from pydantic import BaseModel, Field, ValidationError, model_validator

from mimegen.errors import RequestError, near_misses
from mimegen.stage.config import Strict
from mimegen.stage.scenery import Scenery

Share = Annotated[float, Field(ge=0, le=1)]


class Picture(Strict):
    """A picture on whose ground the figure can stand.

    Rows and columns are shares of the picture's height and width, (0, 0) the left upper corner.
    ``file`` is relative to the background's own file. ``horizon`` is the row where level ground
    would end, ``camera_height_m`` how high above the ground the picture was taken, in metres.
    ``camera_pitch_deg`` says by how much that camera looked down (negative: up), for a picture
    that was not cropped. ``ground`` is the outline of the ground where a person can stand.
    """

    file: Path
    horizon: float = Field(ge=0, lt=1)
    camera_height_m: float = Field(gt=0, le=500)
    camera_pitch_deg: float = Field(default=0.0, gt=-60, lt=60)
    ground: tuple[tuple[Share, Share], ...] = Field(min_length=3)

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
    color: tuple[Share, Share, Share] | None = None
    picture: Picture | None = None
    set: Scenery | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if sum(kind is not None for kind in (self.color, self.picture, self.set)) != 1:
            raise ValueError("give exactly one of color, picture and set")
        return self


def read_background(path: Path) -> Background:
    """Read a background; its picture's ``file`` becomes absolute.

    Raises RequestError, ``path: key: message``, for a file that is absent or no YAML, a key that
    is misspelt, missing or out of range, and a picture that is absent or cannot be read.
    """
    try:
        background = Background.model_validate(_mapping(path))
    except ValidationError as problem:
        raise RequestError(f"{path}: {_first_problem(problem)}") from problem
    if background.picture is None:
        return background
    picture = background.picture.model_copy(
        update={"file": (path.parent / background.picture.file).absolute()}
    )
    try:
        with Image.open(picture.file) as image:
            image.load()
    except FileNotFoundError as problem:
        raise RequestError(f"{path}: picture.file: there is no {picture.file}") from problem
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as problem:
        raise RequestError(
            f"{path}: picture.file: {picture.file} cannot be read as a picture ({problem})"
        ) from problem
    return background.model_copy(update={"picture": picture})


def _mapping(path: Path) -> dict[object, object]:
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise RequestError(f"{path}: cannot be read ({problem})") from problem
    except yaml.YAMLError as problem:
        raise RequestError(f"{path}: not YAML: {' '.join(str(problem).split())}") from problem
    if not isinstance(value, dict):
        raise RequestError(f"{path}: expected keys and values ({', '.join(_keys(()))})")
    return value


def _first_problem(problem: ValidationError) -> str:
    """Return ``key: message`` of the first thing that is wrong."""
    first = problem.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        *place, key = first["loc"]
        return f"{where}: no such key{near_misses(str(key), _keys(place))}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _keys(place: Sequence[int | str]) -> Sequence[str]:
    """Return the keys that a background file may have at a place, or none inside lists."""
    model: type[BaseModel] = Background
    for part in place:
        field = model.model_fields.get(str(part))
        kinds = get_args(field.annotation) if field else ()
        parts = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if not parts:
            return ()
        model = parts[0]
    return list(model.model_fields)
