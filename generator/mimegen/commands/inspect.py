"""``mimegen inspect``: show what a mocap file contains and how it is read."""

import json
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from mimegen.base.errors import RequestError
from mimegen.base.names import words
from mimegen.commands.common import (
    DONE,
    blender_option,
    exits_cleanly,
    sample_option,
    shared_data_option,
)
from mimegen.commands.reading import reading_options
from mimegen.commands.tables import wide_console
from mimegen.library.inspection import Inspection, inspect_file
from mimegen.pages.skeletonsheet import write_marker_sheet, write_skeleton_sheet
from mimegen.readers import ReadOptions
from mimegen.readers.fingers import FINGERS
from mimegen.readers.mapping import ROLES
from mimegen.readers.points import read_points

TRUNK = ("hips", *(role for role in ROLES if role.startswith("spine")), "chest",
         *(role for role in ROLES if role.startswith("neck")), "head")
LIMBS = ("clavicle", "upper_arm", "forearm", "hand", *FINGERS, "thigh", "shin", "foot", "toe")


@click.command("inspect")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--picture", type=click.Path(path_type=Path), metavar="PNG",
              help="PNG file for a drawing of the skeleton, colored by role, from the front and the"
                   " side.")
@shared_data_option
@sample_option
@blender_option
@exits_cleanly
@reading_options(None)
def inspect_command(file: Path, as_json: bool, picture: Path | None, reading: ReadOptions) -> int:
    """Show the contents of a motion capture file.

    Prints its skeleton or markers, frame rate, unit, axes, bone mapping and problems.
    """
    if picture is not None and picture.suffix.lower() != ".png":
        raise RequestError(f"--picture {picture}: expected a .png file")
    found = inspect_file(file, reading)
    if picture is not None:
        _draw(picture, file, found, reading)
    facts = found.facts
    if as_json:
        click.echo(json.dumps(facts, indent=1, ensure_ascii=False))
    else:
        _show(facts)
    return DONE


def _draw(picture: Path, file: Path, found: Inspection, reading: ReadOptions) -> None:
    facts, recording = found.facts, found.recording
    title = f"{facts['file']}   {facts['system']}   {facts['frames']} frames at" \
            f" {facts['fps']:g} fps"
    if recording is not None:
        write_skeleton_sheet(picture, recording.motion, recording.roles, title, found.doubts)
    elif facts["kind"] == "markers":
        write_marker_sheet(picture, read_points(file, reading.subject, reading.fps_of_file), title)
    elif found.held is not None:
        write_skeleton_sheet(picture, found.held, {}, title, found.doubts)
    else:
        facts["problems"].append(f"{picture}: not written, because the bones form no skeleton")
        return
    click.echo(f"picture     {picture}", err=True)


def _show(facts: dict[str, Any]) -> None:
    console = wide_console()
    for name, value in _summary(facts).items():
        console.print(f"{name:<12}{value}", markup=False)
    if facts["mapping"]:
        console.print(_table(facts["mapping"]))
    if facts.get("bones_without_role"):
        console.print("without a role: " + ", ".join(facts["bones_without_role"]), markup=False)
    for problem in facts["problems"]:
        console.print(f"problem: {problem}", markup=False)
    for problem in facts["notes"]:
        if problem not in facts["problems"]:
            console.print(f"note: {problem}", markup=False)


def _summary(facts: dict[str, Any]) -> dict[str, str]:
    """Return the lines above the table."""
    held = f"{len(facts['markers'])} markers" if facts["kind"] == "markers" else \
        f"a skeleton of {facts['bones']} bones"
    lines = {"file": f"{facts['file']}: {facts['format']}, {facts['system']}", "holds": held,
             "frames": f"{facts['frames'] or 'none'} at {facts['fps']:g} fps,"
                       f" {facts['duration_s']:.2f} s"}
    if "unit_m" in facts:
        lines |= {"unit": f"{facts['unit_m']:.4g} m ({facts['unit_found_by']})",
                  "up axis": f"{facts['up_axis']} ({facts['up_axis_found_by']})"}
    if facts.get("subjects"):
        lines["subjects"] = ", ".join(facts["subjects"])
    if facts.get("animation_stacks"):
        lines["stacks"] = ", ".join(facts["animation_stacks"])
    if "trim" in facts:
        trim, fps = facts["trim"], facts["fps"]
        why = ", ".join(trim["reasons"])
        if not why:
            return lines | {"trim auto": "keeps everything: no T-pose and no idle end"}
        lines["trim auto"] = f"keeps {trim['first_frame'] / fps:.2f} to" \
                             f" {trim['last_frame'] / fps:.2f} s; cuts {why}"
    return lines


def _table(mapping: dict[str, dict[str, Any]]) -> Table:
    """Return a table of bones and confidences by role, left and right side by side."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("role", "bone, or left bone", "sure", "right bone", "sure"):
        table.add_column(title, justify="right" if title == "sure" else "left")
    for role in TRUNK:
        if role in mapping:
            table.add_row(role, *_cells(mapping, [role]))
    for part in LIMBS:
        numbered = [f"{part}{n}" for n in "123"] if part in FINGERS else [part]
        sides = [[f"{side}_{name}" for name in numbered] for side in ("left", "right")]
        if any(role in mapping for roles in sides for role in roles):
            table.add_row(words(part), *(cell for roles in sides
                                                    for cell in _cells(mapping, roles)))
    return table


def _cells(mapping: dict[str, dict[str, Any]], roles: list[str]) -> tuple[str, str]:
    found = [mapping[role] for role in roles if role in mapping]
    if not found:
        return "", ""
    sure = min(entry["confidence"] for entry in found)
    return ", ".join(entry["bone"] for entry in found), f"{sure:.0%}"
