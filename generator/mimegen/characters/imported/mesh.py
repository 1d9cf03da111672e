"""Convert a file's skinned meshes to mimegen's: welded, creased, one material each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.decisions import nearest
from mimegen.characters.arkit_shapes import PREFIX
from mimegen.characters.character import Mesh
from mimegen.characters.imported.placement import Similarity
from mimegen.faces.words import arkit_name
from mimegen.motion.quaternions import FloatArray

IntArray = NDArray[np.int64]

# The largest number of joints that a vertex follows.
INFLUENCES = 4
# The angle between normals from which an edge is sharp. It and OFF_REGULAR avoid values that are
# common in regular bodies, where rounding errors would decide.
CREASE_DEG = 15.01
OFF_REGULAR = 1e-4
WELD_METRES = 1e-5
# Vertices whose shapes move them more differently than this are not welded.
APART_METRES = 1e-4


@dataclass(frozen=True, eq=False)
class RawMesh:
    """A skinned mesh in the rest pose, in the file's units and axes.

    ``vertices`` (V, 3). ``corners`` (F, 4) are indices of corners, the last -1 for triangles;
    ``corner_vertices`` (C,), ``normals`` (C, 3) and ``uvs`` (C, 2) or None are per corner.
    ``materials`` (F,) are indices. ``weights`` (N, 3) are rows of vertex, joint and weight.
    ``shapes`` are the displacements (V, 3) by ARKit's weights.
    """

    name: str
    vertices: FloatArray
    corners: IntArray
    corner_vertices: IntArray
    normals: FloatArray
    materials: IntArray
    weights: FloatArray
    uvs: FloatArray | None
    shapes: Mapping[str, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, arrays: Mapping[str, NDArray[Any]], number: int) -> "RawMesh":
        """Return mesh ``number`` of a file's arrays, which are named ``NUMBER_ARRAY``."""
        found = {entry.name: arrays.get(f"{number}_{entry.name}") for entry in fields(cls)[1:-1]}
        return cls(name, **cast(dict[str, Any], found), shapes=_shapes(arrays, number))

    def owners(self) -> IntArray:
        """Return for each vertex (V,) the joint with the largest weight, -1 if it has none."""
        owner = np.full(len(self.vertices), -1)
        rows = self.weights[np.argsort(self.weights[:, 2], kind="stable")]
        owner[rows[:, 0].astype(int)] = rows[:, 1].astype(int)
        return owner


def _shapes(arrays: Mapping[str, NDArray[Any]], number: int) -> dict[str, FloatArray]:
    """Return a mesh's shape keys by the names of ARKit's weights, without all others."""
    names = arrays.get(f"{number}_shape_names", np.array([], str))
    known = {place: arkit_name(str(name)) for place, name in enumerate(names)}
    return {name: arrays[f"{number}_shapes"][place].astype(float)
            for place, name in known.items() if name is not None}


def weight_by_joint(meshes: Sequence[RawMesh], joints: int) -> FloatArray:
    """Return the sum of all weights (J,) on each of the file's joints."""
    rows = np.concatenate([mesh.weights for mesh in meshes])
    return np.asarray(np.bincount(rows[:, 1].astype(int), rows[:, 2], joints), float)


def with_joints(meshes: Sequence[RawMesh], number: IntArray) -> list[RawMesh]:
    """Return the meshes with joints renumbered by ``number``; weights on joints of -1 are removed.

    Meshes without any weight left are removed, too.
    """
    renumbered = []
    for mesh in meshes:
        rows = mesh.weights.copy()
        rows[:, 1] = number[rows[:, 1].astype(int)]
        rows = rows[(rows[:, 1] >= 0) & (rows[:, 2] > 0)]
        if len(rows):
            renumbered.append(replace(mesh, weights=rows))
    return renumbered


def make_meshes(meshes: Sequence[RawMesh], placement: Similarity,
                materials: Sequence[str]) -> tuple[Mesh, ...]:
    """Return the meshes in mimegen's convention, split by material."""
    made: list[Mesh] = []
    for raw in meshes:
        joints, weights = strongest(raw.weights, raw.vertices)
        places = placement.places(raw.vertices)
        shapes = {name: placement.displacements(offsets) for name, offsets in raw.shapes.items()}
        vertex, source = _creased_vertices(raw, places, joints, weights, shapes)
        corners, solid = _solid(raw.corners, vertex)
        corners, kinds = corners[solid], raw.materials[solid]
        faces = np.where(corners >= 0, vertex[corners], -1)
        uvs = None if raw.uvs is None else np.where(
            corners[..., None] >= 0, raw.uvs[corners], 0.0).astype(float)
        for material in np.unique(kinds):
            chosen = kinds == material
            used, compact = np.unique(faces[chosen], return_inverse=True)
            shift = int(used[0] == -1)
            numbers = source[used[shift:]]
            name = materials[material]
            made.append(Mesh(
                f"{raw.name} {name}", places[numbers],
                (compact.reshape(-1, 4) - shift).astype(np.int32),
                joints[numbers].astype(np.int32), weights[numbers], name,
                None if uvs is None else uvs[chosen],
                {PREFIX + name: offsets[numbers] for name, offsets in shapes.items()
                 if offsets[numbers].any()},
            ))
    return tuple(made)


def strongest(rows: FloatArray, vertices: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return each vertex's strongest joints (V, 4) and their weights (V, 4), summing to 1.

    ``rows`` (N, 3) are vertex, joint, weight. Vertices without weights follow their nearest
    neighbour.
    """
    count = len(vertices)
    pairs, place = np.unique(rows[:, :2].astype(np.int64), axis=0, return_inverse=True)
    amount = np.bincount(place.ravel(), rows[:, 2])
    order = np.lexsort((pairs[:, 1], -amount, pairs[:, 0]))
    vertex, joint, amount = pairs[order, 0], pairs[order, 1], amount[order]
    starts = np.searchsorted(vertex, vertex)
    rank = np.arange(len(vertex)) - starts
    top = rank < INFLUENCES
    joints = np.zeros((count, INFLUENCES), dtype=np.int64)
    weights = np.zeros((count, INFLUENCES))
    joints[vertex[top], rank[top]] = joint[top]
    weights[vertex[top], rank[top]] = amount[top]
    bound = weights.sum(axis=1) > 1e-6
    if not bound.all():
        near = nearest(vertices[bound], vertices[~bound])
        joints[~bound] = joints[bound][near]
        weights[~bound] = weights[bound][near]
    return joints, weights / weights.sum(axis=1, keepdims=True)


def _creased_vertices(raw: RawMesh, places: FloatArray, joints: IntArray, weights: FloatArray,
                      shapes: Mapping[str, FloatArray]) -> tuple[IntArray, IntArray]:
    """Return each corner's new vertex, and for each new vertex one of the file's vertices.

    Vertices that coincide and move alike are welded, because files repeat them along texture seams.
    A vertex around which the file's normals differ is duplicated, so that the edge stays sharp.
    """
    corner = _welded(places, joints, weights, shapes)[raw.corner_vertices]
    normals = raw.normals / np.maximum(
        np.linalg.norm(raw.normals, axis=1, keepdims=True), 1e-12)
    mean = np.stack([np.bincount(corner, normals[:, axis]) for axis in range(3)], axis=1)
    mean = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
    likeness = np.ones(len(mean))
    np.minimum.at(likeness, corner, np.sum(mean[corner] * normals, axis=1))
    sharp = likeness[corner] < np.cos(np.radians(CREASE_DEG))
    direction = np.where(sharp[:, None], np.round(normals * 2 + OFF_REGULAR), 0.0).astype(np.int64)
    keys = np.column_stack([corner, direction])
    _, first, vertex = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return vertex.ravel(), raw.corner_vertices[first]


def _welded(places: FloatArray, joints: IntArray, weights: FloatArray,
            shapes: Mapping[str, FloatArray]) -> IntArray:
    """Return a number (V,) that is equal for vertices that coincide and move alike."""
    following = np.column_stack([
        np.where(weights > 1e-3, joints, -1), np.round(weights * 1000),
        *(np.round(offsets / APART_METRES) for offsets in shapes.values())])
    _, alike = np.unique(following, axis=0, return_inverse=True)
    pairs = scipy.spatial.cKDTree(places).query_pairs(WELD_METRES, output_type="ndarray")
    pairs = pairs[alike.ravel()[pairs[:, 0]] == alike.ravel()[pairs[:, 1]]]
    links = scipy.sparse.coo_matrix((np.ones(len(pairs)), pairs.T), (len(places), len(places)))
    return np.asarray(scipy.sparse.csgraph.connected_components(links, directed=False)[1], np.int64)


def _solid(corners: IntArray, vertex: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return the corners (F, 4) without repeated vertices, and a mask (F,) of the valid faces.

    A face is valid if it has at least three different vertices left.
    """
    corners = corners.copy()
    for place in range(4):
        faces = np.where(corners >= 0, vertex[corners], -1)
        repeated = (faces[:, 3] >= 0) & (faces[:, place] == faces[:, (place + 1) % 4])
        corners[repeated, :3] = np.delete(corners[repeated], place, axis=1)
        corners[repeated, 3] = -1
    faces = np.where(corners >= 0, vertex[corners], -1)
    three = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2])
    return corners, three & (faces[:, 2] != faces[:, 0]) & (faces[:, 3] != faces[:, 1])
