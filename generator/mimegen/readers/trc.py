"""Read TRC files: tables of markers by OpenSim, OpenCap, Pose2Sim and Motion Analysis.

Format: five header lines (names and values of the rates and the unit; the markers; the columns),
then one line per frame: its number, its time, and X Y Z of each marker. Cells of markers that were
not seen are empty or NaN. Usually Y points up, but the file does not state it.
"""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.c3d_file import Trajectories
from mimegen.readers.rates import Evened, evened, rate_of_times
from mimegen.readers.text import text_of

# Columns before those of the markers: number and time of the frame.
BEFORE = 2
MAX_MARKERS = 5000
MAX_FRAMES = 10_000_000
MAX_ABS_VALUE = 1e6
# Greatest difference between the rates of the header and of the times, as a fraction.
SAME_RATE = 0.02


def read_trc(path: Path, fps: float | None = None) -> Trajectories:
    """Read the markers of a TRC file; ``fps`` overrides the file's own rate.

    Raises RequestError, with the line, if it is not such a table.
    """
    rows, notes = text_of(path, "the text of a TRC file")
    head = next((n for n, row in enumerate(rows[:10]) if row.strip().startswith("Frame#")), None)
    if head is None or not rows[0].lstrip().startswith("PathFileType"):
        raise RequestError(f"{path}: line 4: expected the names of the markers after Frame# and"
                           " Time, as in a TRC file")
    labels = tuple(label.strip() for label in rows[head].rstrip().split("\t")[BEFORE:]
                   if label.strip())
    if not 1 <= len(labels) <= MAX_MARKERS:
        raise RequestError(f"{path}: line {head + 1}: names {len(labels)} markers")
    facts = _facts(rows[:head])
    table = _table(path, rows, head + 2, len(labels))
    rate, more = _rate(path, facts, table[:, 1], fps)
    positions = table[:, BEFORE:].reshape(len(table), len(labels), 3)
    positions = np.where(np.abs(positions) > MAX_ABS_VALUE, np.nan, positions)
    # Some writers put 0 0 0 for a marker that was not seen.
    lost = np.all(positions == 0.0, axis=2) | ~np.isfinite(positions).all(axis=2)
    positions = np.where(lost[..., None], np.nan, positions)
    positions, uneven = evened(table[:, 1], positions, rate) if fps is None else Evened(positions)
    return Trajectories(labels, positions, rate, facts.get("Units", "").lower(), frozenset(), "trc",
                        ("", ""), (*notes, *more, *uneven))


def _facts(rows: list[str]) -> dict[str, str]:
    """Return the values in the header by name, such as DataRate and Units."""
    for names, values in pairwise(rows):
        if names.strip().startswith("DataRate"):
            return dict(zip(names.split(), values.split(), strict=False))
    return {}


def _table(path: Path, rows: list[str], start: int, markers: int) -> FloatArray:
    """Return the numbers of all frames, NaN where cells are empty."""
    width = BEFORE + 3 * markers
    numbers = [number for number in range(start, len(rows)) if rows[number].strip()]
    if len(numbers) < 2:
        raise RequestError(f"{path}: has {len(numbers)} frames, expected at least 2")
    if len(numbers) * width > MAX_FRAMES * 10:
        raise RequestError(f"{path}: has {len(numbers)} frames of {markers} markers, more than are"
                           " read; export a part of it")
    table = np.full((len(numbers), width), np.nan)
    for line, number in enumerate(numbers):
        cells = rows[number].rstrip("\n").split("\t")
        if len(cells) < BEFORE or len(cells) > width + 3:
            cells = rows[number].split()
        for column, cell in enumerate(cells[:width]):
            if cell and not cell.isspace():
                try:
                    table[line, column] = float(cell)
                except ValueError:
                    raise RequestError(f"{path}: line {number + 1}: {cell.strip()[:20]!r} is not a"
                                       " number") from None
    return table


def _rate(path: Path, facts: dict[str, str], times: FloatArray, said: float | None
          ) -> tuple[float, tuple[str, ...]]:
    """Return the frame rate, and a note if the header and the times differ.

    If both are known and agree, the header counts; otherwise the times do, or the only known one.
    """
    stated = facts.get("DataRate", "")
    header = float(stated) if re.fullmatch(r"\d+(\.\d*)?([eE][+-]?\d+)?", stated) else 0.0
    timed = rate_of_times(times)
    if said is not None:
        return said, ()
    rate = timed or header
    if not (np.isfinite(rate) and rate > 0):
        raise RequestError(f"{path}: has no frame rate; give it with --fps-of-file")
    if header and timed and abs(header - timed) > SAME_RATE * header:
        return timed, (f"the header says {header:g} fps, the times of the frames {timed:g}: they"
                       " are followed",)
    return header if header and timed else rate, ()
