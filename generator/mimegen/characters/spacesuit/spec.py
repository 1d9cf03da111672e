"""The schema of spacesuits in character files."""

from typing import Literal

from pydantic import Field

from mimegen.base.yaml_file import Strict
from mimegen.characters.colors import Color


class Spacesuit(Strict):
    """A suit for walks in space: helmet, life support, gloves and boots; nobody is seen inside.

    ``bulk`` is how thick the limbs' padding is, in metres, on a person of 1.8 m; ``creases`` how
    deep its folds are, 1 as designed.
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
