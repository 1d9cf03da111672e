"""The options of a walker, shared by render, plan and pointlight."""

from collections.abc import Callable
from typing import Any

import click

from mimegen.gait.walker import MOST_Z
from mimegen.request.render_request import GAIT

# The meaning of each option above 0 and below 0.
_ENDS = {"gender": ("man", "woman"), "weight": ("heavy", "light"),
         "nervous": ("nervous", "relaxed"), "happy": ("happy", "sad"), "age": ("old", "young"),
         "fatigue": ("tired", "rested"), "intoxicated": ("drunk", "steady")}


def walker_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add a walker's options, passed to the command under their own names; None if not given."""
    options: Callable[..., int] = command
    for option in reversed(_OPTIONS):
        options = option(options)
    return options


def walker_of(given: dict[str, Any]) -> dict[str, Any]:
    """Remove a walker's options from a command's arguments; return those that were given."""
    options = {name: given.pop(name) for name in GAIT}
    return {name: value for name, value in options.items() if value is not None}


_OPTIONS = (
    click.option("--speed", type=float, metavar="M/S",
                 help="Speed of a gait in m/s; below 0 walks backwards, above 2.05 runs."
                      "  [default: the action's own]"),
    click.option("--cadence", type=float, metavar="N", help="Steps per minute of a gait."),
    click.option("--step-length", type=float, metavar="M", help="Step length of a gait in m."),
    click.option("--phase", type=click.FloatRange(0, 1), metavar="SHARE",
                 help="Share of the cycle at which a gait begins; 0 is the left foot's contact."),
    click.option("--direction", type=click.FloatRange(-360, 360), metavar="DEG",
                 help="Direction of a gait in degrees to the walker's left."),
    click.option("--treadmill/--translating", default=None,
                 help="Walk on a treadmill, or over the floor."),
    click.option("--cycles", type=click.FloatRange(0, 60, min_open=True), metavar="K",
                 help="Length of a gait in cycles, of two steps each."),
    *(click.option(f"--{knob}", type=click.FloatRange(-MOST_Z, MOST_Z), metavar="Z",
                   help=f"Walker from {below} (below 0) to {above} (above 0), in standard"
                        " deviations.")
      for knob, (above, below) in _ENDS.items()),
)
