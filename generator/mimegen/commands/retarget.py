"""``mimegen retarget``: put a motion capture file on a character, and measure the quality."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.characters.character import Performance
from mimegen.commands.common import (
    DONE,
    blender_option,
    exits_cleanly,
    library_option,
    sample_option,
)
from mimegen.commands.reading import reading_options
from mimegen.library.cast import CastMember, cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.takes import user_take
from mimegen.motion import Motion
from mimegen.readers import ReadOptions, Recording
from mimegen.retarget import retarget_scene
from mimegen.retarget.report import FIELDS, quality
from mimegen.writers import FORMATS, MOTION_SUFFIXES, format_of, write_motion


@click.command("retarget")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--character", metavar="NAME|FILE|random:SEED",
              help="Character to retarget the motion to.  [default: none, the motion keeps its own"
                   " skeleton]")
@click.option("--partner", type=click.Path(path_type=Path), metavar="FILE",
              help="Motion file of a second person recorded together with FILE.")
@click.option("--partner-character", metavar="NAME|FILE|random:SEED",
              help="Character for --partner.  [default: same as --character]")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE",
              help=f"Motion file to write: {', '.join(MOTION_SUFFIXES)}; the partner's is written"
                   " next to it as NAME_partner.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE",
              help="JSON file for the quality report.")
@library_option
@sample_option
@blender_option
@exits_cleanly
@reading_options("none")
def retarget_command(file: Path, character: str | None, partner: Path | None,
                     partner_character: str | None, out: Path | None, report: Path | None,
                     libraries: tuple[Path, ...], reading: ReadOptions) -> int:
    """Retarget motion onto a character, or convert a file.

    Prints how good the result is. The motion shows one person, or two people recorded together.
    Without --character it is written to --out on its own skeleton and in its own size. All of the
    file is used, also where mimegen render would cut off T-poses and idle ends; --trim auto cuts
    them off here too.
    """
    if out is not None and format_of(out) is None:
        raise RequestError(f"--out {out}: expected a file that ends in"
                           f" {', '.join(MOTION_SUFFIXES)}")
    catalogue = Catalogue.with_libraries(libraries)
    take = user_take(catalogue, file, (), None, None, "not stated", partner, reading)
    if partner_character is not None and take.performers == 1:
        raise RequestError("--partner-character requires --partner FILE, or a FILE with two people")
    if character is None:
        _convert(take, out, "--report" if report else partner_character and "--partner-character")
        return DONE
    names = [character, partner_character or character][:take.performers]
    members = [cast_member(catalogue, name) for name in names]
    sources = [(motion, roles or {}) for motion, roles in take.sources(0.0)]
    scene = retarget_scene(sources, [member.build() for member in members])
    facts = [_facts(*known) for known in
             zip(take.files, take.recordings, members, sources, scene, strict=True)]
    if out is not None:
        for target, performance in zip((out, _partner_file(out)), scene,
                                       strict=False):
            write_motion(target, performance.motion, performance.character)
    if report is not None:
        found = facts[0] | ({"partner": facts[1]} if len(facts) == 2 else {})
        publish(report, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    for fact in facts:
        _show(fact)
    return DONE


def _convert(take: RecordedTake, out: Path | None, needs_character: str | None) -> None:
    """Write a motion on its own skeleton.

    Raises RequestError if there is nothing to write, or for an option that needs a character.
    """
    if out is None or needs_character:
        raise RequestError(f"{needs_character or 'without --out'}: requires --character NAME"
                           " (mimegen list characters); without a character, only --out applies")
    for target, (motion, _) in zip((out, _partner_file(out)), take.sources(0.0), strict=False):
        write_motion(target, motion)
        click.echo(f"{target}: {motion.frames} frames at {motion.fps:g} fps, on its own skeleton")
    for note in take.notes:
        click.echo(f"note: {note}")


def _partner_file(out: Path) -> Path:
    """Return the partner's file: NAME_partner, with the same format."""
    ending = FORMATS[format_of(out) or "bvh"]
    return out.with_name(f"{out.name[:-len(ending)]}_partner{ending}")


def _facts(file: Path, recording: Recording, member: CastMember,
           source: tuple[Motion, Mapping[str, str]], performance: Performance) -> dict[str, Any]:
    """Return the quality of a performance, and how its file was read."""
    motion, roles = source
    return {
        "file": file.name, "character": member.name, "frames": motion.frames,
        "fps": motion.fps, **quality(motion, roles, performance),
        "mapping": dict(roles), "confidence": dict(recording.confidence),
        "inferred_joints": list(recording.inferred), "motion_notes": list(recording.notes),
    }


def _show(found: Mapping[str, Any]) -> None:
    click.echo(f"{found['file']} on {found['character']}: {found['frames']} frames at"
               f" {found['fps']:g} fps")
    click.echo(f"{'':32}{'result':>10}{'source':>10}")
    for name in FIELDS:
        source = found["source"].get(name)
        beside = f"{source:10.3f}" if source is not None else ""
        click.echo(f"{name:32}{found[name]:10.3f}{beside}")
    for note in found["motion_notes"]:
        click.echo(f"note: {note}")
