"""What is left to do of a casting's ground truth, as tasks for workers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.farm.task import Task
from mimegen.library.casting import Casting
from mimegen.library.figures import published_figures
from mimegen.plan.clips import Clip
from mimegen.plan.passes import WantedPasses
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.plan.shots import Shot, camera_of
from mimegen.stage.camera import Camera
from mimegen.stage.passes.job import GeometryJob, PassJob
from mimegen.stage.passes.kinds import KEYPOINTS, WITH_SET, Kind
from mimegen.store.frames import frame_name
from mimegen.store.passes import is_whole
from mimegen.store.store import Store

FRAMES_PER_TASK = 24


@dataclass(frozen=True)
class Column:
    """A pass of a shot as it was filmed: from where, and how many frames."""

    shot: Shot
    kind: Kind
    camera: Camera
    frames: int


def pass_tasks(casting: Casting, columns: Sequence[Column], store: Store, wanted: WantedPasses
               ) -> Iterator[Task]:
    """Yield what makes the frames that are missing of passes of a casting's shots.

    Raises RequestError where the casting cannot be performed.
    """
    folders = [store.pass_folder(wanted.key(each.shot, each.kind)) for each in columns]
    missing = [_missing(folder, each.frames) for folder, each in zip(folders, columns, strict=True)]
    due = [number for number, column in enumerate(missing) if column.any()]
    if not due:
        return
    config = columns[0].shot.config
    for number in due:
        store.record_pass(folders[number].name, casting.facts() | {
            "pass": columns[number].kind, "engine": wanted.engine,
            "render_config_name": config.name})
    figures = published_figures(casting, config.fps, store)
    # Keypoints need nobody to look, and are made where nobody can.
    points = [number for number in due if columns[number].kind == KEYPOINTS]
    for group in (points, [number for number in due if number not in points]):
        if group:
            job = PassJob(
                figures, tuple(columns[number].camera for number in group), config,
                tuple(folders[number] for number in group),
                np.stack([missing[number] for number in group], axis=1),
                tuple(columns[number].kind for number in group), wanted.engine)
            yield from _spans(job, f"passes of {casting.take.action} by {casting.name}")


def geometry_tasks(clips: Sequence[tuple[Clip, Camera]], wanted: WantedPasses, store: Store,
                   seen: set[str]) -> Iterator[Task]:
    """Yield what looks at the clips' sets, where a pass shows them; ``seen`` gathers their keys."""
    for clip, camera in clips:
        key = wanted.geometry_key(clip, camera)
        if key is None or key in seen or not set(WITH_SET) & set(wanted.kinds):
            continue
        seen.add(key)
        target = geometry_file(store, key)
        if not is_whole(target) and clip.background.set is not None:
            target.unlink(missing_ok=True)
            store.record_pass(key, {"pass": "geometry", "engine": wanted.engine,
                                    "background_name": clip.chosen.name})
            yield Task(GeometryJob(clip.background.set, camera, clip.shot.config, target,
                                   wanted.engine), f"geometry of background {clip.chosen.name}")


def planned_pass_tasks(part: CastingPlan, store: Store, wanted: WantedPasses, seen: set[str]
                       ) -> Iterator[Task]:
    """Yield all that is missing of the passes of a casting whose shots are recorded."""
    facts = {shot.key: store.shot_facts(shot.key) or {} for shot in part.shots}
    clips = [(clip, camera_of(facts[clip.shot.key])) for clip in part.clips]
    yield from geometry_tasks(clips, wanted, store, seen)
    columns = [Column(shot, kind, camera_of(facts[shot.key]), facts[shot.key]["frames"])
               for shot in part.shots for kind in wanted.kinds]
    yield from pass_tasks(part.casting, columns, store, wanted)


def planned_passes(plan: Plan, wanted: WantedPasses, store: Store) -> dict[str, dict[str, int]]:
    """Return how many shots have each wanted pass, and of how many all frames are in the store."""
    counts: dict[str, dict[str, int]] = {kind: {"shots": 0, "there": 0} for kind in wanted.kinds}
    for shot in (shot for part in plan.castings() for shot in part.shots):
        facts = store.shot_facts(shot.key)
        for kind in wanted.kinds:
            count = counts[kind]
            count["shots"] += 1
            folder = store.pass_folder(wanted.key(shot, kind))
            there = sum(path.stem.isdecimal() for path in folder.glob("*.npz"))
            count["there"] += facts is not None and there >= facts["frames"]
    return counts


def geometry_file(store: Store, key: str) -> Path:
    """Return where depth and normals of a set lie."""
    return store.pass_folder(key) / frame_name(0)


def _missing(folder: Path, frames: int) -> NDArray[np.bool_]:
    """Say (F,) which frames of a pass are absent or damaged; damaged ones are removed."""
    missing = np.ones(frames, dtype=np.bool_)
    for frame in range(frames):
        path = folder / frame_name(frame)
        missing[frame] = not is_whole(path)
        if missing[frame]:
            path.unlink(missing_ok=True)
    return missing


def _spans(job: PassJob, title: str) -> Iterator[Task]:
    for first in range(0, len(job.missing), FRAMES_PER_TASK):
        part = np.zeros_like(job.missing)
        part[first:first + FRAMES_PER_TASK] = job.missing[first:first + FRAMES_PER_TASK]
        if part.any():
            last = min(first + FRAMES_PER_TASK, len(part)) - 1
            yield Task(job.only(part), f"{title}, frames {first}-{last}")
