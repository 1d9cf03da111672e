"""Meshes of a set's shapes and helpers to build them, in pure numpy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from mimegen.base.vectors import product
from mimegen.motion.quaternions import FloatArray

Face = tuple[int, ...]
# The two remaining axes when projecting along X, Y or Z.
SEEN_ALONG = np.array([[1, 2], [0, 2], [0, 1]])


@dataclass(frozen=True, eq=False)
class ShapeMesh:
    """Vertices (V, 3) in metres and faces, counter-clockwise seen from outside.

    ``offshore`` (V,) is the distance to the waterline, negative on land; islands only.
    """

    vertices: FloatArray
    faces: tuple[Face, ...]
    offshore: FloatArray | None = None

    def texture_coordinates(self) -> FloatArray:
        """Return texture coordinates (L, 2) in metres of all face corners.

        Each face is projected along the axis nearest to its normal.
        """
        sizes = np.array([len(face) for face in self.faces])
        starts = np.cumsum(sizes) - sizes
        found = np.empty((int(sizes.sum()), 2))
        for size in np.unique(sizes):
            which = np.flatnonzero(sizes == size)
            points = self.vertices[np.array([self.faces[face] for face in which])]
            # Newell's normal holds for any polygon, convex or not.
            normals = np.cross(points, np.roll(points, -1, axis=1)).sum(axis=1)
            axes = SEEN_ALONG[np.abs(normals).argmax(axis=1)]
            found[starts[which, None] + np.arange(size)] = np.take_along_axis(
                points, axes[:, None], axis=2)
        return found


def in_world(outline: ShapeMesh, matrix: FloatArray) -> FloatArray:
    """Return a mesh's vertices (V, 3) transformed by a matrix (4, 4)."""
    return np.asarray(product(outline.vertices, matrix[:3, :3].T) + matrix[:3, 3])


def joined(placed: Sequence[tuple[ShapeMesh, FloatArray]]) -> ShapeMesh:
    """Return meshes, each transformed by its matrix (4, 4), as one mesh."""
    vertices, faces, first = [], [], 0
    for outline, matrix in placed:
        vertices.append(in_world(outline, matrix))
        faces += [tuple(first + corner for corner in face) for face in outline.faces]
        first += len(outline.vertices)
    return ShapeMesh(np.concatenate(vertices), tuple(faces))


def smooth_line(points: Sequence[Sequence[float]], steps: int, closed: bool) -> FloatArray:
    """Return a cubic spline through points (N, D), sampled ``steps`` times between neighbors."""
    line = np.array(points, dtype=float)
    if closed:
        line = np.vstack([line, line[:1]])
    knots = np.arange(len(line))
    spline = scipy.interpolate.CubicSpline(knots, line, bc_type="periodic" if closed else "natural")
    at = np.linspace(0, len(line) - 1, (len(line) - 1) * steps + 1)
    return np.asarray(spline(at[:-1] if closed else at))


def grid_faces(rows: int, columns: int, wrap: bool) -> list[Face]:
    """Return the quads between ``rows`` lines of ``columns`` vertices each."""
    last = columns if wrap else columns - 1
    return [
        (row * columns + col, row * columns + (col + 1) % columns,
         (row + 1) * columns + (col + 1) % columns, (row + 1) * columns + col)
        for row in range(rows - 1) for col in range(last)
    ]


def skin(rings: FloatArray, capped: bool) -> ShapeMesh:
    """Return the surface over rings (R, N, 3), each counter-clockwise seen from the last ring."""
    rows, columns = rings.shape[:2]
    faces = grid_faces(rows, columns, wrap=True)
    if capped:
        faces.append(tuple(range(columns - 1, -1, -1)))
        faces.append(tuple(range((rows - 1) * columns, rows * columns)))
    return welded(rings.reshape(-1, 3), faces)


def welded(vertices: FloatArray, faces: list[Face]) -> ShapeMesh:
    """Merge vertices at the same position, and drop faces that degenerate."""
    _, first, joined = np.unique(vertices.round(6), axis=0, return_index=True, return_inverse=True)
    kept = []
    for face in faces:
        corners = [int(joined.ravel()[corner]) for corner in face]
        corners = [c for n, c in enumerate(corners) if c != corners[n - 1]]
        if len(corners) > 2:
            kept.append(tuple(corners))
    return ShapeMesh(vertices[first], tuple(kept))


def unit_circle(sides: int) -> FloatArray:
    """Return points (N, 2) on the unit circle, counter-clockwise."""
    turn = np.arange(sides) / sides * 2 * np.pi
    return np.stack([np.cos(turn), np.sin(turn)], axis=-1)
