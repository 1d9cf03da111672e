"""Read displays in a few words, as variants write them: ``inverted:masked=40`` or ``actpld``."""

from collections.abc import Sequence
from typing import Any, get_args

from mimegen.base.errors import RequestError, near_misses
from mimegen.pointlight.manipulations import MANIPULATIONS, read_manipulation, steps_of, value_of
from mimegen.pointlight.presets import presets, read_display
from mimegen.pointlight.spec import Display, DotStyle, changed

_NOT_BY_WORD = {"name", "description", "manipulations", "sample", "add", "palette", "style"}


def worded_display(words: Sequence[str], base: Display) -> tuple[Display, bool]:
    """Return the display for some words, and whether it has a picture and view of its own.

    A word is the name of a display, which replaces ``base``; a style; a manipulation; or a setting
    of the display such as ``polarity=dark``. Raises RequestError, with similar names, for any other
    word.
    """
    named = [word for word in words if word in presets()]
    if len(named) > 1:
        raise RequestError(f"point-light display: {named[0]} and {named[1]} are both displays; name"
                           " only one")
    display = read_display(named[0]) if named else base
    values: dict[str, Any] = {}
    manipulations = list(display.manipulations)
    for word in words:
        name, equals, value = word.partition("=")
        kind = name.partition("/")[0]
        if kind in MANIPULATIONS:
            read_manipulation(word)
            manipulations.append(word)
        elif word in get_args(DotStyle):
            values["style"] = word
        elif equals and name in Display.model_fields and name not in _NOT_BY_WORD:
            text = Display.model_fields[name].annotation is str or name == "dot_diameter"
            values[name] = value if text else value_of(value)
        elif word not in named:
            known = [*MANIPULATIONS, *get_args(DotStyle), *presets()]
            raise RequestError(f"point-light display: '{word}' is not a manipulation, style or"
                               f" display{near_misses(word, known)}")
    found = changed(display, **values, manipulations=tuple(manipulations))
    steps_of(found)
    return found, bool(named)
