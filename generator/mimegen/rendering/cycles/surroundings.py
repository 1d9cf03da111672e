"""Read the light of an equirectangular picture: ``surroundings.py NAME|FILE TARGET.npz``.

This file is run as a script by Blender's program or a Python that has bpy, so it imports nothing
of mimegen. NAME is one of Blender's studio lights. The archive holds ``light`` (64, 128, 3), the
mean linear RGB of cells, bottom row first, and ``place``, the path of the file.
"""

import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

# Rows of ``light``; enough resolution for direct light.
ROWS = 64


def main(what: str, target: Path) -> None:
    """Read the picture and write the archive."""
    file = Path(what) if Path(what).suffix else studio_light(what)
    light = mean_of_cells(pixels_of(file))
    with target.open("wb") as opened:
        np.savez(opened, light=light, place=np.array(str(file)))


def studio_light(name: str) -> Path:
    """Return the file of one of Blender's studio lights."""
    file = Path(bpy.utils.system_resource("DATAFILES")) / "studiolights" / "world" / f"{name}.exr"
    if not file.is_file():
        sys.exit("this Blender lacks its studio lights; give an .exr or .hdr file")
    return file


def pixels_of(file: Path) -> NDArray[np.float32]:
    """Return a picture's linear RGB (H, W, 3), bottom row first; end the program if it is unfit."""
    try:
        image = bpy.data.images.load(str(file.resolve()))
        width, height = image.size
        pixels = np.empty(width * height * 4, np.float32)
        image.pixels.foreach_get(pixels)
    except RuntimeError:
        width = height = 0
    if width == 0:
        sys.exit("Blender cannot read it; save it again as Radiance .hdr or OpenEXR")
    if not 1.9 < width / height < 2.1 or height < ROWS:
        sys.exit(f"it has {width} x {height} pixels; a picture of all that is around is twice as"
                 f" wide as high, and at least {2 * ROWS} x {ROWS}")
    found: NDArray[np.float32] = pixels.reshape(height, width, 4)[..., :3]
    return found


def mean_of_cells(pixels: NDArray[np.float32]) -> NDArray[Any]:
    """Return the mean light of ROWS x 2 ROWS cells; negative and non-finite values count as 0."""
    whole = np.maximum(np.nan_to_num(pixels, nan=0.0, posinf=0.0, neginf=0.0), 0.0)
    starts = [np.arange(count) * size // count
              for count, size in zip((ROWS, 2 * ROWS), whole.shape, strict=False)]
    rows = np.add.reduceat(whole.astype(np.float64), starts[0], axis=0)
    cells = np.add.reduceat(rows, starts[1], axis=1)
    down, across = (np.diff([*start, size]) for start, size
                    in zip(starts, whole.shape, strict=False))
    return np.asarray(cells / (down[:, None, None] * across[:, None]))


if __name__ == "__main__":
    # Arguments before "--" belong to Blender's program.
    given = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    main(given[0], Path(given[1]))
