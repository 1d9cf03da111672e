"""What single clips may differ in, as permutations do: tempo, mirror, camera and light."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from mimegen.library.take import Take
from mimegen.library.takes import altered
from mimegen.plan.permute.axes import NumberAxis, axes
from mimegen.plan.view import View
from mimegen.stage.config import RenderConfig

ALTERING = ("tempo", "mirror", "elevation", "lens", "light", "harmonise", "camera")
PLACE, FOLLOW = "place", "follow"
_LIGHT = ("light_azimuth", "light_elevation", "light_strength")


@dataclass(frozen=True)
class Altering:
    """Another tempo, the mirror image, another camera and light; nothing where nobody says.

    Figures that ``follow_place`` are lit as their backgrounds are.
    """

    tempo: float
    mirror: bool
    view: View
    follow_place: bool = False

    def take(self, take: Take) -> Take:
        """Return a take altered. Raises RequestError for one that cannot be mirrored."""
        return altered(take, self.tempo, self.mirror)

    def config(self, config: RenderConfig) -> RenderConfig:
        """Return a render config altered. Raises RequestError for one whose camera is fixed."""
        return self.view.named(config)


def altering_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options, given to the command as ``altering``, in the ranges of axes.yaml."""

    @wraps(command)
    def wrapped(*args: Any, tempo: float | None, mirror: bool, elevation: float | None,
                lens: float | None, light: tuple[float, ...] | None, harmonise: bool,
                camera: str, **given: Any) -> int:
        sun_from = (light[0], light[1]) if light else None
        view = View(elevation, lens, sun_from, light[2] if light and light[2:] else 1.0,
                    camera == FOLLOW)
        return command(*args, **given,
                       altering=Altering(tempo or 1.0, mirror, view, harmonise or light == ()))

    options: Callable[..., int] = wrapped
    for option in reversed(_OPTIONS):
        options = option(options)
    return options


def _number(name: str, text: str) -> float:
    axis = axes().numbers[name]
    assert isinstance(axis, NumberAxis)
    try:
        return axis.value(text)
    except ValueError as problem:
        raise click.BadParameter(f"{text}: {problem}") from problem


def _as_axis(_context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    return None if text is None else _number(str(option.name), text)


def _as_light(_context: click.Context, _option: click.Parameter, text: str | None
              ) -> tuple[float, ...] | None:
    """Return azimuth, elevation and perhaps strength; nothing at all for the place's own light."""
    if text is None:
        return None
    if text == PLACE:
        return ()
    parts = text.split(",")
    if len(parts) not in (2, 3):
        raise click.BadParameter(f"{text}: expected AZIMUTH,ELEVATION or with a strength, as in"
                                 f" 60,40,0.8, or {PLACE}")
    return tuple(_number(name, part) for name, part in zip(_LIGHT, parts, strict=False))


def _ends(name: str) -> str:
    low, high = axes().numbers[name].range
    return f"{low:g} to {high:g}"


_OPTIONS = (
    click.option("--tempo", metavar="X", callback=_as_axis,
                 help=f"Times as fast as performed, {_ends('tempo')}."),
    click.option("--mirror", is_flag=True, help="Left and right swapped, as in a mirror."),
    click.option("--elevation", metavar="DEG", callback=_as_axis,
                 help=f"From how high the camera looks down, {_ends('elevation')}."),
    click.option("--lens", metavar="MM", callback=_as_axis,
                 help=f"{_ends('lens')} on a sensor of 36; the camera's distance follows."),
    click.option("--light", metavar="AZIMUTH,ELEVATION[,STRENGTH]|place", callback=_as_light,
                 help=f"Where the sun stands, {_ends('light_azimuth')} about the person and"
                      f" {_ends('light_elevation')} above the ground, and"
                      f" {_ends('light_strength')} times as strong; place lights figures as"
                      " their backgrounds are, in place of equally."),
    click.option("--camera", type=click.Choice(["fixed", FOLLOW]), default="fixed",
                 show_default=True, help="follow: nearer, and panning with the performers."),
    click.option("--harmonise", is_flag=True, help="The same as --light place."),
)
