"""The trial list of a folder of point-light displays: what experiment software reads."""

import csv
import io
import json
from pathlib import Path

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


def write_trials(out: Path) -> Path:
    """Write ``out``/trials.csv and .json, one trial for each display, in the order of a grid's
    values, which come last, and then in the manifest's.

    CSV is what PsychoPy reads, JSON what jsPsych and lab.js do. Beside them is experiment.py, a
    PsychoPy experiment with these trials.

    ``azimuth_deg`` counts from the performer's front, or on the stage where nobody knows it.
    Returns the file. Raises RequestError where the manifest cannot be read.
    """
    rows = [row for row in rows_of(out) if row.condition is not None and row.window is None]
    factors = tuple(dict.fromkeys(name for row in rows for name in row.grid or {}))
    rows.sort(key=lambda row: [value_order((row.grid or {}).get(name)) for name in factors])
    lines = [(*_line(row), *(_value(row, name) for name in factors)) for row in rows]
    packed = io.StringIO()
    table = csv.writer(packed, lineterminator="\n")
    table.writerow(COLUMNS + factors)
    table.writerows(lines)
    publish(out / TRIALS, packed.getvalue().encode())
    listed = [dict(zip(COLUMNS + factors, line, strict=True)) for line in lines]
    publish(out / TRIALS_JSON, json.dumps(listed, indent=1).encode())
    publish(out / EXPERIMENT, source_file(SCRIPT).read_bytes())
    return out / TRIALS


def _line(row: Row) -> tuple[object, ...]:
    azimuth = row.azimuth_deg if row.view_azimuth_deg is None else row.view_azimuth_deg
    return (row.file_name, row.action, row.take, row.seed, row.condition, azimuth, row.dots_seed,
            row.duration_s, row.fps, row.frames, "|".join(row.labels))


def _value(row: Row, factor: str) -> object:
    """Return a factor's value, a truth value as --grid has it: yes or no."""
    value = (row.grid or {}).get(factor)
    return spelled(value) if isinstance(value, bool) else value
