"""Camera directions, relative to the performer's front or to the render config's own camera.

Azimuths are measured counterclockwise as seen from above: 0 is the world's -Y, the stage's front;
90 is +X, to the left of a person who faces the stage's front. An angle such as ``@90`` turns the
camera from its position in the render config, which is at 48.5 degrees as in MIME. ``@front`` and
similar words refer to the performer: the azimuth they face at the start counts as 0.
"""

import re
from dataclasses import dataclass
from math import atan2, degrees
from typing import Self

from mimegen.library.take import LibraryTake
from mimegen.shots.config import FramedCamera, RenderConfig

SIDES = {"front": 0.0, "left": 90.0, "back": 180.0, "right": 270.0}
# A direction from the performer's front, as a regular expression of what users write.
SIDE_PATTERN = r"front[+-]\d+(?:\.\d+)?|front|left|back|right"
# Decimal places of degrees in names and rows.
DIGITS = 3

PLAN_VIEW = r"""
Where cameras stand, seen from above:

     @180         @back         @90
         \          |          /
           \        |        /
             \      |      /
  @right ------- performer ------- @left     at the performer's left hand
             /      |      \
           /        |        \
         /          |          \
     @270        @front          @0          48.5 degrees to their left, as in MIME
                    what they face

@N         turns the camera N degrees counterclockwise from @0, which the render config places.
@front+30  is 30 degrees to the performer's left of their front; @front-45 is to their right.
A score's 'facing: N' turns its performer N degrees to the left on the stage: @front goes along,
@0 stays. The row of each clip has view_azimuth_deg: 0 from the front, 90 from their left."""


@dataclass(frozen=True)
class CameraDirection:
    """A camera's direction in degrees, from the performer's front or from angle 0 of the config."""

    degrees: float
    from_front: bool

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the direction in a text, ``90`` or ``front+30``. Raises ValueError for others."""
        side = side_degrees(text)
        return cls(float(text) if side is None else side, side is not None)

    def azimuth(self, zero_deg: float, front_deg: float) -> float:
        """Return the azimuth on the stage; ``zero_deg`` is the camera's azimuth at angle 0."""
        return (front_deg if self.from_front else zero_deg) + self.degrees


def side_degrees(text: str) -> float | None:
    """Return degrees from the performer's front, 0 to 360; None if the text is not a direction."""
    if re.fullmatch(SIDE_PATTERN, text) is None:
        return None
    return SIDES[text] if text in SIDES else turned(float(text.removeprefix("front")))


def side_name(angle_deg: float) -> str:
    """Return the one name of a direction from the performer's front: left, front+30, front+315."""
    angle = turned(angle_deg)
    named = {degrees: name for name, degrees in SIDES.items()}
    return named.get(angle) or f"front+{angle:.{DIGITS}f}".rstrip("0").rstrip(".")


def turned(angle_deg: float) -> float:
    """Return an angle in the range [0, 360) degrees, rounded as in rows."""
    return round(angle_deg % 360, DIGITS) % 360


def camera_azimuth(config: RenderConfig) -> float:
    """Return the azimuth of a config's camera at angle 0, in degrees; 0 is the stage's front."""
    if isinstance(config.camera, FramedCamera):
        return config.camera.azimuth_deg
    x, y, _ = config.camera.position
    return degrees(atan2(x, -y))


def angle_from_front(take: LibraryTake, side_deg: float, zero_deg: float) -> float:
    """Return the angle that turns a camera to a side of the performer.

    ``zero_deg`` is the camera's azimuth at angle 0, ``side_deg`` the direction from the front.
    """
    return turned(take.front_deg + side_deg - zero_deg)


def view_azimuth(take: LibraryTake, azimuth_deg: float) -> float:
    """Return a camera's azimuth from the performer's front: 0 before them, 90 at their left."""
    return turned(azimuth_deg - take.front_deg)
