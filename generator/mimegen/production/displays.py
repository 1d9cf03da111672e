"""Point-light displays of takes, castings and markers, and the files that hold them."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash, publish
from mimegen.base.names import path_name
from mimegen.characters.character import Performance
from mimegen.compositing.video import CRF, PRESET
from mimegen.library.casting import Casting
from mimegen.library.take import Take
from mimegen.manifest.file import add_rows, content_of, json_of
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import Interval, cut
from mimegen.plan.clips import DisplayClip
from mimegen.pointlight import outputs
from mimegen.pointlight.filming import filmed, source_fps, write_mp4
from mimegen.pointlight.record import display_facts
from mimegen.pointlight.scenes import scene_of_markers, scene_of_motions, scene_of_performances
from mimegen.pointlight.spec import Display
from mimegen.pointlight.stimulus import Scene, Stimulus
from mimegen.readers.points import read_points

CODEC = f"H.264, yuv420p, x264 {PRESET}, crf {CRF}"


def take_scene(take: Take, display: Display) -> Scene:
    """Return a take's performers as dots at the joints of their own skeletons.

    Raises RequestError where a skeleton lacks a joint that the display's dots need.
    """
    facts = {**take.facts(), "avatar": None, "dots_from": "motion", "timeline": take.timeline}
    for partner in take.files[1:]:
        facts |= {"partner_motion_file": partner.name,
                  "partner_motion_sha256": file_hash(partner)}
    return scene_of_motions(path_name(*take.words), take.sources(source_fps(display)), display,
                            facts)


def cast_scene(casting: Casting, display: Display, fps: float) -> Scene:
    """Return a casting's performers, at ``fps``, as dots at their characters' joints, with bodies.

    Raises RequestError where the motion does not fit the character.
    """
    facts = {**casting.facts(), "dots_from": "character", "timeline": casting.take.timeline}
    name = path_name(*casting.take.words, casting.name)
    return scene_of_performances(name, _performed(casting, fps), display, facts)


@lru_cache(maxsize=2)
def _performed(casting: Casting, fps: float) -> tuple[Performance, ...]:
    return casting.with_faults(casting.perform(fps))


def marker_scene(file: Path, display: Display, subject: str | None = None) -> Scene:
    """Return a C3D file's markers as dots, a ``subject``'s or all of them.

    Raises RequestError where the file holds none, or not those that the display names.
    """
    points = read_points(file, subject)
    facts = {
        "action": file.stem, "take": file.stem, "actor": "recorded",
        "labels": [file.stem], "avatar": None, "seed": 0, "motion_file": file.name,
        "motion_sha256": file_hash(file), "dots_from": "markers", "motion_subject": subject,
        "motion_unit_m": points.unit, "motion_unit_found_by": points.unit_source,
        "motion_up_axis": points.up_axis, "motion_up_axis_found_by": points.up_source,
        "motion_notes": list(points.notes),
    }
    return scene_of_markers(path_name(file.stem), points, display, facts)


WRITERS: dict[str, Callable[[Stimulus, Path], None]] = {
    ".mp4": write_mp4, ".gif": outputs.write_gif, ".png": outputs.write_montage,
    ".csv": outputs.write_csv, ".npz": outputs.write_npz, ".txt": outputs.write_data3d,
}
CODECS = {".mp4": CODEC, ".gif": "GIF", ".png": "PNG"}


def write_display(stimulus: Stimulus, target: Path) -> Row:
    """Write a display to a file, by the ending of its name, with its row as JSON beside it.

    A folder gets everything: see ``write_folder``. Returns the row. Raises RequestError where the
    ending is unknown or the place cannot be written.
    """
    check_target(target)
    if not target.suffix:
        return write_folder(stimulus, target)
    WRITERS[target.suffix.lower()](stimulus, target)
    row = _row(stimulus, stimulus.name, target, target.name)
    publish(target.with_suffix(".json"), json_of(row, indent=1))
    return row


def check_target(target: Path) -> None:
    """Raise RequestError for a file whose ending is that of no display."""
    if target.suffix and target.suffix.lower() not in WRITERS:
        raise RequestError(f"{target}: a display is written to {', '.join(WRITERS)} or to a"
                           " folder (a name without an ending)")


def write_folder(stimulus: Stimulus, out: Path) -> Row:
    """Write clip, GIF, frames, montage, dots and the windows of the display's sample, with rows.

    ``out``/manifest.jsonl gets a row for the clip and one for each window. Returns the clip's.
    """
    name = stimulus.name
    for suffix, writer in WRITERS.items():
        writer(stimulus, out / f"{name}{suffix}")
    outputs.write_frames(stimulus, out / name / "frames")
    row = _row(stimulus, name, out / f"{name}.mp4", f"{name}.mp4")
    windows = [
        Row(**content_of(row) | facts | {
            "codec": "PNG", "sample_id": f"{name}-window{facts['window']}",
            "file_name": f"{name}/{facts['file_name']}"})
        for facts in outputs.write_windows(stimulus, out / name)
    ]
    add_rows(out, [row, *windows])
    return row


def write_display_clip(clip: DisplayClip, target: Path) -> Row:
    """Write a display of a plan as ``target`` and return its manifest row, under its plain name.

    Raises RequestError where the motion does not fit the character or the dots.
    """
    display, casting = clip.display, clip.casting
    angle, shared = clip.variant.angle, None if clip.of_its_own else clip.config
    scene = cast_scene(casting, display, source_fps(display, shared))
    stimulus = filmed(scene, display, casting.take.seed, angle, shared)
    write_mp4(stimulus, target)
    return _row(stimulus, clip.sample_id, target, f"clips/{clip.sample_id}.mp4", {
        "angle": int(angle) if angle.is_integer() else angle, "config_name": str(clip.variant),
        "background_config": "blank", "background_name": "blank",
        "render_config_name": clip.config.name, "shot_key": None, "clip_key": clip.key,
        **({"permutation": clip.permutation.content()} if clip.permutation else {}),
    })


def _row(stimulus: Stimulus, sample_id: str, file: Path, file_name: str,
         planned: dict[str, Any] | None = None) -> Row:
    shown = _timeline(stimulus)
    facts = {name: value for name, value in display_facts(stimulus).items() if name != "timeline"}
    return Row(**facts | ({"timeline": shown} if shown else {}) | (planned or {}) | {
        "sample_id": sample_id, "file_name": file_name, "type": "pointlight",
        "codec": CODECS.get(file.suffix.lower(), "none"), "sha256": file_hash(file)})


def _timeline(stimulus: Stimulus) -> list[Interval] | None:
    """Return what happens in a display; None where it does not go on as the motion does."""
    said: list[Interval] | None = stimulus.scene.facts.get("timeline")
    shown = stimulus.moments
    if said is None or len(shown) < 2 or not (np.diff(shown) > 0).all():
        return None
    end = len(shown) / stimulus.display.fps
    moments = np.append(shown, 2 * shown[-1] - shown[-2])
    return cut(said, moments, np.linspace(0.0, end, len(moments)))
