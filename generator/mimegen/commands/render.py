"""``mimegen render``: the main job."""

from pathlib import Path

import click

from mimegen.commands.common import DONE, SOME_FAILED, exits_cleanly
from mimegen.commands.farm import farm_of, farm_options
from mimegen.commands.selection import Selection, selection_options
from mimegen.farm.executor import Farm
from mimegen.farm.settings import FarmSettings
from mimegen.manifest.file import MANIFEST
from mimegen.pages.gallery import write_gallery
from mimegen.plan.passes import WantedPasses
from mimegen.plan.plan import Plan
from mimegen.production.estimate import at_least_s
from mimegen.production.passes import make_passes
from mimegen.production.progress import Reporter
from mimegen.production.render import render
from mimegen.store.store import Store

LONG_S = 600.0


@click.command("render")
@exits_cleanly
@farm_options
@selection_options
@click.option("--out", default="out", show_default=True, type=click.Path(path_type=Path))
@click.option("--names", type=click.Choice(["plain", "opaque"]), default="plain", show_default=True,
              help="opaque: no name of a clip says what it shows; the manifest alone knows.")
@click.option("--store", "store_folder", type=click.Path(path_type=Path),
              help="Where finished frames are kept.  [default: OUT/store]")
@click.option("--quiet", is_flag=True, help="Print errors only.")
def render_command(selection: Selection, out: Path, names: str, store_folder: Path | None,
                   settings: FarmSettings, quiet: bool) -> int:
    """Render the variants of actions, or of your own motion capture, as labelled clips."""
    store = Store(store_folder or out / "store")
    farm = farm_of(settings, selection.device, store)
    if not quiet and selection.automatic:
        _say_if_long(selection, store, farm)
    return _carry_out(selection.plan, selection.passes, out, store, farm, quiet,
                      names == "opaque")


def _say_if_long(selection: Selection, store: Store, farm: Farm) -> None:
    """Say that drafts exist where a request takes long."""
    seconds = at_least_s(selection.plan, selection.config, selection.device.kind, store,
                         farm.workers, LONG_S)
    if seconds is not None and seconds >= LONG_S:
        click.echo(f"this takes over {LONG_S / 60:.0f} minutes; --config draft shows the same,"
                   " drawn roughly, many times sooner")


def _carry_out(plan: Plan, passes: WantedPasses | None, out: Path, store: Store, farm: Farm,
               quiet: bool, opaque: bool) -> int:
    with Reporter(len(plan), quiet) as reporter:
        try:
            failures = render(plan, store, out, farm, reporter, opaque)
            if passes is not None:
                failures |= make_passes(plan, passes, store, out, farm, reporter)
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
