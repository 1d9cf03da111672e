"""``mimegen take``: the library's takes as motion files for other programs."""

from collections.abc import Sequence
from pathlib import Path

import click

from mimegen.characters.character import Character
from mimegen.commands.common import DONE, exits_cleanly, library_option, style_option
from mimegen.library.cast import cast_member, partner_of
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.take import Take
from mimegen.library.takes import library_take
from mimegen.motion import Motion
from mimegen.motion.editing import resampled
from mimegen.writers import MOTION_SUFFIXES, write_motion

FORMATS = tuple(suffix.removeprefix(".") for suffix in MOTION_SUFFIXES)
# A motion and, where it has one, the body that it moves.
Performer = tuple[Motion, Character | None]


@click.group("take")
def take_command() -> None:
    """Take the library's takes elsewhere."""


@take_command.command("export")
@click.option("--action", "action", required=True, metavar="A",
              help="An action, or a take, by id, label or alias.")
@click.option("--take", metavar="T", help="A take of the action; its first by default.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0),
              help="Another seed is another take.")
@style_option("How it is performed.  [default: the seed's own way]")
@click.option("--format", "kind", default="bvh", show_default=True, type=click.Choice(FORMATS))
@click.option("--fps", default=60.0, show_default=True, type=click.FloatRange(1.0, 1000.0))
@click.option("--character", metavar="NAME|FILE|random:SEED",
              help="Whose skeleton (fbx and glb: and skin) it is on.  [default: the standard one]")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE",
              help="Where it goes; a scene of two gets _1 and _2 added.  "
                   "[default: TAKE_seedN.FORMAT, here]")
@library_option
@exits_cleanly
def export_command(
    action: str, take: str | None, seed: int, style: str | None, kind: str, fps: float,
    character: str | None, out: Path | None, libraries: tuple[Path, ...],
) -> int:
    """Write a take as BVH, NPZ, FBX or GLB: one file for each performer."""
    catalogue = Catalogue.with_libraries(libraries)
    found = library_take(catalogue.action(action), take, seed, style)
    performers = _performers(catalogue, found, character, fps)
    out = out or Path("_".join([found.name, *found.version]))
    if out.suffix.lower() != f".{kind}":
        out = out.with_name(f"{out.name}.{kind}")
    for path, (motion, body) in zip(_files(out, len(performers)), performers, strict=True):
        write_motion(path, motion, body)
        click.echo(f"{path}: {motion.frames} frames at {motion.fps:g} fps")
    return DONE


def _performers(catalogue: Catalogue, take: Take, character: str | None,
                fps: float) -> Sequence[Performer]:
    if character is None:
        return [(motion if motion.fps == fps else resampled(motion, fps), None)
                for motion, _ in take.sources(fps)]
    names = (character, partner_of(character))[:take.performers]
    members = tuple(cast_member(catalogue, name) for name in names)
    return [(performance.motion, performance.character)
            for performance in Casting(take, members).perform(fps)]


def _files(out: Path, performers: int) -> list[Path]:
    if performers == 1:
        return [out]
    return [out.with_name(f"{out.stem}_{number}{out.suffix}")
            for number in range(1, performers + 1)]
