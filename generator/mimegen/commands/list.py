"""``mimegen list``: what can be asked for."""

import json
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


@click.command("list")
@click.argument("kind", metavar="KIND", type=click.Choice(
    ["actions", "takes", "cues", "scenes", "characters", "backgrounds", "configs", "variants",
     "displays", "dots", "manipulations", "faults", "schema"]))
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
    rows = _listing(Catalogue.with_libraries(libraries), kind)
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return DONE
    for row in rows:
        name, *rest = (value for key, value in row.items() if kind == "takes" or key != "file")
        facts = ((", ".join(value) if isinstance(value, list) else str(value or "")) or "-"
                 for value in rest)
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
        return [{"take": take, "action": entry.action.id, "file": file.name,
                 "aliases": list(entry.action.takes.get(take, TakeFacts()).aliases)}
                for entry in catalogue.actions.values() for take, file in entry.takes.items()]
    if kind == "cues":
        return [{"id": entry.action.id, "labels": list(entry.action.labels),
                 "region": entry.action.cue.region,
                 "explanations": list(entry.action.cue.explanations),
                 "stances": list(read_score_once(entry.take(None)).stances)}
                for entry in catalogue.cues.values() if entry.action.cue]
    if kind == "variants":
        return [{"variant": name, "groups": [group for group, names in GROUPS.items()
                                             if name in names]} for name in (*MIME, *POINTLIGHT)]
    if kind == "displays":
        return [{"display": name, "description": read_display(name).description}
                for name in presets()]
    if kind == "dots":
        return [{"dots": name, "description": one.description, "source": one.source}
                for name, one in dot_sets().items()]
    if kind == "manipulations":
        return [{"manipulation": name, "parameters": list(one.model_fields),
                 "algorithm": one.algorithm} for name, one in MANIPULATIONS.items()]
    if kind == "faults":
        return [{"fault": name, "says": one.says, "at_1": f"{one.most:g} {one.unit}",
                 "acts_on": one.acts_on, "lowers": one.lowers}
                for name, one in fault_kinds().items()]
    files = {"characters": catalogue.characters, "backgrounds": catalogue.backgrounds,
             "configs": catalogue.configs, "scenes": catalogue.scenes}[kind]
    return [{"name": name, "description": read_description(file), "file": str(file)}
            for name, file in files.items()]
