"""Parts that all commands share: exit statuses, one-line errors, and the library option."""

import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from mimegen.base.blender import BLENDER, using_blender
from mimegen.base.early import INTERRUPTED, STOPPED
from mimegen.base.errors import RequestError, shortened
from mimegen.base.files import reason
from mimegen.base.interrupts import as_exception, forget_interrupt
from mimegen.base.kernel_folder import KERNELS, using_kernels
from mimegen.base.paths import LIBRARIES, using_libraries
from mimegen.base.yaml_file import holds_surrogates
from mimegen.choreography.styles import style_named
from mimegen.commands.streams import nobody_reads
from mimegen.plan.front import CameraDirection

# Exit statuses.
DONE = 0
SOME_FAILED = 1
WRONG_REQUEST = 2
_ARGUMENTS = "arguments"
_WARNED = "mimegen.warned"


class Remembering(click.Command):
    """A command that remembers its arguments, word for word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember the arguments, then parse them."""
        ctx.meta[_ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)


def command_arguments() -> list[str]:
    """Return the arguments of the running command, which must be ``Remembering``."""
    return list(click.get_current_context().meta[_ARGUMENTS])


def replaced(path: Path) -> str:
    """Return the note that a file is about to be overwritten; empty if there is none."""
    return "; replaced the earlier file" if path.is_file() else ""


def warn(text: str) -> None:
    """Print a warning to standard error, once for each command.

    If a warning recurs, its count is printed when the command ends.
    """
    context = click.get_current_context(silent=True)
    counts: Counter[str] = Counter()
    if context is not None:
        if _WARNED not in context.meta:
            context.call_on_close(partial(_tell_counts, context.meta.setdefault(_WARNED, counts)))
        counts = context.meta[_WARNED]
    if text not in counts:
        click.echo(f"mimegen: {text}", err=True)
    counts[text] += 1


def _tell_counts(counts: Mapping[str, int]) -> None:
    for text, count in counts.items():
        if count > 1:
            click.echo(f"mimegen: {count} times: {shortened(text)}", err=True)


def exits_cleanly(command: Callable[..., int]) -> Callable[..., None]:
    """Turn a command's result into an exit status, and an error into one clear line."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            _refuse_what_has_no_end(kwargs)
            _refuse_what_is_no_text(kwargs)
            with as_exception():
                status = command(*args, **kwargs)
        except RequestError as problem:
            click.echo(f"mimegen: {' '.join(str(problem).split())}", err=True)
            status = WRONG_REQUEST
        except OSError as problem:
            if nobody_reads():
                raise
            click.echo(f"mimegen: {_os_error_message(problem)}", err=True)
            status = WRONG_REQUEST
        except KeyboardInterrupt:
            forget_interrupt()
            click.echo(f"{STOPPED}; the same command goes on where it was", err=True)
            status = INTERRUPTED
        sys.exit(status)

    return wrapped


def _refuse_what_has_no_end(given: dict[str, Any]) -> None:
    """Raise RequestError if an option is nan or inf, which click accepts as numbers."""
    for name, setting in given.items():
        value = setting.degrees if isinstance(setting, CameraDirection) else setting
        if isinstance(value, float) and not math.isfinite(value):
            options = {one.name: one.opts[0] for one in click.get_current_context().command.params}
            raise RequestError(f"{options.get(name, name)} {value}: expected a number")


def _refuse_what_is_no_text(given: dict[str, Any]) -> None:
    """Raise RequestError if a text contains bytes that are not UTF-8; paths may."""
    for name, value in given.items():
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and holds_surrogates(text):
                options = {one.name: one.opts[0]
                           for one in click.get_current_context().command.params}
                raise RequestError(f"{options.get(name, name)} {text!a}: is not UTF-8 text")


def _os_error_message(problem: OSError) -> str:
    """Return a message with the file of a system error, and any file that blocks a folder."""
    # The name may be a file descriptor's number, or missing.
    named = isinstance(problem.filename, str | bytes)
    path = Path(os.fsdecode(problem.filename) if named else "")
    why = reason(path, problem)
    if why != problem.strerror:
        return f"{path}: {why}"
    where = f"{path}: " if named else ""
    return f"{where}{why}; see to it and run the same command again"


def _for_all_of_it(context: click.Context, resource: AbstractContextManager[None]) -> None:
    """Enter a context until the program ends, even if a later option is refused.

    click does not close a command's own context if its options cannot be parsed.
    """
    context.find_root().with_resource(resource)


def _make_known(context: click.Context, _option: click.Parameter,
                libraries: tuple[Path, ...]) -> tuple[Path, ...]:
    if libraries:
        _for_all_of_it(context, using_libraries(libraries))
    return libraries


def _library_option(exposed: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "libraries", "--library", multiple=True, envvar=LIBRARIES, callback=_make_known,
        is_eager=True, expose_value=exposed, type=click.Path(path_type=Path), metavar="DIR",
        help="Folder with your own rigs/, mocap/, cues/, scenes/, backgrounds/ and so on; may be"
             " repeated.",
    )


def _use_blender(context: click.Context, _option: click.Parameter, path: Path | None) -> None:
    _for_all_of_it(context, using_blender(path))


blender_option = click.option(
    "--blender", callback=_use_blender, is_eager=True, expose_value=False,
    type=click.Path(path_type=Path), metavar="PATH",
    help=f"Blender to use: its program, a Python that has bpy, or that Python's virtual"
         f" environment.  [default: ${BLENDER}, else this Python's bpy, else blender on the PATH]")

def _use_kernels(context: click.Context, _option: click.Parameter, path: Path | None) -> None:
    _for_all_of_it(context, using_kernels(path))


def kernels_option(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option, under a given name, for the folder of prepared kernels."""
    return click.option(
        name, callback=_use_kernels, is_eager=True, expose_value=False,
        type=click.Path(path_type=Path), metavar="DIR",
        help="Folder of the GPU kernels that mimegen devices prepare wrote.  [default:"
             f" ${KERNELS}, else ~/.cache/mimegen/kernels]")


library_option = _library_option(exposed=True)
# For commands that look up no names but read data that libraries may override.
shared_data_option = _library_option(exposed=False)


def _known_style(_context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    try:
        if name is not None:
            style_named(name)
    except RequestError as problem:
        raise click.BadParameter(str(problem)) from problem
    return name


def style_option(explained: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option --style: a style of performing scores, mimegen's or a library's."""
    return click.option("--style", metavar="NAME", callback=_known_style, help=explained)


sample_option = click.option(
    "--take", "sample", type=click.IntRange(0, 999_999), metavar="N",
    help="Take to read from a file of several, counted from 0.  [default: 0]")


def refuse_given(names: Collection[str], why: str) -> None:
    """Raise RequestError if the command line has one of these parameters of the running command."""
    for parameter in click.get_current_context().command.params:
        if parameter.name in names and is_typed(str(parameter.name)):
            raise RequestError(f"{parameter.opts[0]} {why}")


def is_typed(name: str) -> bool:
    """Return whether the command line has this parameter of the running command."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE
