"""``mimegen publish``: prepare questions and clips as a set for journals and archives."""

from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.commands.checked import check_samples, no_verify_option
from mimegen.commands.common import DONE, exits_cleanly
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
              help="Licence of the set as SPDX names it, as in CC-BY-4.0. The licences of all"
                   " motions, characters and backgrounds must allow it.")
@click.option("--rights-cleared", metavar="TEXT",
              help="Reason why you may publish parts whose licences are unknown or do not allow"
                   " --licence, such as a permission; written to the datasheet.")
@click.option("--with-answers", is_flag=True, help="Publish the answers too.")
@click.option("--clips", type=click.Path(path_type=Path), metavar="OUT",
              help="Folder of the clips that the questions are about.  [default: the folder of the"
                   " questions]")
@no_verify_option
@exits_cleanly
def publish_command(questions: Path, out: Path, title: str, creators: tuple[str, ...],
                    licence: str, rights_cleared: str | None, with_answers: bool,
                    clips: Path | None, unchecked: bool) -> int:
    """Prepare questions and clips for publication as a data set.

    DIR/public has the clips under random names, the questions without answers, a
    Croissant description, a datasheet, metadata for archives, checksums and a commitment to the
    answers. DIR/private has the answers and the manifest.
    """
    if rights_cleared is not None and not rights_cleared.strip():
        raise RequestError("--rights-cleared is empty; give the reason or leave it out")
    publication = Publication(title, creators, licence, with_answers, rights_cleared)
    source = read_source(questions, clips)
    check_samples(source.folder, {row.sample_id for row in source.clips.values()}, unchecked)
    publish_set(source, publication, out)
    click.echo(f"{out / PUBLIC}: {counted(len(source.questions), 'question')} about"
               f" {counted(len(source.clips), 'clip')}; publish this folder\n{out / PRIVATE}: the"
               " answers and the manifest; keep this folder")
    return DONE
