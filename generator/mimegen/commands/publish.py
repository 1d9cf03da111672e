"""``mimegen publish``: prepare questions and clips as a set for journals and archives."""

from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.commands.checked import check_samples, no_verify_option
from mimegen.commands.common import DONE, exits_cleanly, warn
from mimegen.evaluation.exports.licences import UNKNOWN, licences
from mimegen.evaluation.exports.publish import PRIVATE, PUBLIC, Publication, publish_set
from mimegen.evaluation.exports.source import read_source


@click.command("publish")
@click.argument("questions", type=click.Path(path_type=Path))
@click.option("--to", "out", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="Output directory; must not exist.")
@click.option("--title", required=True, metavar="TEXT", help="Title of the set.")
@click.option("--creator", "creators", multiple=True, required=True, metavar="'FAMILY, GIVEN'",
              help="Name of a person who publishes the set; may be repeated.")
@click.option("--licence", required=True, metavar="NAME",
              help="Licence of the set as SPDX names it, as in CC-BY-4.0.")
@click.option("--with-answers", is_flag=True, help="Publish the answers too.")
@click.option("--clips", type=click.Path(path_type=Path), metavar="OUT",
              help="Folder of the clips that the questions are about.  [default: the folder of the"
                   " questions]")
@no_verify_option
@exits_cleanly
def publish_command(questions: Path, out: Path, title: str, creators: tuple[str, ...],
                    licence: str, with_answers: bool, clips: Path | None, unchecked: bool) -> int:
    """Prepare questions and clips for publication as a data set.

    DIR/public has the clips under random names, the questions without answers, a
    Croissant description, a datasheet, metadata for archives, checksums and a commitment to the
    answers. DIR/private has the answers and the manifest.
    """
    source = read_source(questions, clips)
    check_samples(source.folder, {row.sample_id for row in source.clips.values()}, unchecked)
    publish_set(source, Publication(title, creators, licence, with_answers), out)
    click.echo(f"{out / PUBLIC}: {counted(len(source.questions), 'question')} about"
               f" {counted(len(source.clips), 'clip')}; publish this folder\n{out / PRIVATE}: the"
               " answers and the manifest; keep this folder")
    for part in sorted({part for part, licence, _ in licences(source.clips.values())
                        if licence == UNKNOWN}):
        warn(f"the licence of the {part} of some clips is not stated, so {licence} may not cover"
             " them; the README and the datasheet list them")
    return DONE
