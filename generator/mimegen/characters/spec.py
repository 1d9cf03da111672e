"""The schema of character files, rigs/*.yaml, as typed values."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.characters.colors import Color, Fraction
from mimegen.characters.phenotype import Phenotype
from mimegen.characters.spacesuit.spec import Spacesuit


class Skin(Strict):
    """The skin: its color, how much lips and cheeks stand out, and how much stubble there is.

    ``color`` is linear RGB; ``redness`` and ``beard`` (stubble) run from 0 to 1.
    """

    color: Color
    redness: Fraction = 0.5
    beard: Fraction = 0.0


class Eyes(Strict):
    """The color of the iris."""

    color: Color


class Hair(Strict):
    """Hair, brows and beard.

    ``length`` is 0 for hair that ends at the hairline, 0.45 for hair to the chin and 1 for hair
    below the shoulders. Hair of the kinds ``tail`` and ``bun`` is combed back and ``curls`` stand
    off the head at any length; for a ``tail`` it is the length of the tail. ``volume`` is how far
    the hair stands off the head, ``receding`` how far the hairline has gone back, both 0 to 1.
    ``brow_height`` is in metres.
    """

    color: Color
    kind: Literal["strands", "curls", "tail", "bun", "crop", "bald"] = "strands"
    length: Fraction = 0.0
    volume: Fraction = 0.5
    receding: Fraction = 0.0
    beard: Literal["none", "moustache", "goatee", "full"] = "none"
    brow_height: float = Field(default=0.007, ge=0.002, le=0.015)


class Pattern(Strict):
    """A pattern in a second color on a cloth.

    ``size`` is the distance from one repetition to the next, in metres. ``stripes`` run around
    trunk and sleeves, ``upright`` stripes along them; ``block`` colors the upper half; ``print``,
    ``star`` and ``band`` are on the chest.
    """

    kind: Literal["stripes", "upright", "zigzag", "checks", "plaid", "dots", "flowers", "block",
                  "print", "star", "band"]
    color: Color
    size: float = Field(default=0.06, ge=0.01, le=0.3)


class Cloth(Strict):
    """Settings of every garment made of cloth; ``looseness`` runs from 0, tight, to 1, loose."""

    color: Color
    pattern: Pattern | None = None
    looseness: Fraction = 0.5


class Top(Cloth):
    """A t-shirt, blouse, shirt, sweater or hoodie.

    ``sleeve`` is the fraction of the arm that is covered. ``length`` runs from 0, at the waist, to
    1, below the hips. ``neckline`` is how deep the front is cut out, in metres. ``buttons`` sit on
    a placket; ``pocket`` is a hoodie's pocket. A ``ribbed`` top is drawn in at wrists and hem.
    """

    kind: Literal["top"]
    sleeve: float = Field(default=0.35, ge=0.15, le=0.97)
    length: Fraction = 0.7
    neckline: float = Field(default=0.0, ge=0, le=0.1)
    collar: Literal["none", "shirt", "hood"] = "none"
    buttons: bool = False
    pocket: bool = False
    ribbed: bool = False


class Jacket(Cloth):
    """A jacket, open in front and worn over a top.

    The fields that it shares with ``Top`` mean the same.
    """

    kind: Literal["jacket"]
    sleeve: float = Field(default=0.93, ge=0.15, le=0.97)
    length: Fraction = 0.8
    neckline: float = Field(default=0.0, ge=0, le=0.1)
    collar: Literal["none", "shirt", "hood"] = "shirt"
    opening: float = Field(default=0.06, ge=0.02, le=0.12, description="half its width, metres")
    looseness: Fraction = 0.6
    ribbed: bool = False


class Skirt(Cloth):
    """A skirt.

    ``leg`` is the fraction of the leg it covers, ``flare`` (0 to 1) how far it widens.
    """

    kind: Literal["skirt"]
    leg: float = Field(default=0.5, ge=0.25, le=0.75)
    flare: Fraction = 0.4


class Dress(Cloth):
    """A dress: a top and a skirt of the same cloth; its fields mean the same as theirs."""

    kind: Literal["dress"]
    sleeve: float = Field(default=0.3, ge=0.15, le=0.97)
    neckline: float = Field(default=0.03, ge=0, le=0.1)
    leg: float = Field(default=0.5, ge=0.25, le=0.75)
    flare: Fraction = 0.4
    looseness: Fraction = 0.3


class Trousers(Cloth):
    """Trousers; ``leg`` is the fraction of the leg they cover."""

    kind: Literal["trousers"]
    leg: float = Field(default=1.0, ge=0.4, le=1)


class Shoes(Strict):
    """A pair of shoes.

    ``sole_height`` is how far the soles raise the person, in metres. Trainers have laces in the
    color of the soles. ``socks`` is the color of the socks, which are visible where legs are bare;
    None for no socks.
    """

    kind: Literal["shoes"]
    style: Literal["trainers", "leather", "flats", "boots"] = "trainers"
    socks: Color | None = None
    color: Color
    sole_color: Color
    sole_height: float = Field(default=0.025, ge=0.005, le=0.08)


class Glasses(Strict):
    """Glasses; ``width`` scales the usual width."""

    kind: Literal["glasses"]
    color: Color
    width: float = Field(default=1.0, ge=0.7, le=1.3)


class Cap(Strict):
    """A cap with a peak."""

    kind: Literal["cap"]
    color: Color
    peak_color: Color


class Headscarf(Cloth):
    """A headscarf that covers head and neck."""

    kind: Literal["headscarf"]


Garment = Annotated[
    Top | Jacket | Trousers | Skirt | Dress | Shoes | Glasses | Cap | Headscarf | Spacesuit,
    Field(discriminator="kind")]


class CharacterSpec(Strict):
    """The contents of one file of rigs/: a person and their outfit.

    ``outfit`` is ordered from the skin outwards.
    """

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

    Raises RequestError with the file, line and key of the first invalid value.
    """
    return read_yaml(path, CharacterSpec)
