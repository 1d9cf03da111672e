"""Types of the facts that the store records of a shot as JSON."""

from typing import Any, Required, TypedDict

from mimegen.manifest.footfalls import FootContacts


class CameraRecord(TypedDict, total=False):
    """The fields of a camera; ``shots/camera.py`` explains them."""

    position: Required[list[float]]
    rotation: Required[list[float]]
    lens_mm: Required[float]
    width: Required[int]
    height: Required[int]
    sensor_width_mm: float


class PanRecord(TypedDict):
    """The left upper corner of a panning camera's window in each frame, in pixels."""

    left: list[int]
    top: list[int]


class SweptRecord(TypedDict):
    """The floor area that performers cover (``scenery/swept.py``), and the key of the code used."""

    code: str
    low: list[float]
    rows: list[str]
    top_m: float


class FootRecord(TypedDict):
    """When feet stand (``manifest/footfalls.py``), if known, and the key of the code used."""

    code: str
    contacts: FootContacts | None


class ShotFacts(TypedDict, total=False):
    """The facts of a shot before rendering, for its clips and their rows.

    ``pan`` exists only for a camera that follows the performer, ``swept`` and ``feet``
    only since versions that record them, and ``partner_character_key`` only for two performers.
    Further fields are those of rows. Facts read back may come from an older version: only the
    number of frames is guaranteed.
    """

    frames: Required[int]
    fps: float
    width: int
    height: int
    camera: CameraRecord
    angle: float
    pan: PanRecord
    swept: SweptRecord
    feet: FootRecord
    faults: list[dict[str, Any]]
    faces_hidden: list[str]
    travel_scale: float
    character_key: str
    partner_character_key: str | None
    device: str
    blender_version: str | None
    cpu: str | None
