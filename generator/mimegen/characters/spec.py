"""Character files, rigs/*.yaml, as typed values."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.characters.colors import Color, Fraction
from mimegen.characters.phenotype import Phenotype
from mimegen.characters.spacesuit.spec import Spacesuit


class Skin(Strict):
    """The skin's color in the light, how much lips and cheeks stand out, and stubble."""

    color: Color
    redness: Fraction = 0.5
    beard: Fraction = 0.0


class Eyes(Strict):
    """The iris' color."""

    color: Color


class Hair(Strict):
    """Hair and brows.

    ``length`` is 0 for hair that ends at the hairline, 0.45 at the chin and 1 below the
    shoulders; ``volume`` is how far it stands off; ``brow_height`` is in metres.
    """

    color: Color
    length: Fraction = 0.0
    volume: Fraction = 0.5
    brow_height: float = Field(default=0.007, ge=0.002, le=0.015)


class Top(Strict):
    """A t-shirt, blouse or sweater.

    ``sleeve`` is the share of the arm it covers, ``length`` runs from 0, the waist, to 1, below
    the hips, ``neckline`` is how deep it is cut out in front, in metres.
    """

    kind: Literal["top"]
    color: Color
    sleeve: float = Field(default=0.35, ge=0.15, le=0.97)
    length: Fraction = 0.7
    neckline: float = Field(default=0.0, ge=0, le=0.1)
    looseness: Fraction = 0.5


class Trousers(Strict):
    """Trousers; ``leg`` is the share of the leg they cover."""

    kind: Literal["trousers"]
    color: Color
    leg: float = Field(default=1.0, ge=0.4, le=1)
    looseness: Fraction = 0.5


class Shoes(Strict):
    """A pair of shoes; ``sole_height`` in metres is how far they raise the person."""

    kind: Literal["shoes"]
    color: Color
    sole_color: Color
    sole_height: float = Field(default=0.025, ge=0.005, le=0.08)


Garment = Annotated[Top | Trousers | Shoes | Spacesuit, Field(discriminator="kind")]


class CharacterSpec(Strict):
    """One file of rigs/: a person and what they wear, from the skin outwards."""

    name: str
    description: str = ""
    licence: str = "not stated"
    phenotype: Phenotype
    skin: Skin
    eyes: Eyes
    hair: Hair
    outfit: tuple[Garment, ...] = ()
    seed: int = Field(default=0, ge=0)


def read_character(path: Path) -> CharacterSpec:
    """Read a character file.

    Raises RequestError, naming file, line and key, for anything that does not fit.
    """
    return read_yaml(path, CharacterSpec)
