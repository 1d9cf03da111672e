"""Counts and ranges in words."""

from collections import Counter
from collections.abc import Iterable, Sequence

from mimegen.base.counted import counted, listed

# Longer lists are only counted.
MOST_NAMED = 24


def tally(values: Iterable[str], one: str = "clip") -> str:
    """Return "man (8 clips) and woman (2 clips)"; the value alone if all are the same."""
    counts = Counter(values)
    if len(counts) == 1:
        return next(iter(counts))
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return listed([f"{value} ({counted(count, one)})" for value, count in ranked])


def named(words: Iterable[str]) -> str:
    """Return the distinct words, sorted; nothing if they are too many to name."""
    distinct = sorted(set(words))
    return listed(distinct) if len(distinct) <= MOST_NAMED else ""


def ranged(numbers: Iterable[float], unit: str = "", digits: int = 1) -> str:
    """Return "5.2 s", or "4.8 to 5.2 s" for different numbers."""
    found = sorted({_short(number, digits) for number in numbers}, key=float)
    return " to ".join(dict.fromkeys((found[0], found[-1]))) + unit


def spans(numbers: Iterable[int]) -> str:
    """Return whole numbers as "0 to 4, 7 and 9"."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return listed([_span(span) for span in found])


def _span(span: Sequence[int]) -> str:
    if len(span) < 3:
        return ", ".join(map(str, span))
    return f"{span[0]} to {span[-1]}"


def _short(number: float, digits: int) -> str:
    return f"{round(number, digits):g}"
