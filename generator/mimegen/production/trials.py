"""The trial list of a folder of point-light displays: what experiment software reads."""

import csv
import io
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mimegen.base.files import publish
from mimegen.base.paths import source_file
from mimegen.base.spelling import spelled, value_order
from mimegen.manifest.file import rows_of
from mimegen.manifest.row import Row

TRIALS = "trials.csv"
TRIALS_JSON = "trials.json"
EXPERIMENT = "experiment.py"
SCRIPT = "mimegen.production.psychopy_experiment"
COLUMNS = ("file", "action", "take", "seed", "condition", "azimuth_deg", "dots_seed", "duration_s",
           "fps", "frames", "labels")


class TrialList(NamedTuple):
    """The file of a trial list, and how many displays of its folder are not in it."""

    path: Path
    left_out: int


def write_trials(out: Path, names: Collection[str] | None = None) -> TrialList:
    """Write ``out``/trials.csv and .json, one trial for each display, in the order of a grid's
    values, which come last, and then in the manifest's.

    With ``names`` only the displays of these sample_ids are trials: those of one experiment.
    Options of walkers in which trials differ are columns too, beside the grid's factors.

    CSV is what PsychoPy reads, JSON what jsPsych and lab.js do. Beside them is experiment.py, a
    PsychoPy experiment with these trials.

    ``azimuth_deg`` counts from the performer's front, or on the stage where nobody knows it.
    Raises RequestError where the manifest cannot be read.
    """
    found = [row for row in rows_of(out) if row.condition is not None and row.window is None]
    rows = [row for row in found if names is None or row.sample_id in names]
    factors = _factors(rows)
    rows.sort(key=lambda row: [value_order(_given(row).get(name)) for name in factors])
    lines = [(*_line(row), *(_value(row, name) for name in factors)) for row in rows]
    packed = io.StringIO()
    table = csv.writer(packed, lineterminator="\n")
    table.writerow(COLUMNS + factors)
    table.writerows(lines)
    publish(out / TRIALS, packed.getvalue().encode())
    listed = [dict(zip(COLUMNS + factors, line, strict=True)) for line in lines]
    publish(out / TRIALS_JSON, json.dumps(listed, indent=1).encode())
    publish(out / EXPERIMENT, source_file(SCRIPT).read_bytes())
    return TrialList(out / TRIALS, len(found) - len(rows))


def _factors(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return a grid's factors, and the options of walkers in which the rows differ."""
    grid = dict.fromkeys(name for row in rows for name in row.grid or {})
    options = dict.fromkeys(name for row in rows for name in _given(row) if name not in grid)
    return (*grid, *(name for name in options
                     if len({str(_given(row).get(name)) for row in rows}) > 1))


def _given(row: Row) -> dict[str, Any]:
    """Return what was given of a walker and of a grid."""
    return dict((row.gait or {}).get("asked", {})) | (row.grid or {})


def _line(row: Row) -> tuple[object, ...]:
    azimuth = row.azimuth_deg if row.view_azimuth_deg is None else row.view_azimuth_deg
    return (row.file_name, row.action, row.take, row.seed, row.condition, azimuth, row.dots_seed,
            row.duration_s, row.fps, row.frames, "|".join(row.labels))


def _value(row: Row, factor: str) -> object:
    """Return a factor's value, a truth value or a whole number as --grid has it: yes, 2."""
    value = _given(row).get(factor)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return spelled(value) if isinstance(value, bool) else value
