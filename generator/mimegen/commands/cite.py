"""``mimegen cite``: methods, citations and attribution for a paper."""

import json
from pathlib import Path

import click

from mimegen.base.errors import RequestError
from mimegen.commands.common import DONE, exits_cleanly
from mimegen.methods.description import describe


@click.command("cite")
@click.argument("outputs", metavar="OUT|QUESTIONS...", nargs=-1, required=True,
                type=click.Path(path_type=Path))
@click.option("--clips", type=click.Path(path_type=Path), metavar="OUT",
              help="Folder of the clips that QUESTIONS are about.  [default: the folder of"
                   " QUESTIONS]")
@click.option("--bibtex", "as_bibtex", is_flag=True, help="Print only the references, as BibTeX.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@exits_cleanly
def cite_command(outputs: tuple[Path, ...], clips: Path | None, as_bibtex: bool, as_json: bool
                 ) -> int:
    """Write methods, references and attribution for a paper.

    OUT are folders that mimegen render or pointlight wrote, QUESTIONS files that mimegen questions
    wrote; several are described together. All numbers are counted from the manifest. The text ends
    with what a paper has to state: doubts about motions, deliberate faults, variants left out.
    """
    if as_bibtex and as_json:
        raise RequestError("--bibtex and --json are mutually exclusive")
    if clips is not None and all(path.is_dir() for path in outputs):
        raise RequestError("--clips: only applies to files of questions")
    found = describe(*outputs, clips=clips)
    if as_json:
        click.echo(json.dumps(found.content(), indent=1, ensure_ascii=False))
    else:
        click.echo(found.bibtex if as_bibtex else found.text, nl=not as_bibtex)
    return DONE
