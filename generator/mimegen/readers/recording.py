"""The result of reading a file: a motion in mimegen's convention, and how the file was read."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mimegen.base.names import words
from mimegen.motion import Motion
from mimegen.readers.roles import ESSENTIAL

# A role with a lower confidence, and a body further from its markers (RMS), need a second look.
SURE = 0.75
GOOD_FIT_MM = 15.0


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion read from a file.

    ``motion`` is in metres, Z up, facing -Y and over the origin at the start, the ground at
    Z = 0, at the file's true frame rate. ``roles`` maps roles to joint names, ``confidence`` maps
    them to 0 to 1. ``unit`` is metres per file unit. ``heading`` (degrees about Z) and ``origin``
    (metres, X and Y) are the performer's heading and position in the file at the start; they
    restore the placement of two people to each other. ``stacks`` are the names of an FBX file's
    animation stacks. ``skipped`` is the number of frames in the file before the first one read;
    ``span`` is the first and last frame used, counted among those read, None if all are used.
    ``notes`` are sentences on every assumption and doubt.

    For marker files, ``marker_rms_mm`` is the distance of the solved body from each marker (RMS,
    by label), ``bridged`` lists by joint the spans of frames (first, last) in which its markers
    were out of sight, and ``inferred`` names the joints that no marker shows at all. ``mirrored``
    is True if the file held the mirror image of the motion. ``prompt`` is the text that a
    text-to-motion model was given.
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
    """Return the essential roles whose bone is uncertain.

    There are none in a file of markers, because its skeleton is mimegen's own.
    """
    return [role for role in ESSENTIAL
            if recording.confidence[role] < SURE and not recording.marker_rms_mm]


def problems_of(recording: Recording) -> tuple[str, ...]:
    """Return notes on what needs a second look: uncertain bones, and markers far from the body."""
    found = [f"bone {recording.roles[role]!r} is only {recording.confidence[role]:.0%} sure to be"
             f" the {words(role)}; see inspect --picture, and correct it with --map FILE"
             for role in unsure_roles(recording)]
    if recording.marker_rms_mm:
        rms = float(np.sqrt(np.mean(np.square(list(recording.marker_rms_mm.values())))))
        if rms > GOOD_FIT_MM:
            found.append(f"the body is away from its markers by {rms:.0f} mm (RMS)")
    return tuple(found)
