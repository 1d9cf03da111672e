"""Find finished clips, create the tasks that make missing ones, and file their results."""

from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import clear, file_hash, publish_first, refuse_changed
from mimegen.compositing.background import Background
from mimegen.compositing.clipjob import ClipJob
from mimegen.compositing.video import ClipFacts
from mimegen.farm.task import Task
from mimegen.faults.showing import Showing
from mimegen.manifest.file import content_of, typed_row
from mimegen.manifest.record import facts_of, with_record
from mimegen.manifest.row import Row
from mimegen.plan.clips import ChosenBackground, DisplayClip, PlannedClip
from mimegen.plan.shots import camera_of
from mimegen.pointlight.displayjob import facts_file, read_facts
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.displays import display_row
from mimegen.production.moving import move
from mimegen.production.rows import clip_row, panned, restated, row_timeline
from mimegen.store.makers import makers
from mimegen.store.shotfacts import ShotFacts
from mimegen.store.store import Store


def finished_row(clip: PlannedClip | DisplayClip, store: Store, folder: ClipFolder) -> Row | None:
    """Return the row of a clip whose file is there and whole, else None.

    If the library's files state something new, as labels or a licence, it is written into the
    clip's record and the store.
    """
    row = _recorded_row(clip, store)
    if row is None:
        return None
    if row.timeline is None and isinstance(clip, PlannedClip):
        # Older versions did not record what happens in a clip.
        row = row.model_copy(update=row_timeline(clip))
    found = folder.found(row, store.clip_recorded(clip.key))
    now = row if found is None else restated(row, clip)
    return found if facts_of(now) == facts_of(row) else _recorded(clip, now, store, folder)


def _recorded(clip: PlannedClip | DisplayClip, row: Row, store: Store, folder: ClipFolder) -> Row:
    """Write a plain row into its clip's file and the store; return it as it is in the folder."""
    row = with_record(folder.place(row), row)
    store.record_clip(clip.key, content_of(row))
    return folder.named(row)


def _recorded_row(clip: PlannedClip | DisplayClip, store: Store) -> Row | None:
    """Return the row that the store recorded for a clip; None if there is none or it is damaged."""
    content = store.clip_row(clip.key)
    try:
        return None if content is None else typed_row(content)
    except ValueError:
        return None


def still_of(clip: PlannedClip, facts: ShotFacts, store: Store) -> Path | None:
    """Return the path of a clip's background still; None if the clip needs none."""
    key = clip.still_key(clip.filmed(facts))
    return store.still(key) if key else None


def clip_task(clip: PlannedClip, facts: ShotFacts, store: Store) -> Task:
    """Return the task that composes and encodes a clip whose frames and still are in the store."""
    target = store.encoded(clip.key)
    clear(target)
    shown = clip.showing(facts["frames"])
    return Task(ClipJob(
        store.shot_folder(clip.shot.key), tuple(shown.frames.tolist()), shown.shadow,
        _portable(clip.chosen, store), camera_of(facts), still_of(clip, facts, store),
        clip.shot.config.fps, target, clip.shot.angle,
        clip.tint, *_panned(clip, facts, shown), clip.shade, clip.is_empty,
        clip.filmed_look,
    ), f"clip {clip.sample_id}")


def _panned(clip: PlannedClip, facts: ShotFacts, shown: Showing
            ) -> tuple[tuple[int, int] | None, tuple[tuple[int, int], ...]]:
    """Return a panning camera's window size and corner in each frame, else None and ()."""
    if "pan" not in facts:
        return None, ()
    pan = panned(facts["pan"], shown)
    return ((clip.shot.config.width, clip.shot.config.height),
            tuple(zip(pan["left"], pan["top"], strict=True)))


def _portable(chosen: ChosenBackground, store: Store) -> Background:
    """Return a background whose picture file lies in the store, where all workers can read it.

    Raises RequestError if the picture was changed after the background's key was computed.
    """
    background = chosen.background
    if background.file is None:
        return background
    refuse_changed(chosen, background.file)
    place = store.picture(file_hash(background.file), background.file.suffix)
    if not place.exists():
        publish_first(place, background.file.read_bytes())
    return background.with_file(place)


def delivered(clip: PlannedClip, facts: ShotFacts, store: Store, folder: ClipFolder) -> Row:
    """Move a clip that a worker encoded to its folder, record it, and return its row.

    Raises RequestError if the encoded file is missing, DiskFullError if the disk has no space for
    it.
    """
    encoded = _encoded(clip, store)
    config = clip.shot.config
    frames = len(clip.showing(facts["frames"]).frames)
    made = ClipFacts(frames, config.width, config.height, file_hash(encoded))
    cpu = "; ".join(makers(store.shot_folder(clip.shot.key))) or None
    return _delivered(clip, encoded, clip_row(clip, {**facts, "cpu": cpu}, made), store, folder)


def delivered_display(clip: DisplayClip, store: Store, folder: ClipFolder) -> Row:
    """Move a display that a worker made to its folder, record it, and return its row.

    Raises as ``delivered``, and ValueError or OSError if the facts file that the worker wrote
    beside it is damaged or missing.
    """
    encoded = _encoded(clip, store)
    facts, moments = read_facts(encoded)
    row = _delivered(clip, encoded, display_row(clip, encoded, facts, moments), store, folder)
    facts_file(encoded).unlink(missing_ok=True)
    return row


def _encoded(clip: PlannedClip | DisplayClip, store: Store) -> Path:
    encoded = store.encoded(clip.key)
    if not encoded.exists():
        raise RequestError(f"{encoded}: was written but cannot be found; check that all workers use"
                           " the same store")
    return encoded


def _delivered(clip: PlannedClip | DisplayClip, encoded: Path, row: Row, store: Store,
             folder: ClipFolder) -> Row:
    """Move a clip to its folder, with its row embedded in the file, and record the row."""
    row = with_record(encoded, row)
    move(encoded, folder.target(clip.sample_id))
    store.record_clip(clip.key, content_of(row))
    return folder.delivered(row)
