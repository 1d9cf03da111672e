"""What single clips may differ in, as permutations do: tempo, mirror, camera and light."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from mimegen.request.altering import FOLLOW, Altering
from mimegen.request.values import axis_range, axis_value, light_from

# The parameters' names, which are fields of a RenderRequest.
ALTERING = ("tempo", "mirror", "elevation", "lens", "light", "harmonise", "camera")


def altering_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options, given to the command as ``altering``, in the ranges of axes.yaml."""

    @wraps(command)
    def wrapped(*args: Any, **given: Any) -> int:
        altering = Altering.of(**{name: given.pop(name) for name in ALTERING})
        return command(*args, **given, altering=altering)

    return with_altering(wrapped)


def with_altering(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options, given to the command under their own names."""
    options: Callable[..., int] = command
    for option in reversed(_OPTIONS):
        options = option(options)
    return options


def _as_axis(_context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    try:
        return None if text is None else axis_value(str(option.name), text)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from problem


def _as_light(_context: click.Context, _option: click.Parameter, text: str | None
              ) -> tuple[float, ...] | None:
    try:
        return light_from(text)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from problem


_OPTIONS = (
    click.option("--tempo", metavar="X", callback=_as_axis,
                 help=f"Playback speed of the take, {axis_range('tempo')} times the original."),
    click.option("--mirror", is_flag=True, help="Swap left and right."),
    click.option("--elevation", metavar="DEG", callback=_as_axis,
                 help=f"Elevation of the camera in degrees, {axis_range('elevation')}."),
    click.option("--lens", metavar="MM", callback=_as_axis,
                 help=f"Focal length on a 36 mm sensor, {axis_range('lens')}; the camera's"
                      " distance is"
                      " adjusted."),
    click.option("--light", metavar="AZIMUTH,ELEVATION[,STRENGTH]|place", callback=_as_light,
                 help=f"Direction of the sun: {axis_range('light_azimuth')} degrees about the"
                      f" person, {axis_range('light_elevation')} above the ground, at"
                      f" {axis_range('light_strength')} times its strength; 'place' matches figure"
                      " lighting to the background."),
    click.option("--camera", type=click.Choice(["fixed", FOLLOW]), default="fixed",
                 show_default=True, help="'follow' moves the camera closer and pans with the"
                                         " performers."),
    click.option("--harmonise", is_flag=True, help="Same as --light place."),
)
