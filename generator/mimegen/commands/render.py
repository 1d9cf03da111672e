"""``mimegen render``: the main job."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from mimegen.base.errors import RequestError
from mimegen.commands.common import (
    DONE,
    SOME_FAILED,
    exits_cleanly,
    library_option,
    reading_options,
    seed_range,
    style_option,
)
from mimegen.library.catalogue import Catalogue
from mimegen.library.take import Take
from mimegen.library.takes import SeededTakes, library_take, user_take
from mimegen.manifest.file import MANIFEST
from mimegen.pages.gallery import write_gallery
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.variants import GROUPS, MIME, parse_variants
from mimegen.production.progress import Reporter
from mimegen.production.render import Workers, render
from mimegen.readers import ReadOptions
from mimegen.stage.auto import auto_config, choose_device
from mimegen.stage.config import read_config
from mimegen.stage.devices import Device
from mimegen.store.store import Store

# Each takes about half a gigabyte.
MOST_CPU_WORKERS = 8


@click.command("render")
@click.option("--action", "actions", metavar="A[,B]|all", help="Actions by id, label or alias.")
@click.option("--motion", type=click.Path(path_type=Path), metavar="FILE",
              help="Your own motion capture (BVH, FBX, C3D, AMC) instead of an action.")
@click.option("--partner", type=click.Path(path_type=Path), metavar="FILE",
              help="The second person's file, of the same scene as --motion.")
@click.option("--label", "labels", multiple=True, help="What --motion shows; may be repeated.")
@click.option("--aligned", metavar="NAME", help="The background that fits --motion.")
@click.option("--misaligned", metavar="NAME", help="The background that misleads about --motion.")
@click.option("--licence", default="not stated", help="The licence of --motion, for the manifest.")
@click.option("--variants", default="all", show_default=True, metavar="NAME[,NAME]",
              help=f"Groups ({', '.join(GROUPS)}) and cells such as {MIME[0]}, woman+aligned@270.")
@click.option("--character", metavar="NAME|FILE|random:SEED",
              help="Who plays 'base': a name, a rigged FBX or GLB, or a random person.")
@click.option("--partner-character", metavar="NAME|FILE|random:SEED",
              help="Who plays the second person of a scene.")
@click.option("--config", default="auto", show_default=True, metavar="NAME|FILE")
@click.option("--take", metavar="T|all", help="A take of the action; its first by default.")
@click.option("--seed", "seeds", default="0", show_default=True, callback=seed_range,
              metavar="N|A:B",
              help="Another seed is another take; A:B is every seed from A to before B.")
@style_option("How choreographed takes are performed.  [default: the seed's own way]")
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
@click.option("--device", default="auto", show_default=True, metavar="NAME",
              help="optix, cuda, hip, oneapi, metal or cpu; cuda:1 is the second of its kind.")
@click.option("--quiet", is_flag=True, help="Print errors only.")
@library_option
@exits_cleanly
@reading_options("auto")
def render_command(
    actions: str | None, motion: Path | None, partner: Path | None, labels: tuple[str, ...],
    aligned: str | None, misaligned: str | None, licence: str, variants: str,
    character: str | None, partner_character: str | None, config: str, take: str | None,
    seeds: range, style: str | None, out: Path, names: str, store_folder: Path | None,
    workers: int | None, workers_per_gpu: int, device: str, quiet: bool,
    libraries: tuple[Path, ...],
    reading: ReadOptions,
) -> int:
    """Render the variants of actions, or of your own motion capture, as labelled clips."""
    catalogue = Catalogue.with_libraries(libraries)
    if (actions is None) == (motion is None):
        raise RequestError("say either --action NAME or --motion FILE"
                           f" (actions: {', '.join(catalogue.actions)})")
    if partner is not None and motion is None:
        raise RequestError("--partner needs --motion: both files are of one scene")
    if motion is None:
        takes: Sequence[Take] = _library_takes(catalogue, actions or "", take, seeds, style)
    else:
        takes = [user_take(catalogue, motion, labels, aligned, misaligned, licence, partner,
                           reading)]
    cells = parse_variants(variants, set(catalogue.characters), set(catalogue.backgrounds))
    chosen = choose_device(device)
    name = auto_config(chosen.kind) if config == "auto" else config
    plan = make_plan(catalogue, takes, cells, read_config(catalogue.file("config", name)),
                     chosen.kind, character, partner_character)
    return _carry_out(plan, out, Store(store_folder or out / "store"),
                      _workers(workers, workers_per_gpu, chosen), quiet, names == "opaque")


def _library_takes(catalogue: Catalogue, actions: str, take: str | None, seeds: range,
                   style: str | None) -> Sequence[Take]:
    if actions.strip() == "all":
        entries = list(catalogue.actions.values())
    else:
        entries = [catalogue.action(name.strip()) for name in actions.split(",")]
    takes = [library_take(entry, name, seeds[0], style) for entry in entries
             for name in (list(entry.takes) if take == "all" else [take])]
    return SeededTakes(tuple(dict.fromkeys(takes)), seeds)


def _workers(count: int | None, per_gpu: int, device: Device) -> Workers:
    """Return one worker on each GPU, and on a CPU one per core, which keeps every core busy."""
    cores = os.cpu_count() or 1
    if device.kind != "cpu":
        return Workers(device.seats(count or device.count * per_gpu), 0)
    count = count or min(cores, MOST_CPU_WORKERS)
    return Workers(device.seats(count), max(1, cores // count))


def _carry_out(plan: Plan, out: Path, store: Store, workers: Workers, quiet: bool,
               opaque: bool) -> int:
    with Reporter(len(plan), quiet) as reporter:
        try:
            failures = render(plan, store, out, workers, reporter, opaque)
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
