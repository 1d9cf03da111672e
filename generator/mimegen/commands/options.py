"""Make command-line options from the fields of a typed request (see ``base/asked.py``)."""

import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import click
from annotated_types import Ge, Le
from pydantic import BaseModel, BeforeValidator, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from mimegen.base.asked import Heading, heading_of, metavar_of
from mimegen.commands.common import is_typed
from mimegen.request.render_request import option as name_of

Command: TypeAlias = Callable[..., Any]
Headings: TypeAlias = dict[str, tuple[str, ...]]


def asked_of(model: type[BaseModel], within: Iterable[str] | None = None) -> list[str]:
    """Return the fields of a model that have options, optionally only those in ``within``."""
    named = None if within is None else set(within)
    return [name for name, field in model.model_fields.items()
            if heading_of(field) is not None and (named is None or name in named)]


def options_of(model: type[BaseModel], names: Iterable[str] | None = None, **defaults: Any
               ) -> Callable[[Command], Command]:
    """Return a decorator that adds options for fields of a model to a command, by default all.

    ``defaults`` override the model's defaults.
    """
    chosen = asked_of(model) if names is None else list(names)

    def decorate(command: Command) -> Command:
        for name in reversed(chosen):
            field = model.model_fields[name]
            command = _option(name, field, defaults.get(name, field.default))(command)
        return command

    return decorate


def headings_of(*models: type[BaseModel]) -> Headings:
    """Return the names of the models' options by the help heading that they belong to."""
    found: dict[str, list[str]] = {}
    for model in models:
        for name in asked_of(model):
            heading = heading_of(model.model_fields[name])
            found.setdefault(str(heading), []).append(name)
    return {heading: tuple(found[heading]) for heading in map(str, Heading) if heading in found}


def under(headings: Headings, heading: Heading, *names: str) -> Headings:
    """Return headings with further options under one of them."""
    more = headings | {str(heading): (*headings.get(heading, ()), *names)}
    return {one: more[one] for one in map(str, Heading) if one in more}


def typed_of(model: type[BaseModel], given: dict[str, Any]) -> dict[str, Any]:
    """Remove a model's fields from a command's arguments; return those that the user typed."""
    fields = {name: given.pop(name) for name in asked_of(model)}
    return {name: value for name, value in fields.items() if is_typed(name)}


def _option(name: str, field: FieldInfo, default: Any) -> Callable[[Command], Command]:
    """Return a click option made from a field: its names, type, help text and default."""
    kind, explained = _bare(field.annotation), str(field.description)
    shown = default not in (None, (), False) and "[default:" not in explained
    settings: dict[str, Any] = {"help": explained, "metavar": metavar_of(field)}
    words = [name_of(name), name]
    if kind is bool and field.annotation is not bool:
        words[0] = f"{words[0]}/--no-{words[0].removeprefix('--')}"
        settings |= {"default": None}
    elif kind is bool:
        settings |= {"is_flag": True}
    elif _repeats(kind):
        settings |= {"multiple": True}
    elif any(isinstance(one, BeforeValidator) for one in field.metadata):
        settings |= {"callback": _reader(field)}
    else:
        settings |= {"type": _type_of(kind, field)}
    if shown:
        typed = _adapter(field).dump_python(default, mode="json")
        settings |= {"default": typed, "show_default": True}
    return click.option(*words, **settings)


def _adapter(field: FieldInfo) -> TypeAdapter[Any]:
    """Return an adapter that reads and writes a single field as its model does."""
    kind: Any = field.annotation
    for one in field.metadata:
        kind = Annotated[kind, one]
    return TypeAdapter(kind)


def _bare(annotation: Any) -> Any:
    """Return a field's type without None and without validators."""
    if get_origin(annotation) in (Union, types.UnionType):
        return _bare(next(one for one in get_args(annotation) if one is not type(None)))
    return _bare(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation


def _repeats(kind: Any) -> bool:
    return get_origin(kind) is tuple and get_args(kind)[0] is str


def _type_of(kind: Any, field: FieldInfo) -> Any:
    least: Any = next((one.ge for one in field.metadata if isinstance(one, Ge)), None)
    most: Any = next((one.le for one in field.metadata if isinstance(one, Le)), None)
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is int:
        return click.IntRange(least, most)
    if kind is float:
        return click.FloatRange(least, most)
    return click.Path(path_type=Path) if kind is Path else str


def _reader(field: FieldInfo) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that parses a value as the model does and fails as click options do."""
    adapter = _adapter(field)

    def read(_context: click.Context, _option: click.Parameter, text: Any) -> Any:
        try:
            return None if text is None else adapter.validate_python(text)
        except ValidationError as problem:
            raise click.BadParameter(
                problem.errors()[0]["msg"].removeprefix("Value error, ")) from problem
    return read
