"""Write the tables of a study as CSV files that R and pandas read."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mimegen.base.cells import plain_cell
from mimegen.base.files import publish
from mimegen.study.summaries import cells, conditions, participants
from mimegen.study.trial_rows import COLUMNS, FACTOR, RATING, Row

TRIALS = "trials.csv"


def write_tables(folder: Path, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Write the tables of trials; return those about participants and conditions, by file."""
    made = {"participants.csv": participants(rows), "conditions.csv": conditions(rows),
            "participants_by_condition.csv": cells(rows)}
    names = {name for row in rows for name in row}
    further = sorted(name for name in names if name.startswith((FACTOR, RATING)))
    publish(folder / TRIALS, _table(rows, [*COLUMNS, *further]))
    for name, table in made.items():
        publish(folder / name, _table(table, list(table[0]) if table else []))
    return made


def _table(rows: Sequence[Row], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(column)) for column in columns] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Return the value of a cell; Booleans in lower case, which R and pandas read."""
    return str(value).lower() if isinstance(value, bool) else plain_cell(value)
