"""A set's shapes as triangles in the world, gathered by material."""

from collections.abc import Iterable
from dataclasses import dataclass

import mapbox_earcut
import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.vectors import unit
from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.meshes import Face, ShapeMesh
from mimegen.scenery.objects import Box

# Edges sharper than this stay sharp.
SHARP_COSINE = np.cos(np.radians(35.0))
# What Blender's scattered patterns are moved by, for every metre that a copy stands elsewhere.
SCATTER = 3.7
# Where a rounded edge has lines: tangents of 0, 22.5 and 45 degrees.
ROUND = np.tan(np.radians([0.0, 22.5, 45.0]))


@dataclass(frozen=True, eq=False)
class Corners:
    """The corners of triangles, three after three (3 T): their values in the shape's own frame.

    ``places`` and ``normals`` (3 T, 3), ``uvs`` (3 T, 2) in metres, ``offshore`` (3 T,).
    """

    places: FloatArray
    normals: FloatArray
    uvs: FloatArray
    offshore: FloatArray

    def in_world(self, *matrices: FloatArray) -> NDArray[np.float32]:
        """Return what the shaders take (N, 3 T, 15) of copies that stand where N matrices say.

        World place, world normal, own place, scattered place, uv, offshore.
        """
        frames = np.stack(matrices)
        turned = self.normals @ np.linalg.inv(frames[:, :3, :3])
        shift = frames[:, None, :3, 3]
        parts = (self.places @ frames[:, :3, :3].swapaxes(1, 2) + shift, unit(turned), self.places,
                 self.places + SCATTER * shift, self.uvs, self.offshore[:, None])
        shape = turned.shape[:2]
        return np.concatenate([np.broadcast_to(part, (*shape, part.shape[-1])).astype(np.float32)
                               for part in parts], axis=2)


def corners_of(mesh: ShapeMesh) -> Corners:
    """Return a shape's triangles, smooth but for sharp edges."""
    triangles, faces = _triangles(mesh)
    starts = np.cumsum([0, *(len(face) for face in mesh.faces)])
    coordinates = mesh.texture_coordinates()
    uvs = np.concatenate([coordinates[starts[face] + np.array(inner)]
                          for face, inner in zip(faces, triangles, strict=True)])
    numbers = np.concatenate([np.array(mesh.faces[face])[inner]
                              for face, inner in zip(faces, triangles, strict=True)])
    places = mesh.vertices[numbers]
    offshore = np.zeros(len(mesh.vertices)) if mesh.offshore is None else mesh.offshore
    return Corners(places, _smooth_normals(places, numbers), uvs, offshore[numbers])


def rounded_box(box: Box) -> ShapeMesh:
    """Return a box whose edges are rounded by its bevel, as far as the box is thick."""
    half = np.array(box.size) / 2
    bevel = min(box.bevel, float(half.min()))
    inner = half - bevel
    lines = np.concatenate([-inner[:, None] - bevel * ROUND[::-1], inner[:, None] + bevel * ROUND],
                           axis=1)
    sides = [_side(axis, sign, half, lines) for axis in range(3) for sign in (-1, 1)]
    points = np.concatenate([side.reshape(-1, 3) for side in sides])
    kept = np.clip(points, -inner, inner)
    round_points = kept + bevel * unit(points - kept) + [0.0, 0.0, half[2]]
    _, first, joined = np.unique(round_points.round(6), axis=0, return_index=True,
                                 return_inverse=True)
    count = lines.shape[1]
    start = np.arange(count - 1)[:, None] * count + np.arange(count - 1)
    quads = np.stack([start, start + count, start + count + 1, start + 1], axis=-1).reshape(-1, 4)
    faces = np.concatenate([quads[:, ::1 if number % 2 else -1] + number * count**2
                            for number in range(6)])
    return ShapeMesh(round_points[first], tuple(map(tuple, joined.ravel()[faces].tolist())))


def _side(axis: int, sign: int, half: FloatArray, lines: FloatArray) -> FloatArray:
    """Return the grid of points (N, N, 3) on one side of a box before it is rounded."""
    across, along = (axis + 1) % 3, (axis + 2) % 3
    count = lines.shape[1]
    points = np.empty((count, count, 3))
    points[..., axis] = sign * half[axis]
    points[..., across] = lines[across][:, None]
    points[..., along] = lines[along]
    return points


def _triangles(mesh: ShapeMesh) -> tuple[list[NDArray[np.intp]], list[int]]:
    """Return corners (3,) within their face of every triangle, and the face's number."""
    triangles, faces = [], []
    for number, face in enumerate(mesh.faces):
        for inner in _cut(mesh.vertices, face):
            triangles.append(inner)
            faces.append(number)
    return triangles, faces


FANS = {3: np.array([[0, 1, 2]]), 4: np.array([[0, 1, 2], [0, 2, 3]])}


def _cut(vertices: FloatArray, face: Face) -> Iterable[NDArray[np.intp]]:
    """Return the triangles (T, 3) of a face, which may have bays."""
    if len(face) in FANS:
        return FANS[len(face)]
    points = vertices[list(face)]
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    kept = [axis for axis in range(3) if axis != np.abs(normal).argmax()]
    flat = np.ascontiguousarray(points[:, kept])
    cut = mapbox_earcut.triangulate_float64(flat, np.array([len(face)], np.uint32))
    triangles = cut.reshape(-1, 3).astype(np.intp)
    return [_turned(triangle, points, normal) for triangle in triangles]


def _turned(triangle: NDArray[np.intp], points: FloatArray, normal: FloatArray
            ) -> NDArray[np.intp]:
    """Return a triangle's corners in the order that its face has."""
    first, second, third = points[triangle]
    same = np.cross(second - first, third - first) @ normal > 0
    return triangle if same else triangle[::-1]


def _smooth_normals(places: FloatArray, numbers: NDArray[np.intp]) -> FloatArray:
    """Return normals (3 T, 3): the mean of the faces about a vertex that are nearly level."""
    triangles = places.reshape(-1, 3, 3)
    areas = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas = np.repeat(areas, 3, axis=0)
    flat = unit(areas)
    at = scipy.sparse.csr_matrix((np.ones(len(numbers)), (np.arange(len(numbers)), numbers)))
    pairs = (at @ at.T).tocoo()
    level = (flat[pairs.row] * flat[pairs.col]).sum(axis=1) > SHARP_COSINE
    chosen = scipy.sparse.csr_matrix(
        (level[level].astype(float), (pairs.row[level], pairs.col[level])), shape=pairs.shape)
    summed = np.asarray(chosen @ areas)
    return np.where(np.abs(summed).sum(axis=1, keepdims=True) > 1e-12, unit(summed), flat)
