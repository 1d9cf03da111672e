"""Make the missing ground truth (passes) of a plan's clips and enter it in their rows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mimegen.base.errors import DiskFullError, RequestError, disk_full, means_full_disk
from mimegen.base.files import sweep
from mimegen.compositing.passfiles import pass_facts
from mimegen.compositing.passjob import PassFilesJob
from mimegen.farm.dispatch import TaskFailed
from mimegen.farm.executor import Farm
from mimegen.farm.logs import Logs
from mimegen.farm.task import Task
from mimegen.groundtruth.job import GeometryJob
from mimegen.manifest.file import add_rows, read_manifest
from mimegen.manifest.parts import PassFacts
from mimegen.manifest.row import Row
from mimegen.plan.passes import WantedPasses
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.production.journal import Journal
from mimegen.production.passpieces import PASSES, PassFolder, pieces_of
from mimegen.production.passtasks import geometry_tasks, pass_jobs
from mimegen.production.progress import Reporter
from mimegen.production.sizes import Sizes
from mimegen.production.task_run import TaskRun
from mimegen.production.tasks import Work, in_parts
from mimegen.shots.jobs import ShotJob
from mimegen.store.store import Store


@dataclass(eq=False)
class _Run(TaskRun[PassFolder]):
    """The state of one run; ``rows`` are the rows of clips, by plain name.

    ``waiting`` are the pass folders that still lack frames or geometry, by target path; ``writing``
    the folders that a worker is writing, by the path it writes. ``made`` and ``failures`` are by
    clip name and pass.
    """

    does = "makes passes"

    wanted: WantedPasses
    rows: dict[str, Row]
    geometry: set[str] = field(default_factory=set)
    waiting: dict[Path, PassFolder] = field(default_factory=dict)
    writing: dict[Path, PassFolder] = field(default_factory=dict)
    made: dict[str, dict[str, PassFacts]] = field(default_factory=dict)
    failures: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def unfinished(self) -> Iterable[PassFolder]:
        """All folders that this job has yet to make."""
        return (*self.waiting.values(), *self.writing.values())

    def shared_key(self, task: Task) -> str | None:
        """Return the key of the geometry that a task makes."""
        return task.job.target.parent.name if isinstance(task.job, GeometryJob) else None

    def is_long(self, task: Task) -> bool:
        """Return False: no task of a pass is announced on a line of its own."""
        return False

    def resume_waiting(self, task: Task) -> None:
        """Write the folders that waited for this task's geometry."""
        self.further += _writing(self, _of_task(self, task))

    def done(self, task: Task, seconds: float | None) -> None:
        """Record a folder that was written, or write the folders that have become complete."""
        if isinstance(task.job, PassFilesJob):
            _settle(self, self.writing.pop(task.job.target))
        else:
            self.resume_waiting(task)

    def failed(self, event: TaskFailed) -> None:
        """Mark the folders of a task as failed."""
        for piece in _of_task(self, event.task):
            _fail(self, piece, event.why)


def make_passes(plan: Plan, wanted: WantedPasses, store: Store, out: Path, farm: Farm,
                reporter: Reporter) -> dict[str, str]:
    """Make the missing passes of those clips of a plan that are in ``out``'s manifest.

    Adds the passes to the clips' rows; renders no picture. Returns why passes failed, by plain clip
    name; all others are whole. Raises RequestError if nothing can go on.
    """
    rows = {row.plain_id or row.sample_id: row for row in read_manifest(out)}
    facts = {"clips": 0, "shots": 0, "devices": farm.name, "passes": list(wanted.kinds)}
    with Journal(out, store, facts) as journal:
        run = _Run(store, out, reporter, journal, Logs(out / "logs"),
                   Sizes(farm.task_s, farm.workers), farm, wanted, rows)
        try:
            _carry_out(plan, run)
        finally:
            add_rows(out, _named(run))
    for name, found in run.made.items():
        reporter.say(f"{name}: {', '.join(kind for kind in wanted.kinds if kind in found)}")
    return {name: _why(said) for name, said in run.failures.items()}


def _carry_out(plan: Plan, run: _Run) -> None:
    for kind in run.wanted.kinds:
        sweep(run.out / PASSES / kind)
    run.carry_out(run.draw(plan.castings(), partial(_draw, run), partial(_resume, run)),
                  run.farm.start_cold or run.farm.start)
    for piece in list(run.waiting.values()):
        _fail(run, piece, "its frames were not rendered")


def _draw(run: _Run, part: CastingPlan) -> Iterator[Work]:
    """Yield the work for the clips of a casting drawn from the plan."""
    found: dict[Path, PassFolder] = {}
    for clip in part.peopled:
        if clip.sample_id in run.rows:
            for piece in pieces_of(clip, run.rows[clip.sample_id], run.wanted, run.store, run.out):
                found.setdefault(piece.target, piece).clips |= piece.clips
    yield from _begin(list(found.values()), run)


def _resume(run: _Run, postponed: list[PassFolder]) -> Iterator[Work]:
    """Yield the work that remains for folders that another job was making."""
    by_casting = defaultdict(list)
    for piece in postponed:
        by_casting[piece.column.shot.casting].append(piece)
    for pieces in by_casting.values():
        yield from _begin(pieces, run)


def _begin(pieces: Sequence[PassFolder], run: _Run) -> Iterator[Work]:
    """Yield the work for folders of one casting; postpone those that another job is making."""
    lacking = [piece for piece in pieces if not _taken_in(run, piece)]
    claimed = run.journal.registration.claim({piece.key for piece in lacking})
    run.postponed += [piece for piece in lacking if piece.key not in claimed]
    # Another job may have made them before it gave up its claim.
    mine = [piece for piece in lacking if piece.key in claimed and not _taken_in(run, piece)]
    run.waiting |= {piece.target: piece for piece in mine}
    for folder in {piece.source.folder for piece in mine}:
        sweep(folder)
    for key in claimed:
        _release(run, key)
    try:
        yield from run.without_claimed(geometry_tasks(
            [(piece.clip, piece.filmed) for piece in mine if piece.source.geometry],
            run.wanted, run.store, run.geometry))
        yield from _frames(mine, run)
    except DiskFullError:
        raise
    except RequestError as problem:
        for piece in mine:
            _fail(run, piece, str(problem))
    yield from _writing(run, mine)


def _frames(pieces: Sequence[PassFolder], run: _Run) -> Iterator[Task]:
    """Yield the tasks that render the frames which folders of one casting lack."""
    columns = list({piece.key: piece.column for piece in pieces}.values())
    if not columns:
        return
    jobs = pass_jobs(columns[0].shot.casting, columns, run.store, run.wanted)
    missing = sum(int(job.missing.sum()) for job, _ in jobs)
    run.sizes.left += missing
    run.reporter.expect_more(missing)
    for job, title in jobs:
        yield from in_parts(job, title, run.sizes.pictures)


def _of_task(run: _Run, task: Task) -> list[PassFolder]:
    """Return the unfinished folders that depend on a task's result."""
    job = task.job
    made = set(job.folders) if isinstance(job, ShotJob) else {job.target}
    return [piece for piece in run.unfinished
            if {piece.made, piece.source.geometry, piece.source.folder} & made]


def _writing(run: _Run, pieces: Iterable[PassFolder]) -> Iterator[Task]:
    """Yield the tasks that write those folders whose frames and geometry are complete."""
    for piece in pieces:
        if piece.target in run.waiting and piece.ready:
            del run.waiting[piece.target]
            run.writing[piece.made] = piece
            yield piece.task()


def _settle(run: _Run, piece: PassFolder) -> None:
    """Move a folder that a worker has written to its target and record it."""
    try:
        piece.bring()
        _take_in(run, piece)
    except (RequestError, OSError, ValueError) as problem:
        if means_full_disk(problem):
            raise disk_full(f"writing {piece.target}") from problem
        _fail(run, piece, str(problem))
    _release(run, piece.key)


def _taken_in(run: _Run, piece: PassFolder) -> bool:
    """Return whether a folder is complete in its target; if so, record it."""
    if piece.is_complete:
        _take_in(run, piece)
    return piece.is_complete


def _take_in(run: _Run, piece: PassFolder) -> None:
    facts = piece.row_facts(run.out, pass_facts(piece.target))
    for name in piece.clips:
        run.made.setdefault(name, {})[piece.source.kind] = facts


def _fail(run: _Run, piece: PassFolder, why: str) -> None:
    run.waiting.pop(piece.target, None)
    run.writing.pop(piece.made, None)
    for name in piece.clips:
        run.failures.setdefault(name, {})[piece.source.kind] = why
    _release(run, piece.key)


def _release(run: _Run, key: str) -> None:
    """Release the claim on a shot's pass once no unfinished folder needs it."""
    if all(piece.key != key for piece in run.unfinished):
        run.journal.registration.release(key)


def _why(said: dict[str, str]) -> str:
    """Return one line that names a clip's failed passes and why they failed."""
    return "; ".join(
        f"{', '.join(kind for kind, each in said.items() if each == why)} not made: {why}"
        for why in dict.fromkeys(said.values()))


def _named(run: _Run) -> list[Row]:
    return [run.rows[name].model_copy(update={
        "passes": {kind: found[kind] for kind in run.wanted.kinds if kind in found}})
        for name, found in run.made.items()]
