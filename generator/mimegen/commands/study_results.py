"""Print the tables and the power of a study."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from mimegen.base.counted import counted
from mimegen.commands.tables import wide_console
from mimegen.evaluation.differences import POWER
from mimegen.study.power import needed
from mimegen.study.table_files import TRIALS
from mimegen.study.trial_rows import MAIN, Row

# Faster answers, in milliseconds, cannot be about what is asked.
LEAST_RT_MS = 200
TESTS = ("over_participants", "over_actions")


def show_tables(out: Path, rows: Sequence[Row], made: Mapping[str, Sequence[Row]]) -> None:
    """Print the table of conditions, what was written, and what to know about the answers."""
    console = wide_console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("task", "asks", "condition"):
        table.add_column(name)
    for name in ("participants", "n", "accuracy", "mean", "95 %", "median RT", "lapses",
                 "excluded"):
        table.add_column(name, justify="right")
    for row in made["conditions.csv"]:
        table.add_row(row["task"], row["asks"], row["condition"], str(row["participants"]),
                      str(row["n"]), _percent(row["accuracy"]), _percent(row["mean"]),
                      "" if row["low"] is None else f"{row['low']:.1%} to {row['high']:.1%}",
                      "" if row["median_rt_ms"] is None else f"{row['median_rt_ms']:.0f} ms",
                      str(row["lapses"]), str(row["excluded"]))
    console.print(table)
    for note in _notes(rows):
        click.echo(note)
    click.echo(f"{out}: {', '.join((TRIALS, *made))}")


def _notes(rows: Sequence[Row]) -> list[str]:
    """Return who took part, and what may have to be excluded."""
    people = {row["participant"]: row for row in rows}
    unfinished = sum(not row["complete"] for row in people.values())
    kind = "simulated participant" if rows[0]["simulated"] else "participant"
    found = [f"{counted(len(people), kind)}, of whom {unfinished} did not finish"]
    fast = sum(row["kind"] == MAIN and not row["excluded"] and not row["broken"]
               and row["rt_ms"] < LEAST_RT_MS for row in rows)
    if fast:
        found.append(f"{counted(fast, 'answer')} came faster than {LEAST_RT_MS} ms; exclude them"
                     f" with --min-rt {LEAST_RT_MS}")
    return found


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def show_power(rows: Sequence[Mapping[str, Any]], pairs: Sequence[tuple[str, str]]) -> None:
    """Print the power by number of participants, and the fewest that suffice."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("conditions")
    for name in ("participants", "power over participants", "power over actions"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(f"{row['first']} and {row['second']}", str(row["participants"]),
                      *(_percent(row[test]) or "no test" for test in TESTS))
    wide_console().print(table)
    for first, second in pairs:
        for test in TESTS:
            size = needed(rows, first, second, test)
            enough = f"{size} participants have {POWER:.0%} power" if size else \
                f"no number of participants that was tried has {POWER:.0%} power"
            click.echo(f"{first} and {second}, {test.replace('_', ' ')}: {enough}")
