"""``mimegen import``: motion capture into your own library."""

from pathlib import Path

import click

from mimegen.commands.common import DONE, exits_cleanly, reading_options
from mimegen.library.importing import ImportRequest, import_take
from mimegen.readers import ReadOptions


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--action", required=True, metavar="NAME",
              help="The action it shows: one of the library, or a new one.")
@click.option("--library", required=True, envvar="MIMEGEN_LIBRARY", metavar="DIR",
              type=click.Path(path_type=Path), help="Your own library; made where there is none.")
@click.option("--take", metavar="NAME", help="What to call it.  [default: the file's name]")
@click.option("--label", "labels", multiple=True, help="What it shows; may be repeated.")
@click.option("--aligned", metavar="NAME", help="The background that fits it.")
@click.option("--misaligned", metavar="NAME", help="The background that misleads about it.")
@click.option("--licence", default="not stated", show_default=True)
@click.option("--source", default="not stated", show_default=True, metavar="TEXT",
              help="Where it comes from: a web address, a database, a lab.")
@click.option("--segment", is_flag=True, help="Split a long take at its rests, into several.")
@exits_cleanly
@reading_options("auto")
def import_command(file: Path, action: str, library: Path, take: str | None,
                   labels: tuple[str, ...], aligned: str | None, misaligned: str | None,
                   licence: str, source: str, segment: bool, reading: ReadOptions) -> int:
    """Add motion capture to your own library.

    Its licence, and where it comes from, go into every manifest row.
    """
    added = import_take(ImportRequest(file, action, library, take, labels, aligned, misaligned,
                                      licence, source, segment, reading))
    click.echo(f"action {added.action}{' (new)' if added.is_new else ''} in {library}")
    for name, (start, end) in added.takes.items():
        click.echo(f"take   {name}: {start:.2f} to {end:.2f} s")
    for note in added.notes:
        click.echo(f"note   {note}")
    return DONE
