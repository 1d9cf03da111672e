"""What a reader gives: a motion in the house's convention, and how the file was understood."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mimegen.base.names import words
from mimegen.motion import Motion
from mimegen.readers.roles import ESSENTIAL

# Roles less sure than this, and markers further off, are worth a second look.
SURE = 0.75
GOOD_FIT_MM = 15.0


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion read from a file.

    ``motion`` is in metres, Z up, facing -Y and over the origin at the start, the ground at
    Z = 0, at the file's true frame rate. ``roles`` maps roles to joint names. ``unit`` is metres
    per file unit. ``heading`` (degrees about Z) and ``origin`` (metres, X and Y) say how the
    performer stood in the file before the turn and shift: partners keep their placement by them.
    ``stacks`` are the names of an FBX file's animation stacks.
    ``skipped`` is how many frames of the file lie before the first that is read, ``span`` are the
    first and last of the frames read that are used, None for all of them.
    Of marker files, ``marker_rms_mm`` says by label how far the solved body is from the markers,
    ``bridged`` by joint in which spans of frames (first, last) it was out of sight, and
    ``inferred`` which joints no marker shows at all. ``mirrored`` says that the file held the
    mirror image of the motion, ``prompt`` what a text-to-motion model was told to show. ``notes``
    are every assumption and doubt.
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
    skipped: int = 0
    span: tuple[int, int] | None = None
    marker_rms_mm: Mapping[str, float] = field(default_factory=dict)
    bridged: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    inferred: tuple[str, ...] = ()
    mirrored: bool = False
    prompt: str | None = None


def unsure_roles(recording: Recording) -> list[str]:
    """Return the roles whose bones may be others; those that markers move are our own."""
    return [role for role in ESSENTIAL
            if recording.confidence[role] < SURE and not recording.marker_rms_mm]


def problems_of(recording: Recording) -> tuple[str, ...]:
    """Return what about a file needs a second look: unsure bones, and markers off the body."""
    found = [f"bone {recording.roles[role]!r} is only {recording.confidence[role]:.0%} sure to be"
             f" the {words(role)}; see inspect --picture, and correct it with --map FILE"
             for role in unsure_roles(recording)]
    if recording.marker_rms_mm:
        rms = float(np.sqrt(np.mean(np.square(list(recording.marker_rms_mm.values())))))
        if rms > GOOD_FIT_MM:
            found.append(f"the body is away from its markers by {rms:.0f} mm (RMS)")
    return tuple(found)
