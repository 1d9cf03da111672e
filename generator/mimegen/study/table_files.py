"""Write the tables of a study as CSV files that R and pandas read."""

from collections.abc import Sequence
from pathlib import Path

from mimegen.base.cells import csv_text, data_cell
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
    return csv_text(columns, ([data_cell(row.get(column)) for column in columns] for row in rows))
