"""Operations on surfaces from which clothes are made: subdivide, clip, smooth, offset, hem."""

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.decisions import largest, nearest
from mimegen.characters.character import Mesh
from mimegen.motion.quaternions import FloatArray

IntArray = NDArray[np.int32]
# The largest number of joints that a vertex follows.
INFLUENCES = 6


@dataclass(frozen=True, eq=False)
class SkinnedSurface:
    """A surface with dense skin weights.

    ``vertices`` (V, 3) in metres; ``faces`` (F, 4) vertex indices, the last -1 for a triangle;
    ``weights`` (V, J) a weight for every joint.
    """

    vertices: FloatArray
    faces: IntArray
    weights: FloatArray


def dense_weights(joints: IntArray, weights: FloatArray, joint_count: int) -> FloatArray:
    """Return weights (V, J) for all joints, given the strongest few (V, K)."""
    dense = np.zeros((len(joints), joint_count))
    np.put_along_axis(dense, joints.astype(np.intp), weights, axis=1)
    return dense


def part_of(vertices: FloatArray, faces: IntArray, weights: FloatArray) -> SkinnedSurface:
    """Return the surface of the given faces, without vertices that they do not use."""
    used = np.unique(faces[faces >= 0])
    number = np.full(len(vertices) + 1, -1, dtype=np.int32)
    number[used] = np.arange(len(used))
    return SkinnedSurface(vertices[used], number[faces], weights[used])


def to_mesh(
    name: str, surface: SkinnedSurface, material: str, attributes: dict[str, FloatArray]
) -> Mesh:
    """Return the surface as a mesh that follows its six strongest joints."""
    joints = largest(surface.weights, INFLUENCES)
    weights = np.take_along_axis(surface.weights, joints, axis=1)
    weights = weights / weights.sum(axis=1, keepdims=True)
    return Mesh(name, surface.vertices, surface.faces, joints.astype(np.int32), weights,
                material, attributes=attributes)


def corner_pairs(faces: IntArray) -> NDArray[np.int64]:
    """Return the directed edges (E, 2) of all faces; an edge between two faces occurs twice."""
    ring = np.where(faces < 0, faces[:, :1], faces).astype(np.int64)
    pairs = np.stack([ring, np.roll(ring, -1, axis=1)], axis=-1).reshape(-1, 2)
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]])


def boundary_edges(faces: IntArray) -> NDArray[np.int64]:
    """Return the directed edges (E, 2) that belong to only one face."""
    pairs = corner_pairs(faces)
    codes = pairs.min(axis=1) * (faces.max() + 1) + pairs.max(axis=1)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return np.asarray(pairs[first[counts == 1]])


def neighbour_average(faces: IntArray, count: int) -> "scipy.sparse.csr_matrix":
    """Return the sparse matrix (V, V) that averages each vertex's neighbours.

    Boundary vertices average their neighbours along the boundary only, so smoothing keeps its line.
    """
    pairs = corner_pairs(faces)
    edge = boundary_edges(faces)
    on_edge = np.zeros(count, dtype=bool)
    on_edge[edge.ravel()] = True
    inner = pairs[~on_edge[pairs[:, 0]]]
    back = pairs[~on_edge[pairs[:, 1]]][:, ::-1]
    links = np.concatenate([inner, back, edge, edge[:, ::-1]])
    matrix = scipy.sparse.csr_matrix(
        (np.ones(len(links)), (links[:, 0], links[:, 1])), (count, count))
    matrix.data[:] = 1.0
    sums = np.maximum(np.asarray(matrix.sum(axis=1)).ravel(), 1.0)
    return scipy.sparse.diags(1 / sums) @ matrix


def smoothed(values: FloatArray, average: "scipy.sparse.csr_matrix", rounds: int) -> FloatArray:
    """Return values (V, ...) moved half-way to their neighbours' average, ``rounds`` times."""
    for _ in range(rounds):
        values = 0.5 * (values + average @ values)
    return values


def vertex_normals(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Return unit vertex normals (V, 3), weighted by the areas of the faces."""
    fourth = np.where(faces[:, 3] < 0, faces[:, 0], faces[:, 3])
    across = vertices[faces[:, 2]] - vertices[faces[:, 0]]
    areas = np.cross(across, vertices[fourth] - vertices[faces[:, 1]])
    triangles = faces[:, 3] < 0
    areas[triangles] = np.cross(
        vertices[faces[triangles, 1]] - vertices[faces[triangles, 0]], across[triangles]
    )
    normals = np.zeros_like(vertices)
    for corner in range(4):
        there = faces[:, corner] >= 0
        np.add.at(normals, faces[there, corner], areas[there])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.asarray(normals / np.maximum(lengths, 1e-12))


def subdivided(surface: SkinnedSurface) -> SkinnedSurface:
    """Split every quad into four and smooth the result once; all faces must be quads."""
    faces, count = surface.faces.astype(np.int64), len(surface.vertices)
    pairs = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1)
    low, high = pairs.reshape(-1, 2).min(axis=1), pairs.reshape(-1, 2).max(axis=1)
    codes, numbers = np.unique(low * count + high, return_inverse=True)
    edges = np.stack([codes // count, codes % count], axis=1)
    middle = count + numbers.reshape(-1, 4)
    centre = count + len(edges) + np.arange(len(faces))[:, None]
    quads = np.stack([
        np.concatenate([faces[:, i, None], middle[:, i, None], centre, middle[:, i - 1, None]], 1)
        for i in range(4)
    ], axis=1).reshape(-1, 4).astype(np.int32)

    def spread(values: FloatArray) -> FloatArray:
        return np.concatenate([
            values, values[edges].mean(axis=1), values[faces].mean(axis=1)
        ])

    vertices = spread(surface.vertices)
    average = neighbour_average(quads, len(vertices))
    return SkinnedSurface(smoothed(vertices, average, 1), quads, spread(surface.weights))


def clipped(surface: SkinnedSurface, field: FloatArray) -> SkinnedSurface:
    """Return the part of a surface where a field (V,) is positive, cut along its zero line."""
    kept = field > 0
    corners = np.where(surface.faces < 0, surface.faces[:, :1], surface.faces)
    whole, some = kept[corners].all(axis=1), kept[corners].any(axis=1)
    cuts: dict[tuple[int, int], int] = {}
    count = len(surface.vertices)
    faces = [surface.faces[whole]]
    faces.extend(
        cut_face([corner for corner in face if corner >= 0], kept, cuts, count)
        for face in surface.faces[some & ~whole].tolist()
    )
    ends = np.array(list(cuts), dtype=np.int64).reshape(-1, 2)
    inside, outside = field[ends[:, 0]], field[ends[:, 1]]
    share = (inside / (inside - outside))[:, None]

    def extended(values: FloatArray) -> FloatArray:
        new = values[ends[:, 0]] * (1 - share) + values[ends[:, 1]] * share
        return np.concatenate([values, new])

    return part_of(extended(surface.vertices), np.concatenate(faces).astype(np.int32),
                   extended(surface.weights))


def cut_face(
    face: list[int], kept: NDArray[np.bool_], cuts: dict[tuple[int, int], int], count: int
) -> IntArray:
    """Return the kept part of one face as triangles and quads (N, 4).

    ``cuts`` maps each cut edge (kept end, other end) to the index of its new vertex; new indices
    start at ``count``. It is filled in place.
    """
    ring: list[int] = []
    for here, after in zip(face, face[1:] + face[:1], strict=True):
        if kept[here]:
            ring.append(here)
        if kept[here] != kept[after]:
            edge = (here, after) if kept[here] else (after, here)
            ring.append(cuts.setdefault(edge, count + len(cuts)))
    fan = [[ring[0], ring[i], ring[i + 1], -1] for i in range(1, len(ring) - 1)]
    if len(ring) >= 4:
        fan = [[*ring[:4]]] + [[ring[0], ring[i], ring[i + 1], -1]
                               for i in range(3, len(ring) - 1)]
    return np.array(fan, dtype=np.int32)


def clear_of(
    vertices: FloatArray, obstacle: FloatArray, normals: FloatArray, gap: float,
    reach: float = np.inf,
) -> FloatArray:
    """Return the displacements (V, 3) that bring vertices to ``gap`` metres in front of a surface.

    The surface is given by points and unit ``normals``. Each vertex is compared with its nearest
    point and moves only if it is at most ``reach`` metres from it, measured along the surface.
    """
    opposite = nearest(obstacle, vertices)
    away = vertices - obstacle[opposite]
    ahead = np.einsum("va,va->v", away, normals[opposite])
    aside = np.sqrt(np.maximum(np.einsum("va,va->v", away, away) - ahead**2, 0.0))
    push = np.maximum(gap - ahead, 0.0) * (aside <= reach)
    return np.asarray(push[:, None] * normals[opposite])


def hemmed(surface: SkinnedSurface, thickness: float, depth: float) -> SkinnedSurface:
    """Fold every open edge inwards: by ``thickness`` towards the body, then ``depth`` back under.

    Both are in metres.
    """
    edges = boundary_edges(surface.faces)
    ring = np.unique(edges)
    normals = vertex_normals(surface.vertices, surface.faces)[ring]
    number = np.full(len(surface.vertices), -1, dtype=np.int64)
    number[ring] = np.arange(len(ring))
    inwards = inward_directions(surface, edges, ring, normals)
    count = len(surface.vertices)
    rim = surface.vertices[ring] - thickness * normals
    under = rim + depth * inwards - 0.3 * thickness * normals
    start, end = edges[:, 0], edges[:, 1]
    first, second = count + number, count + len(ring) + number
    faces = np.concatenate([
        surface.faces,
        np.stack([end, start, first[start], first[end]], axis=1),
        np.stack([first[end], first[start], second[start], second[end]], axis=1),
    ]).astype(np.int32)
    weights = surface.weights[ring]
    return replace(
        surface, vertices=np.concatenate([surface.vertices, rim, under]), faces=faces,
        weights=np.concatenate([surface.weights, weights, weights]),
    )


def inward_directions(
    surface: SkinnedSurface, edges: NDArray[np.int64], ring: NDArray[np.int64], normals: FloatArray
) -> FloatArray:
    """Return unit vectors (R, 3) along the surface that point away from its open edges."""
    along = np.zeros_like(surface.vertices)
    steps = surface.vertices[edges[:, 1]] - surface.vertices[edges[:, 0]]
    np.add.at(along, edges[:, 0], steps)
    np.add.at(along, edges[:, 1], steps)
    inwards = np.cross(normals, along[ring])
    return np.asarray(inwards / np.maximum(np.linalg.norm(inwards, axis=1, keepdims=True), 1e-12))
