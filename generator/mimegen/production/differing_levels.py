"""Find out whether presence of dots or duration gives away the value of a factor of a set."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from math import floor
from typing import Any

from mimegen.base.spelling import spelled, value_order
from mimegen.manifest.row import Row
from mimegen.production.trials import requested

# Shares of dots outside the picture may differ by this much between values of a factor.
MAX_OUTSIDE_SPREAD = 0.01
# Factors that set size or duration themselves.
SIZES = ("figure_height", "width", "height")
TIMES = ("duration", "start", "fps")
# Of more values, the two that differ most are named.
MOST_NAMED = 6
CONDITION = "condition"
Levels = dict[str, float]


def presence_warnings(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a warning for each factor whose values differ in how many dots lie in the picture."""
    for factor in _factors(rows, SIZES):
        levels = _most_different(rows, factor, "dots_outside_share")
        if _spread(levels) > MAX_OUTSIDE_SPREAD:
            shares = _named(levels, "{:.1%}".format)
            yield (f"the share of dots outside the picture depends on {factor} ({shares}), so"
                   " whether dots are seen can give it away; -m local removes the travel, and a"
                   " larger --size or a smaller --figure-height shows all of it")


def duration_warnings(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a warning for each factor whose values differ in duration by more than a frame."""
    for factor in _factors(rows, TIMES):
        levels = _most_different(rows, factor, "duration_s")
        frame = 1 / min(row.fps for row in rows)
        if _spread(levels) > 1.01 * frame:
            seconds = _named(levels, "{:.4g} s".format)
            yield (f"the duration depends on {factor} ({seconds}) and can give it away;"
                   f" {_same_duration(rows)}")


def _same_duration(rows: Sequence[Row]) -> str:
    if any(step.get("name") == "speed" for row in rows for step in row.manipulations or ()):
        return "shorten the slower displays, as in --conditions upright,speed=0.5:duration=1"
    shortest = floor(100 * min(row.duration_s or 0 for row in rows)) / 100
    return f"--duration {shortest:g} gives all displays the same"


def _factors(rows: Sequence[Row], without: Collection[str]) -> list[str]:
    """Return the names of a set's factors."""
    return [name for name in dict.fromkeys(name for row in rows for name in (
        row.grid or {CONDITION: None})) if name not in without]


def _most_different(rows: Sequence[Row], factor: str, measure: str) -> Levels:
    """Return a measure by value of a factor, of the displays that differ in it alone the most."""
    groups: dict[str, dict[str, tuple[Any, float]]] = defaultdict(dict)
    for row in rows:
        values, known = _values(row), getattr(row, measure)
        if factor in values and known is not None:
            value = values.pop(factor)
            same = repr((row.action, row.take, row.seed, row.dots_seed, row.display,
                         sorted(values.items())))
            groups[same][spelled(value)] = (value, float(known))
    found = [{name: known for name, (_, known) in
              sorted(group.items(), key=lambda entry: value_order(entry[1][0]))}
             for group in groups.values()]
    return max(found, key=_spread, default={})


def _values(row: Row) -> dict[str, Any]:
    """Return all values that were requested; those of a grid determine its conditions."""
    return requested(row) if row.grid else {CONDITION: row.condition, **requested(row)}


def _spread(levels: Levels) -> float:
    return max(levels.values()) - min(levels.values()) if levels else 0.0


def _named(levels: Levels, text: Callable[[float], str]) -> str:
    """Return the values of a factor, each with its measure; of many, the two that differ most."""
    ordered = sorted(levels, key=lambda name: levels[name])
    names = levels if len(levels) <= MOST_NAMED else (ordered[0], ordered[-1])
    return ", ".join(f"{name}: {text(levels[name])}" for name in names)
