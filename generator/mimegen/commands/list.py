"""``mimegen list``: what can be asked for."""

import json
from pathlib import Path
from typing import Any

import click

from mimegen.catalogue import Catalogue
from mimegen.commands.common import DONE, for_people, library_option
from mimegen.variants import GROUPS, MIME, POINTLIGHT


@click.command("list")
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
                                             if name in names]} for name in (*MIME, *POINTLIGHT)]
    files = {"characters": catalogue.characters, "backgrounds": catalogue.backgrounds,
             "configs": catalogue.configs}[kind]
    return [{"name": name, "file": str(file)} for name, file in files.items()]
