"""A piece of a character: skin, hair or a garment, and what it hides."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Material, Mesh
from mimegen.characters.surface import (
    clear_of,
    neighbour_average,
    smoothed,
    vertex_normals,
)
from mimegen.motion.quaternions import FloatArray

BoolArray = NDArray[np.bool_]
Hides = Callable[[FloatArray], BoolArray]


def nothing(points: FloatArray) -> BoolArray:
    """Hide none of the points (N, 3)."""
    return np.zeros(len(points), dtype=bool)


@dataclass(frozen=True, eq=False)
class Piece:
    """Meshes in the rest pose with the bare soles on Z = 0, and their materials.

    ``hides`` tells which rest-pose points (N, 3) of pieces further inside are never seen under
    it; ``lift`` is how far its soles raise the person, in metres.
    """

    meshes: tuple[Mesh, ...]
    materials: tuple[Material, ...]
    hides: Hides = nothing
    lift: float = 0.0


def without_hidden(piece: Piece, hides: Hides) -> Piece:
    """Return the piece without the faces all of whose corners are hidden."""
    meshes = (without_faces(mesh, hides(mesh.vertices)) for mesh in piece.meshes)
    return replace(piece, meshes=tuple(mesh for mesh in meshes if len(mesh.faces)))


def without_faces(mesh: Mesh, hidden: BoolArray) -> Mesh:
    """Return the mesh without faces whose corners are all hidden, and without loose vertices."""
    corners = np.where(mesh.faces < 0, mesh.faces[:, :1], mesh.faces)
    seen = ~hidden[corners].all(axis=1)
    return compacted(replace(
        mesh, faces=mesh.faces[seen], uvs=None if mesh.uvs is None else mesh.uvs[seen]
    ))


def compacted(mesh: Mesh) -> Mesh:
    """Return the mesh without the vertices that no face uses."""
    used = np.unique(mesh.faces[mesh.faces >= 0])
    number = np.full(len(mesh.vertices) + 1, -1, dtype=np.int32)
    number[used] = np.arange(len(used))
    return replace(
        mesh, vertices=mesh.vertices[used], faces=number[mesh.faces], joints=mesh.joints[used],
        weights=mesh.weights[used],
        attributes={name: values[used] for name, values in mesh.attributes.items()},
    )


def over(piece: Piece, inner: Mesh, gap: float) -> Piece:
    """Return the piece pushed out wherever it comes nearer to a mesh under it than ``gap`` m."""
    normals = vertex_normals(inner.vertices, inner.faces)

    def pushed(mesh: Mesh) -> Mesh:
        push = clear_of(mesh.vertices, inner.vertices, normals, gap, 0.03)
        average = neighbour_average(mesh.faces, len(mesh.vertices))
        vertices = mesh.vertices + smoothed(push, average, 3)
        push = clear_of(vertices, inner.vertices, normals, gap, 0.03)
        return replace(mesh, vertices=vertices + push)

    return replace(piece, meshes=tuple(pushed(mesh) for mesh in piece.meshes))


def lifted(mesh: Mesh, height: float) -> Mesh:
    """Return the mesh moved up."""
    return replace(mesh, vertices=mesh.vertices + np.array([0.0, 0.0, height]))
