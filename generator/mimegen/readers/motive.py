"""Read Motive's CSV exports (format 1.2x): a skeleton's labelled markers, or else its bones.

The header gives for each column: Type, Name, ID, then Rotation or Position, then the axis. Y points
up. If there are markers, the skeleton is fitted to them, as for C3D files; otherwise the positions
and quaternions of the bones are used.
"""

import csv
import io
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.c3d_file import Trajectories
from mimegen.readers.text import text_of

UNITS = {"millimeters": "mm", "centimeters": "cm", "meters": "m"}
# Types of columns: markers, bones and rigid bodies.
MARKERS = ("Marker", "Bone Marker")
BONE = "Bone"
METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0}
BODIES = ("Rigid Body", "Rigid Body Marker")
# Fewest markers of a person.
MIN_MARKERS = 8
MAX_CELLS = 100_000_000


def read_motive(path: Path, fps: float | None = None) -> Trajectories:
    """Read the labelled markers of a Motive CSV; ``fps`` overrides the file's own rate.

    Raises RequestError if it holds none, for example if only rigid bodies were exported.
    """
    rows, notes = text_of(path, "the text of Motive's CSV")
    head = _facts(rows[0])
    kinds, names, axes, start, _ = _columns(path, rows)
    columns: dict[str, dict[str, int]] = {}
    for column, (kind, name, axis) in enumerate(zip(kinds, names, axes, strict=True)):
        if kind in MARKERS and axis in ("X", "Y", "Z") and not name.startswith("Unlabeled"):
            columns.setdefault(name, {})[axis] = column
    columns = {name: held for name, held in columns.items() if len(held) == 3}
    if len(columns) < MIN_MARKERS:
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


class Bones(NamedTuple):
    """The bones of a file's skeletons: positions (F, B, 3) in metres, rotations (F, B, 4) w x y z.
    """

    names: tuple[str, ...]
    positions: FloatArray
    rotations: FloatArray
    fps: float


def read_bones(path: Path, fps: float | None = None) -> Bones | None:
    """Return the bones with quaternions of a Motive CSV, or None.

    It is None if the file has no such bones, or has a skeleton's markers, which are preferred.
    Raises RequestError if the table is damaged.
    """
    rows, _ = text_of(path, "the text of Motive's CSV")
    head = _facts(rows[0])
    kinds, names, position_axes, start, rotation_axes = _columns(path, rows)
    if len({name for kind, name in zip(kinds, names, strict=True)
            if kind in MARKERS and not name.startswith("Unlabeled")}) >= MIN_MARKERS:
        return None
    held: dict[str, dict[str, int]] = {}
    for column, (kind, name) in enumerate(zip(kinds, names, strict=True)):
        if kind == BONE and (position_axes[column] or rotation_axes[column]):
            key = position_axes[column] or f"rotation {rotation_axes[column]}"
            held.setdefault(name, {})[key] = column
    wanted = ("X", "Y", "Z", "rotation W", "rotation X", "rotation Y", "rotation Z")
    held = {name: columns for name, columns in held.items() if set(wanted) <= columns.keys()}
    rate = fps or head.rate
    if not held or not rate > 0:
        return None
    order = [columns[key] for columns in held.values() for key in wanted]
    table = _table(path, rows[start:], start, order).reshape(-1, len(held), len(wanted))
    scale = METRES.get(UNITS.get(head.unit, "m"), 1.0)
    return Bones(tuple(held), table[..., :3] * scale, table[..., 3:], rate)


class _Facts(NamedTuple):
    """The unit of length and the frame rate in the first line; the rate is 0 if missing."""

    unit: str
    rate: float


def _facts(row: str) -> _Facts:
    """Return the facts of the first line."""
    cells = [cell.strip() for cell in row.split(",")]
    said = dict(zip(cells[::2], cells[1::2], strict=False))
    rate = said.get("Export Frame Rate", "")
    return _Facts(said.get("Length Units", "").lower(),
                  float(rate) if re.fullmatch(r"\d+(\.\d*)?", rate) else 0.0)


def _columns(path: Path, rows: list[str]
             ) -> tuple[list[str], list[str], list[str], int, list[str]]:
    """Return the columns' kinds, names and position axes, the first frame's row, rotation axes.

    An axis is empty for columns of another measure.
    """
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
    position_axes, rotation_axes = (
        [axis if measure.startswith(start) else ""
         for axis, measure in zip(axes, measures, strict=True)]
        for start in ("Position", "Rotation"))
    return kinds, names, position_axes, ends + 1, rotation_axes


def _table(path: Path, rows: list[str], start: int, order: list[int]) -> np.ndarray:  # type: ignore[type-arg]
    """Return the numbers (F, K) of the columns ``order``, NaN for empty cells.

    ``start`` is the row of the first frame, for errors.
    """
    lines = [row for row in rows if row.strip()]
    if len(lines) < 2 or len(lines) * len(order) > MAX_CELLS:
        raise RequestError(f"{path}: has {len(lines)} frames, expected at least 2")
    table = np.full((len(lines), len(order)), np.nan)
    for line, cells in enumerate(csv.reader(io.StringIO("\n".join(lines)))):
        for place, column in enumerate(order):
            cell = cells[column] if column < len(cells) else ""
            if cell:
                try:
                    table[line, place] = float(cell)
                except ValueError:
                    raise RequestError(f"{path}: line {start + line + 1}: {cell[:20]!r} is not a"
                                       " number") from None
    return table
