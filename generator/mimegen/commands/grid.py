"""A grid of displays: every combination of the values of some factors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from mimegen.base.errors import RequestError, near_misses
from mimegen.gait.walker import affects
from mimegen.manifest.row import UPRIGHT
from mimegen.pointlight.manipulations import MANIPULATIONS, value_of
from mimegen.pointlight.spec import Display
from mimegen.request.render_request import GAIT

# Most combinations of a grid.
MOST_CELLS = 10_000
# Aliases of manipulations.
_SHORT = {"mask": "masked", "scramble": "scrambled", "invert": "inverted"}
# Factors and the settings of the display that they stand for.
_SETTINGS = {"azimuth": "azimuth_deg", "elevation": "elevation_deg"}
_FACTORS = {setting: factor for factor, setting in _SETTINGS.items()}
# The options of a walker that are not numbers.
_TREADMILL = "treadmill"
AFFECT = "affect"
# What a grid can vary of a walker.
_WALKER = (AFFECT, *GAIT)
# The action whose partner replaces the second person, or the action's own.
PARTNER = "partner"
OWN_PARTNER = "own"
_NO = (False, "no", "none", 0)


@dataclass(frozen=True)
class Combination:
    """One combination of factor values.

    ``gait`` holds the walker's options among its ``values``, ``partner`` the action that the second
    person is from, ``condition`` its settings and manipulations as ``--conditions`` has them, and
    ``name`` the manipulations alone.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    gait: Mapping[str, Any] = field(default_factory=dict)
    partner: str | None = None
    condition: str | None = None
    name: str | None = None


def cells_of(text: str | None) -> list[Combination]:
    """Return every combination of ``name=a,b;name=c,d``; a single empty one for None.

    A factor is an option of the walker, a manipulation (``inverted=no,yes``, ``mask=0,40``), a
    setting of the display, or ``partner``. Raises RequestError, with similar names, for any other.
    """
    if text is None:
        return [Combination()]
    factors: dict[str, list[Any]] = {}
    for part in text.split(";"):
        name, equals, values = part.strip().partition("=")
        if not equals or not values:
            raise RequestError(f"--grid {part!r}: expected NAME=VALUE,VALUE")
        known = [*_WALKER, PARTNER, *MANIPULATIONS, *_SHORT, *_SETTINGS, *Display.model_fields]
        name = name.strip().replace("-", "_")
        if name == "gaze":
            raise RequestError("--grid: dots show no eyes; use mimegen render --action walk --gaze")
        if name not in known:
            raise RequestError(f"--grid: no factor '{name}'{near_misses(name, known)}")
        name = _FACTORS.get(name, name)
        factors[name] = [_value(name, value.strip()) for value in values.split(",")]
    cells = [_cell(dict(zip(factors, values, strict=True)))
             for values in product(*factors.values())]
    if len(cells) > MOST_CELLS:
        raise RequestError(f"--grid: {len(cells)} combinations; expected at most {MOST_CELLS}")
    return cells


def _value(name: str, text: str) -> Any:
    """Return a value. Raises RequestError if a walker's option needs a number."""
    if name == AFFECT:
        return _affect(text)
    if name == PARTNER:
        return text.strip()
    value = value_of(text)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if name == _TREADMILL and text.lower() not in ("yes", "no", "true", "false"):
        raise RequestError(f"--grid {name}={text}: expected yes or no")
    if name in GAIT and name != _TREADMILL and not number:
        raise RequestError(f"--grid {name}={text}: expected a number")
    return value


def _affect(name: str) -> str:
    """Return the name of an affect. Raises RequestError if there is none of this name."""
    if name not in affects():
        raise RequestError(f"--grid affect={name}: expected one of: {', '.join(affects())}")
    return name


def _cell(values: dict[str, Any]) -> Combination:
    gait = {name: value for name, value in values.items() if name in _WALKER}
    shown = {_SHORT.get(name, name): value for name, value in values.items()
             if name not in (*_WALKER, PARTNER)}
    words = [word for name, value in shown.items() for word in _words(name, value)]
    manipulations = [word for name, value in shown.items() if name in MANIPULATIONS
                     for word in _words(name, value)]
    return Combination(values, gait, values.get(PARTNER), ":".join(words) or UPRIGHT,
                       ":".join(manipulations) or UPRIGHT)


def _is_no(value: Any) -> bool:
    """Return whether a value leaves a manipulation out: no, or 0, whatever parameters follow it."""
    if isinstance(value, str):
        value = value_of(value.partition("/")[0] or "yes")
    return value in _NO


def _words(name: str, value: Any) -> list[str]:
    """Return the words of a condition for one factor's value."""
    if name in MANIPULATIONS:
        if _is_no(value):
            return []
        value, *parameters = ("yes" if value is True else str(value)).split("/")
        return ["/".join([name if value == "yes" else f"{name}={value}", *parameters])]
    return [f"{_SETTINGS.get(name, name)}={value}"]
