"""Options for the position of a camera."""

from typing import Any

import click

from mimegen.plan.front import SIDES, CameraDirection

EXPECTED = f"expected degrees, or {', '.join(SIDES)}, front+30, front-45"
ANGLE_HELP = ("Camera angle in degrees counterclockwise seen from above, as @90 in a variant, or a"
              " side of the performer: front, left, back, right, front+30.")


class DirectionType(click.ParamType[CameraDirection]):
    """Degrees, or a side of the performer."""

    name = "direction"

    def convert(self, value: Any, param: click.Parameter | None,
                ctx: click.Context | None) -> CameraDirection:
        """Return the direction; fail if the text is invalid."""
        if isinstance(value, CameraDirection):
            return value
        try:
            return CameraDirection.of(str(value).strip())
        except ValueError:
            self.fail(f"'{value}': {EXPECTED}", param, ctx)
