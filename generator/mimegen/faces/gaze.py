"""Targets that a performer can look at during a whole take, written as text."""

from typing import NamedTuple

from mimegen.base.errors import near_misses
from mimegen.base.vectors import MIME_AZIMUTH_DEG

# A camera may be followed by its direction in degrees: camera:AZIMUTH:ELEVATION.
CAMERA = "camera"
PARTNER = "partner"
HANDS = ("left_hand", "right_hand")
TARGETS = (CAMERA, PARTNER, *HANDS)
MAX_DISTANCE_M = 1000.0
MAX_ANGLE_DEG = 720.0
USUAL_ELEVATION_DEG = 5.0


class Point(NamedTuple):
    """A position in metres relative to the start: left, forward, and above the floor.

    Left and forward are the performer's.
    """

    left: float
    forward: float
    up: float


def known_gaze(text: str) -> str:
    """Return a target in its canonical form; raises ValueError for an unknown one."""
    if text in TARGETS:
        return text
    if text.startswith(f"{CAMERA}:"):
        return camera_at(*direction_of(text))
    if "," in text:
        return ",".join(f"{number:g}" for number in point_of(text))
    raise ValueError(f"no target '{text}'{near_misses(text, TARGETS)}; a point is"
                     " LEFT,FORWARD,UP in metres, as in 0.5,2,1.2")


def mirrored_gaze(gaze: str) -> str:
    """Return the target that becomes ``gaze`` when left and right are swapped."""
    if gaze.startswith(CAMERA):
        azimuth, elevation = direction_of(gaze)
        return camera_at(2 * MIME_AZIMUTH_DEG - azimuth, elevation)
    if gaze in HANDS:
        return HANDS[1 - HANDS.index(gaze)]
    if gaze == PARTNER:
        return gaze
    left, forward, up = point_of(gaze)
    return f"{-left:g},{forward:g},{up:g}"


def camera_at(azimuth_deg: float, elevation_deg: float) -> str:
    """Return the target that is a camera in a direction, in degrees."""
    return f"{CAMERA}:{azimuth_deg:g}:{elevation_deg:g}"


def direction_of(text: str) -> tuple[float, float]:
    """Return the azimuth and elevation of a camera, in degrees; raises ValueError if invalid."""
    if text == CAMERA:
        return MIME_AZIMUTH_DEG, USUAL_ELEVATION_DEG
    try:
        azimuth, elevation = (float(number) for number in text.split(":")[1:])
    except ValueError:
        raise ValueError(f"expected camera, or camera:AZIMUTH:ELEVATION in degrees (got"
                         f" '{text}')") from None
    if not (abs(azimuth) <= MAX_ANGLE_DEG and abs(elevation) <= MAX_ANGLE_DEG):
        raise ValueError(f"'{text}': the angles must lie between -{MAX_ANGLE_DEG:g} and"
                         f" {MAX_ANGLE_DEG:g} degrees")
    return azimuth, elevation


def point_of(text: str) -> Point:
    """Return the point that a text describes; raises ValueError if it is invalid."""
    try:
        left, forward, up = (float(number) for number in text.split(","))
    except ValueError:
        raise ValueError(f"expected LEFT,FORWARD,UP in metres, as in 0.5,2,1.2 (got '{text}')"
                         ) from None
    if not all(abs(number) <= MAX_DISTANCE_M for number in (left, forward, up)):
        raise ValueError(f"'{text}' is too far away; the limit is {MAX_DISTANCE_M:g} m")
    return Point(left, forward, up)
