"""``mimegen score new`` and ``score prompt``: start a new action."""

from pathlib import Path

import click

from mimegen.base.errors import RequestError
from mimegen.commands.common import DONE, exits_cleanly, library_option
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import Entry
from mimegen.library.newaction import write_action
from mimegen.library.scoreprompt import nearest_actions, score_prompt

# Number of actions that serve as examples.
EXAMPLES = 2
performers_option = click.option(
    "--performers", default=1, show_default=True, type=click.IntRange(1, 2),
    help="Number of people who perform the action.")
like_option = click.option(
    "--like", metavar="A[,B]", help="Actions to take as examples, by id, label or alias.  [default:"
    " those whose words are nearest in meaning]")


@click.command("prompt")
@click.argument("name", metavar="NAME")
@performers_option
@like_option
@library_option
@exits_cleanly
def prompt_command(name: str, performers: int, like: str | None, libraries: tuple[Path, ...]
                   ) -> int:
    """Print a prompt by which a language model writes NAME.

    The prompt contains the score language, all accepted words, two examples and the rules of lint.
    Return the findings of "mimegen score lint --json" to the model for correction.
    """
    catalogue = Catalogue.with_libraries(libraries)
    examples = examples_of(catalogue, name, like, performers)
    click.echo(score_prompt(catalogue, name, examples, performers))
    return DONE


@click.command("new")
@click.argument("name", metavar="NAME")
@performers_option
@like_option
@click.option("--empty", is_flag=True, help="Begin with a score of 15 lines in which one hand is"
                                           " raised, instead of a copy.")
@click.option("--library", required=True, envvar="MIMEGEN_LIBRARY", metavar="DIR",
              type=click.Path(path_type=Path),
              help="Your own library folder; created if it does not exist.")
@exits_cleanly
def new_command(name: str, performers: int, like: str | None, empty: bool, library: Path) -> int:
    """Create a draft of the action NAME in your library.

    The score, checks and timeline are copied from the action closest in meaning, or from the first
    of --like, for you to edit. Such a score has about 90 lines; --empty begins with 15.
    """
    if empty and (like is not None or performers > 1):
        raise RequestError("--empty: one person and no example; leave out --like and --performers")
    catalogue = Catalogue.with_libraries((library,) if library.is_dir() else ())
    examples = [] if empty else examples_of(catalogue, name, like, performers)
    score, *others = write_action(catalogue, library, name, examples)
    for file in (score, *others):
        click.echo(str(file))
    click.echo(f"next: edit them, then run mimegen score preview {score}", err=True)
    return DONE


def examples_of(catalogue: Catalogue, name: str, like: str | None, performers: int) -> list[Entry]:
    """Return the actions named as examples, or those with the nearest words."""
    if like is None:
        return nearest_actions(catalogue, name, EXAMPLES, performers)
    return [catalogue.action(one.strip()) for one in like.split(",")]
