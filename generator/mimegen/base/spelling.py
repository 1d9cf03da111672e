"""Option values as text, written alike in commands, trial lists, questions and names."""

from typing import Any


def spelled(value: Any) -> str:
    """Return an option's value as text: yes, no, -90, 1.3."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def value_order(value: Any) -> tuple[bool, float, str]:
    """Return a sort key for option values: numbers and truth values come before words."""
    is_number = isinstance(value, int | float)
    return not is_number, float(value) if is_number else 0.0, str(value)
