"""What the store records of a shot, as JSON: typed, and as it is read back."""

from typing import Any, Required, TypedDict


class CameraRecord(TypedDict, total=False):
    """A camera's fields; ``shots/camera.py`` says what they are."""

    position: Required[list[float]]
    rotation: Required[list[float]]
    lens_mm: Required[float]
    width: Required[int]
    height: Required[int]
    sensor_width_mm: float


class PanRecord(TypedDict):
    """The left upper corner of a panning camera's window, in pixels, frame by frame."""

    left: list[int]
    top: list[int]


class SweptRecord(TypedDict):
    """What performers take of the floor (``scenery/swept.py``), and the code that told it."""

    code: str
    low: list[float]
    rows: list[str]
    top_m: float


class ShotFacts(TypedDict, total=False):
    """A shot before it is rendered: what its clips need to know, and their rows say.

    ``pan`` is only there for a camera that follows, ``swept`` since versions that record it, and
    ``partner_character_key`` for two performers. Further fields are those of rows. Only the number
    of frames is sure to be there when it is read back; versions before recorded less.
    """

    frames: Required[int]
    fps: float
    width: int
    height: int
    camera: CameraRecord
    angle: float
    pan: PanRecord
    swept: SweptRecord
    faults: list[dict[str, Any]]
    character_key: str
    partner_character_key: str | None
    device: str
    blender_version: str | None
    cpu: str | None
