"""Read markers from the tables of Vicon Nexus (CSV) and of Qualisys Track Manager (TSV).

Nexus writes a section ``Trajectories``: the rate, a line with ``Subject:MARKER`` above every third
column, the axes, the units, and one line per frame, up to an empty line. QTM writes lines with a
name and values, such as FREQUENCY and MARKER_NAMES, and one line per frame, which may begin with
the frame's number and time.
"""

import csv
import io
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.c3d_file import Trajectories
from mimegen.readers.motive import read_motive
from mimegen.readers.text import text_of

SECTION = "trajectories"
# Sections that may come before it in a Nexus export.
OTHERS = ("devices", "joints", "model outputs", "segments", "events", "local em", "global em")
QTM = "NO_OF_FRAMES"
NEXUS, QUALISYS, MOTIVE = "Vicon Nexus", "QTM", "Motive"
BEFORE = 2
MAX_MARKERS = 5000
MAX_CELLS = 100_000_000
MAX_ABS_VALUE = 1e6
HEAD = 64


def is_nexus(path: Path) -> bool:
    """Return whether a CSV begins with a section of Vicon Nexus."""
    with path.open("rb") as opened:
        first = opened.read(HEAD).lstrip(b"\xef\xbb\xbf").splitlines()[:1]
    return bool(first) and first[0].decode(errors="replace").strip(' ",').lower() in (
        SECTION, *OTHERS)


def read_marker_csv(path: Path, fps: float | None = None) -> Trajectories:
    """Read the labelled markers of a CSV of Vicon Nexus or of Motive.

    Raises RequestError if it holds none.
    """
    return _read_nexus(path, fps) if is_nexus(path) else read_motive(path, fps)


def _read_nexus(path: Path, fps: float | None) -> Trajectories:
    """Read the markers of a Nexus CSV. Raises RequestError if it has no trajectories."""
    text, notes = text_of(path, "the text of Vicon Nexus's CSV")
    rows = list(csv.reader(io.StringIO("\n".join(text))))
    start = next((number for number, row in enumerate(rows)
                  if row and row[0].strip().lower() == SECTION), None)
    if start is None or len(rows) < start + 7:
        raise RequestError(f"{path}: has no section Trajectories; export the markers from Nexus"
                           " as C3D, or as CSV with trajectories")
    rate = fps or _number(rows[start + 1][0] if rows[start + 1] else "")
    names, axes, units = rows[start + 2 : start + 5]
    columns = {name.strip(): column for column, name in enumerate(names)
               if name.strip() and [axis.strip().upper() for axis in axes[column : column + 3]]
               == ["X", "Y", "Z"]}
    end = next((number for number in range(start + 5, len(rows))
                if not any(cell.strip() for cell in rows[number])), len(rows))
    unit = next((cell.strip().lower() for cell in units if cell.strip()), "mm")
    # Labels begin with the subject's name, which is removed if there is only one subject.
    subjects = {name.partition(":")[0] for name in columns if ":" in name}
    labels = [name.partition(":")[2] or name if len(subjects) == 1 else name for name in columns]
    positions = _places(path, rows, (start + 5, end), list(columns.values()))
    return _trajectories(path, labels, positions, rate, unit, notes)


def read_qualisys(path: Path, fps: float | None = None) -> Trajectories:
    """Read the labelled markers of a TSV of Qualisys Track Manager.

    Raises RequestError if it is not such a table.
    """
    text, notes = text_of(path, "the text of QTM's TSV")
    rows = [row.split("\t") for row in text]
    facts = {row[0].strip(): (number, row[1:]) for number, row in enumerate(rows[:40]) if row}
    if QTM not in facts or "MARKER_NAMES" not in facts:
        raise RequestError(f"{path}: expected lines that begin with {QTM} and MARKER_NAMES, as in"
                           " the TSV of Qualisys Track Manager")
    labels = [name.strip() for name in facts["MARKER_NAMES"][1] if name.strip()]
    rate = fps or _number((facts.get("FREQUENCY", (0, [""]))[1] or [""])[0])
    start = next((number for number in range(facts["MARKER_NAMES"][0] + 1, len(rows))
                  if np.isfinite(_number(rows[number][0], np.nan))), len(rows))
    before = len(rows[start]) - 3 * len(labels) if start < len(rows) else 0
    before = BEFORE if before >= BEFORE else 0
    columns = [before + 3 * number for number in range(len(labels))]
    positions = _places(path, rows, (start, len(rows)), columns)
    return _trajectories(path, labels, positions, rate, "mm", notes)


def _trajectories(path: Path, labels: list[str], positions: FloatArray, rate: float, unit: str,
                  notes: tuple[str, ...]) -> Trajectories:
    """Return trajectories, with markers that were not seen as NaN.

    Raises RequestError if there are no markers or no frame rate.
    """
    if not 1 <= len(labels) <= MAX_MARKERS:
        raise RequestError(f"{path}: names {len(labels)} markers")
    if not rate > 0:
        raise RequestError(f"{path}: has no frame rate; give it with --fps-of-file")
    # A marker that was not seen is written as 0 0 0, or left empty.
    lost = np.all(positions == 0.0, axis=2) | ~(np.abs(positions) < MAX_ABS_VALUE).all(axis=2)
    return Trajectories(tuple(labels), np.where(lost[..., None], np.nan, positions), rate, unit,
                        frozenset(), "table", ("", ""), notes)


def _number(cell: str, otherwise: float = 0.0) -> float:
    """Return a cell as a number, or ``otherwise``."""
    try:
        return float(cell.strip() or "x")
    except ValueError:
        return otherwise


def _places(path: Path, rows: list[list[str]], span: tuple[int, int], columns: list[int]
            ) -> FloatArray:
    """Return positions (F, M, 3) from the rows of a span, NaN for empty cells.

    Each marker has three columns, of which ``columns`` lists the first.
    """
    lines = [number for number in range(*span) if any(cell.strip() for cell in rows[number])]
    if len(lines) < 2 or len(lines) * len(columns) * 3 > MAX_CELLS:
        raise RequestError(f"{path}: has {len(lines)} frames, expected at least 2")
    positions = np.full((len(lines), len(columns), 3), np.nan)
    for frame, number in enumerate(lines):
        row = rows[number]
        for marker, column in enumerate(columns):
            for axis, cell in enumerate(row[column : column + 3]):
                if cell.strip():
                    try:
                        positions[frame, marker, axis] = float(cell)
                    except ValueError:
                        raise RequestError(f"{path}: line {number + 1}: {cell.strip()[:20]!r} is"
                                           " not a number") from None
    return positions
