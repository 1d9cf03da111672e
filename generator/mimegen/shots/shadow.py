"""The figure's soft shadow on the ground Z = 0, computed from posed geometry without ray tracing.

Dense points on the figure's surface are projected onto the ground along many directions, over
the sun's disc and over the sky. A cell of the ground misses the light of a direction if a point
lands in it; the mean over all directions is the missing fraction of light. Penumbrae that grow
with height and the darkening around feet follow from this.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.easing import smoothstep
from mimegen.base.grid import on_grid
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.config import Light
from mimegen.shots.shadow_light import (
    Directions,
    equally_weighted,
    sky_directions,
    sun_share,
    suns_of,
)

# Points within a voxel of this size, in cells, are merged before they are projected.
VOXEL_CELLS = 0.625
# The greatest height of such a voxel, in metres.
TALLEST_VOXEL_M = 0.2
# Standard deviations of the blur of the sun's and of the sky's shadow.
SUN_BLUR_CELLS = 0.5
SKY_BLUR_M = 0.06
# The sky's shadow is soft, so its cells need to be no finer than this, and they are always at least
# FEWER times as wide as the sun's.
SKY_CELL_M = 0.02
FEWER = 2
# How far beyond the sun's shadow the sky's is drawn, and how far from the figure's centre the
# shadow may reach.
SURROUNDINGS_M = 0.7
MAX_DISTANCE_M = 8.0
# Directions processed at a time; more would not fit in the processor's cache.
TOGETHER = 16
# Filters' weights are rounded to multiples of this, to be equal on all machines.
WEIGHT = 2.0**-30


@dataclass(frozen=True, eq=False)
class GroundShadow:
    """The fraction of the ground's light that is missing: ``missing`` (ny, nx), 0 to 1.

    The centre of cell (0, 0) is at X Y ``corner``, in metres; cells are ``cell_m`` wide.
    """

    missing: NDArray[np.float32]
    corner: tuple[float, float]
    cell_m: float


def ground_shadow(points: NDArray[np.float32], light: Light, cell_m: float) -> GroundShadow:
    """Return the shadow of surface points (P, 3) in metres under ``light``, at full strength."""
    many = max(FEWER, round(SKY_CELL_M / cell_m))
    # Axis by axis: numpy is slow over the short side of (N, 3).
    axes = np.ascontiguousarray(points.T)
    coarse = _thinned(axes, 3 * (VOXEL_CELLS * many * cell_m,))
    suns = suns_of(light)
    corner, shape = _grid(coarse, np.concatenate([sun.towards for sun in suns]), many * cell_m)
    sky = _mean_cover(coarse, equally_weighted(sky_directions()), corner, many * cell_m, shape)
    from_sky = _blurred(sky, SKY_BLUR_M / (many * cell_m))
    faded = from_sky * _faded_rim(shape, many * cell_m)
    missing = (1.0 - sun_share(light)) * _finer(faded, many)
    for sun in suns:
        cover = _mean_cover(axes, sun.directions, corner, cell_m, shape, many)
        missing = sun.share * _blurred(cover, SUN_BLUR_CELLS) + missing
    return GroundShadow(missing, (corner[0] + cell_m / 2, corner[1] + cell_m / 2), cell_m)


def _blurred(layer: NDArray[np.float32], sigma: float) -> NDArray[np.float32]:
    """Return a layer blurred by a Gaussian, with equal results on every machine.

    The same as ``scipy.ndimage.gaussian_filter``, except that weights are rounded, because
    exponentials differ in their last bits between CPUs.
    """
    reach = int(4 * sigma + 0.5)
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights = on_grid(bell / bell.sum(), WEIGHT)
    for axis in (0, 1):
        layer = scipy.ndimage.correlate1d(layer, weights, axis)
    return layer


def _faded_rim(shape: tuple[int, int], cell_m: float) -> NDArray[np.float32]:
    """Return weights (ny, nx) that fall smoothly from 1 to 0 at the grid's rim."""
    along_y, along_x = (
        np.minimum(np.arange(size), np.arange(size)[::-1]) * cell_m / SURROUNDINGS_M
        for size in shape
    )
    ramps = np.asarray(np.clip(along_y, 0, 1)[:, None] * np.clip(along_x, 0, 1), float)
    return np.asarray(smoothstep(ramps), np.float32)


def _thinned(axes: Iterable[NDArray[np.float32]], voxel: tuple[float, ...]
             ) -> NDArray[np.float32]:
    """Return the centres (3, N) of the voxels that contain points (3, P).

    ``voxel`` is a voxel's size along each axis; voxels are aligned to the origin.
    """
    voxels = [np.floor(axis / np.float32(size)).astype(np.intp)
              for axis, size in zip(axes, voxel, strict=True)]
    first = [int(axis.min()) for axis in voxels]
    shape = tuple(int(axis.max()) - low + 1 for axis, low in zip(voxels, first, strict=True))
    numbers = voxels[0] - first[0]
    for axis, low, size in zip(voxels[1:], first[1:], shape[1:], strict=True):
        numbers = numbers * size + (axis - low)
    taken = np.zeros(np.prod(shape), np.bool_)
    taken[numbers] = True
    cells = np.unravel_index(np.flatnonzero(taken), shape)
    centres = [((axis + low + 0.5) * size).astype(np.float32)
               for axis, low, size in zip(cells, first, voxel, strict=True)]
    return np.stack(centres)


def _grid(axes: NDArray[np.float32], sun: FloatArray,
          cell_m: float) -> tuple[tuple[float, float], tuple[int, int]]:
    """Return corner and shape of the ground's grid, aligned to whole cells to avoid flicker."""
    heights = np.maximum(axes[2], 0.0)
    bounds = []
    for axis, along in enumerate(axes[:2]):
        low, high = float(along.min()), float(along.max())
        middle = (low + high) / 2
        for direction in sun:
            landed = along - heights * np.float32(direction[axis] / direction[2])
            low, high = min(low, float(landed.min())), max(high, float(landed.max()))
        low = max(low - SURROUNDINGS_M, middle - MAX_DISTANCE_M)
        high = min(high + SURROUNDINGS_M, middle + MAX_DISTANCE_M)
        bounds.append((int(np.floor(low / cell_m)), int(np.ceil(high / cell_m))))
    (left, right), (front, back) = bounds
    return (left * cell_m, front * cell_m), (back - front + 1, right - left + 1)


def _mean_cover(axes: NDArray[np.float32], directions: Directions, corner: tuple[float, float],
                cell_m: float, shape: tuple[int, int], finer: int = 1) -> NDArray[np.float32]:
    """Return the fraction of light blocked by points (3, P), at the corners between cells.

    ``shape`` counts cells that are ``finer`` times as wide. A point covers its whole cell, which
    widens shapes by half a cell on each side. To undo this, a corner counts as covered only if all
    four cells around it are.
    """
    rows, columns = shape[0] * finer, shape[1] * finer
    towards, weights = directions
    shifts = (towards[:, :2] / towards[:, 2:]).astype(np.float32)
    middle = shifts.mean(axis=0)
    x, y, heights = _landed(axes, middle, np.abs(shifts - middle).max(), cell_m)
    x, y = (x - np.float32(corner[0] / cell_m - 0.5), y - np.float32(corner[1] / cell_m - 0.5))
    total = np.zeros(rows * columns, np.float32)
    parts = -(-len(shifts) // TOGETHER)
    for some, weighed in zip(np.array_split(shifts - middle, parts),
                             np.array_split(weights, parts), strict=True):
        covered = _covered(x, y, heights, some, (rows, columns))
        all_four = (covered[:, :-columns - 1] & covered[:, 1:-columns]
                    & covered[:, columns:-1] & covered[:, columns + 1:])
        if (weighed == 1).all():
            total[:-columns - 1] += np.add.reduce(all_four.view(np.uint8), 0, np.uint8)
        else:
            total[:-columns - 1] += (all_four * weighed[:, None]).sum(axis=0, dtype=np.uint16)
    return total.reshape(rows, columns) / np.float32(weights.sum())


def _covered(x: NDArray[np.float32], y: NDArray[np.float32], heights: NDArray[np.float32],
             shifts: NDArray[np.float32], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return the cells (S, rows * columns) that points land in, for each of the shifts (S, 2).

    Points are given in cells; a shift is the horizontal displacement per unit of height.
    """
    rows, columns = shape
    column = (x - heights * shifts[:, :1]).astype(np.int32)
    row = (y - heights * shifts[:, 1:]).astype(np.int32)
    cell = row * columns + column + rows * columns * np.arange(len(shifts), dtype=np.int32)[:, None]
    # Negative indices become large as unsigned integers, so one comparison tests both ends.
    inside = (column.view(np.uint32) < columns) & (row.view(np.uint32) < rows)
    covered = np.zeros((len(shifts), rows * columns), np.bool_)
    covered.reshape(-1)[cell[inside]] = True
    return covered


def _landed(axes: NDArray[np.float32], shift: NDArray[np.float32], spread: float,
            cell_m: float) -> NDArray[np.float32]:
    """Return x and y of points (3, P) projected onto the ground along ``shift``, and their heights.

    The result (3, N) is in cells. Points that land together for all shifts within ``spread`` of
    ``shift`` are merged.
    """
    heights = np.maximum(axes[2], 0.0)
    landed = [*(along - heights * by for along, by in zip(axes, shift, strict=False)), heights]
    wide = VOXEL_CELLS * cell_m
    tall = min(max(wide, wide / max(spread, 1e-6)), TALLEST_VOXEL_M)
    return _thinned(landed, (wide, wide, tall)) / np.float32(cell_m)


def _finer(layer: NDArray[np.float32], times: int) -> NDArray[np.float32]:
    """Return a layer resampled to ``times`` as many cells along both sides, bilinearly."""
    along_y, along_x = ((np.arange(size * times) + 0.5) / times - 0.5 for size in layer.shape)
    places = np.meshgrid(along_y, along_x, indexing="ij")
    return np.asarray(scipy.ndimage.map_coordinates(layer, places, order=1, mode="nearest"))
