"""``mimegen retarget``: a motion capture file on a character, and how good it is."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from mimegen.catalogue import Catalogue
from mimegen.commands.common import DONE, for_people, library_option, reading_options
from mimegen.errors import RequestError
from mimegen.readers import ReadOptions, read_motion
from mimegen.retarget import retarget
from mimegen.retarget.report import FIELDS, quality
from mimegen.store import publish
from mimegen.takes import cast_member
from mimegen.writers import MOTION_SUFFIXES, write_motion


@click.command("retarget")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--character", required=True, metavar="NAME|FILE|random:SEED",
              help="Who performs the motion.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE",
              help=f"Where the performance goes: {', '.join(MOTION_SUFFIXES)}.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE",
              help="Where the quality report goes, as JSON.")
@library_option
@for_people
@reading_options("none")
def retarget_command(file: Path, character: str, out: Path | None, report: Path | None,
                     libraries: tuple[Path, ...], reading: ReadOptions) -> int:
    """Bring the motion of one person onto a character; measure how well."""
    if out is not None and out.suffix.lower() not in MOTION_SUFFIXES:
        raise RequestError(f"--out {out}: a motion is written as {', '.join(MOTION_SUFFIXES)}")
    member = cast_member(Catalogue.with_libraries(libraries), character)
    recording = read_motion(file, reading)
    performance = retarget(recording.motion, member.build(), recording.roles)
    found = {
        "file": file.name, "character": member.name, "frames": recording.motion.frames,
        "fps": recording.motion.fps, **quality(recording.motion, recording.roles, performance),
        "mapping": dict(recording.roles), "confidence": dict(recording.confidence),
        "notes": list(recording.notes),
    }
    if out is not None:
        write_motion(out, performance.motion, performance.character)
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
        publish(report, (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode())
    _show(found)
    return DONE


def _show(found: Mapping[str, Any]) -> None:
    click.echo(f"{found['file']} on {found['character']}: {found['frames']} frames at"
               f" {found['fps']:g} fps")
    click.echo(f"{'':32}{'result':>10}{'source':>10}")
    for name in FIELDS:
        source = found["source"].get(name)
        beside = f"{source:10.3f}" if source is not None else ""
        click.echo(f"{name:32}{found[name]:10.3f}{beside}")
