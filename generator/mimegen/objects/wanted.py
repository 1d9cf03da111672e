"""Values that callers look for in fields of rows."""

import types
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
from pydantic import BaseModel

from mimegen.base.counted import listed
from mimegen.base.errors import RequestError
from mimegen.manifest.row import Row

# What errors call the types of fields.
_NAMES = {str: "a text", int: "a number", float: "a number", bool: "True or False", dict: "a dict"}


def wanted_values(name: str, value: Any) -> list[Any]:
    """Return the values of which a field may have any: those of a collection, or ``value`` alone.

    Raises RequestError for a value of a type that the field never has.
    """
    several = isinstance(value, Iterable) and not isinstance(
        value, str | bytes | Mapping | BaseModel)
    values = [one.item() if isinstance(one, np.generic) else one
              for one in (value if several else [value])]
    field = Row.model_fields.get(name)
    # Fields of newer versions have types that are not known here.
    possible: set[type] = {object} if field is None else _types(field.annotation)
    for one in values:
        if one is not None and not _is_of(one, possible):
            raise RequestError(f"where: {name}={one!r}: expected {_words(possible)}, or a list of"
                               " such values of which any may match")
    return values


def has_any(own: Any, values: Iterable[Any]) -> bool:
    """Return whether a field has one of the values, or contains one if it is a list."""
    return any(own == one or (isinstance(own, list) and one in own) for one in values)


def _types(annotation: Any) -> set[type]:
    """Return the types that a field's values have; of a list those of its items."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _types(inner[0])
    if origin in (Union, types.UnionType, list):
        return set().union(*map(_types, inner))
    if origin is Literal:
        return {type(one) for one in inner}
    found = origin or annotation
    return {found if isinstance(found, type) else object} - {types.NoneType}


def _is_of(value: Any, possible: set[type]) -> bool:
    """Return whether a value has one of the types; numbers of either type equal each other."""
    if isinstance(value, bool):
        return bool(possible & {bool, object})
    if isinstance(value, int | float):
        return bool(possible & {int, float, object})
    return isinstance(value, tuple(possible))


def _words(possible: set[type]) -> str:
    return listed(sorted({_NAMES.get(one, one.__name__) for one in possible})).replace(
        " and ", " or ")
