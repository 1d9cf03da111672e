"""``mimegen render``: render clips."""

import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import click

from mimegen.base.asked import Heading
from mimegen.base.errors import RequestError
from mimegen.commands.common import (
    DONE,
    SOME_FAILED,
    command_arguments,
    exits_cleanly,
    kernels_option,
)
from mimegen.commands.farm import farm_options
from mimegen.commands.grouped import Grouped
from mimegen.commands.options import headings_of, under
from mimegen.commands.selection import HEADINGS, selection_options
from mimegen.farm.executor import Farm
from mimegen.farm.settings import FarmSettings
from mimegen.manifest.file import MANIFEST
from mimegen.production.estimate import at_least_s
from mimegen.production.handover import hand_over
from mimegen.production.progress import Reporter
from mimegen.request.farms import CLUSTER_TASK_S, farm_of, slurm_jobs
from mimegen.request.planned import Planned
from mimegen.request.rendering import carry_out
from mimegen.store.store import Store

# In seconds. A hint to use drafts is printed if a request takes at least this long.
LONG_S = 600.0
_note = partial(click.echo, err=True)


_RENDERING = (*headings_of(FarmSettings)[Heading.RENDERING], "farm_config", "blender", "kernels",
              "detach")


@click.command("render", cls=Grouped, headings=under(under(
    HEADINGS, Heading.OUTPUT, "out", "names", "store_folder", "quiet"),
    Heading.RENDERING, *_RENDERING))
@exits_cleanly
@farm_options
@selection_options
@kernels_option("--kernels")
@click.option("--out", default="out", show_default=True, type=click.Path(path_type=Path),
              metavar="DIR", help="Output directory for clips, manifest and gallery.")
@click.option("--names", type=click.Choice(["plain", "opaque"]), default="plain", show_default=True,
              help="Names of clips: plain names describe the content; opaque names do not, and"
                   " only the manifest identifies the clips.")
@click.option("--store", "store_folder", type=click.Path(path_type=Path),
              help="Folder of finished frames.  [default: OUT/store]")
@click.option("--detach", is_flag=True,
              help="With --farm slurm: submit the jobs and exit; run the same command without"
                   " --detach to attach again.")
@click.option("--quiet", is_flag=True, help="Print errors only.")
def render_command(planned: Planned, out: Path, names: str, store_folder: Path | None,
                   settings: FarmSettings, detach: bool, quiet: bool) -> int:
    """Render actions, scenes or your own motion capture as clips."""
    store = Store((store_folder or out / "store").resolve())
    if detach:
        return _detach(planned, out, store, settings, names == "opaque", quiet)
    return render_planned(planned, out, store, settings, quiet, names == "opaque")


def render_planned(planned: Planned, out: Path, store: Store, settings: FarmSettings,
                   quiet: bool = False, opaque: bool = False) -> int:
    """Render a planned request, print the outcome, and return the exit status."""
    farm = farm_of(settings, planned.device, store, out, _note)
    if not quiet and planned.automatic:
        _warn_if_long(planned, store, farm)
    return _carry_out(planned, out, store, farm, quiet, opaque)


def _warn_if_long(planned: Planned, store: Store, farm: Farm) -> None:
    """Print that drafts exist if a request takes long."""
    seconds = at_least_s(planned.plan, planned.config, planned.device.kind, store,
                         farm.workers, LONG_S)
    if seconds is not None and seconds >= LONG_S:
        click.echo(f"this takes more than {LONG_S / 60:.0f} minutes; --config draft draws a rough"
                   " version much faster")


def _detach(planned: Planned, out: Path, store: Store, settings: FarmSettings, opaque: bool,
            quiet: bool) -> int:
    """Submit a plan as Slurm jobs, and a last job that runs the same command to make the clips."""
    if settings.farm != "slurm":
        raise RequestError("--detach requires --farm slurm; on other farms start the command in"
                           " tmux or with nohup, and follow it with mimegen status OUT")
    words = [word for word in command_arguments() if word != "--detach"]
    with (Reporter(len(planned.plan), quiet) as reporter,
          closing(slurm_jobs(settings, planned.device, store, out, _note)) as jobs):
        tasks = hand_over(planned.plan, store, out, jobs, settings.task_s or CLUSTER_TASK_S,
                          opaque, reporter.say)
        number = jobs.leave([sys.executable, "-m", "mimegen", "render", *words])
    if not quiet:
        click.echo(f"{tasks} tasks are left to Slurm jobs, the clips to job {number} after"
                   f" them\nwatch     squeue --name={jobs.name}, or mimegen status {out}\nend"
                   f"       scancel --name={jobs.name}\nattach    the same command without"
                   " --detach")
    return DONE


def _carry_out(planned: Planned, out: Path, store: Store, farm: Farm, quiet: bool,
               opaque: bool) -> int:
    with Reporter(len(planned.plan), quiet) as reporter:
        failures = carry_out(planned, out, store, farm, reporter, opaque)
    for sample_id, why in sorted(failures.items()):
        click.echo(f"mimegen: {sample_id} failed: {' '.join(why.split())}", err=True)
    if not quiet:
        click.echo(_made(out))
    return SOME_FAILED if failures else DONE


def _made(out: Path) -> str:
    """Return where clips, manifest and gallery are; there may be none if all clips failed."""
    if not (out / MANIFEST).exists():
        return "no clip was made"
    return (f"clips     {out / 'clips'}\nmanifest  {out / MANIFEST}\n"
            f"gallery   {out / 'index.html'}")
