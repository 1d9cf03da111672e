"""The main job: carry out a plan, clip by clip as their shots are done."""

import shutil
import socket
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mimegen.base.errors import DiskFullError, RequestError, means_full_disk
from mimegen.base.files import scratch_folder, stamp
from mimegen.compositing.clipjob import ClipJob
from mimegen.farm.disk import Disk
from mimegen.farm.dispatch import Event, TaskBegun, TaskDone, TaskFailed, run_tasks
from mimegen.farm.executor import Farm, Heard, Unfit
from mimegen.farm.logs import Logs
from mimegen.farm.patience import Patience
from mimegen.farm.task import Task
from mimegen.manifest.file import add_rows
from mimegen.manifest.row import Row
from mimegen.plan.clips import Clip, DisplayClip
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.plan.shots import Shot
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.clips import clip_task, finished_row, settled, show, still_of
from mimegen.production.journal import Journal
from mimegen.production.paces import Lesson, known_pace
from mimegen.production.progress import Reporter
from mimegen.production.sizes import Sizes, Sum
from mimegen.production.tasks import (
    CastingFailed,
    CastingReady,
    Notice,
    Work,
    casting_tasks,
)
from mimegen.stage.jobs import FrameDone, Ready
from mimegen.stage.plain import NONE
from mimegen.stage.scenery.job import SetJob
from mimegen.store.frames import frame_name
from mimegen.store.store import Store

BYTES_PER_PIXEL = 0.35  # of a stored frame and its share of the clips, as measured
# How often to look whether another job is done with what this one waits for.
LOOK_EVERY_S = 1.0


@dataclass(eq=False)
class _Shot:
    """A shot that was looked at: what is recorded of it, and up to where its frames are there."""

    facts: dict[str, Any]
    missing: int
    lesson: Lesson
    there: int = 0
    mended: bool = False


@dataclass(eq=False)
class _Run:
    """The state of one carrying-out: the clips of castings that have been drawn from the plan.

    ``waiting`` are the clips that lack frames or a still, by their shot; ``by_still`` those of a
    still; ``encoding`` those that a worker has, by the file it makes. ``postponed`` and
    ``others_stills`` are being made by another job.
    """

    store: Store
    out: Path
    folder: ClipFolder
    reporter: Reporter
    journal: Journal
    farm: Farm
    shots_left: int
    logs: Logs
    sizes: Sizes
    further: deque[Task] = field(default_factory=deque)
    waiting: dict[str, list[Clip]] = field(default_factory=dict)
    by_still: dict[Path, list[Clip]] = field(default_factory=dict)
    encoding: dict[Path, Clip] = field(default_factory=dict)
    open: dict[str, int] = field(default_factory=dict)
    composing: dict[Future[Row], DisplayClip] = field(default_factory=dict)
    postponed: list[CastingPlan] = field(default_factory=list)
    others_stills: list[Task] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    shots: dict[str, _Shot] = field(default_factory=dict)
    lessons: dict[str, Lesson] = field(default_factory=dict)
    stills: set[str] = field(default_factory=set)

    def hear(self, heard: Heard) -> None:
        """Take down what a worker says."""
        self.logs.hear(heard)
        self.sizes.hear(heard)


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
        sizes = Sizes(farm.task_s, farm.workers)
        run = _Run(store, out, folder, reporter, journal, farm, plan.shots, Logs(out / "logs"),
                   sizes)
        try:
            _carry_out(plan, run)
        except KeyboardInterrupt:
            add_rows(run.out, run.rows)
            raise
        add_rows(run.out, run.rows)
        for name, lesson in run.lessons.items():
            lesson.keep(run.sizes.measured.get(name, Sum()))
        if run.logs.seconds:
            reporter.say(f"slowest tasks: {'; '.join(run.logs.slowest())};"
                         f" logs in {run.logs.folder}")
        return run.failures


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


def _carry_out(plan: Plan, run: _Run) -> None:
    disk = Disk(run.journal.registration.store_is_there, run.reporter.say)
    with ThreadPoolExecutor(max_workers=1) as pool:
        events: Generator[Event | Notice | None, None, None] = run_tasks(
            _work(plan, run, pool), run.farm.start, Patience(run.farm.silence_s), run.hear,
            run.further, disk)
        with closing(events):
            try:
                for event in events:
                    _handle(event, run)
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


def _work(plan: Plan, run: _Run, pool: ThreadPoolExecutor) -> Iterator[Work | None]:
    """Draw castings from the plan as workers come free, and yield what is to be done of them.

    What another job is making is looked at again in the end: then it is there, or left to us.
    """
    for part in plan.castings():
        run.shots_left -= len(part.shots)
        yield from _begin(_without_finished(part, run), run, pool)
    looked_at = time.monotonic()
    while run.postponed or run.others_stills:
        yield None
        if time.monotonic() - looked_at > LOOK_EVERY_S:
            yield from _look_again(run, pool)
            looked_at = time.monotonic()


def _begin(part: CastingPlan, run: _Run, pool: ThreadPoolExecutor) -> Iterator[Work]:
    """Yield what is to be done of a casting's clips; postpone what another job is making."""
    claimed = run.journal.registration.claim(_claims_of(part))
    mine, theirs = _divided(part, claimed)
    # Before it gave up its claim, another job may have made them.
    mine = _without_finished(mine, run)
    for key in claimed.difference(_claims_of(mine), run.open):
        run.journal.registration.release(key)
    for display in mine.displays:
        run.composing[pool.submit(show, display, run.store, run.folder)] = display
    if theirs.clips or theirs.displays:
        run.postponed.append(theirs)
    if mine.clips:
        for clip in mine.clips:
            run.waiting.setdefault(clip.shot.key, []).append(clip)
            run.open[clip.shot.key] = run.open.get(clip.shot.key, 0) + 1
        yield from _not_others(casting_tasks(mine, run.store, run.stills, run.sizes.pictures), run)


def _claims_of(part: CastingPlan) -> list[str]:
    return [*(shot.key for shot in part.shots), *(clip.key for clip in part.displays)]


def _divided(part: CastingPlan, claimed: set[str]) -> tuple[CastingPlan, CastingPlan]:
    """Return the clips of a casting that were claimed, by their shots or themselves; the others."""
    mine, theirs = (
        replace(part,
                clips=tuple(clip for clip in part.clips if (clip.shot.key in claimed) == own),
                displays=tuple(clip for clip in part.displays if (clip.key in claimed) == own))
        for own in (True, False))
    return mine, theirs


def _not_others(tasks: Iterable[Work], run: _Run) -> Iterator[Work]:
    """Yield tasks but for the stills that another job is making."""
    for work in tasks:
        if isinstance(work, Task) and isinstance(work.job, SetJob) \
                and not run.journal.registration.claim([work.job.target.stem]):
            run.others_stills.append(work)
        else:
            yield work


def _look_again(run: _Run, pool: ThreadPoolExecutor) -> Iterator[Work]:
    """Yield what has become free of what another job was making; take in what it has made."""
    postponed, run.postponed = run.postponed, []
    for part in postponed:
        yield from _begin(_without_finished(part, run), run, pool)
    stills, run.others_stills = run.others_stills, []
    for task in stills:
        if task.remaining() is None:
            _compose_ready(run, _clips_of_task(run, task))
        else:
            yield from _not_others([task], run)


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


def _handle(event: Event | Notice | None, run: _Run) -> None:
    match event:
        case Ready(device, _, program):
            if device != NONE:
                run.reporter.say(f"{program} renders on {device}")
        case Unfit():
            run.reporter.say(event.why)
        case TaskBegun():
            run.journal.task(event.task.title, event.worker)
            run.reporter.begin(event.task.title, isinstance(event.task.job, SetJob))
        case FrameDone():
            run.journal.frame()
            run.reporter.frame()
        case CastingReady():
            _take_in(event, run)
        case CastingFailed():
            _fail(run, _clips_of_shots(run, {shot.key for shot in event.shots}), event.why)
        case TaskDone():
            run.journal.task_over(event.task.title)
            _done(run, event.task, event.seconds)
        case TaskFailed():
            run.journal.task_over(event.task.title, event.why)
            _failed(run, event)


def _take_in(event: CastingReady, run: _Run) -> None:
    """Remember what is known of a casting's shots, and compose what needs nothing more."""
    share = round(event.missing / len(event.shots))
    for shot in event.shots:
        facts = run.store.shot_facts(shot.key)
        assert facts is not None, "shots are recorded before they are told of"
        run.shots[shot.key] = _Shot(facts, share, _lesson(run, shot))
        clips = run.waiting.get(shot.key, ())
        run.journal.shot(shot.key, shot.title, event.frames, [clip.sample_id for clip in clips])
        for clip in clips:
            still = still_of(clip, facts, run.store)
            if still is not None:
                run.by_still.setdefault(still, []).append(clip)
    _count(event, run)
    _compose_ready(run, _clips_of_shots(run, [shot.key for shot in event.shots]))


def _lesson(run: _Run, shot: Shot) -> Lesson:
    """Return where what a shot's config takes is gathered."""
    name, device = shot.config.name, shot.rendering.device
    if name not in run.lessons:
        run.lessons[name] = Lesson(shot.config, device)
        pace = known_pace(shot.config, device)
        if pace is not None:
            run.sizes.known[name] = pace.seconds_per_frame
    return run.lessons[name]


def _count(event: CastingReady, run: _Run) -> None:
    """Renew the count of frames to render, taking castings not yet drawn to be as long."""
    mean = sum(shot.facts["frames"] for shot in run.shots.values()) / len(run.shots)
    missing = sum(shot.missing for shot in run.shots.values())
    expected = round(missing + run.shots_left * mean)
    run.sizes.left = expected - run.sizes.done
    run.reporter.expect(expected, len(run.shots) + run.shots_left)


def _clips_of_shots(run: _Run, keys: Iterable[str]) -> list[Clip]:
    return [clip for key in keys for clip in run.waiting.get(key, ())]


def _clips_of_task(run: _Run, task: Task) -> list[Clip]:
    """Return the waiting clips that a task of frames or of a still has to do with."""
    if isinstance(task.job, SetJob):
        return [clip for clip in run.by_still.get(task.job.target, ())
                if clip in run.waiting.get(clip.shot.key, ())]
    assert not isinstance(task.job, ClipJob), "a clip that is being made does not wait"
    return _clips_of_shots(run, dict.fromkeys(folder.name for folder in task.job.folders))


def _done(run: _Run, task: Task, seconds: float | None) -> None:
    if isinstance(task.job, ClipJob):
        _settle(run, run.encoding.pop(task.job.target), seconds)
        return
    if isinstance(task.job, SetJob):
        run.journal.registration.release(task.job.target.stem)
    _compose_ready(run, _clips_of_task(run, task))


def _settle(run: _Run, clip: Clip, seconds: float | None) -> None:
    """Take in a clip that a worker has encoded, in so many seconds if they were measured."""
    shot = run.shots[clip.shot.key]
    try:
        row = settled(clip, shot.facts, run.store, run.folder)
    except (RequestError, OSError) as problem:
        _raise_full_disk(problem, clip)
        _note_failure(run, clip, str(problem))
    else:
        _note_success(run, clip, row)
        if seconds is not None:
            size = run.folder.target(clip.sample_id).stat().st_size
            shot.lesson.encoded.add(row.frames, seconds, size)
    _close(run, clip)


def _failed(run: _Run, event: TaskFailed) -> None:
    """Fail the clips of a task, or mend what they failed of."""
    job, why = event.task.job, _whole_reason(run, event)
    if not isinstance(job, ClipJob):
        if isinstance(job, SetJob):
            run.journal.registration.release(job.target.stem)
        _fail(run, _clips_of_task(run, event.task), why)
        return
    clip = run.encoding.pop(job.target)
    if not _mend(run, clip):
        _note_failure(run, clip, why)
        _close(run, clip)


def _whole_reason(run: _Run, event: TaskFailed) -> str:
    """Return why a task failed, on which machine, and where its worker's log is."""
    if not event.worker:
        return event.why
    worker = event.worker if run.farm.elsewhere else f"{socket.gethostname()}, {event.worker}"
    return f"{event.why} ({worker}; log: {run.logs.file(event.worker)})"


def _mend(run: _Run, clip: Clip) -> bool:
    """Make the damaged frames of a clip anew, once; say whether there were any."""
    shot = run.shots[clip.shot.key]
    if shot.mended or not run.store.missing(clip.shot.key, shot.facts["frames"]).any():
        return False
    run.reporter.say(f"{clip.sample_id}: frames are damaged; they are made anew")
    run.waiting.setdefault(clip.shot.key, []).append(clip)
    for work in casting_tasks(CastingPlan(clip.shot.casting, (clip,)), run.store, run.stills,
                              run.sizes.pictures):
        if isinstance(work, Task):
            run.further.append(work)
        else:
            _handle(work, run)
    run.shots[clip.shot.key].mended = True
    return True


def _fail(run: _Run, clips: list[Clip], why: str) -> None:
    for clip in clips:
        _no_longer_waiting(run, clip)
        _note_failure(run, clip, why)


def _note_failure(run: _Run, clip: Clip | DisplayClip, why: str) -> None:
    run.failures[clip.sample_id] = why
    run.journal.clip(clip.sample_id, why)


def _note_success(run: _Run, clip: Clip | DisplayClip, row: Row) -> None:
    run.rows.append(row)
    run.journal.clip(clip.sample_id)
    run.reporter.clip(f"{clip.sample_id}: done")


def _no_longer_waiting(run: _Run, clip: Clip) -> None:
    clips = run.waiting[clip.shot.key]
    clips.remove(clip)
    if not clips:
        del run.waiting[clip.shot.key]


def _close(run: _Run, clip: Clip) -> None:
    """Note that nothing more is done for a clip; with its shot's last, others may have the shot."""
    key = clip.shot.key
    run.open[key] -= 1
    if not run.open[key]:
        del run.open[key]
        run.journal.registration.release(key)


def _compose_ready(run: _Run, clips: list[Clip]) -> None:
    """Have those of the clips composed that have all their frames and their still."""
    for clip in clips:
        shot = run.shots[clip.shot.key]
        still = still_of(clip, shot.facts, run.store)
        if _frames_whole(run, clip.shot.key) and (still is None or still.exists()):
            _no_longer_waiting(run, clip)
            task = clip_task(clip, shot.facts, run.store)
            run.encoding[run.store.encoded(clip.key)] = clip
            run.further.append(task)


def _frames_whole(run: _Run, key: str) -> bool:
    """Whether all frames of a shot are there; what was found once is not looked at again."""
    shot, folder = run.shots[key], run.store.shot_folder(key)
    frames = shot.facts["frames"]
    if shot.there == frames:
        return True
    while shot.there < frames and (seen := stamp(folder / frame_name(shot.there))):
        shot.lesson.stored.add(1, 0.0, seen[1])
        shot.there += 1
    if shot.there == frames:
        run.reporter.shot()
    return bool(shot.there == frames)


def _collect(run: _Run, wait: bool = False) -> None:
    """Take in the clips of dots that are made; with ``wait``, at least one."""
    for future, clip in list(run.composing.items()):
        if not (wait or future.done()):
            continue
        wait = False
        del run.composing[future]
        try:
            _note_success(run, clip, future.result())
        except (RequestError, OSError, ValueError) as problem:
            _raise_full_disk(problem, clip)
            _note_failure(run, clip, str(problem))
        run.journal.registration.release(clip.key)


def _raise_full_disk(problem: Exception, clip: Clip | DisplayClip) -> None:
    if means_full_disk(problem):
        raise DiskFullError(
            f"no space left on the disk while writing {clip.sample_id}; free some or name"
            " another place with --out, and run again") from problem
