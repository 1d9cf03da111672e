"""What a motion capture file holds, and how it is understood."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.errors import RequestError
from mimegen.motion import Motion
from mimegen.motion.trimming import segments, trim_bounds
from mimegen.readers import (
    WITH_STACKS,
    Points,
    ReadOptions,
    Recording,
    Trim,
    read_motion,
    read_points,
)
from mimegen.readers.bvh import read_bvh
from mimegen.readers.fbx import Outline, outline_fbx
from mimegen.readers.house import body_height
from mimegen.readers.names import system_of
from mimegen.readers.roles import ESSENTIAL

# Roles less sure than this, and markers further off, are worth a second look.
SURE, GOOD_FIT_MM = 0.75, 15.0
OUTLINED = (".c3d", ".bvh", *WITH_STACKS)


def inspect_file(path: Path, options: ReadOptions) -> tuple[dict[str, Any], Recording | None]:
    """Return what is to be said of a file, and its recording, whole, where it can be used.

    Raises RequestError where the file cannot be read at all.
    """
    try:
        recording = read_motion(path, replace(options, trim=Trim()))
    except RequestError as problem:
        return _outline(path, options, problem) | {"problems": [str(problem)]}, None
    facts = _frames(path, recording.format, recording.system, _of_motion(recording.motion)) | {
        "unit_m": recording.unit, "unit_found_by": recording.unit_source,
        "up_axis": recording.up_axis, "up_axis_found_by": recording.up_source,
        "height_m": round(body_height(recording.motion, recording.roles), 3),
        "animation_stacks": list(recording.stacks),
        "mapping": {role: {"bone": joint, "confidence": recording.confidence[role]}
                    for role, joint in recording.roles.items()},
        "bones_without_role": [name for name in recording.motion.skeleton.names
                               if name not in recording.roles.values()],
        **_performance(recording.motion, recording.roles),
    }
    if recording.marker_rms_mm:
        facts |= {"kind": "markers", "markers": list(recording.marker_rms_mm),
                  "marker_set": recording.system,
                  "marker_rms_mm": {label: round(rms, 1) for label, rms
                                    in recording.marker_rms_mm.items()},
                  "inferred_joints": list(recording.inferred)}
    return facts | {"notes": list(recording.notes), "problems": _problems(recording)}, recording


def _of_motion(motion: Motion) -> Outline:
    return Outline(motion.skeleton.names, motion.frames, motion.fps)


def _frames(path: Path, kind: str, system: str, held: Outline) -> dict[str, Any]:
    return {"file": path.name, "format": kind, "system": system, "kind": "skeleton",
            "bones": len(held.bones), "frames": held.frames, "fps": round(held.fps, 4),
            "duration_s": round(max(held.frames - 1, 0) / held.fps, 3)}


def _performance(motion: Motion, roles: Mapping[str, str]) -> dict[str, Any]:
    """Return where the performance is: what --trim auto keeps, and the parts between rests."""
    whole = trim_bounds(motion, roles)
    return {
        "trim": {"first_frame": whole.first, "last_frame": whole.last,
                 "reasons": list(whole.reasons)},
        "segments": [[span.first, span.last] for span in segments(motion, roles)],
    }


def _problems(recording: Recording) -> list[str]:
    # The bones that markers move are our own: only where they are may be in doubt.
    doubts = [role for role in ESSENTIAL if recording.confidence[role] < SURE
              and not recording.marker_rms_mm]
    found = [f"{recording.roles[role]!r} is only {recording.confidence[role]:.0%} sure to be the"
             f" {role.replace('_', ' ')}; see the picture, and say --map if it is not"
             for role in doubts]
    if recording.marker_rms_mm:
        rms = float(np.sqrt(np.mean(np.square(list(recording.marker_rms_mm.values())))))
        if rms > GOOD_FIT_MM:
            found.append(f"the body misses its markers by {rms:.0f} mm (RMS)")
    return found


def _outline(path: Path, options: ReadOptions, problem: RequestError) -> dict[str, Any]:
    """Return what can be said of a file whose motion cannot be used.

    Raises ``problem`` where that is nothing, and where what was said of the file may be wrong.
    """
    kind = path.suffix.lower()
    wrong_stack = options.stack is not None and kind not in WITH_STACKS
    if options.mapping or options.skeleton or wrong_stack or kind not in OUTLINED:
        raise problem
    try:
        if kind == ".c3d":
            return _of_points(path, read_points(path))
        held = _of_motion(read_bvh(path)[0]) if kind == ".bvh" else \
            outline_fbx(path, options.stack)
    except RequestError:
        raise problem from None
    return _frames(path, kind[1:].upper(), system_of(held.bones), held) | {
        "animation_stacks": list(held.stacks), "mapping": {},
        "bones_without_role": list(held.bones), "notes": []}


def _of_points(path: Path, points: Points) -> dict[str, Any]:
    count = len(points.positions)
    return {"file": path.name, "format": "C3D", "system": "unknown", "kind": "markers",
            "frames": count, "fps": round(points.fps, 4),
            "duration_s": round((count - 1) / points.fps, 3), "markers": list(points.labels),
            "unit_m": points.unit, "unit_found_by": points.unit_source,
            "up_axis": points.up_axis, "up_axis_found_by": points.up_source,
            "mapping": {}, "notes": list(points.notes)}
