"""Surfaces of a set: the ``materials`` part of its file."""

from typing import Literal

from pydantic import Field

from mimegen.base.yaml_file import Strict
from mimegen.scenery.values import HexColor, Positive


class SetMaterial(Strict):
    """A surface: a color, a pattern with a second color, and how it reflects light.

    ``size`` is the pattern's size in metres: length and width of a plank, tile, stripe or grain.
    ``gap`` is the fraction of a plank or tile that is joint, or of a ``mown`` band that is edge.
    ``shore`` draws sand, surf and sea by the distance to the waterline of an ``island``; ``net``
    draws only the cords of a mesh of ``size``.
    """

    color: HexColor
    second: HexColor | None = None
    pattern: Literal[
        "plain", "wood", "planks", "tiles", "bricks", "cloth", "speckle", "sand", "stripes",
        "painting", "outdoors", "shore", "net", "mown",
    ] = "plain"
    size: tuple[Positive, Positive] = (1.0, 1.0)
    gap: float = Field(default=0.02, ge=0, le=0.5)
    roughness: float = Field(default=0.6, ge=0, le=1)
    metallic: float = Field(default=0.0, ge=0, le=1)
    coat: float = Field(default=0.0, ge=0, le=1)
    sheen: float = Field(default=0.0, ge=0, le=1)
    bump: float = Field(default=0.0, ge=0, le=5)
    glow: float = Field(default=0.0, ge=0)
    opacity: float = Field(default=1.0, ge=0, le=1)
