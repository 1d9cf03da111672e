"""Cells of tables that may be opened in spreadsheets."""

from typing import Any


def plain_cell(value: Any) -> Any:
    """Return a cell's value; text that looks like a formula gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@" and value else value
