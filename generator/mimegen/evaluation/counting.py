"""Which steps of a timeline can be counted: those whose number no other words of it put in doubt.

A timeline says of each step when it happens, and viewers count what they see. So a step has no
certain number if another one is told of as its repetition ("waves", "waves once more"), or as the
same with something added ("jumps up", "jumps up with the knees drawn up"), or if it consists of
several movements itself ("claps twice").
"""

import re
from collections.abc import Collection

# Words by which one step is told of as another one's repetition, or as several of it.
_REPETITION = re.compile(
    r"\b(?:again|another|other|both|more|next|first|second|third|last|on|still)\b")
_PLURAL = re.compile(
    r"\b(?:twice|thrice|several|times|fro|by turns|in turn|hand over hand|again)\b")


def has_certain_number(step: str, steps: Collection[str]) -> bool:
    """Return whether a step of all ``steps`` of one performer is counted alike by all viewers."""
    return not _PLURAL.search(step) and is_distinct(step, steps)


def is_distinct(step: str, steps: Collection[str]) -> bool:
    """Return whether no other of ``steps`` may be seen as this one."""
    return not any(_may_be_same(step, other) for other in steps if other != step)


def _may_be_same(one: str, other: str) -> bool:
    """Return whether a step may be seen as another one: as part of it, or as its repetition."""
    if _is_part(one, other) or _is_part(other, one):
        return True
    anew = _REPETITION.search(one) or _REPETITION.search(other)
    return bool(anew) and one.split()[0] == other.split()[0]


def _is_part(one: str, other: str) -> bool:
    return bool(re.search(rf"\b{re.escape(one)}\b", other))
