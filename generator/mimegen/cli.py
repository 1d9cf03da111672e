"""The command line: what each command does lies in ``commands/``."""

from importlib import import_module

import click

from mimegen import __version__

COMMANDS = {
    "background": "mimegen.commands.background",
    "character": "mimegen.commands.character",
    "contactsheet": "mimegen.commands.contactsheet",
    "contamination": "mimegen.commands.contamination",
    "evaluate": "mimegen.commands.evaluate",
    "export": "mimegen.commands.export",
    "import": "mimegen.commands.import_",
    "inspect": "mimegen.commands.inspect",
    "list": "mimegen.commands.list",
    "permute": "mimegen.commands.permute",
    "plan": "mimegen.commands.plan",
    "pointlight": "mimegen.commands.pointlight",
    "preview": "mimegen.commands.preview",
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


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Make controlled video stimuli of human action."""
