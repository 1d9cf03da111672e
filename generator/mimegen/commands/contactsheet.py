"""``mimegen contactsheet``: contact sheets of clips."""

from pathlib import Path

import click

from mimegen.commands.checked import check_source, no_verify_option
from mimegen.commands.common import DONE, exits_cleanly
from mimegen.groundtruth.kinds import KINDS
from mimegen.pages.contactsheet import contact_sheet


@click.command("contactsheet")
@click.argument("source", type=click.Path(path_type=Path), metavar="CLIP_OR_DIR")
@click.option("--out", "target", type=click.Path(path_type=Path), metavar="PNG",
              help="PNG file or folder to write.  [default: next to the source]")
@click.option("--frames", default=12, show_default=True, type=click.IntRange(1, 200),
              help="Number of frames in each sheet.")
@click.option("--overlay", type=click.Choice(KINDS),
              help="Ground truth to draw over the frames; see mimegen render --passes.")
@no_verify_option
@exits_cleanly
def contactsheet_command(source: Path, target: Path | None, frames: int,
                         overlay: str | None, unchecked: bool) -> int:
    """Write PNG contact sheets of a clip or a folder of clips."""
    check_source(source, unchecked)
    for sheet in contact_sheet(source, target, frames, overlay):
        click.echo(sheet)
    return DONE
