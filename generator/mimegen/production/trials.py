"""The trial list of a folder of point-light displays: what experiment software reads."""

import csv
import io
from pathlib import Path

from mimegen.base.files import publish
from mimegen.manifest.file import rows_of
from mimegen.manifest.row import Row

TRIALS = "trials.csv"
COLUMNS = ("file", "action", "take", "seed", "condition", "azimuth_deg", "dots_seed", "duration_s",
           "fps", "frames", "labels")


def write_trials(out: Path) -> Path:
    """Write ``out``/trials.csv, a line for each display of its manifest, in the manifest's order.

    ``azimuth_deg`` counts from the performer's front, or on the stage where nobody knows it.
    Returns the file. Raises RequestError where the manifest cannot be read.
    """
    packed = io.StringIO()
    table = csv.writer(packed, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_line(row) for row in rows_of(out)
                    if row.condition is not None and row.window is None)
    publish(out / TRIALS, packed.getvalue().encode())
    return out / TRIALS


def _line(row: Row) -> tuple[object, ...]:
    azimuth = row.azimuth_deg if row.view_azimuth_deg is None else row.view_azimuth_deg
    return (row.file_name, row.action, row.take, row.seed, row.condition, azimuth, row.dots_seed,
            row.duration_s, row.fps, row.frames, "|".join(row.labels))
