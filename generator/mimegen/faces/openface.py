"""Write action units of finished faces as OpenFace 2.0's CSV (Baltrusaitis et al. 2018).

A unit's intensity, 0 to 5, is read from the shape units that it mainly consists of (`read` in
rigs/faces/arkit.yaml). So it is available for recipes, blinks and captured faces alike.
"""

from collections.abc import Sequence

import numpy as np

from mimegen.base.cells import csv_text
from mimegen.faces.words import CLOSED, SIDES, action_units, arkit, units_file
from mimegen.motion.quaternions import FloatArray

# OpenFace's units with intensities; for unit 28 it only reports the presence.
INTENSITIES = (1, 2, 4, 5, 6, 7, 9, 10, 12, 14, 15, 17, 20, 23, 25, 26, 45)
PRESENCES = (*INTENSITIES[:-1], 28, 45)
MAX_INTENSITY = 5.0
# The intensity from which on a unit is present: FACS' A.
THERE = 0.75
POINTS = 68
# The lids' value for ARKit's weights at 1.
LIDS = {"eyeBlink": 1.0, "eyeWide": -0.35}


def intensities(units: FloatArray) -> dict[tuple[int, str], FloatArray]:
    """Return the intensity (F,), 0 to 5, of each action unit and side.

    ``units`` (F, 2, U + 1) are the values of the shape units and, last, the lids, on both sides.
    """
    names = (*units_file().units, CLOSED)
    found: dict[tuple[int, str], FloatArray] = {}
    for number, read in arkit().read.items():
        does = action_units().units[number].does
        for row, side in enumerate(SIDES):
            sizes = [_share(name, units[:, row], names, does) for name in read]
            found[number, side] = MAX_INTENSITY * np.clip(np.max(sizes, axis=0), 0.0, 1.0)
    return found


def _share(name: str, units: FloatArray, names: Sequence[str], does: dict[str, float]
           ) -> FloatArray:
    """Return how far (F,) a weight shows an action unit; 1 is its value in the unit itself."""
    if name in LIDS:
        value = units[:, names.index(CLOSED)] / (does.get(CLOSED) or LIDS[name])
        return np.asarray(value)
    return np.asarray(units[:, names.index(name)] / does.get(name, 1.0))


def unit_columns(units: FloatArray) -> dict[str, FloatArray]:
    """Return OpenFace's columns (F,) of action units, followed by those of single sides, as AU12_L.

    ``units`` are as in ``intensities``. A column for both sides holds the stronger one.
    """
    sizes = intensities(units)
    whole = {number: np.maximum(*(sizes[number, side] for side in SIDES))
             for number in arkit().read}
    columns = {f"AU{number:02d}_r": whole[number] for number in INTENSITIES}
    columns |= {f"AU{number:02d}_c": (whole[number] >= THERE).astype(float)
                for number in PRESENCES}
    return columns | {f"AU{number:02d}_{side[0]}": sizes[number, side]
                      for number in INTENSITIES for side in SIDES}


def gaze_columns(gaze: FloatArray) -> dict[str, FloatArray]:
    """Return OpenFace's columns (F,) of the gaze.

    ``gaze`` (F, 2, 3) are the directions of the left and the right eye in the camera's axes: right,
    down, and away from it. Eye 0 is the person's right one. The angles, in radians, are those of
    both eyes' mean, to the right and down in the picture.
    """
    columns = {f"gaze_{number}_{axis}": gaze[:, 1 - number, place] for number in range(2)
               for place, axis in enumerate("xyz")}
    x, y, z = gaze.mean(axis=1).T
    return columns | {"gaze_angle_x": np.arctan2(x, -z), "gaze_angle_y": np.arctan2(y, -z)}


def openface_csv(units: FloatArray, pixels: FloatArray, seen: FloatArray, gaze: FloatArray,
                 fps: float) -> str:
    """Return a CSV table of one person's frames.

    ``units`` are as in ``intensities``, ``gaze`` (F, 2, 3) as in ``gaze_columns``. ``pixels`` (F,
    68, 2) are the landmarks of the face and ``seen`` (F,) is the fraction of them that is visible.
    For a face without landmarks, or with eyes that do not turn (NaN), the table has no columns for
    them.
    """
    columns: dict[str, Sequence[object]] = {
        "frame": range(1, len(units) + 1), "face_id": [0] * len(units),
        "timestamp": [f"{number / fps:.3f}" for number in range(len(units))],
        "confidence": [f"{share:.2f}" for share in seen],
        "success": [int(share > 0) for share in seen]}
    columns |= {name: [f"{value:.4f}" for value in values]
                for name, values in gaze_columns(gaze).items() if np.isfinite(gaze).all()}
    columns |= {f"{axis}_{point}": [f"{value:.1f}" for value in pixels[:, point, number]]
                for number, axis in enumerate("xy") for point in range(POINTS)
                if np.isfinite(pixels).all()}
    columns |= {name: [f"{value:.0f}" if name.endswith("_c") else f"{value:.2f}"
                       for value in values] for name, values in unit_columns(units).items()}
    return csv_text(columns, zip(*columns.values(), strict=True))
