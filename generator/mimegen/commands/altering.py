"""Options that alter clips, as permutations do: tempo, mirroring, camera and light."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from mimegen.commands.options import asked_of, options_of
from mimegen.request.altering import Altering
from mimegen.request.render_request import RenderRequest


def altering_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the altering options in the ranges of axes.yaml, passed to the command as ``altering``.
    """
    names = asked_of(RenderRequest, signature(Altering.of).parameters)

    @wraps(command)
    def wrapped(*args: Any, **given: Any) -> int:
        altering = Altering.of(**{name: given.pop(name) for name in names})
        return command(*args, **given, altering=altering)

    return options_of(RenderRequest, names)(wrapped)
