"""The command line: parse, call, print."""

import json
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from mimegen import __version__
from mimegen.catalogue import Catalogue
from mimegen.contactsheet import contact_sheet
from mimegen.errors import RequestError
from mimegen.plan import Plan, make_plan
from mimegen.progress import Reporter
from mimegen.render import Workers, render
from mimegen.stage.auto import auto_config, choose_device
from mimegen.stage.config import read_config
from mimegen.store import Store
from mimegen.takes import Take, library_take, user_take
from mimegen.variants import GROUPS, MIME, parse_variants

# Each takes about half a gigabyte.
MOST_CPU_WORKERS = 8
DONE, SOME_FAILED, WRONG_REQUEST, INTERRUPTED = 0, 1, 2, 130


def for_people(command: Callable[..., int]) -> Callable[..., None]:
    """Turn a command's result into the exit status, and what stops it into one clear line."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            status = command(*args, **kwargs)
        except RequestError as problem:
            click.echo(f"mimegen: {' '.join(str(problem).split())}", err=True)
            status = WRONG_REQUEST
        except OSError as problem:
            where = f"{problem.filename}: " if problem.filename else ""
            click.echo(f"mimegen: {where}{problem.strerror}; see to it and run the same command"
                       " again", err=True)
            status = WRONG_REQUEST
        except KeyboardInterrupt:
            click.echo("mimegen: stopped; the same command goes on where it was", err=True)
            status = INTERRUPTED
        sys.exit(status)

    return wrapped


library_option = click.option(
    "libraries", "--library", multiple=True, envvar="MIMEGEN_LIBRARY",
    type=click.Path(path_type=Path), metavar="DIR",
    help="A folder of your own rigs/, mocap/, backgrounds/, render_configs/.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Make controlled video stimuli of human action."""


@main.command("render")
@click.option("--action", "actions", metavar="A[,B]|all", help="Actions by id, label or alias.")
@click.option("--motion", type=click.Path(path_type=Path), metavar="FILE",
              help="Your own motion capture (BVH or FBX) instead of an action.")
@click.option("--label", "labels", multiple=True, help="What --motion shows; may be repeated.")
@click.option("--aligned", metavar="NAME", help="The background that fits --motion.")
@click.option("--misaligned", metavar="NAME", help="The background that misleads about --motion.")
@click.option("--licence", default="not stated", help="The licence of --motion, for the manifest.")
@click.option("--variants", default="all", show_default=True, metavar="NAME[,NAME]",
              help=f"Groups ({', '.join(GROUPS)}) and cells such as {MIME[0]}, woman+aligned@270.")
@click.option("--character", metavar="NAME|FILE|random:SEED",
              help="Who plays 'base': a name, a rigged FBX or GLB, or a random person.")
@click.option("--config", default="auto", show_default=True, metavar="NAME|FILE")
@click.option("--take", metavar="T|all", help="A take of the action; its first by default.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0),
              help="Another seed is another take.")
@click.option("--out", default="out", show_default=True, type=click.Path(path_type=Path))
@click.option("--store", "store_folder", type=click.Path(path_type=Path),
              help="Where finished frames are kept.  [default: OUT/store]")
@click.option("--farm", default="local", show_default=True, type=click.Choice(["local"]))
@click.option("--workers", type=click.IntRange(min=1), metavar="N",
              help="Blender processes.  [default: one per core, at most 8; one on a GPU]")
@click.option("--device", default="auto", show_default=True, metavar="NAME",
              help="optix, cuda, hip, oneapi, metal or cpu.")
@click.option("--quiet", is_flag=True, help="Print errors only.")
@library_option
@for_people
def render_command(
    actions: str | None, motion: Path | None, labels: tuple[str, ...], aligned: str | None,
    misaligned: str | None, licence: str, variants: str, character: str | None, config: str,
    take: str | None, seed: int, out: Path, store_folder: Path | None, farm: str,
    workers: int | None, device: str, quiet: bool, libraries: tuple[Path, ...],
) -> int:
    """Render the variants of actions, or of your own motion capture, as labelled clips."""
    catalogue = Catalogue.with_libraries(libraries)
    if (actions is None) == (motion is None):
        raise RequestError("say either --action NAME or --motion FILE"
                           f" (actions: {', '.join(catalogue.actions)})")
    if motion is None:
        takes = _library_takes(catalogue, actions or "", take, seed)
    else:
        takes = [user_take(catalogue, motion, labels, aligned, misaligned, licence)]
    cells = parse_variants(variants, set(catalogue.characters), set(catalogue.backgrounds))
    chosen = choose_device(device)
    name = auto_config(chosen) if config == "auto" else config
    plan = make_plan(catalogue, takes, cells, read_config(catalogue.file("config", name)),
                     chosen, character)
    return _carry_out(plan, out, Store(store_folder or out / "store"),
                      _workers(workers, chosen), quiet)


def _library_takes(catalogue: Catalogue, actions: str, take: str | None, seed: int) -> list[Take]:
    if actions.strip() == "all":
        entries = list(catalogue.actions.values())
    else:
        entries = [catalogue.action(name.strip()) for name in actions.split(",")]
    return [library_take(entry, name, seed) for entry in entries
            for name in (list(entry.takes) if take == "all" else [take])]


def _workers(count: int | None, device: str) -> Workers:
    """Return one worker on a GPU, and on a CPU one per core, which keeps every core busy."""
    cores = os.cpu_count() or 1
    if device != "cpu":
        return Workers(count or 1, device, 0)
    count = count or min(cores, MOST_CPU_WORKERS)
    return Workers(count, device, max(1, cores // count))


def _carry_out(plan: Plan, out: Path, store: Store, workers: Workers, quiet: bool) -> int:
    with Reporter(len(plan.clips), quiet) as reporter:
        failures = render(plan, store, out, workers, reporter)
    for sample_id, why in sorted(failures.items()):
        click.echo(f"mimegen: {sample_id} failed: {' '.join(why.split())}", err=True)
    if not quiet:
        click.echo(f"clips     {out / 'clips'}\nmanifest  {out / 'manifest.jsonl'}\n"
                   f"gallery   {out / 'index.html'}")
    return SOME_FAILED if failures else DONE


@main.command("list")
@click.argument("kind", type=click.Choice(
    ["actions", "takes", "characters", "backgrounds", "configs", "variants"]))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@library_option
@for_people
def list_command(kind: str, as_json: bool, libraries: tuple[Path, ...]) -> int:
    """List what can be asked for."""
    rows = _listing(Catalogue.with_libraries(libraries), kind)
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return DONE
    for row in rows:
        name, *rest = row.values()
        facts = (", ".join(value) if isinstance(value, list) else str(value) for value in rest)
        click.echo(f"{name:<28}{'  '.join(facts)}".rstrip())
    return DONE


def _listing(catalogue: Catalogue, kind: str) -> list[dict[str, Any]]:
    if kind == "actions":
        return [{"id": entry.action.id, "labels": list(entry.action.labels),
                 "aliases": list(entry.action.aliases),
                 "aligned_background": entry.action.aligned_background,
                 "misaligned_background": entry.action.misaligned_background}
                for entry in catalogue.actions.values()]
    if kind == "takes":
        return [{"take": take, "action": entry.action.id, "file": file.name}
                for entry in catalogue.actions.values() for take, file in entry.takes.items()]
    if kind == "variants":
        return [{"variant": name, "groups": [group for group, names in GROUPS.items()
                                             if name in names]} for name in MIME]
    files = {"characters": catalogue.characters, "backgrounds": catalogue.backgrounds,
             "configs": catalogue.configs}[kind]
    return [{"name": name, "file": str(file)} for name, file in files.items()]


@main.command("contactsheet")
@click.argument("source", type=click.Path(path_type=Path), metavar="CLIP_OR_DIR")
@click.option("--out", "target", type=click.Path(path_type=Path), metavar="PNG",
              help="Where to write the sheet.  [default: beside the source]")
@click.option("--frames", default=12, show_default=True, type=click.IntRange(1, 200))
@for_people
def contactsheet_command(source: Path, target: Path | None, frames: int) -> int:
    """Write PNG contact sheets of a clip, or of all clips in a folder."""
    for sheet in contact_sheet(source, target, frames):
        click.echo(sheet)
    return DONE
