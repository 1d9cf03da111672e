"""The options that select what to make, shared by render, plan and others."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from mimegen.base.asked import Heading
from mimegen.commands.common import blender_option, library_option, warn
from mimegen.commands.gait import walker_of, walker_options
from mimegen.commands.options import headings_of, options_of, typed_of, under
from mimegen.request import Planned, RenderRequest
from mimegen.request.render_request import GAIT

HEADINGS = under(under(headings_of(RenderRequest), Heading.VARIANTS, "libraries"),
                 Heading.GAIT, *GAIT)


def selection_options(command: Callable[..., int], dry_run: bool = False) -> Callable[..., int]:
    """Add the options that select what to make, passed to the command as ``planned``.

    In a dry run, the device may be one that this machine lacks. When called, the command raises
    RequestError for unknown names.
    """

    @wraps(command)
    def wrapped(*args: Any, libraries: Any, **given: Any) -> int:
        request = RenderRequest.of(**typed_of(RenderRequest, given), **walker_of(given),
                                   library=libraries)
        # A command without farm settings only plans.
        farm = given.get("settings")
        if dry_run and farm is not None and farm.farm == "local":
            farm = None
        planned = Planned.of(request, farm, warn)
        return command(*args, **given, planned=planned)

    return options_of(RenderRequest)(walker_options(library_option(blender_option(wrapped))))
