"""Make point-light displays of takes, castings and markers, and write them to files."""

import json
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.base.files import clear, file_hash, publish
from mimegen.base.names import inner_path, path_name
from mimegen.base.spans import spans
from mimegen.compositing.video import CRF, PRESET
from mimegen.farm.task import Task
from mimegen.library.casting import Casting
from mimegen.library.figures import published_bodies
from mimegen.library.foot_contacts import cast_contacts, take_contacts, tells_steps
from mimegen.library.gait_take import GaitTake
from mimegen.library.shown_timeline import timeline_of
from mimegen.library.take import LibraryTake
from mimegen.manifest.file import add_rows, content_of, json_of
from mimegen.manifest.footfalls import window_of
from mimegen.manifest.parts import PersonShown
from mimegen.manifest.record import with_record
from mimegen.manifest.row import FACE, Row
from mimegen.manifest.timeline import Interval, cut, retold, without_faces
from mimegen.plan.clips import DisplayClip
from mimegen.plan.front import turned
from mimegen.pointlight import outputs
from mimegen.pointlight.displayjob import OF_CHARACTERS, DisplayJob
from mimegen.pointlight.filming import source_fps, write_mp4
from mimegen.pointlight.manipulation import WHO
from mimegen.pointlight.record import display_facts, is_flipped
from mimegen.pointlight.scenes import scene_of_markers, scene_of_motions, scene_of_performances
from mimegen.pointlight.spec import Display
from mimegen.pointlight.stimulus import FOOT_CONTACTS, DotScene, Stimulus
from mimegen.pointlight.times import ShownTimes
from mimegen.production.other_partner import (
    cast_with_other_partner,
    check_partner,
    joint_timeline,
    partner_facts,
    with_other_partner,
)
from mimegen.production.people_timeline import PEOPLE, people_timeline
from mimegen.readers.points import read_points
from mimegen.shots.config import RenderConfig
from mimegen.store.store import Store

CODEC = f"H.264, yuv420p, x264 {PRESET}, crf {CRF}"


def take_scene(take: LibraryTake, display: Display, other: LibraryTake | None = None) -> DotScene:
    """Return a take's performers as dots at the joints of their own skeletons.

    The partner of an ``other`` take replaces the second performer. Raises RequestError if a
    skeleton lacks a joint that the display's dots need, or if nobody can be replaced.
    """
    facts = {**take.facts(), **_front(take), "avatar": None, "dots_from": "motion",
             "timeline": take.timeline}
    for partner in take.files[1:]:
        facts |= {"partner_motion_file": partner.name,
                  "partner_motion_sha256": file_hash(partner)}
    facts |= _loop_facts(take, facts)
    fps = source_fps(display)
    sources = take.sources(fps)
    facts[FOOT_CONTACTS] = take_contacts(take, sources)
    if other is not None:
        check_partner(take, other)
        sources = with_other_partner(sources, other.sources(fps))
    scene = scene_of_motions(path_name(*take.words), sources, display, facts)
    return _of_takes(scene, take, other)


def _of_takes(scene: DotScene, take: LibraryTake, other: LibraryTake | None) -> DotScene:
    """Return a scene with what tells its takes apart, and what is known of the other partner."""
    scene = replace(scene, version=_version(take))
    if other is None:
        return scene
    return replace(
        scene, name=path_name(scene.name, "with", other.action), partner=partner_facts(other),
        version=(*scene.version, *other.words, *_version(other)),
        facts=scene.facts | {"timeline": joint_timeline(take, other)})


def looped(take: GaitTake, display: Display) -> GaitTake:
    """Return a walker in whole cycles of the display's frames."""
    rate = source_fps(display)
    return replace(take, loop=round(rate / display.fps), loop_fps=rate)


def _loop_facts(take: LibraryTake, facts: dict[str, Any]) -> dict[str, Any]:
    """Return ``gait`` of a walker that loops, which says so; empty for other takes."""
    if isinstance(take, GaitTake) and take.loop:
        return {"gait": facts["gait"] | {"loop": True}}
    return {}


def _version(take: LibraryTake) -> tuple[str, ...]:
    """Return what tells a take apart from others of its words: style, hand, part of the file."""
    return tuple(word for word in take.version if word not in take.words)


def cast_scene(casting: Casting, display: Display, fps: float, other: LibraryTake | None = None
               ) -> DotScene:
    """Return a casting's performers as dots at their characters' joints, with bodies, at ``fps``.

    The partner of an ``other`` take, on the same character, replaces the second performer. Raises
    RequestError if the motion does not fit the character, or if nobody can be replaced.
    """
    performed = casting.perform(fps)
    facts = _casting_facts(casting, fps) | OF_CHARACTERS | {
        FOOT_CONTACTS: cast_contacts(casting, performed)}
    facts |= _loop_facts(casting.take, facts)
    bodies = casting.with_faults(performed)
    if other is not None:
        check_partner(casting.take, other)
        members = casting.members[-other.performers:]
        bodies = cast_with_other_partner(bodies, Casting(other, members).perform(fps))
    scene = scene_of_performances(_scene_name(casting), bodies, display, facts)
    return _of_takes(scene, casting.take, other)


def _scene_name(casting: Casting) -> str:
    return path_name(*casting.take.words, casting.name)


def _casting_facts(casting: Casting, fps: float) -> dict[str, Any]:
    retimed = any(fault.kind.retimes for fault in casting.faults)
    return {**casting.facts(), **casting.body_facts(), **_front(casting.take),
            "timeline": None if retimed else timeline_of(casting.take, fps)}


def _front(take: LibraryTake) -> dict[str, float]:
    return {"front_azimuth_deg": turned(take.front_deg)}


def _view_azimuth(known: dict[str, Any]) -> dict[str, float]:
    """Return the camera's azimuth from the performer's front; empty if the front is unknown."""
    front = known.get("front_azimuth_deg")
    return {} if front is None else {"view_azimuth_deg": turned(known["azimuth_deg"] - front)}


def marker_scene(file: Path, display: Display, subject: str | None = None,
                 fps_of_file: float | None = None) -> DotScene:
    """Return a C3D file's markers as dots: those of one ``subject``, or all of them.

    ``fps_of_file`` overrides the file's own frame rate. Raises RequestError if the file has no
    markers, or lacks markers that the display names.
    """
    points = read_points(file, subject, fps_of_file)
    facts = {
        "action": file.stem, "take": file.stem, "actor": "recorded",
        "labels": [file.stem], "avatar": None, "seed": 0, "motion_file": file.name,
        "motion_sha256": file_hash(file), "dots_from": "markers", "motion_subject": subject,
        "motion_fps_of_file": fps_of_file,
        "motion_unit_m": points.unit, "motion_unit_found_by": points.unit_source,
        "motion_up_axis": points.up_axis, "motion_up_axis_found_by": points.up_source,
        "motion_notes": list(points.notes),
    }
    scene = scene_of_markers(path_name(file.stem), points, display, facts)
    return replace(scene, version=(str(facts["motion_sha256"]), str(subject), str(fps_of_file)))


WRITERS: dict[str, Callable[[Stimulus, Path], None]] = {
    ".mp4": write_mp4, ".gif": outputs.write_gif, ".png": outputs.write_montage,
    ".csv": outputs.write_csv, ".npz": outputs.write_npz, ".txt": outputs.write_data3d,
}
FRAMES = "frames"
# A folder always gets the MP4, which its rows describe, and the CSV, which experiment.py shows.
ALWAYS = (".mp4", ".csv")
# What else it gets.
FORMATS = (*(ending[1:] for ending in WRITERS if ending not in ALWAYS), FRAMES)
CODECS = {".mp4": CODEC, ".gif": "GIF", ".png": "PNG"}


def write_display(stimulus: Stimulus, target: Path, formats: Collection[str] = FORMATS) -> Row:
    """Write a display to a file in the format of its suffix, with its row as JSON beside it.

    A path without a suffix is a folder, which gets MP4, CSV and ``formats``: see
    ``write_folder``. Returns the row. Raises RequestError if the suffix is unknown or the target
    cannot be written.
    """
    check_target(target)
    if not target.suffix:
        return write_folder(stimulus, target, formats)
    ending = target.suffix.lower()
    WRITERS[ending](stimulus, target)
    shown = outputs.as_gif(stimulus) if ending == ".gif" else stimulus
    facts = display_facts(shown)
    if ending == ".png":
        facts |= outputs.sheet_facts(stimulus, *outputs.sheet_of(stimulus))
        facts |= {"timeline": None, "foot_events": None}
    row = with_record(target, _row(facts, shown.times, stimulus.name, target, target.name))
    publish(_row_path(target), json_of(row, indent=1))
    return row


def _row_path(target: Path) -> Path:
    """Return the path of a file's row: x.json, or x.gif.json if x.json belongs to another file."""
    plain = target.with_suffix(".json")
    with suppress(FileNotFoundError, ValueError, KeyError, TypeError):
        if json.loads(plain.read_text(encoding="utf-8"))["file_name"] != target.name:
            return target.with_name(f"{target.name}.json")
    return plain


def check_target(target: Path) -> None:
    """Raise RequestError if a file's suffix is not that of a format, or if no row may name it."""
    if target.suffix and target.suffix.lower() not in WRITERS:
        raise RequestError(f"{target}: a display is written to {', '.join(WRITERS)} or to a"
                           " folder (a name without an ending)")
    if target.suffix:
        try:
            inner_path(target.name)
        except ValueError as problem:
            raise RequestError(f"{target}: a file's name may neither begin with a letter and a"
                               " colon nor contain a backslash; choose another name") from problem


def write_folder(stimulus: Stimulus, out: Path, formats: Collection[str] = FORMATS) -> Row:
    """Write a display's files as ``write_files`` does, and their rows to ``out``/manifest.jsonl.

    Returns the clip's row.
    """
    rows = write_files(stimulus, out, formats)
    add_rows(out, rows)
    return rows[0]


def write_files(stimulus: Stimulus, out: Path, formats: Collection[str] = FORMATS) -> list[Row]:
    """Write a display as MP4, as CSV, in further formats, and as the windows of its sample.

    Returns the row of the clip and one of each window.
    """
    name = stimulus.name
    for suffix, writer in WRITERS.items():
        if suffix in ALWAYS or suffix[1:] in formats:
            writer(stimulus, out / f"{name}{suffix}")
    if FRAMES in formats:
        outputs.write_frames(stimulus, out / name / FRAMES)
    clip = out / f"{name}.mp4"
    row = with_record(clip, _row(display_facts(stimulus), stimulus.times, name, clip, clip.name))
    windows = [
        Row(**content_of(row) | facts | _of_window(row, facts["frame_indices"]) | {
            "codec": "PNG", "sample_id": f"{name}-window{facts['window']}",
            "file_name": f"{name}/{facts['file_name']}"})
        for facts in outputs.write_windows(stimulus, out / name)
    ]
    return [row, *windows]


def _of_window(row: Row, frames: Sequence[int]) -> dict[str, Any]:
    """Return what happens in a clip's consecutive ``frames``, counted from the first of them."""
    first, end = frames[0], frames[-1] + 1
    found: dict[str, Any] = {}
    if row.timeline is not None:
        span = np.array([first, end]) / row.fps
        found["timeline"] = cut(row.timeline, span, span - span[0])
    if row.foot_events is not None:
        found["foot_events"] = window_of(row.foot_events, first, end, row.fps)
    return found


def display_task(clip: DisplayClip, store: Store) -> Task:
    """Return the task that makes a planned display.

    Raises RequestError if the motion does not fit the character.
    """
    shared = _shared(clip)
    fps = source_fps(clip.display, shared)
    figures = published_bodies(clip.casting, fps, store)
    target = store.encoded(clip.key)
    clear(target)
    return Task(DisplayJob(figures, _scene_name(clip.casting), clip.display,
                           clip.casting.take.seed, clip.angle, shared, target,
                           _faults_of(clip.casting, fps, store)),
                f"clip {clip.sample_id}")


def _faults_of(casting: Casting, fps: float, store: Store) -> tuple[dict[str, Any], ...]:
    """Return the records of a casting's faults, in the motion's seconds."""
    if not casting.moving_faults:
        return ()
    return tuple(record.content() for record in
                 casting.fault_records(casting.perform(fps, store)))


def _shared(clip: DisplayClip) -> RenderConfig | None:
    """Return the render config whose camera a display shares; None if it has its own camera."""
    return None if clip.has_own_camera else clip.config


def display_row(clip: DisplayClip, file: Path, facts: dict[str, Any], times: ShownTimes) -> Row:
    """Return the row, under its plain name, of a display that a worker wrote to ``file``.

    ``facts`` and ``times`` are as returned by ``read_facts``.
    """
    angle = clip.angle
    fps = source_fps(clip.display, _shared(clip))
    known = _casting_facts(clip.casting, fps) | facts
    if not tells_steps(clip.casting, fps):
        known.pop("foot_events", None)
    return _row(known, times, clip.sample_id, file, f"clips/{clip.sample_id}.mp4", {
        "angle": int(angle) if angle.is_integer() else angle, "config_name": str(clip.variant),
        "background_config": "blank", "background_name": "blank",
        "view_azimuth_deg": clip.view_azimuth_deg,
        "render_config_name": clip.config.name, "shot_key": None, "clip_key": clip.key,
        **({"permutation": clip.permutation.content()} if clip.permutation else {}),
    })


def _row(known: dict[str, Any], times: ShownTimes, sample_id: str, file: Path,
         file_name: str, planned: dict[str, Any] | None = None) -> Row:
    """Return a display's row.

    ``known`` holds the facts of the display, ``times`` the times of the motion that each frame
    shows, and ``planned`` the fields that a plan sets.
    """
    facts = {name: value for name, value in known.items() if name != "timeline"}
    shown = _timeline(known.get("timeline"), facts, times)
    faults = [one | {"intervals": _spans_shown(one["intervals"], times.own[:, 0], facts["fps"])}
              for one in facts.get("faults", ())]
    merged = (facts | _view_azimuth(facts) | ({"faults": faults} if faults else {})
              | ({"timeline": shown} if shown else {}) | (planned or {}))
    return Row(**merged | {
        "sample_id": sample_id, "file_name": file_name, "type": "pointlight",
        "faces_hidden": [*PEOPLE[:times.own.shape[1]]],
        "codec": CODECS.get(file.suffix.lower(), "none"), "sha256": file_hash(file)})


def _timeline(intervals: list[Interval] | None, facts: dict[str, Any], times: ShownTimes
              ) -> list[Interval] | None:
    """Return the timeline of a display; None unless motion time increases from frame to frame."""
    if not intervals:
        return None
    # In a mirror image left hands are right ones.
    if is_flipped(step["name"] for step in facts["manipulations"]
                  if not step["parameters"].get(WHO)):
        intervals = retold(intervals, mirror=True)
    intervals = without_faces(intervals, (), True, facts.get("motion_kind") == FACE)
    people = facts.get("people_shown")
    if people:
        return people_timeline(intervals, [PersonShown(**one) for one in people], times.own,
                               facts["fps"])
    return _at_moments(intervals, times.shared, facts["fps"])


def _at_moments(intervals: list[Interval], shown: NDArray[np.float64], fps: float
                ) -> list[Interval] | None:
    """Return intervals at the times of a display; None unless motion time increases."""
    if len(shown) < 2 or not (np.diff(shown) > 0).all():
        return None
    end = len(shown) / fps
    moments = np.append(shown, 2 * shown[-1] - shown[-2])
    return cut(intervals, moments, np.linspace(0.0, end, len(moments)))


def _spans_shown(intervals: Sequence[Sequence[float]], moments: NDArray[np.float64], fps: float
                 ) -> list[list[float]]:
    """Return when a display shows intervals of the motion, both in seconds; unseen ones left out.

    ``moments`` (F,) is the motion time that each frame shows.
    """
    inside = [(moments >= start) & (moments < end) for start, end in intervals]
    return [[round(first / fps, 3), round(last / fps, 3)]
            for seen in inside for first, last in spans(seen)]
