"""``mimegen export``: export clips and questions in the formats of other programs."""

from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.commands.checked import check_samples, no_verify_option
from mimegen.commands.common import DONE, exits_cleanly
from mimegen.evaluation.exports.exporting import WRITERS, export
from mimegen.evaluation.exports.source import read_source


@click.command("export")
@click.argument("source", type=click.Path(path_type=Path), metavar="OUT|QUESTIONS")
@click.option("--to", "target", required=True, type=click.Choice(list(WRITERS)),
              help="Format to export to.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="Output directory; must not exist.")
@click.option("--clips", type=click.Path(path_type=Path), metavar="OUT",
              help="Folder of the clips that the questions are about.  [default: the folder of the"
                   " questions]")
@no_verify_option
@exits_cleanly
def export_command(source: Path, target: str, out: Path, clips: Path | None,
                   unchecked: bool) -> int:
    """Export clips, or questions about them, to other formats.

    DIR/README.md explains how to load them.
    """
    read = read_source(source, clips)
    check_samples(read.folder, {row.sample_id for row in read.clips.values()}, unchecked)
    written = export(source, target, out, clips)
    asked = f"{counted(len(written.questions), 'question')} about " if written.questions else ""
    click.echo(f"{out}: {asked}{counted(len(written.clips), 'clip')}; see {out / 'README.md'}")
    return DONE
