"""The rows of clips and of point-light displays."""

import importlib.metadata
from collections.abc import Collection
from typing import Any

from mimegen import __version__
from mimegen.compositing.video import ClipFacts
from mimegen.faults.showing import SHADOW_MISSING, Showing
from mimegen.library.face_take import FaceTake
from mimegen.library.shown_timeline import timeline_of
from mimegen.manifest.file import content_of, typed_row
from mimegen.manifest.footfalls import events_shown
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import without_faces
from mimegen.plan.background_visibility import clip_shown
from mimegen.plan.clips import DisplayClip, PlannedClip
from mimegen.plan.front import turned
from mimegen.scenery.checks import name_of
from mimegen.scenery.clearing import MAX_SHIFT_M, NONE
from mimegen.store.shotfacts import PanRecord, ShotFacts

# Faults with which the frames that remain still show each step when it is made.
KEEP_STEPS = frozenset({"cut_off", SHADOW_MISSING})
DOUBTS = {"wall": "go through a wall", "ground": "leave the ground"}


def clip_row(clip: PlannedClip, shot_facts: ShotFacts, clip_facts: ClipFacts) -> Row:
    """Return a clip's row from its shot's facts in the store and the facts of its file."""
    pan = {"pan": panned(shot_facts["pan"], clip.showing(shot_facts["frames"]))} \
        if "pan" in shot_facts else {}
    facts: dict[str, Any] = {**shot_facts}
    for name in ("swept", "feet"):
        facts.pop(name, None)
    casting = clip.shot.casting
    return Row(**facts | casting.take.stated() | casting.cast_facts()
               | _faults_and_timeline(clip, shot_facts) | _foot_events(clip, shot_facts) | pan
               | _of_background(clip) | _of_light(clip) | {
        "sample_id": clip.sample_id,
        "file_name": f"clips/{clip.sample_id}.mp4",
        "type": "MIME",
        "config_name": str(clip.variant),
        "render_config_name": clip.shot.config.name,
        "frames": clip_facts.frames,
        "width": clip_facts.width,
        "height": clip_facts.height,
        "sha256": clip_facts.sha256,
        "shot_key": clip.shot.key,
        "front_azimuth_deg": turned(casting.take.front_deg),
        "view_azimuth_deg": clip.view_azimuth_deg,
        **({"permutation": clip.permutation.content()} if clip.permutation else {}),
        "clip_key": clip.key,
        "still_key": clip.still_key(clip.filmed(shot_facts)),
        **_set_changes(clip, shot_facts),
        "background_shown": clip_shown(clip, shot_facts),
        "render_config": clip.shot.config.model_dump(mode="json"),
        **({} if clip.camera_look is None else {
            "camera_look": clip.camera_look.model_dump(mode="json")}),
        "mimegen_version": __version__,
        "numpy_version": importlib.metadata.version("numpy"),
    })


def restated(row: Row, clip: PlannedClip | DisplayClip) -> Row:
    """Return a finished clip's row with what the library's files state now.

    No content key covers these fields, labels and licences among them, so the row may be older
    than they are.
    """
    content = content_of(row)
    if isinstance(clip, DisplayClip):
        stated = clip.casting.take.stated()
    else:
        stated = clip.shot.casting.take.stated() | _of_background(clip) | row_timeline(
            clip, row.faces_hidden or ())
    if content.get("labels") != stated["labels"]:
        content.pop("label", None)
    return typed_row(content | stated)


def _of_background(clip: PlannedClip) -> dict[str, Any]:
    """Return the row's fields of the background."""
    return {
        "background_config": clip.chosen.kind,
        "background_name": clip.chosen.name,
        **_drawn_place(clip),
        "background_licence": clip.background.licence,
        "background_author": clip.background.author,
        "background_source": clip.background.source,
        "background_key": clip.chosen.key,
    }


def _of_light(clip: PlannedClip) -> dict[str, Any]:
    """Return the row's fields of the light on the figures and of their shadows."""
    return {
        "light": clip.shot.rendering.figures_config.light.model_dump(mode="json"),
        **({} if clip.tint is None else {"light_tint": list(clip.tint)}),
        **({} if clip.shade is None else {"shadow_tint": list(clip.shade.tint)}),
    }


def _drawn_place(clip: PlannedClip) -> dict[str, int]:
    """Return the seed that a clip's set was drawn from, and how often it was redrawn."""
    if clip.chosen.seed is None:
        return {}
    redrawn = clip.background.set.redrawn if clip.background.set else 0
    return {"set_seed": clip.chosen.seed} | ({"set_redrawn": redrawn} if redrawn else {})


def doubts_of(clip: PlannedClip, shot_facts: ShotFacts) -> str:
    """Return a warning about performers who do not fit into a clip's set; empty if they fit."""
    doubts = clip.filmed(shot_facts).changes.doubts
    return "" if not doubts else (
        f"{' '.join(clip.shot.casting.words)} in {clip.chosen.name}: the performers"
        f" {' and '.join(DOUBTS[doubt] for doubt in doubts)}; no place within {MAX_SHIFT_M:g} m has"
        " room for their whole path, so choose a larger set or another seed of it")


def _set_changes(clip: PlannedClip, shot_facts: ShotFacts) -> dict[str, Any]:
    """Return the changes made to the set to make room for the performers; empty if none."""
    changes, scenery = clip.filmed(shot_facts).changes, clip.background.set
    if scenery is None or changes == NONE:
        return {}
    names = [name_of(scenery.objects[number]) for number, _ in changes.left_out]
    return {"set_changes": changes.content() | {"names": names}}


def panned(pan: PanRecord, shown: Showing) -> PanRecord:
    """Return the pan of a shot's camera in the frames that a clip shows."""
    frames = shown.frames.tolist()
    return PanRecord(left=[pan["left"][frame] for frame in frames],
                     top=[pan["top"][frame] for frame in frames])


def _faults_and_timeline(clip: PlannedClip, shot_facts: ShotFacts) -> dict[str, Any]:
    """Return a row's fields of inserted faults and of the timeline, if known."""
    faults = [*shot_facts.get("faults", ()),
              *(record.content() for record in clip.showing(shot_facts["frames"]).records)]
    return ({"faults": faults} if faults else {}) | row_timeline(
        clip, shot_facts.get("faces_hidden", ()))


def _foot_events(clip: PlannedClip, shot_facts: ShotFacts) -> dict[str, Any]:
    """Return a row's field of foot events; empty if they cannot be told."""
    contacts = shot_facts["feet"]["contacts"] if "feet" in shot_facts else None
    faults = {fault.name for fault in clip.shot.casting.faults}
    if contacts is None or clip.is_empty or not faults <= KEEP_STEPS:
        return {}
    shown = clip.showing(shot_facts["frames"]).frames / contacts["fps"]
    return {"foot_events": events_shown(contacts, shown, clip.shot.config.fps)}


def row_timeline(clip: PlannedClip, hidden: Collection[str] = ()) -> dict[str, Any]:
    """Return a row's timeline field; empty if unknown or if a fault changes the timing.

    ``hidden`` are performers whose faces cannot be seen.
    """
    casting = clip.shot.casting
    if any(fault.kind.retimes for fault in casting.faults):
        return {}
    timeline = timeline_of(casting.take, clip.shot.config.fps)
    if timeline is None:
        return {}
    return {"timeline": without_faces(timeline, hidden, len(hidden) == len(casting.members),
                                      isinstance(casting.take, FaceTake))}
