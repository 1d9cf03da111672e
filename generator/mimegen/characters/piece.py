"""Pieces of a character (skin, hair or a garment) and what they hide."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.base.decisions import EQUAL
from mimegen.characters.character import Material, Mesh
from mimegen.characters.surface import (
    clear_of,
    neighbour_average,
    smoothed,
    vertex_normals,
)
from mimegen.motion.quaternions import FloatArray

# A vertex lies under an outer one if it is at most OPPOSITE_M beside it. A vertex that would have
# to move farther than THICKEST_LAYER_M stays where it is. Both in metres.
OPPOSITE_M = 0.009
THICKEST_LAYER_M = 0.03

Hides = Callable[[FloatArray], BoolArray]


def nothing(points: FloatArray) -> BoolArray:
    """Return a mask (N,) that hides none of the points (N, 3)."""
    return np.zeros(len(points), dtype=bool)


@dataclass(frozen=True, eq=False)
class CharacterPiece:
    """Meshes in the rest pose with the bare soles on Z = 0, and their materials.

    ``hides`` maps rest-pose points (N, 3) of inner pieces to a mask (N,) of those that are never
    visible under this piece. ``lift`` is how far its soles raise the person, in metres.
    """

    meshes: tuple[Mesh, ...]
    materials: tuple[Material, ...]
    hides: Hides = nothing
    lift: float = 0.0


def without_hidden(piece: CharacterPiece, hides: Hides) -> CharacterPiece:
    """Return the piece without the faces whose corners are all hidden."""
    meshes = (without_faces(mesh, hides(mesh.vertices)) for mesh in piece.meshes)
    return replace(piece, meshes=tuple(mesh for mesh in meshes if len(mesh.faces)))


def without_faces(mesh: Mesh, hidden: BoolArray) -> Mesh:
    """Return the mesh without faces whose corners are all hidden, and without unused vertices."""
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


def under(piece: CharacterPiece, outer: Mesh, gap: float) -> CharacterPiece:
    """Return the piece pushed inwards to lie at least ``gap`` metres below an outer mesh.

    Folded hems, where the outer mesh's ``edge`` is 0, are ignored because they face inwards.
    """
    edge = outer.attributes.get("edge", np.ones(len(outer.vertices)))
    counting = edge > EQUAL
    if not counting.any():
        return piece
    inwards = -vertex_normals(outer.vertices, outer.faces)[counting]
    ceiling = outer.vertices[counting]

    def moved(mesh: Mesh) -> Mesh:
        push = clear_of(mesh.vertices, ceiling, inwards, gap, OPPOSITE_M)
        push[np.linalg.norm(push, axis=1) > THICKEST_LAYER_M] = 0.0
        if not push.any():
            return mesh
        average = neighbour_average(mesh.faces, len(mesh.vertices))
        moving = np.any(push != 0, axis=1, keepdims=True)
        spread = np.where(moving, push, smoothed(push, average, 3))
        return replace(mesh, vertices=mesh.vertices + spread)

    return replace(piece, meshes=tuple(moved(mesh) for mesh in piece.meshes))


def lifted(mesh: Mesh, height: float) -> Mesh:
    """Return the mesh moved up by ``height`` metres."""
    return replace(mesh, vertices=mesh.vertices + np.array([0.0, 0.0, height]))
