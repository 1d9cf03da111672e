"""Character files, rigs/*.yaml, as typed values."""

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BeforeValidator, Field, ValidationError

from mimegen.characters.phenotype import Phenotype, Strict
from mimegen.errors import RequestError


def to_linear(color: object) -> object:
    """Turn ``"#rrggbb"`` (sRGB, IEC 61966-2-1) into linear RGB, 0 to 1; pass others on."""
    if not isinstance(color, str):
        return color
    digits = color.removeprefix("#")
    if len(digits) != 6 or not set(digits.lower()) <= set("0123456789abcdef"):
        raise ValueError(f"{color!r} is no color; write it as \"#rrggbb\"")
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


Share = Annotated[float, Field(ge=0, le=1)]
Color = Annotated[tuple[Share, Share, Share], BeforeValidator(to_linear)]


class Skin(Strict):
    """The skin's color in the light, and how much lips and cheeks stand out."""

    color: Color
    redness: Share = 0.5


class Eyes(Strict):
    """The iris' color."""

    color: Color


class Top(Strict):
    """A t-shirt, blouse or sweater.

    ``sleeve`` is the share of the arm it covers, ``length`` runs from 0, the waist, to 1, below
    the hips, ``neckline`` is how deep it is cut out in front, in metres.
    """

    kind: Literal["top"]
    color: Color
    sleeve: float = Field(default=0.35, ge=0.15, le=0.97)
    length: Share = 0.6
    neckline: float = Field(default=0.0, ge=0, le=0.1)
    looseness: Share = 0.5


class Trousers(Strict):
    """Trousers; ``leg`` is the share of the leg they cover."""

    kind: Literal["trousers"]
    color: Color
    leg: float = Field(default=1.0, ge=0.4, le=1)
    looseness: Share = 0.5


Garment = Annotated[Top | Trousers, Field(discriminator="kind")]


class CharacterSpec(Strict):
    """One file of rigs/: a person and what they wear, from the skin outwards."""

    name: str
    description: str = ""
    phenotype: Phenotype
    skin: Skin
    eyes: Eyes
    outfit: tuple[Garment, ...] = ()
    seed: int = Field(default=0, ge=0)


def read_character(path: Path) -> CharacterSpec:
    """Read a character file.

    Raises RequestError, naming the file and the place in it, for anything that does not fit.
    """
    try:
        return CharacterSpec.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except FileNotFoundError as problem:
        raise RequestError(f"{path}: no such file") from problem
    except yaml.YAMLError as problem:
        raise RequestError(f"{path}: not YAML ({' '.join(str(problem).split())})") from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise RequestError(f"{path}: {place}: {first['msg']}") from problem
