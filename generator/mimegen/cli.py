"""The command line: what each command does lies in ``commands/``."""

import click

from mimegen import __version__
from mimegen.commands.background import background_command
from mimegen.commands.character import character_command
from mimegen.commands.contactsheet import contactsheet_command
from mimegen.commands.contamination import contamination_command
from mimegen.commands.evaluate import evaluate_command
from mimegen.commands.export import export_command
from mimegen.commands.import_ import import_command
from mimegen.commands.inspect import inspect_command
from mimegen.commands.list import list_command
from mimegen.commands.permute import permute_command
from mimegen.commands.plan import plan_command
from mimegen.commands.pointlight import pointlight_command
from mimegen.commands.preview import preview_command
from mimegen.commands.questions import questions_command
from mimegen.commands.render import render_command
from mimegen.commands.retarget import retarget_command
from mimegen.commands.score import score_command
from mimegen.commands.status import status_command
from mimegen.commands.store import store_command
from mimegen.commands.study import study_command
from mimegen.commands.take import take_command
from mimegen.commands.verify import verify_command
from mimegen.commands.work import work_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Make controlled video stimuli of human action."""


main.add_command(render_command)
main.add_command(list_command)
main.add_command(pointlight_command)
main.add_command(preview_command)
main.add_command(contactsheet_command)
main.add_command(character_command)
main.add_command(retarget_command)
main.add_command(score_command)
main.add_command(take_command)
main.add_command(inspect_command)
main.add_command(import_command)
main.add_command(background_command)
main.add_command(contamination_command)
main.add_command(permute_command)
main.add_command(questions_command)
main.add_command(evaluate_command)
main.add_command(export_command)
main.add_command(verify_command)
main.add_command(status_command)
main.add_command(store_command)
main.add_command(plan_command)
main.add_command(study_command)
main.add_command(work_command)
