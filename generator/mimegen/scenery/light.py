"""Light of a set and its surroundings: the ``sky``, ``sun`` and ``lamps`` of its file."""

from pydantic import Field

from mimegen.base.yaml_file import Strict
from mimegen.scenery.values import HexColor, Positive
from mimegen.shots.config import Vector


class Sky(Strict):
    """The surroundings of a set and the light from them."""

    zenith: HexColor
    horizon: HexColor
    ground: HexColor
    strength: float = Field(ge=0)
    clouds: float = Field(default=0.0, ge=0, le=1)


class Sun(Strict):
    """The sun's strength and color in a set; the render config has its direction."""

    strength: float = Field(ge=0)
    color: HexColor = "#ffffff"
    size_deg: float = Field(default=5.0, ge=0, le=90)


class Lamp(Strict):
    """An area light of ``size`` (metres) at ``at``, aimed at ``to``, invisible to the camera.

    With ``window`` it stands for the light that a window lets in.
    """

    at: Vector
    to: Vector
    size: tuple[Positive, Positive]
    watts: Positive
    color: HexColor = "#ffffff"
    window: bool = False
