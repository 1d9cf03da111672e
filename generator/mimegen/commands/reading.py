"""Options for reading a motion file, shared by all commands that read one."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any

from mimegen.base.asked import Heading, heading_of
from mimegen.commands.options import asked_of, options_of
from mimegen.readers.options import ReadOptions, parse_trim
from mimegen.request.render_request import RenderRequest


def reading_options(trim: str | None) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add the options for reading a motion file, passed to the command as ``reading``.

    ``trim`` is the default of --trim; None if the command does not offer it.
    """
    names = [name for name in asked_of(RenderRequest, (field.name for field in fields(ReadOptions)))
             if heading_of(RenderRequest.model_fields[name]) is Heading.MOTION
             and (name != "trim" or trim is not None)]

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def wrapped(*args: Any, sample: int | None = None, **given: Any) -> int:
            said = {name: given.pop(name) for name in names}
            said["trim"] = parse_trim(said.get("trim", "none"))
            return command(*args, **given, reading=ReadOptions(**said, take=sample))

        return options_of(RenderRequest, names, trim=trim)(wrapped)

    return decorate
