"""``mimegen store``: show what a store holds, and remove what is not needed."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mimegen.base.errors import RequestError
from mimegen.commands.common import DONE, exits_cleanly
from mimegen.manifest.file import MANIFEST
from mimegen.production.prune import StoreHolding, holdings, prune, unnamed
from mimegen.store.contents import pieces
from mimegen.store.store import Store


@click.command("store")
@exits_cleanly
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--prune", "prunes", is_flag=True,
              help="Remove everything that no manifest of --keep refers to; refused while a job"
                   " uses the store.")
@click.option("--keep", "outs", multiple=True, metavar="OUT", type=click.Path(path_type=Path),
              help="Folder of clips whose frames are kept; may be repeated. The folder that"
                   " contains the store is always kept.")
@click.option("--dry-run", is_flag=True, help="With --prune: show what would be removed, and remove"
                                              " nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the contents as one JSON object.")
def store_command(folder: Path, prunes: bool, outs: tuple[Path, ...], dry_run: bool,
                  as_json: bool) -> int:
    """Show the contents of the store DIR, and optionally prune it."""
    store = Store(_store_folder(folder))
    if not prunes:
        if dry_run or outs:
            raise RequestError("--keep and --dry-run require --prune")
        report: dict[str, Any] = {"holds": _summary(holdings(pieces(store), store))}
    else:
        kept = _kept(store, outs)
        named = holdings(gone := unnamed(store, kept), store)
        if not dry_run:
            gone = prune(store, kept)
        report = {"would_remove" if dry_run else "removed": _summary(named),
                  "pieces": len(gone)}
    click.echo(json.dumps(report, ensure_ascii=False, indent=1) if as_json else _text(report))
    return DONE


def _store_folder(folder: Path) -> Path:
    """Return the store that a folder is, or contains."""
    for place in (folder, folder / "store"):
        if (place / "shots").is_dir() or ((place / "clips").is_dir() and place.name == "store"):
            return place
    raise RequestError(f"{folder}: not a store (it has no folder shots/); expected OUT/store, or"
                       " the folder given to --store")


def _kept(store: Store, outs: Iterable[Path]) -> list[Path]:
    beside = store.root.resolve().parent
    kept = [*outs, *([beside] if (beside / MANIFEST).is_file() else [])]
    if not kept:
        raise RequestError("--prune requires --keep OUT, a folder of clips whose frames are kept")
    return kept


def _summary(found: Iterable[StoreHolding]) -> list[dict[str, Any]]:
    return [asdict(holding) | {"gb": round(holding.bytes / 1e9, 6)} for holding in found]


def _text(report: dict[str, Any]) -> str:
    (title, rows), *_ = report.items()
    lines = [f"{'GB':>10}  {'pieces':>8}  kind, action, config"]
    lines += [f"{row['gb']:10.3f}  {row['pieces']:8d}  {row['kind']}"
              f"{_named(row['action'])}{_named(row['config'])}" for row in rows]
    total = sum(row["bytes"] for row in rows) / 1e9
    word = {"holds": "in all", "removed": "removed", "would_remove": "would be removed"}[title]
    lines.append(f"{total:10.3f}  {sum(row['pieces'] for row in rows):8d}  {word}")
    return "\n".join(lines)


def _named(word: str) -> str:
    return "" if word == "-" else f", {word}"
