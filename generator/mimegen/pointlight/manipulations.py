"""List all manipulations by name, and read them as requests write them."""

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from mimegen.base.errors import RequestError, near_misses
from mimegen.pointlight import motion_manipulations as motion
from mimegen.pointlight import picture_manipulations as picture
from mimegen.pointlight import walker_manipulations as walker
from mimegen.pointlight.manipulation import STAGES, Manipulation
from mimegen.pointlight.spec import Display, first_problem

MANIPULATIONS: Mapping[str, type[Manipulation]] = {kind.name: kind for kind in (
    motion.Reversed, motion.Speed, motion.Warped, motion.Delayed, motion.Local, motion.Global,
    motion.Exaggerated, motion.PhaseScrambled, motion.Rotated, motion.Turning,
    picture.Inverted, picture.Mirrored, picture.Scrambled, picture.LimitedLifetime, picture.Masked,
    picture.Jittered, picture.Displaced, picture.Without, picture.DepthSized, picture.Faded,
    walker.Only, walker.Flipped, walker.OutOfPhase, walker.Sines, walker.Crowd,
)}


def read_manipulation(text: str) -> Manipulation:
    """Return the manipulation that ``name``, ``name=value`` or ``name/key=value/...`` stands for.

    Raises RequestError, with similar names, for an unknown name or parameter, or a wrong value.
    """
    head, *rest = text.strip().split("/")
    name, equals, value = head.partition("=")
    if name not in MANIPULATIONS:
        raise RequestError(f"no manipulation '{name}'{near_misses(name, MANIPULATIONS)}")
    kind = MANIPULATIONS[name]
    values: dict[str, Any] = {}
    if equals:
        if kind.main is None:
            raise RequestError(f"manipulation {name}: takes no value without a parameter name;"
                               f" parameters are {', '.join(kind.model_fields) or 'none'}")
        values[kind.main] = value_of(value)
    for part in rest:
        key, _, value = part.partition("=")
        if key not in kind.model_fields:
            raise RequestError(f"manipulation {name}: no parameter '{key}'"
                               f"{near_misses(key, kind.model_fields)}")
        values[key] = value_of(value)
    texts = {key for key, field in kind.model_fields.items() if field.annotation is str}
    values = {key: str(value) if key in texts else value for key, value in values.items()}
    try:
        return kind(**values)
    except ValueError as problem:
        raise RequestError(f"manipulation {name}: {first_problem(problem)}") from problem


def value_of(text: str) -> Any:
    """Return the number, truth value or text that a request's text stands for, as in YAML.

    Raises RequestError for anything else, such as a list.
    """
    try:
        plain = isinstance(yaml.compose(text, Loader=yaml.SafeLoader), yaml.ScalarNode)
        value = yaml.safe_load(text) if plain else None
    except (yaml.YAMLError, ValueError, RecursionError):
        value = None
    if not isinstance(value, bool | int | float | str):
        raise RequestError(f"point-light display: '{text}' is not a valid value")
    return value


def in_order(texts: Iterable[str]) -> list[Manipulation]:
    """Return manipulations in the order in which they are applied.

    The order is time, person, world, view, picture; within a stage it is the request's.
    """
    return sorted((read_manipulation(text) for text in texts),
                  key=lambda manipulation: STAGES.index(manipulation.applied_to))


def steps_of(display: Display) -> list[Manipulation]:
    """Return a display's manipulations in order.

    Raises RequestError for one that its style does not show.
    """
    steps = in_order(display.manipulations)
    for step in steps:
        if display.style not in step.styles:
            raise RequestError(f"manipulation {step.name}: is not seen in --style {display.style};"
                               f" use {' or '.join(step.styles)}")
    return steps
