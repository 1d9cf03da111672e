"""What lights a set, and what is seen beyond it: the ``sky``, ``sun`` and ``lamps`` of its file."""

from pydantic import Field

from mimegen.base.yaml_file import Strict
from mimegen.scenery.values import HexColor, Positive
from mimegen.shots.config import Vector


class Sky(Strict):
    """What is beyond the set, and how it lights it."""

    zenith: HexColor
    horizon: HexColor
    ground: HexColor
    strength: float = Field(ge=0)
    clouds: float = Field(default=0.0, ge=0, le=1)


class Sun(Strict):
    """The sun's own strength here; its direction is the render config's."""

    strength: float = Field(ge=0)
    color: HexColor = "#ffffff"
    size_deg: float = Field(default=5.0, ge=0, le=90)


class Lamp(Strict):
    """A glowing rectangle of ``size`` at a place that shines at ``to``, in watts; not seen.

    One that stands for a ``window`` has what is let in.
    """

    at: Vector
    to: Vector
    size: tuple[Positive, Positive]
    watts: Positive
    color: HexColor = "#ffffff"
    window: bool = False
