"""The remaining work of a casting, as tasks for workers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import DiskFullError, RequestError
from mimegen.base.files import changed_since, file_hash, publish_first
from mimegen.farm.task import Task
from mimegen.library.casting import Casting
from mimegen.library.figures import published_figures
from mimegen.library.shown_timeline import timeline_of
from mimegen.plan.clips import PlannedClip
from mimegen.plan.plan import CastingPlan
from mimegen.plan.shots import Shot, camera_of, has_contacts, has_route
from mimegen.production.sizes import SIZING
from mimegen.scenery.job import SetJob
from mimegen.shots.config import World
from mimegen.shots.jobs import ShotJob
from mimegen.store.shotfacts import ShotFacts
from mimegen.store.store import Store

# Returns the number of pictures that the next task of a config, given by name, should have.
Size = Callable[[str], int]


@dataclass(frozen=True)
class CastingReady:
    """A casting that was examined: its shots, their length and the number of missing frames."""

    shots: tuple[Shot, ...]
    frames: int
    missing: int


@dataclass(frozen=True)
class CastingFailed:
    """A casting that cannot be performed; its clips fail, all others go on."""

    shots: tuple[Shot, ...]
    why: str


Notice = CastingReady | CastingFailed
Work = Task | Notice


def casting_tasks(plan: CastingPlan, store: Store, stills: set[str],
                  size: Size = lambda name: SIZING.first_pictures) -> Iterator[Work]:
    """Yield the render tasks for a casting's clips, all of which are to be made.

    Every shot is recorded in the store before its tasks are yielded. Stills come before frames:
    they take longest, and the many frames then keep all workers busy to the end. With a draft
    config only one still comes first: Mesa caches the shaders it compiles, so the later stills are
    quick. ``stills`` collects the keys of the stills already asked for. ``size`` is called again
    for each task.
    """
    store.sweep(shot.key for shot in plan.shots)
    try:
        yield from _tasks(plan.casting, plan.shots, plan.clips, store, stills, size)
    except DiskFullError:
        raise
    except RequestError as problem:
        yield CastingFailed(plan.shots, str(problem))


def _tasks(casting: Casting, shots: Sequence[Shot], clips: Sequence[PlannedClip], store: Store,
           stills: set[str], size: Size) -> Iterator[Work]:
    """Yield the notice that a casting is ready, and then its tasks; see ``casting_tasks``."""
    facts = [complete_facts(store.shot_facts(shot.key), clips) for shot in shots]
    known = [fact for fact in facts if fact is not None]
    if len(known) == len(shots) and not _missing(shots, known, store).any():
        yield CastingReady(tuple(shots), known[0]["frames"], 0)
        yield from _still_tasks(clips, store, stills)
        return
    fps = shots[0].config.fps
    # Read the timeline before rendering: a clip whose row cannot be written then fails at once.
    timeline_of(casting.take, fps)
    if len(known) < len(shots):
        known = _record(casting, shots, facts, store)
    missing = _missing(shots, known, store)
    yield CastingReady(tuple(shots), len(missing), int(missing.sum()))
    scenes = _still_tasks(clips, store, stills)
    yield from islice(scenes, 1 if shots[0].config.engine == "raster" else None)
    for part, shown in casting.in_turn(len(missing)):
        due = missing & shown[:, None]
        if due.any():
            job = ShotJob(
                figures=published_figures(part, fps, store),
                cameras=tuple(camera_of(fact) for fact in known), config=shots[0].figures_config,
                folders=tuple(store.shot_folder(shot.key) for shot in shots), missing=due,
                world=_portable_world(shots[0].config.world, store))
            yield from in_parts(job, f"{casting.take.action} by {part.name}", size)
    yield from scenes


def _portable_world(world: World | None, store: Store) -> Path | None:
    """Return the path, in the store that all workers can read, of the picture that lights figures.

    Raises RequestError if it is neither in the store nor at its original path.
    """
    if world is None:
        return None
    place = store.picture(world.sha256, world.suffix)
    if not place.exists():
        if world.file is None or not world.file.is_file():
            raise RequestError(f"--light {world.picture}: its file no longer exists; run the"
                               " request again")
        if file_hash(world.file) != world.sha256:
            raise changed_since(world.file)
        publish_first(place, world.file.read_bytes())
    return place


def complete_facts(facts: ShotFacts | None, clips: Sequence[PlannedClip]) -> ShotFacts | None:
    """Return a shot's recorded facts if they are complete for these clips, else None.

    Older versions did not record the floor area that performers cover, which clips with a set need,
    nor when feet stand.
    """
    if facts is None or not has_contacts(facts):
        return None
    stands_in_a_set = any(clip.background.set is not None for clip in clips)
    return None if stands_in_a_set and not has_route(facts) else facts


def _record(casting: Casting, shots: Sequence[Shot], facts: Sequence[ShotFacts | None],
            store: Store) -> list[ShotFacts]:
    """Record the shots that are not recorded yet, and return the facts of all."""
    wait = store.waiter()
    scene = casting.perform(shots[0].config.fps, store)
    recorded = [fact or shot.facts(scene) for shot, fact in zip(shots, facts, strict=True)]
    wait()
    for shot, fact, known in zip(shots, recorded, facts, strict=True):
        if known is None:
            store.record_shot(shot.key, fact)
    return recorded


def in_parts(job: ShotJob, title: str, size: Size) -> Iterator[Task]:
    """Yield a job in parts of whole frames, each of about as many pictures as ``size`` gives."""
    pictures = job.missing.sum(axis=1)
    first = 0
    while pictures[first:].any():
        first += int(np.flatnonzero(pictures[first:])[0])
        gathered = np.cumsum(pictures[first:])
        last = first + int(np.searchsorted(gathered, min(size(job.config.name), gathered[-1])))
        part = np.zeros_like(job.missing)
        part[first:last + 1] = job.missing[first:last + 1]
        yield Task(job.only(part), f"{title}, frames {first}-{last}")
        first = last + 1


def _missing(shots: Sequence[Shot], facts: Sequence[ShotFacts], store: Store
             ) -> NDArray[np.bool_]:
    columns = [store.missing(shot.key, fact["frames"])
               for shot, fact in zip(shots, facts, strict=True)]
    return np.stack(columns, axis=1)


def _still_tasks(clips: Sequence[PlannedClip], store: Store, seen: set[str]) -> Iterator[Task]:
    """Yield the tasks of missing stills; ``seen`` collects the keys of those already asked for."""
    wait = store.waiter()
    for clip in clips:
        facts = store.shot_facts(clip.shot.key)
        assert facts is not None, "shots are recorded before their stills are asked for"
        filmed = clip.filmed(facts)
        key = clip.still_key(filmed)
        if key is None or key in seen:
            continue
        seen.add(key)
        scenery = clip.scenery(filmed)
        if not store.still(key).exists() and scenery is not None:
            wait()
            store.still(key).parent.mkdir(parents=True, exist_ok=True)
            yield Task(
                SetJob(scenery, filmed.camera, clip.shot.config, store.still(key)),
                f"background {clip.chosen.name}")
