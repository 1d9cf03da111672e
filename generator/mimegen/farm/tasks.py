"""What is left to do of a plan, as jobs for the stage."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import DiskFullError, RequestError
from mimegen.library.takes import Casting
from mimegen.plan.plan import Clip, Plan, Shot, camera_of
from mimegen.stage.jobs import Figure, SetJob, ShotJob
from mimegen.store.store import Store

FRAMES_PER_TASK = 12


@dataclass(frozen=True, eq=False)
class Task:
    """A job that one worker does in one go, and what to call it in an error."""

    job: ShotJob | SetJob
    title: str

    def remaining(self) -> "Task | None":
        """Return the part that is not published yet; None if there is none."""
        if isinstance(self.job, SetJob):
            return None if self.job.target.exists() else self
        missing = self.job.missing.copy()
        for frame, camera in np.argwhere(missing):
            missing[frame, camera] = not self.job.frame_file(frame, camera).exists()
        return Task(replace(self.job, missing=missing), self.title) if missing.any() else None


@dataclass(frozen=True)
class CastingReady:
    """A casting that has been looked at: its shots, how long they are, and what is missing."""

    shots: tuple[Shot, ...]
    frames: int
    missing: int


@dataclass(frozen=True)
class CastingFailed:
    """A casting that cannot be performed; its shots and clips fail, the others go on."""

    shots: tuple[Shot, ...]
    why: str


def shot_tasks(plan: Plan, wanted: Iterable[Clip], store: Store
               ) -> Iterator[Task | CastingReady | CastingFailed]:
    """Yield what the stage must do for the wanted clips, building performances as they come due.

    Every wanted shot is recorded in the store before its tasks are yielded. Stills come before
    frames: they take longest, and the many frames then keep all workers busy to the end.
    """
    clips = list(wanted)
    needed = {clip.shot.key for clip in clips}
    stills: set[str] = set()
    for casting, shots in plan.by_casting():
        due = [shot for shot in shots if shot.key in needed]
        if not due:
            continue
        store.sweep(shot.key for shot in due)
        own = [clip for clip in clips if clip.shot.casting == casting]
        try:
            yield from _casting_tasks(casting, due, own, store, stills)
        except DiskFullError:
            raise
        except RequestError as problem:
            yield CastingFailed(tuple(due), str(problem))


def _casting_tasks(casting: Casting, shots: list[Shot], clips: list[Clip], store: Store,
                   stills: set[str]) -> Iterator[Task | CastingReady]:
    facts = [store.shot_facts(shot.key) for shot in shots]
    known = [fact for fact in facts if fact is not None]
    if len(known) == len(shots) and not _missing(shots, known, store).any():
        yield CastingReady(tuple(shots), known[0]["frames"], 0)
        yield from _still_tasks(clips, store, stills)
        return
    scene = casting.perform(shots[0].config.fps)
    recorded: list[dict[str, Any]] = [
        fact or shot.facts(scene) for shot, fact in zip(shots, facts, strict=True)
    ]
    for shot, fact in zip(shots, recorded, strict=True):
        store.record_shot(shot.key, fact)
    missing = _missing(shots, recorded, store)
    yield CastingReady(tuple(shots), len(missing), int(missing.sum()))
    yield from _still_tasks(clips, store, stills)
    job = ShotJob(
        figures=tuple(Figure.of(performance) for performance in casting.seen(scene)),
        cameras=tuple(camera_of(fact) for fact in recorded), config=shots[0].config,
        folders=tuple(store.shot_folder(shot.key) for shot in shots), missing=missing,
    )
    for first in range(0, len(missing), FRAMES_PER_TASK):
        part = np.zeros_like(missing)
        span = slice(first, first + FRAMES_PER_TASK)
        part[span] = missing[span]
        if part.any():
            last = min(first + FRAMES_PER_TASK, len(missing)) - 1
            yield Task(replace(job, missing=part),
                       f"{casting.take.action} by {casting.name}, frames {first}-{last}")


def _missing(shots: list[Shot], facts: list[dict[str, Any]], store: Store) -> NDArray[np.bool_]:
    columns = [store.missing(shot.key, fact["frames"])
               for shot, fact in zip(shots, facts, strict=True)]
    return np.stack(columns, axis=1)


def _still_tasks(clips: list[Clip], store: Store, seen: set[str]) -> Iterator[Task]:
    """Yield the stills that are missing; ``seen`` gathers those already asked for."""
    for clip in clips:
        facts = store.shot_facts(clip.shot.key)
        assert facts is not None, "shots are recorded before their stills are asked for"
        camera = camera_of(facts)
        key = clip.still_key(camera)
        if key is None or key in seen:
            continue
        seen.add(key)
        if not store.still(key).exists() and clip.background.set is not None:
            yield Task(SetJob(clip.background.set, camera, clip.shot.config, store.still(key)),
                       f"background {clip.background_name}")
