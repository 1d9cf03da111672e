"""Report what a motion capture file holds and how it is interpreted."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.names import words
from mimegen.motion import Motion, quaternions
from mimegen.motion.trimming import bounds_and_segments
from mimegen.readers import WITH_STACKS, ReadOptions, Recording, Trim, read_motion
from mimegen.readers.bvh import read_bvh
from mimegen.readers.canonical import body_height
from mimegen.readers.fbx import Outline, outline_fbx
from mimegen.readers.names import system_of
from mimegen.readers.points import Points, read_points, subjects_of
from mimegen.readers.recording import problems_of, unsure_roles
from mimegen.readers.roles import DoubtfulBonesError

OUTLINED = (".c3d", ".bvh", *WITH_STACKS)


@dataclass(frozen=True, eq=False)
class Inspection:
    """The report on a file and, if it can be used, its untrimmed recording.

    If it cannot, ``held`` is the skeleton's motion, if any: upright, but of unknown unit and
    facing. ``doubts`` say, by bone, what role it may have.
    """

    facts: dict[str, Any]
    recording: Recording | None = None
    held: Motion | None = None
    doubts: Mapping[str, str] = field(default_factory=dict)


def inspect_file(path: Path, options: ReadOptions) -> Inspection:
    """Return a report on a file. Raises RequestError if it cannot be read at all."""
    try:
        recording = read_motion(path, replace(options, trim=Trim()))
    except RequestError as problem:
        facts, held = _outline(path, options, problem)
        doubts = problem.doubts if isinstance(problem, DoubtfulBonesError) else {}
        return Inspection(facts | {"problems": [str(problem)]}, None, held, doubts)
    doubts = {recording.roles[role]: f"{words(role)}? {recording.confidence[role]:.0%}"
              for role in unsure_roles(recording)}
    return Inspection(_facts(path, recording), recording, doubts=doubts)


def _facts(path: Path, recording: Recording) -> dict[str, Any]:
    """Return the report on a file whose motion can be used."""
    facts = _frames(path, recording.format, recording.system, _of_motion(recording.motion)) | {
        "unit_m": recording.unit, "unit_found_by": recording.unit_source,
        "up_axis": recording.up_axis, "up_axis_found_by": recording.up_source,
        "height_m": round(body_height(recording.motion, recording.roles), 3),
        "animation_stacks": list(recording.stacks),
        "roles": dict(recording.roles),
        "mapping": {role: {"bone": joint, "confidence": recording.confidence[role]}
                    for role, joint in recording.roles.items()},
        "bones_without_role": [name for name in recording.motion.skeleton.names
                               if name not in recording.roles.values()],
        **_performance(recording.motion, recording.roles),
    }
    if recording.marker_rms_mm:
        facts |= {"kind": "markers", "markers": list(recording.marker_rms_mm),
                  "subjects": list(subjects_of(path)),
                  "marker_set": recording.system,
                  "marker_rms_mm": {label: round(rms, 1) for label, rms
                                    in recording.marker_rms_mm.items()},
                  "inferred_joints": list(recording.inferred)}
    return facts | {"notes": list(recording.notes), "problems": list(problems_of(recording))}


def _of_motion(motion: Motion) -> Outline:
    return Outline(motion.skeleton.names, motion.frames, motion.fps, motion=motion)


def _stood_up(motion: Motion) -> Motion:
    """Return a motion of unknown roles, rotated so that its longest extent is along Z."""
    sizes = np.median(np.ptp(motion.global_pose.positions, axis=1), axis=0)
    degrees = {0: [0.0, -90.0, 0.0], 1: [90.0, 0.0, 0.0], 2: [0.0, 0.0, 0.0]}
    turn = quaternions.from_rotation_vectors(np.radians(degrees[int(np.argmax(sizes))]))
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.multiply(turn, rotations[:, 0])
    return Motion(motion.skeleton, motion.fps, quaternions.rotate(turn, motion.root_positions),
                  rotations)


def _frames(path: Path, kind: str, system: str, held: Outline) -> dict[str, Any]:
    return {"file": path.name, "format": kind, "system": system, "kind": "skeleton",
            "bones": len(held.bones), "frames": held.frames, "fps": round(held.fps, 4),
            "duration_s": round(held.frames / held.fps, 3)}


def _performance(motion: Motion, roles: Mapping[str, str]) -> dict[str, Any]:
    """Return where the performance lies: the span --trim auto keeps, and parts between rests."""
    whole, parts = bounds_and_segments(motion, roles)
    return {
        "trim": {"first_frame": whole.first, "last_frame": whole.last,
                 "reasons": list(whole.reasons)},
        "segments": [[span.first, span.last] for span in parts],
    }


def _outline(path: Path, options: ReadOptions,
             problem: RequestError) -> tuple[dict[str, Any], Motion | None]:
    """Return a report on a file whose motion cannot be used, and its skeleton's motion.

    Raises ``problem`` if nothing can be reported, or if the user's options may be the cause.
    """
    kind = path.suffix.lower()
    wrong_stack = options.stack is not None and kind not in WITH_STACKS
    if options.mapping or options.skeleton or wrong_stack or kind not in OUTLINED:
        raise problem
    try:
        if kind == ".c3d":
            return _of_points(path, read_points(path, options.subject, options.fps_of_file)), None
        if kind == ".bvh":
            held = _of_motion(_stood_up(read_bvh(path, options.fps_of_file)[0]))
        else:
            held = outline_fbx(path, options.stack)
    except RequestError:
        raise problem from None
    if options.fps_of_file is not None:
        held = replace(held, fps=options.fps_of_file)
    return _frames(path, kind[1:].upper(), system_of(held.bones), held) | {
        "animation_stacks": list(held.stacks), "roles": {}, "mapping": {},
        "bones_without_role": list(held.bones), "notes": []}, held.motion


def _of_points(path: Path, points: Points) -> dict[str, Any]:
    """Return the report on a C3D file of which only the markers can be used."""
    count = len(points.positions)
    return {"file": path.name, "format": "C3D", "system": "unknown", "kind": "markers",
            "frames": count, "fps": round(points.fps, 4),
            "duration_s": round(count / points.fps, 3), "markers": list(points.labels),
            "subjects": list(subjects_of(path)),
            "unit_m": points.unit, "unit_found_by": points.unit_source,
            "up_axis": points.up_axis, "up_axis_found_by": points.up_source,
            "roles": {}, "mapping": {}, "notes": list(points.notes)}
