"""Measure how much of a camera's picture shows the objects by which a place is recognized."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import product
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.layout import (
    PlacedShape,
    faces_camera,
    lay_out,
    turned_boxes,
    visible_pieces,
    wall_panels,
)
from mimegen.scenery.meshes import ShapeMesh
from mimegen.scenery.objects import Group, Object
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shapes import mesh_of
from mimegen.shots.camera import Camera

# Width in pixels of the coarse picture in which visibility is measured.
ACROSS = 128
NEAREST_M = 0.05
# Triangle-pixel pairs per batch, to bound memory.
PAIRS = 500_000


def coarse(camera: Camera) -> Camera:
    """Return the same camera with a picture of ``ACROSS`` columns."""
    return replace(camera, width=ACROSS, height=max(1, round(ACROSS * camera.height
                                                            / camera.width)))


def pixel_centres(camera: Camera) -> FloatArray:
    """Return the centers (N, 2) of the coarse pixels, in pixels of the camera's own picture."""
    grid = coarse(camera)
    column, row = np.meshgrid(np.arange(grid.width) + 0.5, np.arange(grid.height) + 0.5)
    places = np.stack([column.ravel(), row.ravel()], axis=-1)
    return np.asarray(places * [camera.width / grid.width, camera.height / grid.height])


@dataclass(frozen=True, eq=False)
class TellingSet:
    """A set with the names of the groups and materials by which its place is recognized."""

    scenery: Scenery
    tells: frozenset[str]

    def shown(self, camera: Camera) -> float:
        """Return the fraction of a picture's area that shows recognizable objects, 0 to 1.

        Objects hidden from this camera do not count, nor do parts behind other objects or walls.
        Glass and nets hide nothing. Performers are ignored.
        """
        grid = coarse(camera)
        pieces = self._pieces_for(grid)
        telling = [piece for piece in pieces if id(piece) in self._telling]
        nearest = _depths(self._triangles(telling), grid)
        seen = np.isfinite(nearest)
        others = [piece for piece in pieces
                  if id(piece) not in self._telling and self._hides(piece)]
        hiding = _depths(np.concatenate([
            self._triangles(_touching(others, seen, grid)), self._walls(grid)]), grid)
        return float((seen & (nearest < hiding)).mean())

    @cached_property
    def _pieces(self) -> list[PlacedShape]:
        return lay_out(self.scenery)

    @cached_property
    def _telling(self) -> frozenset[int]:
        """The ``id()`` of every recognizable piece."""
        names = [name for thing in self.scenery.objects for name in self._names(thing)]
        return frozenset(
            id(piece) for piece, groups in zip(self._pieces, names, strict=True)
            if not self.tells.isdisjoint(groups) or piece.material in self.tells)

    def _names(self, thing: Object) -> list[frozenset[str]]:
        """Return for each of an object's pieces, in layout order, the groups it is part of."""
        copies = prod(repeat.count for repeat in thing.repeat)
        if not isinstance(thing, Group):
            return [frozenset()] * copies
        if thing.of not in self._known:
            self._known[thing.of] = [inner | {thing.of} for part in self.scenery.groups[thing.of]
                                     for inner in self._names(part)]
        return self._known[thing.of] * copies

    @cached_property
    def _known(self) -> dict[str, list[frozenset[str]]]:
        return {}

    def _hides(self, piece: PlacedShape) -> bool:
        look = self.scenery.materials[piece.material]
        return look.opacity == 1.0 and look.pattern != "net"

    def _pieces_for(self, camera: Camera) -> list[PlacedShape]:
        """Return the pieces that are shown to the camera and may be within its view."""
        whole = np.ones(camera.width * camera.height, dtype=bool)
        return _touching(visible_pieces(self._pieces, camera), whole, camera)

    @cached_property
    def _meshes(self) -> dict[int, FloatArray]:
        """A cache of shapes' triangles (T, 3, 3) in their own frames, by the shape's ``id()``."""
        return {}

    def _triangles(self, pieces: list[PlacedShape]) -> FloatArray:
        """Return the triangles (T, 3, 3) of pieces in the world."""
        copies: dict[int, list[PlacedShape]] = {}
        for piece in pieces:
            copies.setdefault(id(piece.shape), []).append(piece)
        placed = [np.zeros((0, 3, 3))]
        for key, alike in copies.items():
            if key not in self._meshes:
                self._meshes[key] = triangles_of(mesh_of(alike[0].shape))
            own = self._meshes[key].reshape(-1, 3)
            frames = np.stack([piece.matrix for piece in alike])
            world = product(own, frames[:, :3, :3].swapaxes(1, 2)) + frames[:, None, :3, 3]
            placed.append(world.reshape(-1, 3, 3))
        return np.concatenate(placed)

    def _walls(self, camera: Camera) -> FloatArray:
        corners = [panel.corners for panel in wall_panels(self.scenery)
                   if faces_camera(panel, camera)]
        quads = np.array(corners).reshape(-1, 4, 3)
        return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def triangles_of(mesh: ShapeMesh) -> FloatArray:
    """Return a mesh's triangles (T, 3, 3); faces are cut into fans as if they were convex."""
    numbers = [(face[0], face[corner], face[corner + 1])
               for face in mesh.faces for corner in range(1, len(face) - 1)]
    return np.asarray(mesh.vertices[np.array(numbers).reshape(-1, 3)])


def _touching(pieces: list[PlacedShape], wanted: NDArray[np.bool_], camera: Camera
              ) -> list[PlacedShape]:
    """Return the pieces whose boxes may cover any of the ``wanted`` pixels (H W,)."""
    if not pieces:
        return []
    low, high, ahead = _bounds(_local(turned_boxes(pieces), camera), camera)
    counted = np.zeros((camera.height + 1, camera.width + 1), dtype=np.intp)
    counted[1:, 1:] = wanted.reshape(camera.height, camera.width).cumsum(axis=0).cumsum(axis=1)
    (left, top), (right, bottom) = low.clip(0).T, (high + 1).clip(0).T
    covered = (counted[bottom, right] - counted[top, right] - counted[bottom, left]
               + counted[top, left])
    chosen = ahead & (covered > 0)
    return [piece for piece, one in zip(pieces, chosen.tolist(), strict=True) if one]


def _local(points: FloatArray, camera: Camera) -> FloatArray:
    """Transform points (..., 3) to the camera's frame."""
    return quaternions.rotate(quaternions.conjugate(camera.rotation),
                              points - np.array(camera.position))


def _depths(triangles: FloatArray, camera: Camera) -> FloatArray:
    """Return the depth (H W,) of the nearest triangle (T, 3, 3) in each pixel; infinite if none."""
    local = _local(triangles, camera)
    low, high, ahead = _bounds(local, camera)
    local, low, high = local[ahead], low[ahead], high[ahead]
    first, second, third = local[:, 0], local[:, 1], local[:, 2]
    # A ray r hits a triangle if r . (v1 x v2), r . (v2 x v0) and r . (v0 x v1) have the same sign.
    # Their sum is v0 . (v1 x v2), a volume, divided by the depth of the hit.
    sides = np.stack([np.cross(second, third), np.cross(third, first), np.cross(first, second)])
    volumes = (first * sides[0]).sum(axis=1)
    nearest = np.full(camera.width * camera.height, np.inf)
    for triangle, column, row in _pairs(low, high):
        right = (column + 0.5 - camera.width / 2) / camera.focal_pixels
        up = (camera.height / 2 - row - 0.5) / camera.focal_pixels
        x, y, z = (sides[:, triangle, axis] for axis in range(3))
        parts = x * right + y * up - z
        inside = (parts >= 0).all(axis=0) | (parts <= 0).all(axis=0)
        total = parts.sum(axis=0)
        inside &= total != 0
        depth = volumes[triangle[inside]] / total[inside]
        place = (row * camera.width + column)[inside]
        near = depth > NEAREST_M
        np.minimum.at(nearest, place[near], depth[near])
    return nearest


def _bounds(local: FloatArray, camera: Camera
            ) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
    """Return the first and last pixel (T, 2) that shapes may cover, and whether they may cover any.

    ``local`` (T, N, 3) has their corners in the camera's frame. A shape that is partly behind the
    camera may cover every pixel.
    """
    size = np.array([camera.width, camera.height])
    depth = -local[..., 2]
    whole = depth.min(axis=1) > NEAREST_M
    safe = np.where(whole[:, None], depth, 1.0)
    scale = camera.focal_pixels * np.array([1.0, -1.0])
    places = size / 2 + scale * local[..., :2] / safe[..., None]
    edge = np.stack([places.min(axis=1), places.max(axis=1)])
    edge = np.where(whole[:, None], edge, np.stack([np.zeros(2), size.astype(float)])[:, None])
    low = np.ceil(np.clip(edge[0], 0, size) - 0.5).astype(np.intp)
    high = np.floor(np.clip(edge[1], 0, size) - 0.5).astype(np.intp)
    ahead = (depth.max(axis=1) > NEAREST_M) & (high >= low).all(axis=1)
    # Shapes entirely outside one side plane of the view, in front of the camera or behind it.
    sideways, reach = camera.focal_pixels * local[..., :2], size / 2 * depth[..., None]
    beside = (sideways > reach).all(axis=1) | (sideways < -reach).all(axis=1)
    return low, high, ahead & ~beside.any(axis=1)


def _pairs(low: NDArray[np.intp], high: NDArray[np.intp]
           ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
    """Yield batches of triangle, column and row for all pixels in the boxes (T, 2)."""
    wide, tall = (high - low + 1).T
    counts = wide * tall
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + PAIRS, side="right")))
        triangle = np.repeat(np.arange(start, stop), counts[start:stop])
        inner = np.arange(len(triangle)) - np.repeat(ends[start:stop] - counts[start:stop] - before,
                                                     counts[start:stop])
        yield (triangle, low[triangle, 0] + inner % wide[triangle],
               low[triangle, 1] + inner // wide[triangle])
        start = stop
