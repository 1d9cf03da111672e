"""Read motions from files of markers: labels identify the markers, and a skeleton is fitted."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.markers import MarkerSet, Solution, find_marker_set, solve
from mimegen.markers.standing import shows_only_upper_body, shows_trunk, trunk_up
from mimegen.readers.cameras3d.centres import tracked_centres
from mimegen.readers.cameras3d.tracked import Tracked, recording_of_tracked
from mimegen.readers.canonical import Stated, canonical_recording
from mimegen.readers.kinds import kind_of
from mimegen.readers.markertables import MOTIVE, NEXUS, QUALISYS, is_nexus
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.points import UNLABELLED, Points, read_points, stood_up
from mimegen.readers.recording import Recording

# RMS distances between markers and body, in millimetres: three times the first is a bad marker; a
# median above the second is no body.
GOOD_FIT_MM = 15.0
NO_BODY_MM = 60.0
# Names of the formats of marker files.
KINDS = {".trc": "TRC", ".csv": MOTIVE, ".tsv": QUALISYS}
# Formats that never state which axis is up.
UNSTATED = (".trc", ".tsv")
CENTRES = "joint centres"
# Greatest confidence of a joint that no marker shows.
INFERRED = 0.6


def read_c3d(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a recording of one person from a file's labelled markers.

    Raises RequestError, one line, if the file is missing or damaged, holds several people of whom
    none is chosen, has no labels or none of a known marker set, or shows too little of a body.
    """
    points = read_points(path, options.subject, options.fps_of_file)
    if points.people:
        raise RequestError(f"{path}: contains the markers of {len(points.people)} people"
                           f" ({', '.join(points.people)}); choose one with --subject NAME")
    if all(UNLABELLED.fullmatch(label) for label in points.labels):
        raise RequestError(f"{path}: its {len(points.labels)} markers have no labels, so they"
                           " cannot be assigned to the body; label them first, or show the raw"
                           " points")
    centres = tracked_centres(points, _format(path))
    if centres is not None:
        return _of_centres(path, *centres, options)
    found = find_marker_set(str(path), points.labels)
    points = _trunk_upright(points, found, kind_of(path) in UNSTATED)
    solution = solve(str(path), points.labels, points.positions, points.fps, found)
    typical = float(np.median(list(solution.rms_mm.values())))
    if typical > NO_BODY_MM:
        raise RequestError(f"{path}: its markers do not move like those of one body (median error"
                           f" {typical:.0f} mm); they are mislabelled or the file is damaged")
    recording = canonical_recording(path, solution.motion, _format(path),
                                    (*points.notes, *solution.notes, *_fit(solution)), options,
                                    Stated(points.unit, points.up_axis), solution.frames.start)
    confidence = {role: min(sure, INFERRED) if recording.roles[role] in solution.inferred else sure
                  for role, sure in recording.confidence.items()}
    return replace(recording, confidence=confidence, system=found.name, unit=points.unit,
                   unit_source=points.unit_source, up_axis=points.up_axis,
                   up_source=points.up_source, marker_rms_mm=solution.rms_mm,
                   bridged=_bridged(solution), inferred=solution.inferred,
                   mirrored=points.mirrored or recording.mirrored)


def _format(path: Path) -> str:
    """Return the name of a marker file's format."""
    kind = kind_of(path)
    return NEXUS if kind == ".csv" and is_nexus(path) else KINDS.get(kind, "C3D")


def _of_centres(path: Path, points: Points, found: Tracked, options: ReadOptions) -> Recording:
    """Return the recording of joint centres, for which no marker set is needed."""
    recording = recording_of_tracked(path, found, replace(options, subject=None))
    return replace(recording, system=CENTRES, unit=points.unit, unit_source=points.unit_source,
                   up_axis=points.up_axis, up_source=points.up_source, mirrored=points.mirrored)


def _trunk_upright(points: Points, marker_set: MarkerSet, unstated: bool) -> Points:
    """Turn points so that the trunk is upright, if the feet cannot show which axis is up.

    That is so if only an upper body has markers, or if files of this kind never state an up axis
    (``unstated``). Other points stay as they are.
    """
    known = [(n, mark) for n, label in enumerate(points.labels)
             if (mark := marker_set.landmark(label)) is not None]
    landmarks = [mark for _, mark in known]
    if not shows_trunk(landmarks) or not (unstated or shows_only_upper_body(landmarks)):
        return points
    up = trunk_up(landmarks, points.positions[:, [n for n, _ in known]])
    return stood_up(points, up, "the trunk's upper end is above its lower end")


def _fit(solution: Solution) -> tuple[str, ...]:
    """Return notes on how well the fitted body matches its markers."""
    values = np.array(list(solution.rms_mm.values()))
    worst = max(solution.rms_mm, key=lambda label: solution.rms_mm[label])
    note = f"{len(values)} markers, residual RMS {np.sqrt(np.mean(values**2)):.1f} mm" \
           f" (worst {worst}: {values.max():.1f})"
    bad = [label for label, rms in solution.rms_mm.items() if rms > 3 * GOOD_FIT_MM]
    return (note, f"far from the body, perhaps mislabelled: {', '.join(bad)}") if bad else (note,)


def _bridged(solution: Solution) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return by joint the spans of frames (first, last) in which its markers were out of sight."""
    spans = {}
    for joint, name in enumerate(solution.motion.skeleton.names):
        gaps = np.concatenate([[False], solution.unseen[:, joint], [False]])
        edges = np.flatnonzero(gaps[1:] != gaps[:-1]).tolist()
        if edges:
            spans[name] = tuple((a, b - 1) for a, b in list(pairwise(edges))[::2])
    return spans
