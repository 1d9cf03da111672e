"""The main job: carry out a plan, clip by clip as their shots are done."""

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
from mimegen.manifest.file import add_rows
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

BYTES_PER_PIXEL = 0.35  # of a stored frame and its share of the clips, as measured


def render(plan: Plan, store: Store, out: Path, farm: Farm, reporter: Reporter,
           opaque: bool = False) -> dict[str, str]:
    """Make every clip of the plan that is not there yet, and the manifest.

    With ``opaque`` the names of clips say nothing of what they show. Returns why each clip failed,
    by its plain sample_id; the others are whole. Raises RequestError where nothing can go on (no
    disk space, an unwritable place).
    """
    prepare_folders(plan, store, out)
    if plan.clips:
        reporter.say(f"{counted(plan.clips, 'clip')} of {counted(plan.shots, 'shot')}"
                     f" on {farm.name}")
    reporter.expect_shots(plan.shots)
    if plan.displays:
        reporter.say(counted(plan.displays, "point-light clip"))
    for reason in plan.left_out:
        reporter.say(f"left out: {reason}")
    folder = ClipFolder.of(out, opaque)
    facts = {"clips": len(plan), "shots": plan.shots, "devices": farm.name}
    with Journal(out, store, facts) as journal:
        sizes = Sizes(farm.task_s, farm.workers)
        run = Run(store, out, reporter, journal, Logs(out / "logs"), sizes, farm, folder,
                  plan.shots)
        try:
            _carry_out(plan, run)
        except KeyboardInterrupt:
            add_rows(run.out, run.rows)
            raise
        add_rows(run.out, run.rows)
        for name, measurement in run.measurements.items():
            measurement.keep(run.sizes.measured.get(name, Sum()))
        if run.logs.seconds:
            reporter.say(f"slowest tasks: {'; '.join(run.logs.slowest())};"
                         f" logs in {run.logs.folder}")
        for reason in plan.left_out:
            reporter.say(f"not made: {reason.partition(';')[0]}")
        return run.failures


def prepare_folders(plan: Plan, store: Store, out: Path) -> None:
    """Make the folders and see that they can be written and hold what is to come.

    Raises RequestError where not.
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
    """Make all or none. Raises RequestError, which names the option of what cannot be written."""
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
    # Nothing but displays needs no engine.
    start = run.farm.start if plan.clips else run.farm.start_cold or run.farm.start
    run.carry_out(run.draw(plan.castings(), partial(_draw, run), partial(_resume, run)), start)
    for clips in run.waiting.values():
        for clip in clips:
            note_failure(run, clip, "its frames were not made")


def _draw(run: Run, part: CastingPlan) -> Iterator[Work]:
    """Yield what is to be done of a casting that is drawn from the plan."""
    run.shots_left -= len(part.shots)
    yield from _begin(_without_finished(part, run), run)


def _resume(run: Run, postponed: list[CastingPlan]) -> Iterator[Work]:
    """Yield what is still to be done of castings that another job was making."""
    for part in postponed:
        yield from _begin(_without_finished(part, run), run)


def _begin(part: CastingPlan, run: Run) -> Iterator[Work]:
    """Yield what is to be done of a casting's clips; postpone what another job is making."""
    claimed = run.journal.registration.claim(_claims_of(part))
    mine, theirs = _divided(part, claimed)
    # Before it gave up its claim, another job may have made them.
    mine = _without_finished(mine, run)
    for key in claimed.difference(_claims_of(mine), run.open):
        run.journal.registration.release(key)
    if theirs.clips or theirs.displays:
        run.postponed.append(theirs)
    if mine.clips:
        for clip in mine.clips:
            run.waiting.setdefault(clip.shot.key, []).append(clip)
            run.open[clip.shot.key] = run.open.get(clip.shot.key, 0) + 1
        yield from run.not_others(casting_tasks(mine, run.store, run.stills, run.sizes.pictures))
    yield from begin_displays(run, mine)


def _claims_of(part: CastingPlan) -> list[str]:
    return [*(shot.key for shot in part.shots), *(clip.key for clip in part.displays)]


def _divided(part: CastingPlan, claimed: set[str]) -> tuple[CastingPlan, CastingPlan]:
    """Return the clips of a casting that were claimed, by their shots or themselves; the others."""
    def those(mine: bool) -> CastingPlan:
        clips = [clip for clip in part.clips if (clip.shot.key in claimed) == mine]
        displays = [clip for clip in part.displays if (clip.key in claimed) == mine]
        return replace(part, clips=tuple(clips), displays=tuple(displays))

    return those(True), those(False)


def _without_finished(part: CastingPlan, run: Run) -> CastingPlan:
    """Return the clips of a casting that are not there; take in the rows of those that are."""
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
