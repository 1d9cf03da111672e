"""Checks of arguments of the API: what is wrong with one is a RequestError of one line."""

from collections.abc import Iterable
from operator import index
from typing import Any

from pydantic import ValidationError

from mimegen.base.errors import RequestError, near_misses, with_given
from mimegen.farm.settings import FarmSettings


def checked_seed(seed: int) -> int:
    """Return a seed as Python's int. Raises RequestError unless it is an integer of at least 0."""
    try:
        if index(seed) >= 0:
            return index(seed)
    except TypeError:
        pass
    raise RequestError(f"seed={seed!r}: expected an integer, 0 or more")


def checked_choice(name: str, value: str, known: Iterable[str]) -> None:
    """Raise RequestError, with near misses, unless a value is one of those known."""
    choices = list(known)
    if value not in choices:
        raise RequestError(f"{name}={value!r}: no such {name}{near_misses(str(value), choices)}")


def checked_settings(fields: dict[str, Any]) -> FarmSettings:
    """Return the settings of a farm. Raises RequestError, naming the field, for a wrong one."""
    try:
        return FarmSettings.model_validate(fields)
    except ValidationError as problem:
        first = problem.errors()[0]
        raise RequestError(f"farm: {'.'.join(map(str, first['loc']))}:"
                           f" {with_given(first['msg'], first['input'])}") from None
