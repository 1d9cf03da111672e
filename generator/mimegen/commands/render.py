"""``mimegen render``: the main job."""

import os
from functools import partial
from pathlib import Path

import click

from mimegen.commands.common import DONE, SOME_FAILED, exits_cleanly
from mimegen.commands.selection import Selection, selection_options
from mimegen.farm.executor import Farm
from mimegen.farm.local import LocalExecutor
from mimegen.manifest.file import MANIFEST
from mimegen.pages.gallery import write_gallery
from mimegen.plan.plan import Plan
from mimegen.production.progress import Reporter
from mimegen.production.render import render
from mimegen.stage.devices import Device
from mimegen.store.store import Store

# Each takes about half a gigabyte.
MOST_CPU_WORKERS = 8


@click.command("render")
@exits_cleanly
@selection_options
@click.option("--out", default="out", show_default=True, type=click.Path(path_type=Path))
@click.option("--names", type=click.Choice(["plain", "opaque"]), default="plain", show_default=True,
              help="opaque: no name of a clip says what it shows; the manifest alone knows.")
@click.option("--store", "store_folder", type=click.Path(path_type=Path),
              help="Where finished frames are kept.  [default: OUT/store]")
@click.option("--farm", default="local", show_default=True, type=click.Choice(["local"]),
              expose_value=False, help="Where to render: this machine.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N",
              help="Blender processes.  [default: one per core, at most 8; on GPUs one each]")
@click.option("--workers-per-gpu", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--quiet", is_flag=True, help="Print errors only.")
def render_command(selection: Selection, out: Path, names: str, store_folder: Path | None,
                   workers: int | None, workers_per_gpu: int, quiet: bool) -> int:
    """Render the variants of actions, or of your own motion capture, as labelled clips."""
    store = Store(store_folder or out / "store")
    farm = _this_machine(workers, workers_per_gpu, selection.device, store)
    return _carry_out(selection.plan, out, store, farm, quiet, names == "opaque")


def _this_machine(count: int | None, per_gpu: int, device: Device, store: Store) -> Farm:
    """Return one worker on each GPU, and on a CPU one per core, which keeps every core busy."""
    cores = os.cpu_count() or 1
    if device.kind != "cpu":
        devices, threads = device.seats(count or device.count * per_gpu), 0
    else:
        count = count or min(cores, MOST_CPU_WORKERS)
        devices, threads = device.seats(count), max(1, cores // count)
    return Farm(", ".join(sorted(set(devices))),
                partial(LocalExecutor, devices, threads, store.scratch))


def _carry_out(plan: Plan, out: Path, store: Store, farm: Farm, quiet: bool, opaque: bool
               ) -> int:
    with Reporter(len(plan), quiet) as reporter:
        try:
            failures = render(plan, store, out, farm, reporter, opaque)
        except KeyboardInterrupt:
            _renew_gallery(out)
            raise
        _renew_gallery(out)
    for sample_id, why in sorted(failures.items()):
        click.echo(f"mimegen: {sample_id} failed: {' '.join(why.split())}", err=True)
    if not quiet:
        click.echo(f"clips     {out / 'clips'}\nmanifest  {out / MANIFEST}\n"
                   f"gallery   {out / 'index.html'}")
    return SOME_FAILED if failures else DONE


def _renew_gallery(out: Path) -> None:
    if (out / MANIFEST).exists():
        write_gallery(out)
