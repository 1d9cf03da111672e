"""What a reader gives: a motion in the house's convention, and how the file was understood."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mimegen.motion import Motion


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion read from a file.

    ``motion`` is in metres, Z up, facing -Y and over the origin at the start, the ground at
    Z = 0, at the file's true frame rate. ``roles`` maps roles to joint names. ``unit`` is metres
    per file unit. ``heading`` (degrees about Z) and ``origin`` (metres, X and Y) say how the
    performer stood in the file before the turn and shift: partners keep their placement by them.
    ``stacks`` are the names of an FBX file's animation stacks.
    ``span`` are the first and last of the frames read that are used, None for all of them.
    Of marker files, ``marker_rms_mm`` says by label how far the solved body is from the markers,
    ``bridged`` by joint in which spans of frames (first, last) it was out of sight, and
    ``inferred`` which joints no marker shows at all.
    """

    motion: Motion
    roles: Mapping[str, str]
    confidence: Mapping[str, float]
    format: str
    system: str
    unit: float
    unit_source: str
    up_axis: str
    up_source: str
    heading: float
    origin: tuple[float, float]
    notes: tuple[str, ...]
    stacks: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    marker_rms_mm: Mapping[str, float] = field(default_factory=dict)
    bridged: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    inferred: tuple[str, ...] = ()
