"""``mimegen import``: import motion capture into your own library."""

from dataclasses import replace
from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import scratch_folder
from mimegen.base.media import is_video
from mimegen.commands.common import (
    DONE,
    SOME_FAILED,
    blender_option,
    exits_cleanly,
)
from mimegen.commands.reading import reading_options
from mimegen.library.importfolder import import_collection, is_collection
from mimegen.library.importing import Imported, ImportRequest, import_take
from mimegen.library.importtable import COLUMNS, import_table
from mimegen.pages.beside import write_beside
from mimegen.readers import READERS, ReadOptions
from mimegen.readers.files import check_file
from mimegen.readers.options import take_number
from mimegen.readers.video.landmarks import write_landmarks
from mimegen.rendering.opengl.context import context_of_process

# The first name of each column; others are aliases.
_COLUMNS = ", ".join(column for number, (column, said) in enumerate(COLUMNS.items())
                     if said not in list(COLUMNS.values())[:number])
PREVIEW_SUFFIX = ".mp4"
PREVIEWED_ON = "man"
# Up to this many row numbers are listed in a note.
_FEW_ROWS = 5


@click.command("import", epilog=f"Columns of a table: {_COLUMNS}. Separate several labels in a cell"
                                " with |. Paths are relative to the table.")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--table", type=click.Path(path_type=Path), metavar="CSV",
              help="CSV table of files to import, one row each. Options given here apply to every"
                   " row that leaves the cell empty.")
@click.option("--action", metavar="NAME",
              help="Action that the file shows: one of the library, or a new one.")
@click.option("--library", required=True, envvar="MIMEGEN_LIBRARY", metavar="DIR",
              type=click.Path(path_type=Path),
              help="Your own library folder; created if it does not exist.")
@click.option("--name", metavar="NAME",
              help="Name of the take in the library.  [default: the file's name]")
@click.option("--take", metavar="N",
              help="Take to read from a file of several, counted from 0; a word names the take, as"
                   " --name does.  [default: 0]")
@click.option("--label", "labels", multiple=True, metavar="TEXT",
              help="Label of the action, a correct answer to questions; may be repeated.  [default:"
                   " NAME of --action]")
@click.option("--group", metavar="NAME",
              help="Semantic group of the action, such as 'ball sport' (mimegen list groups)."
                   " Questions take no wrong answers from the same group.")
@click.option("--aligned", metavar="NAME", help="Background that fits the action.")
@click.option("--misaligned", metavar="NAME", help="Background that misleads about the action.")
@click.option("--licence", default="not stated", show_default=True, metavar="TEXT",
              help="Licence of the file, written to the manifest.")
@click.option("--source", default="not stated", show_default=True, metavar="TEXT",
              help="Source of the file: a web address, a database or a lab.")
@click.option("--segment", is_flag=True, help="Split a long recording at its pauses into several"
                                              " takes.")
@click.option("--replace", "replaces", is_flag=True,
              help="Replace takes of the same name that the library already has. If an action has"
                   " no other takes, its labels, group and backgrounds are replaced too.")
@click.option("--height-m", type=click.FloatRange(0.4, 2.6), metavar="METRES",
              help="Height of the person in a video.  [default: 1.73]")
@click.option("--preview", type=click.Path(path_type=Path), metavar="MP4",
              help="Clip to write that shows a video and what was made of it side by side.")
@click.option("--sample", type=click.IntRange(0, 999_999), metavar="N", hidden=True,
              help="The former name of --take N.")
@blender_option
@exits_cleanly
@reading_options("auto")
def import_command(file: Path | None, table: Path | None, action: str | None, library: Path,
                   name: str | None, take: str | None, labels: tuple[str, ...], group: str | None,
                   aligned: str | None, misaligned: str | None, licence: str, source: str,
                   segment: bool, replaces: bool, height_m: float | None, preview: Path | None,
                   reading: ReadOptions) -> int:
    """Add motion capture or a video to your library.

    Give one FILE and its --action, a folder or an archive (zip, tar) of files, or a --table of
    many. Without --action, the files of a folder are labelled with their text-to-motion prompt, or
    with the name of their folder. The licence and the source are written to every manifest row.
    Videos need MediaPipe (pip install 'mimegen[video]'). mimegen take remove takes an import back.
    """
    name, reading = _named(name, take, reading)
    request = ImportRequest(file or Path(), action or "", library, name, labels, aligned,
                            misaligned, licence, source, segment, reading, group, replaces)
    if preview is not None:
        _check_preview(preview, file or Path("a table"))
    if table is not None:
        if file is not None or name is not None:
            raise RequestError(f"{'--name' if file is None else str(file)}: cannot be combined with"
                               " --table, which lists the files and their takes")
        return _import_rows(table, request)
    if file is not None and is_collection(file) and not _is_one_motion(file):
        if name is not None:
            raise RequestError("--name: cannot be combined with a folder or an archive, whose files"
                               " name their takes")
        return _import_files(file, request)
    if file is None or action is None:
        raise RequestError("expected FILE and --action NAME, or --table CSV")
    if height_m is not None and not is_video(file):
        raise RequestError(f"--height-m: only applies to videos, not to {file}")
    added = _import_video(request, height_m, preview) if is_video(file) else import_take(request)
    _report(added, library)
    for note in added.notes:
        click.echo(f"note   {note}")
    return DONE


def _named(name: str | None, take: str | None, reading: ReadOptions
           ) -> tuple[str | None, ReadOptions]:
    """Return the take's name and the reading options; a number selects a take of the file."""
    if take is None:
        return name, reading
    if take.isdecimal():
        return name, replace(reading, take=take_number(take))
    if name is not None:
        raise RequestError(f"--take {take}: expected a number, because --name names the take")
    return take, reading


def _check_preview(preview: Path, file: Path) -> None:
    """Raise RequestError, before anything is made, if no preview can be written."""
    if not is_video(file):
        raise RequestError(f"--preview: only applies to videos, not to {file}; use mimegen"
                           " preview")
    if preview.suffix.lower() != PREVIEW_SUFFIX:
        raise RequestError(f"--preview {preview}: is a video, so its name ends in {PREVIEW_SUFFIX}")
    context_of_process()


def _import_video(request: ImportRequest, height_m: float | None, preview: Path | None
                  ) -> Imported:
    """Estimate the joints of a person in a video and import them."""
    check_file(request.file)
    with scratch_folder(None) as folder:
        landmarks = folder / f"{request.file.stem}.json"
        write_landmarks(request.file, landmarks, height_m)
        added = import_take(replace(request, file=landmarks))
        if preview is not None:
            write_beside(request.file, landmarks, PREVIEWED_ON, preview)
            click.echo(f"{preview}: {request.file.name}, and {PREVIEWED_ON} beside it")
        return added


def _is_one_motion(file: Path) -> bool:
    """Return whether a file that looks like an archive is a motion file, such as .npz."""
    return file.is_file() and file.suffix.lower() in READERS


def _import_files(path: Path, request: ImportRequest) -> int:
    """Import a folder or an archive, reporting each file; return the exit status."""
    done, failed = 0, 0
    for one in import_collection(path, request):
        if one.imported is None:
            failed += 1
            click.echo(f"mimegen: {path}: {one.name}: {one.problem}", err=True)
        else:
            done += 1
            _report(one.imported, request.library)
    click.echo(f"{counted(done, 'file')} imported, {failed} failed")
    return SOME_FAILED if failed else DONE


def _import_rows(table: Path, request: ImportRequest) -> int:
    """Import the files of a table, reporting each row; return the exit status."""
    done, failed = 0, 0
    notes: dict[str, list[int]] = {}
    for row in import_table(table, request):
        if row.imported is None:
            failed += 1
            click.echo(f"mimegen: {table}: row {row.number}: {row.problem}", err=True)
        else:
            done += 1
            _report(row.imported, request.library)
            for note in row.imported.notes:
                notes.setdefault(note, []).append(row.number)
    for note, numbers in notes.items():
        click.echo(f"note   {note} ({_row_numbers(numbers)})")
    click.echo(f"{counted(done, 'row')} imported, {failed} failed")
    return SOME_FAILED if failed else DONE


def _row_numbers(numbers: list[int]) -> str:
    """Return the rows that a note is about; of many, only the first numbers."""
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    few = ", ".join(map(str, numbers[:_FEW_ROWS]))
    return f"{len(numbers)} files: rows {few}{' ...' if len(numbers) > _FEW_ROWS else ''}"


def _report(added: Imported, library: Path) -> None:
    click.echo(f"action {added.action}{' (new)' if added.is_new else ''} in {library}")
    for name, (start, end) in added.takes.items():
        click.echo(f"take   {name}: {start:.2f} to {end:.2f} s")
