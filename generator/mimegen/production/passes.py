"""Ground truth of a plan's clips: what is missing of it is made, and their rows name it."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mimegen.base.errors import DiskFullError, RequestError, means_full_disk
from mimegen.base.files import sweep
from mimegen.compositing.passfiles import FACTS, PassSource, pass_facts, write_pass
from mimegen.farm.dispatch import TaskBegun, TaskDone, TaskFailed, run_tasks
from mimegen.farm.executor import Farm, Unfit
from mimegen.farm.logs import Logs
from mimegen.farm.patience import Patience
from mimegen.farm.task import Task
from mimegen.manifest.file import add_rows, read_manifest
from mimegen.manifest.parts import PassFacts
from mimegen.manifest.row import Row
from mimegen.plan.clips import Clip
from mimegen.plan.passes import WantedPasses
from mimegen.plan.plan import Plan
from mimegen.plan.shots import camera_of
from mimegen.production.finishing import finished
from mimegen.production.journal import Journal
from mimegen.production.passtasks import Column, geometry_file, geometry_tasks, pass_tasks
from mimegen.production.progress import Reporter
from mimegen.stage.camera import Camera
from mimegen.stage.jobs import FrameDone, Ready, ShotJob
from mimegen.stage.passes.kinds import WITH_SET, Kind
from mimegen.stage.plain import NONE
from mimegen.store.frames import frame_name
from mimegen.store.store import Store

PASSES = "passes"
_FOLDER_DIGITS = 20


@dataclass(eq=False)
class _Piece:
    """A folder of files of a pass: what it is made of, and the clips that it is of."""

    source: PassSource
    target: Path
    key: str
    clips: list[str] = field(default_factory=list)

    @property
    def ready(self) -> bool:
        """Whether all that it is made of is there."""
        source = self.source
        return (source.geometry is None or source.geometry.exists()) and all(
            (source.folder / frame_name(frame)).exists() for frame in set(source.shown))


@dataclass(eq=False)
class _Run:
    """The state of one carrying-out; ``rows`` are those of clips, by their plain names.

    ``waiting`` are the folders that lack frames, ``made`` and ``failures`` are by clip and pass.
    """

    wanted: WantedPasses
    store: Store
    out: Path
    rows: dict[str, Row]
    reporter: Reporter
    journal: Journal
    waiting: dict[Path, _Piece] = field(default_factory=dict)
    writing: dict[Future[dict[str, Any]], _Piece] = field(default_factory=dict)
    made: dict[str, dict[str, PassFacts]] = field(default_factory=dict)
    failures: dict[str, dict[str, str]] = field(default_factory=dict)


def make_passes(plan: Plan, wanted: WantedPasses, store: Store, out: Path, farm: Farm,
                reporter: Reporter) -> dict[str, str]:
    """Make the passes that are missing of a plan's clips, of those in ``out``'s manifest.

    Their rows then name them; no picture is made. Returns why passes failed, by their clips' plain
    names; all others are whole. Raises RequestError where nothing can go on.
    """
    rows = {row.plain_id or row.sample_id: row for row in read_manifest(out)}
    facts = {"clips": 0, "shots": 0, "devices": farm.name, "passes": list(wanted.kinds)}
    with Journal(out, store, facts) as journal:
        run = _Run(wanted, store, out, rows, reporter, journal)
        try:
            _carry_out(plan, run, farm)
        finally:
            add_rows(out, _named(run))
    for name, found in run.made.items():
        reporter.say(f"{name}: {', '.join(kind for kind in wanted.kinds if kind in found)}")
    return {name: _why(said) for name, said in run.failures.items()}


def camera_of_row(row: Row) -> Camera | None:
    """Return the camera that a row tells of."""
    return None if row.camera is None else camera_of({"camera": row.camera.model_dump()})


def _carry_out(plan: Plan, run: _Run, farm: Farm) -> None:
    for kind in run.wanted.kinds:
        sweep(run.out / PASSES / kind)
    logs = Logs(run.out / "logs")
    with ThreadPoolExecutor(max_workers=1) as pool:
        events = run_tasks(_work(plan, run, pool), farm.start, Patience(farm.silence_s), logs.hear)
        with closing(events):
            for event in events:
                _handle(event, run, pool)
                _collect(run)
            while run.writing:
                _collect(run, wait=True)
    for piece in list(run.waiting.values()):
        _fail(run, piece, "its frames were not made")


def _work(plan: Plan, run: _Run, pool: ThreadPoolExecutor) -> Iterator[Task]:
    """Draw castings from the plan as workers come free, and yield what is to be done of them."""
    geometry: set[str] = set()
    for part in plan.castings():
        clips = [(clip, camera) for clip in part.clips if clip.sample_id in run.rows
                 and (camera := camera_of_row(run.rows[clip.sample_id])) is not None]
        pieces = [piece for clip, camera in clips for piece in _lacking(clip, camera, run)]
        try:
            yield from geometry_tasks(clips, run.wanted, run.store, geometry)
            tasks = list(pass_tasks(part.casting, _columns(clips, pieces, run), run.store,
                                    run.wanted))
            run.reporter.expect_more(sum(int(task.job.missing.sum()) for task in tasks
                                         if isinstance(task.job, ShotJob)))
            yield from tasks
        except DiskFullError:
            raise
        except RequestError as problem:
            for piece in pieces:
                _fail(run, piece, str(problem))
        _write_ready(run, pieces, pool)


def _lacking(clip: Clip, camera: Camera, run: _Run) -> Iterator[_Piece]:
    """Yield the folders that a clip lacks and no other clip has asked for; take in the others."""
    for kind in run.wanted.kinds:
        made = _piece(clip, kind, camera, run)
        target = made.target
        known = run.waiting.get(target)
        piece = known or made
        piece.clips.append(clip.sample_id)
        if (target / FACTS).is_file():
            _take_in(run, piece, pass_facts(target))
        elif known is None:
            run.waiting[target] = piece
            yield piece


def _piece(clip: Clip, kind: Kind, camera: Camera, run: _Run) -> _Piece:
    wanted, key = run.wanted, run.wanted.key(clip.shot, kind)
    shows = clip.showing(_frames(clip, run))
    shown = tuple(shows.frames.tolist())
    geometry = wanted.geometry_key(clip, camera) if kind in WITH_SET else None
    files = wanted.files_key(clip, kind, camera, shown, shows.shadow)
    return _Piece(
        PassSource(kind, run.store.pass_folder(key), shown, camera, clip.shot.config.fps,
                   wanted.engine, shows.shadow,
                   None if geometry is None else geometry_file(run.store, geometry),
                   wanted.flow_files),
        run.out / PASSES / kind / files[:_FOLDER_DIGITS], key)


def _frames(clip: Clip, run: _Run) -> int:
    """Return how many frames a clip's shot has; the clip itself may show fewer."""
    facts = run.store.shot_facts(clip.shot.key)
    return int(facts["frames"]) if facts else run.rows[clip.sample_id].frames


def _columns(clips: Sequence[tuple[Clip, Camera]], pieces: Iterable[_Piece], run: _Run
             ) -> list[Column]:
    """Return the passes of shots that folders are made of, each once."""
    wanted = {piece.key for piece in pieces}
    columns = {run.wanted.key(clip.shot, kind): Column(
        clip.shot, kind, camera, _frames(clip, run))
        for clip, camera in clips for kind in run.wanted.kinds}
    return [column for key, column in columns.items() if key in wanted]


def _handle(event: object, run: _Run, pool: ThreadPoolExecutor) -> None:
    match event:
        case Ready(device, _, program):
            if device != NONE:
                run.reporter.say(f"{program} makes passes on {device}")
        case Unfit():
            run.reporter.say(event.why)
        case TaskBegun():
            run.journal.task(event.task.title, event.worker)
            run.reporter.begin(event.task.title, False)
        case FrameDone():
            run.journal.frame()
            run.reporter.frame()
        case TaskDone():
            run.journal.task_over(event.task.title)
            _write_ready(run, _pieces_of(run, event.task), pool)
        case TaskFailed():
            run.journal.task_over(event.task.title, event.why)
            for piece in _pieces_of(run, event.task):
                _fail(run, piece, event.why)


def _pieces_of(run: _Run, task: Task) -> list[_Piece]:
    """Return the waiting folders that a task has to do with."""
    job = task.job
    made = set(job.folders) if isinstance(job, ShotJob) else {job.target}
    return [piece for piece in run.waiting.values()
            if piece.source.geometry in made or piece.source.folder in made]


def _write_ready(run: _Run, pieces: Iterable[_Piece], pool: ThreadPoolExecutor) -> None:
    for piece in pieces:
        if piece.target in run.waiting and piece.ready:
            del run.waiting[piece.target]
            run.writing[pool.submit(write_pass, piece.source, piece.target)] = piece


def _collect(run: _Run, wait: bool = False) -> None:
    """Take in the folders that are written; with ``wait``, at least one."""
    for piece, future in finished(run.writing, wait):
        try:
            _take_in(run, piece, future.result())
        except (RequestError, OSError, ValueError) as problem:
            if means_full_disk(problem):
                raise DiskFullError(f"no space left on the disk while writing {piece.target}; free"
                                    " some and run again") from problem
            _fail(run, piece, str(problem))


def _take_in(run: _Run, piece: _Piece, facts: dict[str, Any]) -> None:
    geometry = piece.source.geometry
    told = PassFacts(
        folder=piece.target.relative_to(run.out).as_posix(), key=piece.key,
        geometry_key=None if geometry is None else geometry.parent.name,
        engine=facts["engine"], files=facts["files"], sha256=facts["sha256"])
    for name in piece.clips:
        run.made.setdefault(name, {})[piece.source.kind] = told


def _fail(run: _Run, piece: _Piece, why: str) -> None:
    run.waiting.pop(piece.target, None)
    for name in piece.clips:
        run.failures.setdefault(name, {})[piece.source.kind] = why


def _why(said: dict[str, str]) -> str:
    """Return in one line which passes of a clip failed, and why."""
    return "; ".join(
        f"{', '.join(kind for kind, each in said.items() if each == why)} not made: {why}"
        for why in dict.fromkeys(said.values()))


def _named(run: _Run) -> list[Row]:
    return [run.rows[name].model_copy(update={
        "passes": {kind: found[kind] for kind in run.wanted.kinds if kind in found}})
        for name, found in run.made.items()]
