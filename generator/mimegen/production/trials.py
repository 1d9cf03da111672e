"""The trial list of a folder of point-light displays, for experiment software."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mimegen.base.cells import csv_text
from mimegen.base.files import publish
from mimegen.base.paths import source_file
from mimegen.base.spelling import spelled, value_order
from mimegen.manifest.file import rows_of
from mimegen.manifest.row import Row

TRIALS = "trials.csv"
TRIALS_JSON = "trials.json"
EXPERIMENT = "experiment.py"
SCRIPT = "mimegen.production.psychopy_experiment"
COLUMNS = ("file", "action", "take", "seed", "condition", "azimuth_deg", "view_azimuth_deg",
           "figure_height_px", "dots_seed", "duration_s", "fps", "frames", "labels",
           "display_style", "background_color", "shown_height_px", "shown_height_deg",
           "dot_count", "dot_diameter_px", "dot_diameter_deg", "dots_shown_least",
           "dots_shown_mean", "dots_outside_share", "manipulations")

AZIMUTH = "azimuth"


class TrialList(NamedTuple):
    """The path and rows of a trial list, and the number of displays in its folder that it omits."""

    path: Path
    rows: Sequence[Row]
    left_out: int


def write_trials(out: Path, names: Collection[str] | None = None) -> TrialList:
    """Write ``out``/trials.csv and .json with one trial for each display.

    Trials are sorted by the values of the grid's factors, which are the last columns, and then as
    in the manifest. If ``names`` is given, only the displays with these sample_ids become trials:
    those of one experiment. Walker options in which trials differ are columns too. PsychoPy reads
    the CSV; jsPsych and lab.js read the JSON. A PsychoPy experiment with these trials,
    experiment.py, is written beside them. Columns mean what the manifest's fields of the same
    names mean. Raises RequestError if the manifest cannot be read.
    """
    found = [row for row in rows_of(out) if row.condition is not None and row.window is None]
    rows = [row for row in found if names is None or row.sample_id in names]
    factors = _factors(rows)
    # Outside a grid, displays of a performance stay together, whatever side they are seen from.
    sorting = [name for name in factors if names is not None or name != AZIMUTH]
    rows.sort(key=lambda row: [value_order(requested(row).get(name)) for name in sorting])
    lines = [(*_line(row), *(_value(row, name) for name in factors)) for row in rows]
    publish(out / TRIALS, csv_text(COLUMNS + factors, lines))
    listed = [dict(zip(COLUMNS + factors, line, strict=True)) for line in lines]
    publish(out / TRIALS_JSON, json.dumps(listed, indent=1).encode())
    publish(out / EXPERIMENT, source_file(SCRIPT).read_bytes())
    return TrialList(out / TRIALS, rows, len(found) - len(rows))


def _factors(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return a grid's factors, and the walker options in which the rows differ."""
    grid = dict.fromkeys(name for row in rows for name in row.grid or {} if name not in COLUMNS)
    options = dict.fromkeys(name for row in rows for name in requested(row)
                            if name not in grid and name not in COLUMNS)
    return (*grid, *(name for name in options
                     if len({str(requested(row).get(name)) for row in rows}) > 1))


def requested(row: Row) -> dict[str, Any]:
    """Return the walker options and grid values that were requested."""
    return dict((row.gait or {}).get("asked", {})) | (row.grid or {})


def _line(row: Row) -> tuple[object, ...]:
    joined = {"file": row.file_name, "labels": "|".join(row.labels),
              "manipulations": manipulations_of(row)}
    return tuple(joined[name] if name in joined else getattr(row, name) for name in COLUMNS)


def manipulations_of(row: Row) -> str:
    """Return all manipulations of a display as in a condition, also those given for every display.
    """
    words: Any = (row.render_config or {}).get("manipulations", ())
    return ":".join(words)


def _value(row: Row, factor: str) -> object:
    """Return a factor's value as --grid writes it: truth values as yes or no, 2.0 as 2."""
    value = requested(row).get(factor)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return spelled(value) if isinstance(value, bool) else value
