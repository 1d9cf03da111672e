"""Read displays (render_configs/pointlight/*.yaml) as typed values with physical units."""

import re
from typing import Annotated, Any, Literal

import numpy as np
from PIL import ImageColor
from pydantic import AfterValidator, Field

from mimegen.base.errors import RequestError, with_given
from mimegen.base.yaml_file import Strict
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.discs import to_linear

_AREA = re.compile(r"(\d*\.?\d+)(?:x(\d*\.?\d+))?(px|deg)")
_LENGTH = re.compile(r"\d*\.?\d+(px|deg)?")
DotStyle = Literal["dots", "stick", "silhouette"]


def _length(text: str) -> str:
    if not _LENGTH.fullmatch(text):
        raise ValueError(f"'{text}': expected a length such as 6px or 0.15deg")
    return text


def _color(name: str) -> str:
    try:
        ImageColor.getrgb(name)
    except ValueError:
        raise ValueError(f"'{name}' is not a color; expected a name such as white, or"
                         " #rrggbb") from None
    return name


def _area(value: float | str) -> float | str:
    if isinstance(value, str) and not _AREA.fullmatch(value):
        raise ValueError(f"'{value}': expected an area such as 200px, 6deg or 300x200px, or a"
                         " factor such as 1.3 of the area of the dots")
    if isinstance(value, float | int) and not 0 < value < np.inf:
        raise ValueError(f"expected a value above 0, got {value:g}")
    return value


def area_sides(text: str) -> tuple[str, str]:
    """Return width and height, as lengths, of an area such as ``300x200px``; ``6deg`` is a square.
    """
    found = _AREA.fullmatch(text)
    assert found is not None, "areas are checked where they are read"
    wide, high, unit = found.groups()
    return wide + unit, (high or wide) + unit


Area = Annotated[float | str, AfterValidator(_area)]
"""A rectangle with a unit (``200px``, ``6deg``, ``6x4deg``), or a factor of the dots' room."""
Length = Annotated[str, AfterValidator(_length)]
"""Pixels (``6px`` or ``6``) or degrees of visual angle (``0.15deg``)."""
ColorName = Annotated[str, AfterValidator(_color)]
"""A color's name or ``#rrggbb``, sRGB."""


def linear_color(name: str) -> FloatArray:
    """Return a color as linear RGB (3,)."""
    return to_linear(np.array(ImageColor.getrgb(name)[:3], np.uint8))


class FrameSample(Strict):
    """Consecutive frames from the middle of a clip, as benchmarks show them to models.

    ``trim`` is the fraction cut off at both ends; ``retries`` is the number of further windows,
    shifted earlier and later in turn by multiples of their own length; ``columns`` is that of the
    montage.
    """

    frames: int = Field(ge=1)
    trim: float = Field(ge=0, lt=0.5)
    retries: int = Field(ge=0)
    columns: int = Field(ge=1)


class Display(Strict):
    """A point-light display.

    Sizes are in pixels or degrees of visual angle. The picture fits the whole clip unless
    ``figure_height`` gives the height of a standing performer. ``contrast`` is the fraction of the
    difference between background and dot light that is used. ``polarity`` is that of the dots: half
    of ``mixed`` dots are lighter, half darker than a gray background. ``azimuth_deg`` is 0 in front
    of the person, 90 at their left hand.
    """

    name: str
    description: str
    width: int = Field(default=512, ge=16, le=8192, multiple_of=2)
    height: int = Field(default=512, ge=16, le=8192, multiple_of=2)
    fps: float = Field(default=60, gt=0, le=240)
    dots: str = "johansson"
    add: tuple[str, ...] = ()
    style: DotStyle = "dots"
    dot_diameter: Length = "7px"
    color: ColorName = "white"
    background: ColorName | None = None
    contrast: float = Field(default=1.0, gt=0, le=1)
    polarity: Literal["light", "dark", "mixed"] = "light"
    color_by: Literal["none", "performer", "dot"] = "none"
    palette: tuple[ColorName, ...] = ("#ffb000", "#648fff", "#dc267f", "#785ef0", "#fe6100")
    projection: Literal["orthographic", "perspective"] = "orthographic"
    azimuth_deg: float = 45.0
    elevation_deg: float = Field(default=0.0, ge=-90, le=90)
    camera_distance_m: float = Field(default=8.0, gt=1)
    figure_height: Length | None = None
    margin: float = Field(default=0.08, ge=0, lt=0.45)
    pixels_per_degree: float | None = Field(default=None, gt=0)
    distance_cm: float = Field(default=57.3, gt=0)
    pixel_pitch_mm: float = Field(default=0.25, gt=0)
    start: float = Field(default=0.0, ge=0)
    duration: float | None = Field(default=None, gt=0)
    occlusion: Literal["none", "body"] = "none"
    sample: FrameSample | None = None
    manipulations: tuple[str, ...] = ()

    @property
    def needs_body(self) -> bool:
        """Whether the display needs a body, to hide dots or as the silhouette."""
        return self.occlusion == "body" or self.style == "silhouette"

    @property
    def degree_pixels(self) -> float:
        """Pixels in a degree of visual angle, at the middle of the screen."""
        if self.pixels_per_degree is not None:
            return self.pixels_per_degree
        return self.distance_cm * 10 * float(np.tan(np.radians(1))) / self.pixel_pitch_mm

    def pixels(self, length: str | float) -> float:
        """Return a length in pixels."""
        text = str(length)
        if text.endswith("deg"):
            return float(text.removesuffix("deg")) * self.degree_pixels
        return float(text.removesuffix("px"))

    def background_light(self) -> FloatArray:
        """Return the background's linear RGB (3,)."""
        if self.background is not None:
            return linear_color(self.background)
        return np.full(3, {"light": 0.0, "dark": 1.0, "mixed": 0.5}[self.polarity])


def changed(display: Display, **values: Any) -> Display:
    """Return the display with other values; those that are None are not changed.

    Raises RequestError that names the first wrong value.
    """
    merged = display.model_dump() | {k: v for k, v in values.items() if v is not None}
    try:
        return Display.model_validate(merged)
    except ValueError as problem:
        raise RequestError(f"display: {first_problem(problem)}") from problem


def first_problem(problem: ValueError) -> str:
    """Return the first complaint of a pydantic error, in one line."""
    found: list[Any] = getattr(problem, "errors", list)()
    if not found:
        return str(problem)
    where = " ".join(str(step) for step in found[0]["loc"])
    message = found[0]["msg"].removeprefix("Value error, ")
    return f"{where}: {with_given(message, found[0]['input'])}"
