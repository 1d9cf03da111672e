"""Counts with a noun in the singular or plural, and lists in words."""

from collections.abc import Sequence


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number and its noun, such as "1 clip" or "2 clips"; the default plural adds an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listed(words: Sequence[str]) -> str:
    """Return words as "a", "a and b" or "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
