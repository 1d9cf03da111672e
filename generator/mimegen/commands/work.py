"""``mimegen work``: run tasks of a plan file."""

import os
from collections.abc import Iterable
from contextlib import closing
from functools import partial
from pathlib import Path

import click

from mimegen.base.errors import RequestError
from mimegen.base.paths import using_libraries
from mimegen.commands.common import DONE, SOME_FAILED, blender_option, exits_cleanly, warn
from mimegen.commands.render import render_planned
from mimegen.farm.dispatch import Event, TaskBegun, TaskDone, TaskFailed, run_tasks
from mimegen.farm.executor import Unfit
from mimegen.farm.local import LocalExecutor
from mimegen.farm.settings import FarmSettings
from mimegen.farm.task import Task
from mimegen.production.journal import Journal
from mimegen.rendering.auto import choose_device
from mimegen.request.planfile import PlanFile, numbers_of
from mimegen.request.planned import Planned
from mimegen.shots.jobs import FrameDone
from mimegen.store.disk import Disk
from mimegen.store.store import Store


@click.command("work")
@exits_cleanly
@blender_option
@click.argument("planfile", type=click.Path(path_type=Path))
@click.option("--frames", metavar="A-B", help="Numbers of the frames to render, as in 0-11 or 3,7.")
@click.option("--stills", metavar="A-B", help="Numbers of the background plates to render.")
@click.option("--clips", is_flag=True, help="Assemble the clips and the manifest from the finished"
                                            " frames.")
def work_command(planfile: Path, frames: str | None, stills: str | None, clips: bool) -> int:
    """Run tasks of a plan file that `mimegen plan --export` wrote.

    Skips what is already finished.
    """
    if (frames is not None) + (stills is not None) + clips != 1:
        raise RequestError("expected exactly one of --frames A-B, --stills A-B and --clips")
    plan = PlanFile.read(planfile)
    if clips:
        return _make_clips(plan)
    drawn = plan.some_frames(numbers_of(frames)) if frames else plan.some_stills(
        numbers_of(stills or ""))
    with Journal(plan.out, Store(plan.store), {"devices": plan.request.device}) as journal:
        return SOME_FAILED if _failures(plan, drawn, journal) else DONE


def _make_clips(plan: PlanFile) -> int:
    """Make the clips on this machine; a plan file names no farm, whose settings can run commands.
    """
    with using_libraries(plan.request.library):
        planned = Planned.of(plan.request, FarmSettings(), warn)
        return render_planned(planned, plan.out, Store(plan.store), FarmSettings(),
                              opaque=plan.opaque)


def _failures(plan: PlanFile, drawn: Iterable[Task], journal: Journal) -> int:
    """Run tasks; return how many of them failed."""
    tasks = [rest for task in drawn if (rest := task.remaining()) is not None]
    device = choose_device(plan.request.device, warn)
    start = partial(LocalExecutor, device.seats(1), 0 if device.kind != "cpu" else
                    os.cpu_count() or 1, plan.store / "scratch")
    disk = Disk(journal.registration.store_is_there, click.echo)
    failed = 0
    with closing(run_tasks(tasks, start, disk=disk)) as events:
        for event in events:
            failed += isinstance(event, TaskFailed)
            _tell(event, journal)
    return failed


def _tell(event: Event | None, journal: Journal) -> None:
    """Record an event in the journal; print finished frames and failures."""
    match event:
        case TaskBegun():
            journal.task(event.task.title, event.worker)
        case FrameDone():
            journal.frame()
            click.echo(f"frame {event.frame} of camera {event.camera}: {event.seconds:.2f} s")
        case TaskDone():
            journal.task_over(event.task.title)
        case TaskFailed():
            journal.task_over(event.task.title, event.why)
            click.echo(f"mimegen: {event.why}", err=True)
        case Unfit():
            click.echo(f"mimegen: {event.why}", err=True)
