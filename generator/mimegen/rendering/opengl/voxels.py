"""A set as voxels, coarse enough to trace many rays of light through it quickly."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.vectors import unit
from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True)
class CellParameters:
    """When cells block light, and how rays step through them. Lengths are in sides of a cell."""

    # A cell blocks light if the surfaces in it cover at least this fraction of it, seen along an
    # axis. A tilted plane lies in at most three cells of a column, so it covers a third of one of
    # them: walls have no holes, while thin rods do not block whole cells.
    least_cover: float = 1 / 3
    # Surfaces are shifted inwards by this, so that the cells of matter lie behind the surface.
    inwards: float = 0.25
    most_steps: int = 64
    # A ray's step is the distance to the centre of the nearest full cell minus this, and at least
    # half a cell.
    step_margin: float = 1.2


MATTER = CellParameters()
# The normals of a cell's six sides.
SIDES = np.concatenate([np.eye(3), -np.eye(3)])
# Steps of the two-dimensional low-discrepancy sequence (Roberts 2018).
SPREAD = np.array([0.7548776662466927, 0.5698402909980532])


@dataclass(frozen=True, eq=False)
class ColoredTriangles:
    """Triangles (T, 3, 3) of one ``color`` (3,): what they reflect, or emit if ``glows``."""

    triangles: NDArray[np.float32]
    color: FloatArray
    glows: bool


@dataclass(frozen=True, eq=False)
class Grid:
    """A grid of cells of size ``cell_m`` (3,), ``shape`` of them, with lowest ``corner`` (3,).

    Lengths are in metres.
    """

    corner: FloatArray
    cell_m: FloatArray
    shape: tuple[int, int, int]

    def cells(self, places: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the flat indices (N,) of the cells of positions (N, 3), and which are inside.

        The index of a position outside of the grid is 0.
        """
        number, within = np.zeros(len(places), np.int64), np.ones(len(places), np.bool_)
        # Axis by axis: numpy is slow over the short side of (N, 3).
        for place, corner, cell, count in zip(places.T, self.corner, self.cell_m, self.shape,
                                              strict=True):
            at = np.floor((place - corner) / cell).astype(np.int64)
            within &= (at >= 0) & (at < count)
            number = number * count + at
        return np.where(within, number, 0), within

    def middles(self, cells: NDArray[np.int64]) -> FloatArray:
        """Return the centres (N, 3) of cells, given by flat index."""
        at = np.stack(np.unravel_index(cells, self.shape), axis=-1)
        return np.asarray(self.corner + (at + 0.5) * self.cell_m)


@dataclass(frozen=True, eq=False)
class Voxels:
    """Matter in a grid of cubes.

    ``free`` (X, Y, Z) is the distance, in cells, to the nearest full cell; 0 for full ones.
    ``color`` (X Y Z, 3) is the color that cells reflect and ``glow`` (X Y Z, 3) the radiance that
    objects in them emit. ``facing`` (X Y Z, 6, 3) are unit normals of the surface seen from each of
    a cell's sides, so that a wall at an angle to the grid is not shaded like stairs.
    """

    grid: Grid
    free: NDArray[np.float32]
    color: NDArray[np.float32]
    glow: NDArray[np.float32]
    facing: NDArray[np.float32]

    @property
    def cell_m(self) -> float:
        """The side of the cells in metres."""
        return float(self.grid.cell_m[0])

    @cached_property
    def glows(self) -> NDArray[np.bool_]:
        """Which cells (X Y Z,) contain a glowing object."""
        return np.asarray(self.glow.any(axis=1))

    def without_glow(self) -> "Voxels":
        """Return these voxels with glowing cells no longer blocking rays."""
        return replace(self, free=_free((self.free == 0.0) & ~self.glows.reshape(self.free.shape)))

    @cached_property
    def _edged(self) -> NDArray[np.float32]:
        """``free`` (flat) with a border of cells of value -1, where rays leave the grid."""
        return np.pad(self.free, 1, constant_values=-1.0).ravel()

    def trace(self, starts: FloatArray, directions: FloatArray, far_m: FloatArray | float = np.inf
              ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the first full cell (N,) that each ray hits, and the length (N,) of its path.

        Rays go from starts (N, 3) in unit ``directions`` (N, 3). The cell is a flat index, or
        -1 if the ray leaves the grid or has gone ``far_m`` metres. Lengths are in metres.
        """
        grid, free = self.grid, self._edged
        counts = [count + 2 for count in grid.shape]
        # Axis by axis: numpy is slow over the short side of (N, 3).
        start = ((starts - grid.corner) / grid.cell_m + 1).astype(np.float32).T.copy()
        direction = directions.astype(np.float32).T.copy()
        far = np.broadcast_to(np.asarray(far_m / self.cell_m, np.float32), len(starts))
        last = np.full(len(starts), -1, np.int64)
        gone = np.zeros(len(starts), np.float32)
        left, come = np.arange(len(starts)), gone.copy()
        for _ in range(MATTER.most_steps):
            number = np.zeros(len(come), np.intp)
            for from_, along, count in zip(start, direction, counts, strict=True):
                at = (from_ + come * along).astype(np.int32)
                number = number * count + np.minimum(np.maximum(at, 0), count - 1)
            steps = free[number]
            gone[left] = come
            last[left[steps == 0.0]] = number[steps == 0.0]
            onward = (steps > 0.0) & (come < far)
            if not onward.any():
                break
            kept = np.flatnonzero(onward)
            left, start, direction, far = left[kept], start[:, kept], direction[:, kept], far[kept]
            come = come[kept] + np.maximum(steps[kept] - MATTER.step_margin, 0.5)
        last[gone >= np.asarray(far_m / self.cell_m, np.float32)] = -1
        return self._unpadded(last), gone * np.float32(self.cell_m)

    def _unpadded(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convert flat indices (N,) in the grid with its border to those in the grid; keep -1."""
        x, y, z = np.unravel_index(np.maximum(numbers, 0), tuple(np.add(self.grid.shape, 2)))
        own = ((x - 1) * self.grid.shape[1] + y - 1) * self.grid.shape[2] + z - 1
        return np.asarray(np.where(numbers < 0, -1, own))


@dataclass(frozen=True, eq=False)
class Matter:
    """Points on surfaces in a grid: their ``cells`` (N,), ``areas`` (N,), colors and normals.

    ``colors`` (N, 3), those reflected, and ``normals`` (N, 3) are multiplied by the points' areas.
    ``glow`` (X Y Z, 3) is the radiance that objects in each cell emit.
    """

    grid: Grid
    cells: NDArray[np.int64]
    areas: FloatArray
    colors: FloatArray
    normals: FloatArray
    glow: NDArray[np.float32]

    def with_more(self, other: "Matter") -> "Matter":
        """Return the union of this matter and another in the same grid."""
        return Matter(self.grid, np.concatenate([self.cells, other.cells]),
                      np.concatenate([self.areas, other.areas]),
                      np.concatenate([self.colors, other.colors]),
                      np.concatenate([self.normals, other.normals]),
                      np.maximum(self.glow, other.glow))

    def free(self) -> NDArray[np.float32]:
        """Return the distance (X, Y, Z) to the nearest full cell, as ``Voxels.free``."""
        covered = np.max([self._shown(side) for side in SIDES], axis=0)
        solid = covered > MATTER.least_cover * self.grid.cell_m[0] ** 2 - 1e-9
        return _free(solid.reshape(self.grid.shape))

    def voxels(self) -> Voxels:
        """Return the voxels of this matter; colors are means weighted by area."""
        area = np.maximum(self._area(), 1e-9)
        means = [np.bincount(self.cells, part, len(area)) / area for part in self.colors.T]
        return Voxels(self.grid, self.free(), np.stack(means, axis=-1).astype(np.float32),
                      self.glow, self._facing())

    def _facing(self) -> NDArray[np.float32]:
        """Return the mean normals (X Y Z, 6, 3) of the surfaces seen from each side of cells.

        Points are weighted by their area as seen from the side.
        """
        facing = np.empty((len(self.glow), len(SIDES), 3), np.float32)
        for number, side in enumerate(SIDES):
            shown = np.maximum(self.normals @ side, 0.0)[:, None] * self.normals
            # A side from which no surface is seen keeps its own normal.
            summed = [np.bincount(self.cells, part, len(facing)) for part in shown.T]
            facing[:, number] = unit(np.stack(summed, axis=-1) + 1e-9 * side)
        return facing

    def _area(self) -> FloatArray:
        return np.asarray(np.bincount(self.cells, self.areas, len(self.glow)), float)

    def _shown(self, side: FloatArray) -> FloatArray:
        """Return the projected area (X Y Z,) of surfaces in each cell, seen from a side."""
        return np.asarray(np.bincount(self.cells, np.maximum(self.normals @ side, 0.0),
                                      len(self.glow)), float)


def matter_of(surfaces: Iterable[ColoredTriangles], grid: Grid) -> Matter:
    """Return the matter of surfaces inside a grid."""
    glow = np.zeros((int(np.prod(grid.shape)), 3), np.float32)
    found = [(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)))]
    for surface in surfaces:
        # Glowing surfaces are not shifted: the two faces of a thin lamp would swap positions.
        shift = 0.0 if surface.glows else MATTER.inwards
        points, normals, areas = points_on(surface.triangles, grid, shift)
        cells, within = grid.cells(points)
        cells, areas, normals = cells[within], areas[within], normals[within]
        if surface.glows:
            glow[cells] = surface.color
        dull = np.zeros(3) if surface.glows else surface.color
        found.append((cells, areas, areas[:, None] * dull, areas[:, None] * normals))
    cells, areas, colors, normals = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Matter(grid, cells, areas, colors, normals, glow)


def _free(solid: NDArray[np.bool_]) -> NDArray[np.float32]:
    free = scipy.ndimage.distance_transform_edt(~solid) if solid.any() else np.full(
        solid.shape, float(max(solid.shape)))
    return np.asarray(free, np.float32)


def points_on(triangles: NDArray[np.float32], grid: Grid, inwards: float
            ) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return points (N, 3) spread evenly over triangles, their normals (N, 3) and areas (N,).

    Only triangles whose bounding box overlaps the grid are used. Points are shifted ``inwards``,
    against the normal, by that many cells.
    """
    end = grid.corner + np.array(grid.shape) * grid.cell_m
    reaches = ((triangles.max(axis=1) > grid.corner) & (triangles.min(axis=1) < end)).all(axis=1)
    triangles = triangles[reaches]
    one, two = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    across = np.cross(one, two)
    area = np.linalg.norm(across, axis=1) / 2
    counts = np.ceil(area / (grid.cell_m[0] / 2) ** 2).astype(int)
    of = np.repeat(np.arange(len(triangles)), counts)
    number = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
    share = (1 / 3 + number[:, None] * SPREAD) % 1.0
    share = np.where(share.sum(axis=1, keepdims=True) > 1, 1 - share, share)
    normals = unit(across)[of]
    points = (triangles[of, 0] - inwards * grid.cell_m[0] * normals + share[:, :1] * one[of]
              + share[:, 1:] * two[of])
    return points, normals, (area / np.maximum(counts, 1))[of]
