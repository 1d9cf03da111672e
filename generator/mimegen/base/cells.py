"""Cells of tables that may be opened in spreadsheets."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any


def csv_text(heads: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV, with lines that end in a line feed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return text.getvalue()


def data_cell(value: Any) -> Any:
    """Return a cell's value as ``plain_cell``; Booleans in lower case, which R and pandas read."""
    return str(value).lower() if isinstance(value, bool) else plain_cell(value)


def plain_cell(value: Any) -> Any:
    """Return a cell's value; text that looks like a formula gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@" and value else value
