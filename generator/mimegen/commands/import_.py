"""``mimegen import``: motion capture into your own library."""

from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.commands.common import DONE, SOME_FAILED, exits_cleanly, reading_options
from mimegen.library.importing import Imported, ImportRequest, import_take
from mimegen.library.importtable import COLUMNS, import_table
from mimegen.readers import ReadOptions

# The first name of each column.
_COLUMNS = ", ".join(column for number, (column, said) in enumerate(COLUMNS.items())
                     if said not in list(COLUMNS.values())[:number])


@click.command("import", epilog=f"Columns of a table: {_COLUMNS}. Several labels in a cell are"
                                " parted by |. Paths are relative to the table.")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--table", type=click.Path(path_type=Path), metavar="CSV",
              help="Import many files: a CSV table with a row for each. Options given here apply to"
                   " every row that leaves the cell empty.")
@click.option("--action", metavar="NAME",
              help="The action that the file shows: one of the library, or a new one.")
@click.option("--library", required=True, envvar="MIMEGEN_LIBRARY", metavar="DIR",
              type=click.Path(path_type=Path),
              help="Your own library, a folder; it is made if there is none.")
@click.option("--take", metavar="NAME", help="The name of the take.  [default: the file's name]")
@click.option("--label", "labels", multiple=True, metavar="TEXT",
              help="A right answer to what the file shows; may be repeated.  [default: NAME of"
                   " --action]")
@click.option("--group", metavar="NAME",
              help="The semantic group of the action, such as 'ball sport' (see mimegen list"
                   " groups). Questions offer actions of one group as each other's wrong answers.")
@click.option("--aligned", metavar="NAME", help="A background that fits the action.")
@click.option("--misaligned", metavar="NAME", help="A background that misleads about the action.")
@click.option("--licence", default="not stated", show_default=True, metavar="TEXT",
              help="The licence of the file.")
@click.option("--source", default="not stated", show_default=True, metavar="TEXT",
              help="Where the file comes from: a web address, a database, a lab.")
@click.option("--segment", is_flag=True, help="Split a long file at its rests into several takes.")
@click.option("--replace", "replaces", is_flag=True,
              help="Replace takes of the same name that the library already has. An action whose"
                   " only takes these are gets the labels, group and backgrounds given here.")
@exits_cleanly
@reading_options("auto")
def import_command(file: Path | None, table: Path | None, action: str | None, library: Path,
                   take: str | None, labels: tuple[str, ...], group: str | None,
                   aligned: str | None, misaligned: str | None, licence: str, source: str,
                   segment: bool, replaces: bool, reading: ReadOptions) -> int:
    """Add motion capture to your own library.

    Give one FILE and its --action, or a --table of many. The licence and the source go into every
    manifest row.
    """
    request = ImportRequest(file or Path(), action or "", library, take, labels, aligned,
                            misaligned, licence, source, segment, reading, group, replaces)
    if table is not None:
        if file is not None or take is not None:
            raise RequestError(f"{'--take' if file is None else str(file)}: leave it out; --table"
                               " names the files and their takes")
        return _import_rows(table, request)
    if file is None or action is None:
        raise RequestError("give FILE and --action NAME, or --table CSV")
    _say(import_take(request), library)
    return DONE


def _import_rows(table: Path, request: ImportRequest) -> int:
    done, failed = 0, 0
    for row in import_table(table, request):
        if row.imported is None:
            failed += 1
            click.echo(f"mimegen: {table}: row {row.number}: {row.problem}", err=True)
        else:
            done += 1
            _say(row.imported, request.library)
    click.echo(f"{counted(done, 'row')} imported, {failed} failed")
    return SOME_FAILED if failed else DONE


def _say(added: Imported, library: Path) -> None:
    click.echo(f"action {added.action}{' (new)' if added.is_new else ''} in {library}")
    for name, (start, end) in added.takes.items():
        click.echo(f"take   {name}: {start:.2f} to {end:.2f} s")
    for note in added.notes:
        click.echo(f"note   {note}")
