"""``mimegen take``: export the library's takes as motion files; remove and relabel imported ones.
"""

from collections.abc import Sequence
from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.base.paths import LIBRARIES
from mimegen.characters.character import Character
from mimegen.commands.common import (
    DONE,
    blender_option,
    exits_cleanly,
    library_option,
    style_option,
)
from mimegen.library.cast import cast_member, partner_of
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.imported import relabel, remove_takes
from mimegen.library.take import LibraryTake
from mimegen.library.takes import library_take
from mimegen.motion import Motion
from mimegen.motion.editing import resampled
from mimegen.writers import FORMATS, format_of, write_motion

_own_library = click.option(
    "--library", required=True, envvar=LIBRARIES, metavar="DIR", type=click.Path(path_type=Path),
    help="Your own library folder, to which the action was imported.")
# A motion and the body that it moves, if any.
Performer = tuple[Motion, Character | None]


@click.group("take")
def take_command() -> None:
    """Export takes; remove or relabel imported ones."""


@take_command.command("export")
@click.option("--action", "action", required=True, metavar="A",
              help="Action or take to export, by id, label or alias.")
@click.option("--take", metavar="T", help="Take of the action.  [default: the first]")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0),
              help="Random seed of the take.")
@style_option("Style of choreographed takes (mimegen list styles).  [default: drawn by the seed]")
@click.option("--format", "kind", default="bvh", show_default=True,
              type=click.Choice(list(FORMATS)), help="File format of the motion.")
@click.option("--fps", default=60.0, show_default=True, type=click.FloatRange(1.0, 1000.0),
              help="Frame rate of the motion.")
@click.option("--character", metavar="NAME|FILE|random:SEED",
              help="Character whose skeleton to use, in FBX and GLB also its mesh.  [default: the"
                   " canonical skeleton]")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE",
              help="File to write; two performers are written with _1 and _2 appended.  [default:"
                   " TAKE_seedN.FORMAT in the current folder]")
@library_option
@blender_option
@exits_cleanly
def export_command(
    action: str, take: str | None, seed: int, style: str | None, kind: str, fps: float,
    character: str | None, out: Path | None, libraries: tuple[Path, ...],
) -> int:
    """Export a take as BVH, NPZ, FBX or GLB, one file per performer."""
    catalogue = Catalogue.with_libraries(libraries)
    found = library_take(catalogue.action(action), take, seed, style)
    performers = _performers(catalogue, found, character, fps)
    out = out or Path("_".join([found.name, *found.version]))
    if format_of(out) != kind:
        out = out.with_name(f"{out.name}{FORMATS[kind]}")
    for path, (motion, body) in zip(_files(out, len(performers)), performers, strict=True):
        write_motion(path, motion, body)
        click.echo(f"{path}: {motion.frames} frames at {motion.fps:g} fps")
    return DONE


def _performers(catalogue: Catalogue, take: LibraryTake, character: str | None,
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
    ending = FORMATS[format_of(out) or "bvh"]
    return [out.with_name(f"{out.name[:-len(ending)]}_{number}{ending}")
            for number in range(1, performers + 1)]


@take_command.command("remove")
@click.option("--action", required=True, metavar="A",
              help="Imported action, by id, label or alias (mimegen list actions --imported).")
@click.option("--take", metavar="T", help="Take to remove.  [default: all imported takes of the"
                                          " action, and then the action]")
@_own_library
@exits_cleanly
def remove_command(action: str, take: str | None, library: Path) -> int:
    """Remove an imported action, or one of its takes.

    Deletes only files that mimegen import wrote and that are unchanged since. Clips that were
    rendered from them stay.
    """
    removed = remove_takes(library, action, take)
    for file in removed.files:
        click.echo(f"removed {file}")
    for line in removed.kept:
        click.echo(f"kept    {line}")
    click.echo(f"{removed.action}: {counted(len(removed.takes), 'take')} removed; clips that were"
               " rendered from it stay, but can no longer be made again")
    return DONE


@take_command.command("relabel")
@click.option("--action", required=True, metavar="A",
              help="Imported action, by id, label or alias (mimegen list actions --imported).")
@click.option("--take", metavar="T", help="Take to relabel.  [default: the action itself]")
@click.option("--label", "labels", multiple=True, required=True, metavar="TEXT",
              help="New label, a correct answer to questions; may be repeated, the best first.")
@_own_library
@exits_cleanly
def relabel_command(action: str, take: str | None, labels: tuple[str, ...], library: Path) -> int:
    """Give an imported action, or one of its takes, new labels.

    Manifest rows get them when you repeat the render command; no clip is rendered again.
    """
    done = relabel(library, action, labels, take)
    for file in done.files:
        click.echo(f"{file}: labels are now {', '.join(labels)}")
    for name in done.own:
        click.echo(f"take {name} keeps labels of its own; relabel it with --take {name}")
    return DONE
