"""``mimegen list``: what can be asked for."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from mimegen.base.yaml_file import read_description
from mimegen.choreography.action import TakeFacts
from mimegen.commands.common import DONE, exits_cleanly, library_option
from mimegen.faults.fault import fault_kinds
from mimegen.library.catalogue import Catalogue
from mimegen.library.score_take import read_score_once
from mimegen.manifest.schema import row_schema
from mimegen.plan.variants import GROUPS, MIME, POINTLIGHT
from mimegen.pointlight.landmarks import dot_sets
from mimegen.pointlight.manipulations import MANIPULATIONS
from mimegen.pointlight.presets import presets, read_display

# What is printed of each thing, by the name of its column.
Listing = list[dict[str, Any]]


def _actions(catalogue: Catalogue) -> Listing:
    return [{"id": entry.action.id, "labels": list(entry.action.labels),
             "aliases": list(entry.action.aliases),
             "aligned_background": entry.action.aligned_background,
             "misaligned_background": entry.action.misaligned_background}
            for entry in catalogue.actions.values()]


def _takes(catalogue: Catalogue) -> Listing:
    return [{"take": take, "action": entry.action.id, "file": file.name,
             "aliases": list(entry.action.takes.get(take, TakeFacts()).aliases)}
            for entry in catalogue.actions.values() for take, file in entry.takes.items()]


def _cues(catalogue: Catalogue) -> Listing:
    return [{"id": entry.action.id, "labels": list(entry.action.labels),
             "region": entry.action.cue.region,
             "explanations": list(entry.action.cue.explanations),
             "stances": list(read_score_once(entry.take(None)).stances)}
            for entry in catalogue.cues.values() if entry.action.cue]


def _files(files: Mapping[str, Path]) -> Listing:
    return [{"name": name, "description": read_description(file), "file": str(file)}
            for name, file in files.items()]


def _variants(_: Catalogue) -> Listing:
    return [{"variant": name, "groups": [group for group, names in GROUPS.items()
                                         if name in names]} for name in (*MIME, *POINTLIGHT)]


def _displays(_: Catalogue) -> Listing:
    return [{"display": name, "description": read_display(name).description}
            for name in presets()]


def _dots(_: Catalogue) -> Listing:
    return [{"dots": name, "description": one.description, "source": one.source}
            for name, one in dot_sets().items()]


def _manipulations(_: Catalogue) -> Listing:
    return [{"manipulation": name, "parameters": list(one.model_fields),
             "algorithm": one.algorithm} for name, one in MANIPULATIONS.items()]


def _faults(_: Catalogue) -> Listing:
    return [{"fault": name, "says": one.says, "at_1": f"{one.most:g} {one.unit}",
             "acts_on": one.acts_on, "lowers": one.lowers}
            for name, one in fault_kinds().items()]


LISTINGS: dict[str, Callable[[Catalogue], Listing]] = {
    "actions": _actions, "takes": _takes, "cues": _cues,
    "scenes": lambda catalogue: _files(catalogue.scenes),
    "characters": lambda catalogue: _files(catalogue.characters),
    "backgrounds": lambda catalogue: _files(catalogue.backgrounds),
    "configs": lambda catalogue: _files(catalogue.configs),
    "variants": _variants, "displays": _displays, "dots": _dots,
    "manipulations": _manipulations, "faults": _faults,
}


@click.command("list")
@click.argument("kind", metavar="KIND", type=click.Choice([*LISTINGS, "schema"]))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@library_option
@exits_cleanly
def list_command(kind: str, as_json: bool, libraries: tuple[Path, ...]) -> int:
    """List what can be asked for.

    KIND is actions, takes, cues, scenes, characters, backgrounds, configs, variants, displays,
    dots, manipulations or faults, or schema: the JSON Schema of a manifest's rows.
    """
    if kind == "schema":
        click.echo(json.dumps(row_schema(), indent=1, ensure_ascii=False))
        return DONE
    rows = LISTINGS[kind](Catalogue.with_libraries(libraries))
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return DONE
    for row in rows:
        name, *rest = (value for key, value in row.items() if kind == "takes" or key != "file")
        facts = ((", ".join(value) if isinstance(value, list) else str(value or "")) or "-"
                 for value in rest)
        click.echo(f"{name:<28}{'  '.join(facts)}".rstrip())
    return DONE
