"""What all commands share: exit statuses, errors in one line, the user's library."""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from mimegen.errors import RequestError

DONE, SOME_FAILED, WRONG_REQUEST, INTERRUPTED = 0, 1, 2, 130


def for_people(command: Callable[..., int]) -> Callable[..., None]:
    """Turn a command's result into the exit status, and what stops it into one clear line."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            status = command(*args, **kwargs)
        except RequestError as problem:
            click.echo(f"mimegen: {' '.join(str(problem).split())}", err=True)
            status = WRONG_REQUEST
        except OSError as problem:
            where = f"{problem.filename}: " if problem.filename else ""
            click.echo(f"mimegen: {where}{problem.strerror}; see to it and run the same command"
                       " again", err=True)
            status = WRONG_REQUEST
        except KeyboardInterrupt:
            click.echo("mimegen: stopped; the same command goes on where it was", err=True)
            status = INTERRUPTED
        sys.exit(status)

    return wrapped


library_option = click.option(
    "libraries", "--library", multiple=True, envvar="MIMEGEN_LIBRARY",
    type=click.Path(path_type=Path), metavar="DIR",
    help="A folder of your own rigs/, mocap/, backgrounds/, render_configs/.",
)
