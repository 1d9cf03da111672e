"""Turn the shapes of a set into triangles with normals and texture coordinates."""

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

# Edges between faces at more than 35 degrees stay sharp.
SHARP_COSINE = np.cos(np.radians(35.0))
# Patterns are shifted by this factor times a copy's position, as in ``Nodes.scattered`` of Cycles.
SCATTER = 3.7
# Positions of the lines that divide a rounded edge: tangents of 0, 22.5 and 45 degrees.
ROUND = np.tan(np.radians([0.0, 22.5, 45.0]))


@dataclass(frozen=True, eq=False)
class Corners:
    """The corners of T triangles, three for each, in the shape's local coordinates.

    ``places`` and ``normals`` (3 T, 3), ``uvs`` (3 T, 2) in metres, ``offshore`` (3 T,) the
    distance from the waterline in metres.
    """

    places: FloatArray
    normals: FloatArray
    uvs: FloatArray
    offshore: FloatArray

    def in_world(self, *matrices: FloatArray) -> NDArray[np.float32]:
        """Return the vertex attributes (N, 3 T, 15) of copies placed by N matrices (4, 4).

        These are position and normal in world coordinates, position in local coordinates, that
        position shifted so that copies' patterns differ, texture coordinates, and ``offshore``.
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
    """Return a shape's triangles, with smooth normals except at sharp edges."""
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
    """Return a box with edges rounded by its bevel, limited to half the box's smallest side."""
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
    """Return, for every triangle, its corners' indices (3,) within its face, and the face's number.
    """
    triangles, faces = [], []
    for number, face in enumerate(mesh.faces):
        for inner in _cut(mesh.vertices, face):
            triangles.append(inner)
            faces.append(number)
    return triangles, faces


FANS = {3: np.array([[0, 1, 2]]), 4: np.array([[0, 1, 2], [0, 2, 3]])}


def _cut(vertices: FloatArray, face: Face) -> Iterable[NDArray[np.intp]]:
    """Return the triangles (T, 3) of a face, which may be concave."""
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
    """Return a triangle's corners in the same orientation as its face."""
    first, second, third = points[triangle]
    same = np.cross(second - first, third - first) @ normal > 0
    return triangle if same else triangle[::-1]


def _smooth_normals(places: FloatArray, numbers: NDArray[np.intp]) -> FloatArray:
    """Return normals (3 T, 3): means over the triangles at a vertex, weighted by area.

    Triangles at more than the angle of SHARP_COSINE to the corner's own are left out.
    """
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
