"""The schema of spacesuits in character files."""

from typing import Literal

from pydantic import Field

from mimegen.base.yaml_file import Strict
from mimegen.characters.colors import Color


class Spacesuit(Strict):
    """A suit for spacewalks: helmet, life support, gloves and boots; it hides its wearer.

    ``bulk`` is the thickness of the limbs' padding, in metres, on a person of 1.8 m. ``creases``
    scales the depth of its folds; 1 is the design's.
    """

    kind: Literal["spacesuit"]
    color: Color
    shell_color: Color
    metal_color: Color
    stripe_color: Color
    visor_color: Color
    boot_color: Color
    rubber_color: Color
    fingertip_color: Color
    lamp_color: Color
    patch_color: Color
    bulk: float = Field(default=0.024, ge=0.012, le=0.04)
    creases: float = Field(default=1.0, ge=0, le=2)
