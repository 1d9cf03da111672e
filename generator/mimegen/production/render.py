"""The main job: carry out a plan, clip by clip as their shots are done."""

import shutil
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from mimegen.base.errors import DiskFullError, RequestError, means_full_disk
from mimegen.base.files import scratch_folder
from mimegen.compositing.backdrop import backdrop
from mimegen.compositing.video import write_clip
from mimegen.farm.dispatch import Event, TaskBegun, TaskDone, TaskFailed, run_tasks
from mimegen.farm.executor import Farm, Unfit
from mimegen.farm.logs import Logs
from mimegen.farm.patience import Patience
from mimegen.farm.task import Task
from mimegen.manifest.file import add_rows, content_of, typed_row
from mimegen.manifest.row import Row
from mimegen.plan.clips import Clip, DisplayClip
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.plan.shots import camera_of
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.displays import write_display_clip
from mimegen.production.journal import Journal
from mimegen.production.manifest import clip_row
from mimegen.production.progress import Reporter
from mimegen.production.tasks import (
    CastingFailed,
    CastingReady,
    Notice,
    Work,
    casting_tasks,
)
from mimegen.stage.jobs import FrameDone, Ready
from mimegen.stage.scenery.job import SetJob
from mimegen.store.frames import frame_name
from mimegen.store.makers import makers
from mimegen.store.store import Store

BYTES_PER_PIXEL = 0.35  # of a stored frame and its share of the clips, as measured


@dataclass(eq=False)
class _Run:
    """The state of one carrying-out: the clips of castings that have been drawn from the plan."""

    store: Store
    out: Path
    folder: ClipFolder
    reporter: Reporter
    journal: Journal
    shots_left: int
    logs: Logs
    waiting: dict[str, list[Clip]] = field(default_factory=dict)
    composing: dict[Future[Row], Clip | DisplayClip] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    planned: dict[str, tuple[int, int]] = field(default_factory=dict)
    finished_shots: set[str] = field(default_factory=set)


def render(plan: Plan, store: Store, out: Path, farm: Farm, reporter: Reporter,
           opaque: bool = False) -> dict[str, str]:
    """Make every clip of the plan that is not there yet, and the manifest.

    With ``opaque`` the names of clips say nothing of what they show. Returns why each clip failed,
    by its plain sample_id; the others are whole. Raises RequestError where nothing can go on (no
    disk space, an unwritable place).
    """
    prepare_folders(plan, store, out)
    if plan.clips:
        reporter.say(f"{plan.clips} clips of {plan.shots} shots on {farm.name}")
    if plan.displays:
        reporter.say(f"{plan.displays} point-light clips")
    for reason in plan.left_out:
        reporter.say(f"left out: {reason}")
    folder = ClipFolder.of(out, opaque)
    facts = {"clips": len(plan), "shots": plan.shots, "devices": farm.name}
    with Journal(out, store, facts) as journal:
        run = _Run(store, out, folder, reporter, journal, plan.shots,
                   Logs(out / "logs"))
        try:
            _carry_out(plan, run, farm)
        except KeyboardInterrupt:
            add_rows(run.out, run.rows)
            raise
        add_rows(run.out, run.rows)
        if run.logs.seconds:
            reporter.say(f"slowest tasks: {'; '.join(run.logs.slowest())};"
                         f" logs in {run.logs.folder}")
        return run.failures


def finished_row(clip: Clip | DisplayClip, store: Store, folder: ClipFolder) -> Row | None:
    """Return the row of a clip whose file is there and whole, else None."""
    row = _recorded_row(clip, store)
    return None if row is None else folder.found(row, store.clip_recorded(clip.key))


def _recorded_row(clip: Clip | DisplayClip, store: Store) -> Row | None:
    """Return what the store knows of a clip; a damaged record counts as none."""
    content = store.clip_row(clip.key)
    try:
        return None if content is None else typed_row(content)
    except ValueError:
        return None


def prepare_folders(plan: Plan, store: Store, out: Path) -> None:
    """Make the folders and see that they can be written and hold what is to come.

    Raises RequestError where not.
    """
    try:
        for folder in (out, out / "clips", store.root / "shots"):
            with scratch_folder(folder):
                pass
    except DiskFullError:
        raise
    except RequestError as problem:
        raise RequestError(f"{problem}; name another folder with --out") from problem
    if not (out / "clips").resolve().is_relative_to(out.resolve()):
        raise RequestError(f"{out / 'clips'}: leads outside of {out}; make {out} itself the link,"
                           " its manifest names only what lies in it")
    due = [shot.config for part in plan.castings() for shot in part.shots
           if store.shot_facts(shot.key) is None]
    need = BYTES_PER_PIXEL * sum(config.width * config.height * config.fps for config in due)
    free = shutil.disk_usage(store.root).free
    if need > free:
        raise RequestError(
            f"{store.root}: only {free / 1e6:.0f} MB free, but a second of each of these"
            f" {len(due)} shots alone takes about {need / 1e6:.0f} MB;"
            " free some space or name another place with --store"
        )


def _carry_out(plan: Plan, run: _Run, farm: Farm) -> None:
    with ThreadPoolExecutor(max_workers=1) as pool:
        events: Generator[Event | Notice | None, None, None] = run_tasks(
            _work(plan, run, pool), farm.start, Patience(farm.silence_s), run.logs.hear)
        with closing(events):
            try:
                for event in events:
                    _handle(event, run, pool)
                    _collect(run)
                while run.composing:
                    _collect(run, wait=True)
            except BaseException:
                for future in run.composing:
                    future.cancel()
                raise
    for clips in run.waiting.values():
        for clip in clips:
            _note_failure(run, clip, "its frames were not made")


def _work(plan: Plan, run: _Run, pool: ThreadPoolExecutor) -> Iterator[Work]:
    """Draw castings from the plan as workers come free, and yield what is to be done of them."""
    stills: set[str] = set()
    for part in plan.castings():
        left = _without_finished(part, run)
        for display in left.displays:
            run.composing[pool.submit(_show, display, run.store, run.folder)] = display
        run.shots_left -= len(part.shots)
        if left.clips:
            for clip in left.clips:
                run.waiting.setdefault(clip.shot.key, []).append(clip)
            yield from casting_tasks(left, run.store, stills)


def _without_finished(part: CastingPlan, run: _Run) -> CastingPlan:
    """Return the clips of a casting that are not there; take in the rows of those that are."""
    due: list[Clip | DisplayClip] = []
    wanted: tuple[Clip | DisplayClip, ...] = (*part.clips, *part.displays)
    for clip in wanted:
        row = finished_row(clip, run.store, run.folder)
        if row is None:
            due.append(clip)
        else:
            run.rows.append(row)
            run.journal.clip(clip.sample_id)
            run.reporter.clip(f"{clip.sample_id}: already there")
    return replace(part, clips=tuple(clip for clip in due if isinstance(clip, Clip)),
                   displays=tuple(clip for clip in due if isinstance(clip, DisplayClip)))


def _handle(event: Event | Notice | None, run: _Run, pool: ThreadPoolExecutor) -> None:
    match event:
        case Ready():
            run.reporter.say(f"{event.program} renders on {event.device}")
        case Unfit():
            run.reporter.say(event.why)
        case TaskBegun():
            run.journal.task(event.task.title, event.worker)
            run.reporter.begin(event.task.title, isinstance(event.task.job, SetJob))
        case FrameDone():
            run.journal.frame()
            run.reporter.frame()
        case CastingReady():
            _count(event, run)
            for shot in event.shots:
                run.journal.shot(shot.key, shot.title, event.frames,
                                 [clip.sample_id for clip in run.waiting.get(shot.key, ())])
            _compose_ready(run, _clips_of_shots(run, {shot.key for shot in event.shots}), pool)
        case CastingFailed():
            _fail(run, _clips_of_shots(run, {shot.key for shot in event.shots}), event.why)
        case TaskDone():
            run.journal.task_over(event.task.title)
            _compose_ready(run, _clips_of_task(run, event.task), pool)
        case TaskFailed():
            run.journal.task_over(event.task.title, event.why)
            _fail(run, _clips_of_task(run, event.task), event.why)


def _count(event: CastingReady, run: _Run) -> None:
    """Renew the count of frames to render, taking castings not yet drawn to be as long."""
    for shot in event.shots:
        run.planned[shot.key] = (event.frames, round(event.missing / len(event.shots)))
    mean = sum(frames for frames, _ in run.planned.values()) / len(run.planned)
    missing = sum(missing for _, missing in run.planned.values())
    run.reporter.expect(round(missing + run.shots_left * mean), len(run.planned) + run.shots_left)


def _clips_of_shots(run: _Run, keys: Iterable[str]) -> list[Clip]:
    return [clip for key in keys for clip in run.waiting.get(key, ())]


def _clips_of_task(run: _Run, task: Task) -> list[Clip]:
    """Return the waiting clips that a task has to do with."""
    if isinstance(task.job, SetJob):
        return [clip for clip in _clips_of_shots(run, list(run.waiting))
                if _still(run, clip) == task.job.target]
    return _clips_of_shots(run, dict.fromkeys(folder.name for folder in task.job.folders))


def _still(run: _Run, clip: Clip) -> Path | None:
    """Return where the still for a clip belongs; None if it needs none or its shot is unknown."""
    facts = run.store.shot_facts(clip.shot.key)
    key = clip.still_key(camera_of(facts)) if facts else None
    return run.store.still(key) if key else None


def _fail(run: _Run, clips: list[Clip], why: str) -> None:
    for clip in clips:
        _no_longer_waiting(run, clip)
        _note_failure(run, clip, why)


def _note_failure(run: _Run, clip: Clip | DisplayClip, why: str) -> None:
    run.failures[clip.sample_id] = why
    run.journal.clip(clip.sample_id, why)


def _no_longer_waiting(run: _Run, clip: Clip) -> None:
    clips = run.waiting[clip.shot.key]
    clips.remove(clip)
    if not clips:
        del run.waiting[clip.shot.key]


def _compose_ready(run: _Run, clips: list[Clip], pool: ThreadPoolExecutor) -> None:
    """Start composing those of the clips that have all their frames and their still."""
    for clip in clips:
        key = clip.shot.key
        if key not in run.finished_shots and _frames_whole(run, key):
            run.finished_shots.add(key)
            run.reporter.shot()
        still = _still(run, clip)
        if key in run.finished_shots and (still is None or still.exists()):
            _no_longer_waiting(run, clip)
            run.composing[pool.submit(_compose, clip, still, run.store, run.folder)] = clip


def _frames_whole(run: _Run, key: str) -> bool:
    folder = run.store.shot_folder(key)
    frames = run.planned[key][0]
    return all((folder / frame_name(frame)).exists() for frame in range(frames))


def _compose(clip: Clip, still: Path | None, store: Store, folder: ClipFolder) -> Row:
    frames = store.shot_folder(clip.shot.key)
    facts = store.shot_facts(clip.shot.key)
    if facts is None:
        raise RequestError(f"{frames}: removed while it was in use")
    shown = clip.showing(facts["frames"])
    clip_facts = write_clip(
        (frames / frame_name(frame) for frame in shown.frames),
        backdrop(clip.background, camera_of(facts), still),
        clip.shot.config.fps, folder.target(clip.sample_id), shadow=shown.shadow,
    )
    row = clip_row(clip, facts | {"cpu": "; ".join(makers(frames)) or None}, clip_facts)
    store.record_clip(clip.key, content_of(row))
    return folder.settled(row)


def _show(clip: DisplayClip, store: Store, folder: ClipFolder) -> Row:
    row = write_display_clip(clip, folder.target(clip.sample_id))
    store.record_clip(clip.key, content_of(row))
    return folder.settled(row)


def _collect(run: _Run, wait: bool = False) -> None:
    """Take in the clips that are composed; with ``wait``, at least one."""
    for future, clip in list(run.composing.items()):
        if not (wait or future.done()):
            continue
        wait = False
        del run.composing[future]
        try:
            run.rows.append(future.result())
            run.journal.clip(clip.sample_id)
            run.reporter.clip(f"{clip.sample_id}: done")
        except (RequestError, OSError, ValueError) as problem:
            if means_full_disk(problem):
                raise DiskFullError(
                    f"no space left on the disk while writing {clip.sample_id}; free some or name"
                    " another place with --out, and run again") from problem
            _note_failure(run, clip, str(problem))
