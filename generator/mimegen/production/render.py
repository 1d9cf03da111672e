"""The main job: carry out a plan and compose each clip as soon as its shot is complete."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from mimegen.base.counted import counted
from mimegen.base.errors import DiskFullError, RequestError
from mimegen.base.files import scratch_folder
from mimegen.farm.executor import Farm
from mimegen.farm.logs import Logs
from mimegen.manifest.file import add_rows, rows_of
from mimegen.manifest.left_out import lines_of, note_left_out
from mimegen.plan.clips import DisplayClip, PlannedClip
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.clips import finished_row
from mimegen.production.journal import Journal
from mimegen.production.progress import Reporter
from mimegen.production.run import (
    Run,
    begin_displays,
    note_failure,
)
from mimegen.production.sizes import Sizes, Sum
from mimegen.production.tasks import Work, casting_tasks
from mimegen.store.store import Store

BYTES_PER_PIXEL = 0.35  # bytes per pixel of a stored frame and its part of the clips, as measured


def render(plan: Plan, store: Store, out: Path, farm: Farm, reporter: Reporter,
           opaque: bool = False) -> dict[str, str]:
    """Make every clip of the plan that does not exist yet, and the manifest.

    If ``opaque``, the names of clips do not reveal what they show. Returns why clips failed, by
    plain sample_id; all others are whole. Raises RequestError if nothing can go on (no disk space,
    an unwritable folder).
    """
    prepare_folders(plan, store, out)
    if plan.clips:
        reporter.say(f"{counted(plan.clips, 'clip')} of {counted(plan.shots, 'shot')}"
                     f" on {farm.name}")
    reporter.expect_shots(plan.shots)
    if plan.displays:
        reporter.say(counted(plan.displays, "point-light clip"))
    for line in lines_of(plan.left_out):
        reporter.say(f"left out: {line}")
    note_left_out(out, plan.left_out)
    folder = ClipFolder.of(out, opaque)
    facts = {"clips": len(plan), "shots": plan.shots, "devices": farm.name}
    with Journal(out, store, facts) as journal:
        sizes = Sizes(farm.task_s, farm.workers)
        run = Run(store, out, reporter, journal, Logs(out / "logs"), sizes, farm, folder,
                  plan.shots)
        try:
            _carry_out(plan, run)
        except KeyboardInterrupt:
            _add_rows(run)
            raise
        _add_rows(run)
        note_left_out(out, plan.left_out)
        for name, measurement in run.measurements.items():
            measurement.keep(run.sizes.measured.get(name, Sum()))
        if run.logs.seconds:
            reporter.say(f"slowest tasks: {'; '.join(run.logs.slowest())};"
                         f" logs in {run.logs.folder}")
        for line in lines_of(plan.left_out):
            reporter.say(f"not made: {line.partition(';')[0]}")
        return run.failures


def _add_rows(run: Run) -> None:
    """Add the run's rows to the manifest, and say which clips they replace by others."""
    earlier = {row.sample_id: row.sha256 for row in rows_of(run.out)}
    replaced = sorted(row.sample_id for row in run.rows
                      if earlier.get(row.sample_id, row.sha256) != row.sha256)
    if replaced:
        run.reporter.say(f"replaced {counted(len(replaced), 'clip')} of the same name that"
                         f" differed, such as {replaced[0]}; choose another --out to keep both")
    add_rows(run.out, run.rows)


def prepare_folders(plan: Plan, store: Store, out: Path) -> None:
    """Make the folders; check that they are writable and that the disk has enough space.

    Raises RequestError if not.
    """
    _make_folders(out, store)
    if not (out / "clips").resolve().is_relative_to(out.resolve()):
        raise RequestError(f"{out / 'clips'}: links to a folder outside {out}; make {out} itself"
                           " the link, because its manifest only refers to files inside it")
    due = [shot.config for part in plan.castings() for shot in part.shots
           if store.shot_facts(shot.key) is None]
    need = BYTES_PER_PIXEL * sum(config.width * config.height * config.fps for config in due)
    free = shutil.disk_usage(store.root).free
    if need > free:
        raise RequestError(
            f"{store.root}: only {free / 1e6:.0f} MB free, but one second of these {len(due)} shots"
            f" takes about {need / 1e6:.0f} MB; free some space or choose another folder with"
            " --store"
        )


def _make_folders(out: Path, store: Store) -> None:
    """Make all folders or none.

    Raises RequestError, naming the option of the folder that cannot be written.
    """
    places = {out: "--out says where clips go", out / "clips": "--out says where clips go",
              store.root: "--store says where frames are kept",
              store.root / "shots": "--store says where frames are kept"}
    absent = [folder for folder in places if not folder.exists()]
    for folder, says_where in places.items():
        try:
            with scratch_folder(folder):
                pass
        except RequestError as problem:
            for made in reversed(absent):
                with suppress(OSError):
                    made.rmdir()
            if isinstance(problem, DiskFullError):
                raise
            raise RequestError(f"{problem}; {says_where}") from problem


def _carry_out(plan: Plan, run: Run) -> None:
    # Displays alone need no render engine.
    start = run.farm.start if plan.clips else run.farm.start_cold or run.farm.start
    run.carry_out(run.draw(plan.castings(), partial(_draw, run), partial(_resume, run)), start)
    for clips in run.waiting.values():
        for clip in clips:
            note_failure(run, clip, "its frames were not made")


def _draw(run: Run, part: CastingPlan) -> Iterator[Work]:
    """Yield the work for the unfinished clips of a casting drawn from the plan."""
    run.shots_left -= len(part.shots)
    yield from _begin(_without_finished(part, run), run)


def _resume(run: Run, postponed: list[CastingPlan]) -> Iterator[Work]:
    """Yield the work that remains for castings that another job was making."""
    for part in postponed:
        yield from _begin(_without_finished(part, run), run)


def _begin(part: CastingPlan, run: Run) -> Iterator[Work]:
    """Yield the work for a casting's clips; postpone those that another job is making."""
    claimed = run.journal.registration.claim(_claims_of(part))
    mine, theirs = _divided(part, claimed)
    # Another job may have made them before it gave up its claim.
    mine = _without_finished(mine, run)
    for key in claimed.difference(_claims_of(mine), run.open):
        run.journal.registration.release(key)
    if theirs.clips or theirs.displays:
        run.postponed.append(theirs)
    if mine.clips:
        for clip in mine.clips:
            run.waiting.setdefault(clip.shot.key, []).append(clip)
            run.open[clip.shot.key] = run.open.get(clip.shot.key, 0) + 1
        yield from run.without_claimed(
            casting_tasks(mine, run.store, run.stills, run.sizes.pictures))
    yield from begin_displays(run, mine)


def _claims_of(part: CastingPlan) -> list[str]:
    return [*(shot.key for shot in part.shots), *(clip.key for clip in part.displays)]


def _divided(part: CastingPlan, claimed: set[str]) -> tuple[CastingPlan, CastingPlan]:
    """Divide a casting's clips into those claimed, by shot or display key, and the others."""
    def those(mine: bool) -> CastingPlan:
        clips = [clip for clip in part.clips if (clip.shot.key in claimed) == mine]
        displays = [clip for clip in part.displays if (clip.key in claimed) == mine]
        return replace(part, clips=tuple(clips), displays=tuple(displays))

    return those(True), those(False)


def _without_finished(part: CastingPlan, run: Run) -> CastingPlan:
    """Return the unfinished clips of a casting; collect the rows of the finished ones."""
    due: list[PlannedClip | DisplayClip] = []
    wanted: tuple[PlannedClip | DisplayClip, ...] = (*part.clips, *part.displays)
    for clip in wanted:
        row = finished_row(clip, run.store, run.folder)
        if row is None:
            due.append(clip)
        else:
            run.rows.append(row)
            run.journal.clip(clip.sample_id)
            run.reporter.clip(f"{clip.sample_id}: already there")
    rest = replace(part, clips=tuple(clip for clip in due if isinstance(clip, PlannedClip)),
                   displays=tuple(clip for clip in due if isinstance(clip, DisplayClip)))
    run.reporter.shots_there(len(part.shots) - len(rest.shots))
    return rest
