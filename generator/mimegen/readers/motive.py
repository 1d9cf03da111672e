"""Motive's CSV exports (format 1.2x): labelled markers of a skeleton.

The head says what each column is: Type, Name, ID, then Rotation or Position, then the axis. Y
points up. Quaternions of bones are not used: markers tell the body, as in C3D files.
"""

import csv
import io
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.readers.c3d_file import Trajectories
from mimegen.readers.text import text_of

UNITS = {"millimeters": "mm", "centimeters": "cm", "meters": "m"}
MARKERS = ("Marker", "Bone Marker")
BODIES = ("Rigid Body", "Rigid Body Marker")
LEAST_MARKERS = 8
MOST_CELLS = 100_000_000


def read_motive(path: Path, fps: float | None = None) -> Trajectories:
    """Read the labelled markers of a Motive CSV; ``fps`` goes before its own rate.

    Raises RequestError where it holds none, as where only rigid bodies were exported.
    """
    rows, notes = text_of(path, "the text of Motive's CSV")
    head = _facts(rows[0])
    kinds, names, axes, start = _columns(path, rows)
    columns: dict[str, dict[str, int]] = {}
    for column, (kind, name, axis) in enumerate(zip(kinds, names, axes, strict=True)):
        if kind in MARKERS and axis in ("X", "Y", "Z") and not name.startswith("Unlabeled"):
            columns.setdefault(name, {})[axis] = column
    columns = {name: held for name, held in columns.items() if len(held) == 3}
    if len(columns) < LEAST_MARKERS:
        bodies = {name for kind, name in zip(kinds, names, strict=True) if kind in BODIES}
        what = f"{len(bodies)} rigid bodies" if bodies else f"{len(columns)} labelled markers"
        raise RequestError(f"{path}: holds {what} but no skeleton of a person; in Motive, export a"
                           " skeleton's markers, as C3D or CSV")
    rate = fps or head.rate
    if not rate > 0:
        raise RequestError(f"{path}: has no frame rate; give it with --fps-of-file")
    order = [held[axis] for held in columns.values() for axis in "XYZ"]
    table = _table(path, rows[start:], start, order)
    unit = UNITS.get(head.unit, "")
    return Trajectories(tuple(columns), table.reshape(len(table), -1, 3), rate, unit,
                        frozenset(), "motive", ("+X", "+Y"), notes)


class _Facts(NamedTuple):
    """What the first line says."""

    unit: str
    rate: float


def _facts(row: str) -> _Facts:
    cells = [cell.strip() for cell in row.split(",")]
    said = dict(zip(cells[::2], cells[1::2], strict=False))
    rate = said.get("Export Frame Rate", "")
    return _Facts(said.get("Length Units", "").lower(),
                  float(rate) if re.fullmatch(r"\d+(\.\d*)?", rate) else 0.0)


def _columns(path: Path, rows: list[str]) -> tuple[list[str], list[str], list[str], int]:
    """Return the kinds, names and axes of the columns, and where the frames begin."""
    parsed = [next(csv.reader([row]), []) for row in rows[:12]]
    ends = next((n for n, row in enumerate(parsed) if row[:1] == ["Frame"]), None)
    if ends is None or ends < 4:
        raise RequestError(f"{path}: expected a line that begins with Frame, as in Motive's CSV")
    named = [row for row in parsed[1:ends] if len(row) > 2]
    if len(named) < 2:
        raise RequestError(f"{path}: its columns have no names")
    axes = parsed[ends]
    width = len(axes)
    kinds, names = ((row + [""] * width)[:width] for row in named[:2])
    measures = (named[-1] + [""] * width)[:width]
    places = [axis if measure.startswith("Position") else ""
              for axis, measure in zip(axes, measures, strict=True)]
    return kinds, names, places, ends + 1


def _table(path: Path, rows: list[str], start: int, order: list[int]) -> np.ndarray:  # type: ignore[type-arg]
    lines = [row for row in rows if row.strip()]
    if len(lines) < 2 or len(lines) * len(order) > MOST_CELLS:
        raise RequestError(f"{path}: has {len(lines)} frames, expected at least 2")
    table = np.full((len(lines), len(order)), np.nan)
    for line, cells in enumerate(csv.reader(io.StringIO("\n".join(lines)))):
        for place, column in enumerate(order):
            cell = cells[column] if column < len(cells) else ""
            if cell:
                try:
                    table[line, place] = float(cell)
                except ValueError:
                    raise RequestError(f"{path}: line {start + line + 1}: {cell[:20]!r} is no"
                                       " number") from None
    return table
