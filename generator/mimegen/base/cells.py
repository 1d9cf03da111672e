"""Cells of tables that spreadsheets may open."""

from typing import Any


def plain_cell(value: Any) -> Any:
    """Return a cell; text that a spreadsheet would take for a formula gets an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@" and value else value
