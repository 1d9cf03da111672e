"""The command line: what each command does lies in ``commands/``."""

import ast
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import click
from click.exceptions import NoArgsIsHelpError

from mimegen import __version__
from mimegen.base.early import INTERRUPTED, STOPPED
from mimegen.base.errors import did_you_mean, near_misses
from mimegen.base.interrupts import forget_interrupt
from mimegen.commands.streams import end_unread, nobody_reads

# Workers have a core each, and matrices are small: more threads wait for one another at work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
COMMANDS = {
    "background": "mimegen.commands.background",
    "character": "mimegen.commands.character",
    "cite": "mimegen.commands.cite",
    "contactsheet": "mimegen.commands.contactsheet",
    "contamination": "mimegen.commands.contamination",
    "devices": "mimegen.commands.devices",
    "evaluate": "mimegen.commands.evaluate",
    "export": "mimegen.commands.export",
    "import": "mimegen.commands.import_",
    "inspect": "mimegen.commands.inspect",
    "list": "mimegen.commands.list",
    "pairs": "mimegen.commands.pairs",
    "permute": "mimegen.commands.permute",
    "plan": "mimegen.commands.plan",
    "pointlight": "mimegen.commands.pointlight",
    "preview": "mimegen.commands.preview",
    "publish": "mimegen.commands.publish",
    "questions": "mimegen.commands.questions",
    "render": "mimegen.commands.render",
    "retarget": "mimegen.commands.retarget",
    "score": "mimegen.commands.score",
    "status": "mimegen.commands.status",
    "store": "mimegen.commands.store",
    "study": "mimegen.commands.study",
    "take": "mimegen.commands.take",
    "verify": "mimegen.commands.verify",
    "work": "mimegen.commands.work",
}
# Options of some commands that others call by another name.
CALLED_ELSEWHERE = {"--affect": "--style"}
# Options of gaits that only these commands have.
GAIT_COMMANDS = "render and pointlight"
OF_GAITS = ("--speed", "--cadence", "--step-length", "--phase", "--direction")
# What is looked for among the options of import.
REMOVING = ("--remove", "--delete")
# Options of commands that are taken for commands.
OPTIONS_AS_COMMANDS = {"walker": "pointlight --walker"}


class _WrongWords(click.UsageError):
    """Words that a command does not know, told in one line, as all errors are."""

    command = ""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print what is wrong, and where help is."""
        message = " ".join(self.format_message().split())
        more = f"; see {self.command} --help" if self.command else ""
        click.echo(f"mimegen: {message.removesuffix('.')}{more}", file=file, err=file is None)


@contextmanager
def _in_one_line(group: click.Context | None = None) -> Iterator[None]:
    try:
        yield
    except NoArgsIsHelpError:
        raise
    except KeyboardInterrupt:
        # Click would say that it aborted, and end with 1.
        forget_interrupt()
        click.echo(STOPPED, err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        if not nobody_reads():
            raise
        end_unread()
    except click.UsageError as problem:
        wrong = _WrongWords(_usage_message(problem), problem.ctx)
        if problem.ctx is not None:
            wrong.command = problem.ctx.command_path
        elif group is not None:
            # The parser does not say of which command an option is that lacks its value.
            wrong.command = f"{group.command_path} {group.invoked_subcommand}"
        raise wrong from problem


def _usage_message(problem: click.UsageError) -> str:
    """Say what is wrong; of one word that is none of a few, which of them is like it."""
    if isinstance(problem, click.NoSuchOption) and _takes(problem.ctx, problem.option_name):
        return (f"No such option '{problem.option_name}'"
                f"{did_you_mean([CALLED_ELSEWHERE[problem.option_name]])}")
    if isinstance(problem, click.NoSuchOption) and problem.option_name in OF_GAITS:
        return f"No such option '{problem.option_name}'; {GAIT_COMMANDS} have it"
    if isinstance(problem, click.NoSuchOption) and problem.option_name in REMOVING \
            and problem.ctx is not None and problem.ctx.info_name == "import":
        return f"No such option '{problem.option_name}'; mimegen take remove does that"
    option = problem.param if isinstance(problem, click.BadParameter) else None
    wrong = problem.message.split("'")[1:2]
    if option is None or not wrong or not isinstance(option.type, click.Choice):
        return problem.format_message()
    return click.BadParameter(f"no '{wrong[0]}'{near_misses(wrong[0], option.type.choices)}",
                              problem.ctx, option).format_message()


def _takes(context: click.Context | None, option: str) -> bool:
    """Return whether a command has the option of ``CALLED_ELSEWHERE`` for one that it lacks."""
    return context is not None and any(
        CALLED_ELSEWHERE.get(option) in one.opts for one in context.command.params)


def _explained(name: str) -> str:
    """Return what a command says of itself, read from its source: no module is loaded for it."""
    spec = find_spec(COMMANDS[name])
    assert spec is not None and spec.origin is not None
    docstrings = {node.name: ast.get_docstring(node)
            for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef)}
    return docstrings[f"{name}_command"] or ""


class LazyGroup(click.Group):
    """Commands whose modules are loaded when they are asked for: no start pays for all of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; None where there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name]), f"{cmd_name}_command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]
                        ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is asked for; fails with what is like it where there is none."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            meant = OPTIONS_AS_COMMANDS.get(args[0])
            hint = did_you_mean([meant]) if meant else near_misses(args[0], COMMANDS)
            ctx.fail(f"no command '{args[0]}'{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for every command."""
        room = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl([
                (name, click.Command(name, help=_explained(name)).get_short_help_str(room))
                for name in COMMANDS])

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read what is said to the whole program."""
        with _in_one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Carry out a command."""
        with _in_one_line(ctx):
            return super().invoke(ctx)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Make controlled video stimuli of human action."""
