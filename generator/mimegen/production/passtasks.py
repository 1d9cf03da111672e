"""The tasks that make the missing ground truth of a casting."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.farm.task import Task
from mimegen.groundtruth.job import GeometryJob, PassJob
from mimegen.groundtruth.kinds import (
    DEPTH,
    FLOW,
    KEYPOINTS,
    MASK,
    NORMALS,
    PARTS,
    WITH_SET,
    Kind,
)
from mimegen.library.casting import Casting
from mimegen.library.figures import published_figures
from mimegen.plan.clips import PlannedClip
from mimegen.plan.passes import WantedPasses
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.plan.shots import Shot, camera_of
from mimegen.plan.staging import Filmed
from mimegen.production.sizes import SIZING
from mimegen.production.tasks import in_parts
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig
from mimegen.store.frames import frame_name
from mimegen.store.passes import is_intact
from mimegen.store.store import Store

BELOW = ("--passes: they do not know that the ground hides who sinks into it; leave one of the two"
         " out")

@dataclass(frozen=True)
class PassBytes:
    """Size of ground truth in bytes per pixel, measured on drafts of basketball.

    ``stored`` is its size in the store, ``written`` as files, and ``with_set`` as files of a clip
    whose background is a set.
    """

    stored: float
    written: float
    with_set: float


BYTES_A_PIXEL: dict[Kind, PassBytes] = {
    DEPTH: PassBytes(0.12, 0.18, 1.2), MASK: PassBytes(0.024, 0.012, 0.012),
    NORMALS: PassBytes(0.21, 0.22, 0.47), FLOW: PassBytes(0.53, 0.7, 0.7),
    PARTS: PassBytes(0.012, 0.027, 0.027)}
# Bytes of one person's keypoints in a frame, in the store and as files together.
KEYPOINT_BYTES = 12_000.0


@dataclass(frozen=True)
class Column:
    """A pass of a shot, with the camera it was filmed by and its number of frames."""

    shot: Shot
    kind: Kind
    camera: Camera
    frames: int


def pass_jobs(casting: Casting, columns: Sequence[Column], store: Store, wanted: WantedPasses
              ) -> list[tuple[PassJob, str]]:
    """Return the jobs, with titles, that make the missing frames of passes of a casting's shots.

    Raises RequestError if the casting cannot be performed or a performer goes below the ground.
    """
    if casting.goes_below:
        raise RequestError(BELOW)
    folders = [store.pass_folder(wanted.key(each.shot, each.kind)) for each in columns]
    missing = [_missing(folder, each.frames) for folder, each in zip(folders, columns, strict=True)]
    due = [number for number, column in enumerate(missing) if column.any()]
    if not due:
        return []
    config = columns[0].shot.config
    for number in due:
        store.record_pass(folders[number].name, casting.facts() | casting.body_facts() | {
            "pass": columns[number].kind, "engine": wanted.engine,
            "render_config_name": config.name})
    # Keypoints need no rendering, so they get a job of their own, made even where rendering is not
    # possible.
    points = [number for number in due if columns[number].kind == KEYPOINTS]
    groups = {"keypoints": points, "passes": [number for number in due if number not in points]}
    jobs = []
    for part, shown in casting.in_turn(max(each.frames for each in columns)):
        figures = published_figures(part, config.fps, store)
        for what, group in groups.items():
            if group:
                job = PassJob(
                    figures, tuple(columns[number].camera for number in group), config,
                    tuple(folders[number] for number in group),
                    np.stack([missing[number] & shown for number in group], axis=1),
                    tuple(columns[number].kind for number in group), wanted.engine)
                jobs.append((job, f"{what} of {casting.take.action} by {part.name}"))
    return jobs


def geometry_tasks(clips: Sequence[tuple[PlannedClip, Filmed]], wanted: WantedPasses, store: Store,
                   seen: set[str]) -> Iterator[Task]:
    """Yield the tasks that render the geometry of clips' sets, if a wanted pass shows sets.

    ``seen`` collects the keys of the geometry already asked for.
    """
    for clip, filmed in clips:
        key = wanted.geometry_key(clip, filmed)
        if key is None or key in seen or not set(WITH_SET) & set(wanted.kinds):
            continue
        seen.add(key)
        target = geometry_file(store, key)
        scenery = clip.scenery(filmed)
        if not is_intact(target) and scenery is not None:
            store.record_pass(key, {"pass": "geometry", "engine": wanted.engine,
                                    "background_name": clip.chosen.name})
            yield Task(GeometryJob(scenery, filmed.camera, clip.shot.config, target,
                                   wanted.engine), f"geometry of background {clip.chosen.name}")


def planned_pass_tasks(part: CastingPlan, store: Store, wanted: WantedPasses, seen: set[str]
                       ) -> Iterator[Task]:
    """Yield the tasks for all missing passes of a casting whose shots are recorded."""
    facts = {shot.key: recorded for shot in part.peopled_shots
             if (recorded := store.shot_facts(shot.key)) is not None}
    clips = [(clip, clip.filmed(facts[clip.shot.key])) for clip in part.peopled]
    yield from geometry_tasks(clips, wanted, store, seen)
    columns = [Column(shot, kind, camera_of(facts[shot.key]), facts[shot.key]["frames"])
               for shot in part.peopled_shots for kind in wanted.kinds]
    for job, title in pass_jobs(part.casting, columns, store, wanted):
        yield from in_parts(job, title, lambda name: SIZING.first_pictures)


def planned_passes(plan: Plan, wanted: WantedPasses, store: Store, usual: float
                   ) -> dict[str, dict[str, float]]:
    """Return, for each wanted pass, its shots, those already complete, and the gigabytes to come.

    The gigabytes are an estimate of what the remaining frames take in the store and as files. Shots
    that are not recorded yet are assumed to have ``usual`` frames.
    """
    counts: dict[str, dict[str, float]] = {
        kind: {"shots": 0, "there": 0, "storage_gb": 0.0} for kind in wanted.kinds}
    for part in plan.castings():
        for shot in part.peopled_shots:
            facts = store.shot_facts(shot.key)
            frames = facts["frames"] if facts else usual
            sets = [clip.background.set is not None for clip in part.peopled if clip.shot == shot]
            for kind in wanted.kinds:
                folder = store.pass_folder(wanted.key(shot, kind))
                there = sum(path.stem.isdecimal() for path in folder.glob("*.npz"))
                left = max(0.0, frames - there) * _bytes_a_frame(kind, shot.config, sets)
                count = counts[kind]
                count["shots"] += 1
                count["there"] += facts is not None and there >= frames
                count["storage_gb"] = round(count["storage_gb"] + left / 1e9, 6)
    return counts


def _bytes_a_frame(kind: Kind, config: RenderConfig, sets: Sequence[bool]) -> float:
    """Return the bytes of a frame of a pass, in the store and as files of the clips.

    ``sets`` holds, for each clip of the shot, whether its background is a set.
    """
    if kind == KEYPOINTS:
        return KEYPOINT_BYTES
    size = BYTES_A_PIXEL[kind]
    # Clips without a set share their files; passes that do not show the set are shared by all
    # clips.
    files = size.written if kind not in WITH_SET else (
        size.with_set * sum(sets) + size.written * (not all(sets)))
    return config.width * config.height * (size.stored + files)


def geometry_file(store: Store, key: str) -> Path:
    """Return the path of the depth and normals of a set."""
    return store.pass_folder(key) / frame_name(0)


def _missing(folder: Path, frames: int) -> NDArray[np.bool_]:
    """Return a mask (F,) of a pass's frames that are absent or damaged; remove damaged ones."""
    return np.array([not is_intact(folder / frame_name(frame)) for frame in range(frames)])
