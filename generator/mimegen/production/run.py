"""The state of a running plan's shots and clips, and how each event changes it."""

import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mimegen.base.errors import DiskFullError, RequestError, disk_full, means_full_disk
from mimegen.base.files import stamp
from mimegen.compositing.clipjob import ClipJob
from mimegen.farm.dispatch import Event, TaskFailed
from mimegen.farm.task import Task
from mimegen.manifest.row import Row
from mimegen.manifest.travel import is_scaled, scaled_quantities, scaled_words
from mimegen.plan.background_visibility import too_little_shown
from mimegen.plan.clips import DisplayClip, PlannedClip
from mimegen.plan.plan import CastingPlan
from mimegen.plan.shots import Shot
from mimegen.pointlight.displayjob import DisplayJob
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.clips import clip_task, delivered, delivered_display, still_of
from mimegen.production.displays import display_task
from mimegen.production.paces import PaceMeasurement, known_pace
from mimegen.production.rows import doubts_of
from mimegen.production.task_run import TaskRun
from mimegen.production.tasks import CastingFailed, CastingReady, Notice, casting_tasks
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import ShotJob
from mimegen.store.frames import frame_name
from mimegen.store.shotfacts import ShotFacts


@dataclass(eq=False)
class ShotState:
    """A shot that was examined: its recorded facts, and how many of its first frames are there."""

    facts: ShotFacts
    measurement: PaceMeasurement
    there: int = 0
    mended: bool = False


@dataclass(eq=False)
class Run(TaskRun[CastingPlan]):
    """The state of one run: the clips of the castings drawn from the plan so far.

    ``waiting`` are the clips that lack frames or a still, by shot key; ``by_still`` the clips that
    use a still, by its path; ``encoding`` the clips that a worker is making, by the path it writes.
    ``open`` counts a shot's unfinished clips. ``scaled`` are the characters on which distances were
    said to differ from a recording's.
    """

    does = "renders"

    folder: ClipFolder
    shots_left: int
    waiting: dict[str, list[PlannedClip]] = field(default_factory=dict)
    by_still: dict[Path, dict[str, PlannedClip]] = field(default_factory=dict)
    encoding: dict[Path, PlannedClip | DisplayClip] = field(default_factory=dict)
    open: dict[str, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    shots: dict[str, ShotState] = field(default_factory=dict)
    measurements: dict[str, PaceMeasurement] = field(default_factory=dict)
    stills: set[str] = field(default_factory=set)
    scaled: set[str] = field(default_factory=set)
    shots_seen: int = 0
    frames_seen: int = 0
    frames_missing: int = 0


    def shared_key(self, task: Task) -> str | None:
        """Return the key of the still that a task makes."""
        return task.job.target.stem if isinstance(task.job, SetJob) else None

    def is_long(self, task: Task) -> bool:
        """Return whether a task makes a still."""
        return isinstance(task.job, SetJob)

    def resume_waiting(self, task: Task) -> None:
        """Compose the clips that waited for this task's still."""
        compose_ready(self, clips_of_task(self, task))

    def done(self, task: Task, seconds: float | None) -> None:
        """Record a clip that was made, or compose the clips whose frames or still were made."""
        if isinstance(task.job, ClipJob | DisplayJob):
            _settle(self, self.encoding.pop(task.job.target), seconds)
        else:
            compose_ready(self, clips_of_task(self, task))

    def failed(self, event: TaskFailed) -> None:
        """Mark the clips of a task as failed, or have damaged frames made again."""
        _failed(self, event)

    def notice(self, event: Notice | Event) -> None:
        """Handle a casting that was examined, or that cannot be performed."""
        if isinstance(event, CastingReady):
            _take_in(event, self)
        elif isinstance(event, CastingFailed):
            _fail(self, _clips_of_shots(self, {shot.key for shot in event.shots}), event.why)


def _take_in(event: CastingReady, run: Run) -> None:
    """Store what is known of a casting's shots, and compose the clips that lack nothing."""
    doubts: dict[str, None] = {}
    for shot in event.shots:
        facts = run.store.shot_facts(shot.key)
        assert facts is not None, "shots are recorded before they are told of"
        run.shots[shot.key] = ShotState(facts, _measurement_of(run, shot))
        clips = run.waiting.get(shot.key, ())
        run.journal.shot(shot.key, shot.title, event.frames, [clip.sample_id for clip in clips])
        for clip in clips:
            still = still_of(clip, facts, run.store)
            doubts |= dict.fromkeys(filter(None, [
                doubts_of(clip, facts), too_little_shown(clip, facts)]))
            if still is not None:
                run.by_still.setdefault(still, {})[clip.key] = clip
    for doubt in doubts:
        run.reporter.say(doubt)
    _say_scale(event.shots[0], run)
    _count(event, run)
    compose_ready(run, _clips_of_shots(run, [shot.key for shot in event.shots]))


def _say_scale(shot: Shot, run: Run) -> None:
    """Say once for each character how distances differ from those of the recording."""
    casting, scale = shot.casting, run.shots[shot.key].facts.get("travel_scale")
    if scale is None or not is_scaled(scale) or casting.name in run.scaled:
        return
    run.scaled.add(casting.name)
    what = scaled_quantities(casting.take.tempo != 1)
    run.reporter.say(f"{casting.take.file.name} on {casting.name}: {what} are"
                     f" {scaled_words(scale)} (travel_scale in the manifest)")


def _measurement_of(run: Run, shot: Shot) -> PaceMeasurement:
    """Return the measurement that collects the pace of a shot's config."""
    name, device = shot.config.name, shot.rendering.device
    if name not in run.measurements:
        run.measurements[name] = PaceMeasurement(shot.config, device)
        pace = known_pace(shot.config, device)
        if pace is not None:
            run.sizes.known[name] = pace.seconds_per_frame
    return run.measurements[name]


def _count(event: CastingReady, run: Run) -> None:
    """Update the number of frames to render; undrawn castings are assumed to have mean length."""
    run.shots_seen += len(event.shots)
    run.frames_seen += event.frames * len(event.shots)
    run.frames_missing += event.missing
    mean = run.frames_seen / run.shots_seen
    expected = round(run.frames_missing + run.shots_left * mean)
    run.sizes.left = expected - run.sizes.done
    run.reporter.expect(run.frames_missing, expected)


def _clips_of_shots(run: Run, keys: Iterable[str]) -> list[PlannedClip]:
    return [clip for key in keys for clip in run.waiting.get(key, ())]


def clips_of_task(run: Run, task: Task) -> list[PlannedClip]:
    """Return the clips that wait for the frames or the still that a task makes."""
    if isinstance(task.job, SetJob):
        return list(run.by_still.get(task.job.target, {}).values())
    assert isinstance(task.job, ShotJob), "a clip that is being made does not wait"
    return _clips_of_shots(run, dict.fromkeys(folder.name for folder in task.job.folders))


def _settle(run: Run, clip: PlannedClip | DisplayClip, seconds: float | None) -> None:
    """Deliver a clip that a worker has made; ``seconds`` is its encoding time, if measured."""
    try:
        if isinstance(clip, PlannedClip):
            row = delivered(clip, run.shots[clip.shot.key].facts, run.store, run.folder)
        else:
            row = delivered_display(clip, run.store, run.folder)
    except (RequestError, OSError, ValueError) as problem:
        _raise_full_disk(problem, clip)
        note_failure(run, clip, str(problem))
    else:
        _note_success(run, clip, row)
        if seconds is not None and isinstance(clip, PlannedClip):
            size = run.folder.target(clip.sample_id).stat().st_size
            run.shots[clip.shot.key].measurement.encoded.add(row.frames, seconds, size)
    _close(run, clip)


def _failed(run: Run, event: TaskFailed) -> None:
    """Mark the clips of a failed task as failed; first try to mend a clip's damaged frames."""
    job, why = event.task.job, _full_reason(run, event)
    if not isinstance(job, ClipJob | DisplayJob):
        _fail(run, clips_of_task(run, event.task), why)
        return
    clip = run.encoding.pop(job.target)
    if isinstance(clip, DisplayClip) or not _mend(run, clip):
        note_failure(run, clip, why)
        _close(run, clip)


def _full_reason(run: Run, event: TaskFailed) -> str:
    """Return why a task failed, on which machine, and the path of its worker's log."""
    if not event.worker:
        return event.why
    worker = event.worker if run.farm.elsewhere else f"{socket.gethostname()}, {event.worker}"
    return f"{event.why} ({worker}; log: {run.logs.file(event.worker)})"


def _mend(run: Run, clip: PlannedClip) -> bool:
    """Have a clip's damaged frames made again, once per shot; return whether there were any."""
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
            run.handle(work)
    run.shots[clip.shot.key].mended = True
    return True


def _fail(run: Run, clips: list[PlannedClip], why: str) -> None:
    for clip in clips:
        _no_longer_waiting(run, clip)
        note_failure(run, clip, why)


def note_failure(run: Run, clip: PlannedClip | DisplayClip, why: str) -> None:
    """Note why a clip failed."""
    run.failures[clip.sample_id] = why
    run.journal.clip(clip.sample_id, why)


def _note_success(run: Run, clip: PlannedClip | DisplayClip, row: Row) -> None:
    run.rows.append(row)
    run.journal.clip(clip.sample_id)
    run.reporter.clip(f"{clip.sample_id}: done")


def _no_longer_waiting(run: Run, clip: PlannedClip) -> None:
    """Remove a clip from those that wait for frames or a still."""
    clips = run.waiting[clip.shot.key]
    clips.remove(clip)
    if not clips:
        del run.waiting[clip.shot.key]
    shot = run.shots.get(clip.shot.key)
    still = still_of(clip, shot.facts, run.store) if shot else None
    if still is not None:
        run.by_still[still].pop(clip.key, None)


def _close(run: Run, clip: PlannedClip | DisplayClip) -> None:
    """Note that a clip needs no more work; after a shot's last clip, release the shot's claim."""
    if isinstance(clip, DisplayClip):
        run.journal.registration.release(clip.key)
        return
    key = clip.shot.key
    run.open[key] -= 1
    if not run.open[key]:
        del run.open[key], run.shots[key]
        run.journal.registration.release(key)


def begin_displays(run: Run, part: CastingPlan) -> Iterator[Task]:
    """Yield the tasks that make a casting's displays; a motion that does not fit fails its clip."""
    for clip in part.displays:
        yield from _last_task(run, clip, partial(display_task, clip, run.store))


def _last_task(run: Run, clip: PlannedClip | DisplayClip, make: Callable[[], Task]
               ) -> Iterator[Task]:
    """Yield the task that writes a clip's file; if it cannot be made, the clip fails."""
    try:
        task = make()
    except DiskFullError:
        raise
    except RequestError as problem:
        note_failure(run, clip, str(problem))
        _close(run, clip)
    else:
        run.encoding[run.store.encoded(clip.key)] = clip
        yield task


def compose_ready(run: Run, clips: list[PlannedClip]) -> None:
    """Queue the tasks that compose those clips whose frames and still are complete."""
    for clip in clips:
        shot = run.shots[clip.shot.key]
        still = still_of(clip, shot.facts, run.store)
        if _all_frames_exist(run, clip.shot.key) and (still is None or still.exists()):
            _no_longer_waiting(run, clip)
            run.further += _last_task(run, clip, partial(clip_task, clip, shot.facts, run.store))


def _all_frames_exist(run: Run, key: str) -> bool:
    """Return whether all frames of a shot exist; frames found before are not checked again."""
    shot, folder = run.shots[key], run.store.shot_folder(key)
    frames = shot.facts["frames"]
    if shot.there == frames:
        return True
    while shot.there < frames and (seen := stamp(folder / frame_name(shot.there))):
        shot.measurement.stored.add(1, 0.0, seen[1])
        shot.there += 1
    if shot.there == frames:
        run.reporter.shot()
    return bool(shot.there == frames)


def _raise_full_disk(problem: Exception, clip: PlannedClip | DisplayClip) -> None:
    if means_full_disk(problem):
        raise disk_full(f"writing {clip.sample_id}") from problem
