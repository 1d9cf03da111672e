"""Choose the points that represent a body's soft surface, and the vertices that follow them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.vectors import lengths, unit
from mimegen.characters.character import Character, Mesh, joined_weights
from mimegen.characters.contacts import (
    APART_M,
    REACH_M,
    Numbers,
    Patches,
    PressContact,
    clip01,
    dots,
)
from mimegen.characters.folds import TRUNK
from mimegen.characters.helpers import has_helpers, share_of_joints
from mimegen.characters.presses import Presses, PressPoints
from mimegen.characters.surface import vertex_normals
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

TRUNK_JOINTS = (*TRUNK, "LeftShoulder", "RightShoulder")
SIDES = ("Left", "Right")
ARMS = tuple((f"{side}Arm", f"{side}ForeArm") for side in SIDES)
# Size of the grid cells from which points are chosen, the grid's offset, with which no cell border
# lies on the body's middle, and a finer size near the shoulders (SHOULDER_M), all in metres. A
# vertex belongs to a part of the body if its weight on it is more than OWN.
CELL_M = 0.024
CORNER_M = 0.0037
OWN = 0.5
SHOULDER_M = 0.1
FINE_M = 0.013
# Points on two sides of one limb are nearer to each other than this at rest, in metres.
LIMB_M = 0.13
# Displacements are smoothed over SPREAD_M at rest. A vertex follows the FOLLOWED nearest points, if
# they are nearer than NEAR_M. Points nearer to a shoulder than BESIDE_M bulge for the volume that
# is pressed in. All in metres.
SPREAD_M = 0.035
FOLLOWED = 4
NEAR_M = 0.05
BESIDE_M = 0.3
# The radius in metres around a point within which its tangents are estimated, and the cosine
# between normals above which a vertex there counts.
SLOPE_M = 0.04
ALIKE = 0.3
# Size in metres of the patches by which points are tested for contact, and how much their radius
# may grow in a pose: a factor and an addition in metres.
PATCH_M = 0.06
GROWN = 1.15
GROWN_M = 0.005


@lru_cache(maxsize=12)
def points_of(character: Character) -> PressPoints | None:
    """Return the points of a character; None without helper joints or if its arms are hard."""
    skeleton = character.skeleton
    if not has_helpers(skeleton) or not character.soft:
        return None
    whole = _joined(character.soft)
    whole = _chosen(whole, np.flatnonzero(_part_of_vertices(whole, skeleton) >= 0))
    shoulders = skeleton.heads[[skeleton.index[arm] for arm, _ in ARMS]]
    far = np.stack([lengths(whole.vertices - shoulder) for shoulder in shoulders], axis=1)
    chosen = thinned(whole.vertices, np.where(far.min(axis=1) < SHOULDER_M, FINE_M, CELL_M))
    part = _part_of_vertices(whole, skeleton)[chosen]
    mesh, far = _chosen(whole, chosen), far[chosen]
    if not all((part == number).any() for number in range(3)):
        return None
    contacts = _contacts(mesh, part)
    skin = _skin(whole, chosen, len(skeleton.names))
    nearby, share = _nearby(mesh.vertices)
    beside = clip01(2 - 2 * far / BESIDE_M)
    return PressPoints(mesh.vertices, scipy.sparse.vstack(skin, format="csr"), nearby, share,
                       np.pi * SPREAD_M ** 2 * share, beside, contacts,
                       _patches(mesh.vertices, part, skin[0], contacts))


def _contacts(mesh: Mesh, part: Numbers) -> tuple[PressContact, ...]:
    """Return the pairs of parts that may press each other: either arm and the trunk."""
    trunk, *arms = (np.flatnonzero(part == number) for number in range(3))
    return tuple(PressContact.of(arm, trunk, _rest_distances(mesh, arm, trunk)) for arm in arms)


def _patches(rest: FloatArray, part: Numbers, skin: Any, contacts: Sequence[PressContact]
            ) -> Patches:
    """Return the points (P,) grouped into patches, and which patches may press each other."""
    cells = np.concatenate([np.floor((rest + CORNER_M) / PATCH_M), part[:, None]], axis=1)
    _, of = np.unique(cells, axis=0, return_inverse=True)
    of = np.asarray(of, np.intp).ravel()
    count = int(of.max()) + 1
    mean = scipy.sparse.csr_matrix(
        (1 / np.bincount(of)[of], (of, np.arange(len(of)))), (count, len(of)))
    middles = mean @ rest
    radius = np.zeros(count)
    np.maximum.at(radius, of, GROWN * lengths(rest - middles[of]) + GROWN_M)
    apart = np.full((count, count), -1.0)
    for contact in contacts:
        np.maximum.at(apart, (of[contact.own][:, None], of[contact.other][None]), contact.apart)
    own = np.flatnonzero((apart > APART_M[0]).any(axis=1))
    reach = np.minimum(REACH_M, apart[own] - APART_M[0])
    reach = np.where(reach > 0, reach + radius[own][:, None] + radius, 0.0)
    return Patches(of, scipy.sparse.csr_matrix(mean @ skin, dtype=np.float32), own,
                   np.square(reach).astype(np.float32))


def _joined(meshes: Sequence[Mesh]) -> Mesh:
    """Return meshes as one, without faces, with its normals (V, 3) as an attribute."""
    joints, weights = joined_weights(meshes)
    normals = np.concatenate([vertex_normals(mesh.vertices, mesh.faces) for mesh in meshes])
    return Mesh("joined", np.concatenate([mesh.vertices for mesh in meshes]),
                np.zeros((0, 4), np.int32), joints, weights, "", attributes={"normals": normals})


def _chosen(mesh: Mesh, numbers: Numbers) -> Mesh:
    """Return the vertices of a mesh with the given indices, with their weights and normals."""
    return replace(mesh, vertices=mesh.vertices[numbers], joints=mesh.joints[numbers],
                   weights=mesh.weights[numbers],
                   attributes={"normals": mesh.attributes["normals"][numbers]})


def _skin(mesh: Mesh, points: Numbers, joints: int) -> tuple[Any, ...]:
    """Return matrices (P, 4 J) from joint columns to points' positions and to two tangents."""
    count, wide = mesh.joints.shape
    columns = (4 * mesh.joints[:, :, None] + np.arange(4)).ravel()
    rows = np.repeat(np.arange(count), 4 * wide)
    rest = np.concatenate([mesh.vertices, np.ones((count, 1))], axis=1)
    values = (mesh.weights[:, :, None] * rest[:, None]).ravel()
    places = scipy.sparse.csr_matrix((values, (rows, columns)), (count, 4 * joints))
    blocks = [places[points], *(slope @ places for slope in _slopes(mesh, points))]
    return tuple(scipy.sparse.csr_matrix(block, dtype=np.float32) for block in blocks)


def _slopes(mesh: Mesh, points: Numbers) -> list[Any]:
    """Return two matrices (P, V) for the derivatives of values (V,) along two tangents at points.

    They are least-squares fits over nearby vertices that face the same way.
    """
    normals, own = mesh.attributes["normals"], mesh.vertices[points]
    tree = scipy.spatial.cKDTree
    links = tree(own).sparse_distance_matrix(tree(mesh.vertices), SLOPE_M,
                                             output_type="coo_matrix")
    row, column = links.row, links.col
    near = np.exp(-(2 * links.data / SLOPE_M) ** 2) * (
        dots(normals[points][row], normals[column]) > ALIKE)
    offsets = mesh.vertices[column] - own[row]
    x, y = (dots(offsets, tangent[row]) for tangent in _tangents(normals[points]))
    xx, xy, yy = (np.bincount(row, near * each, len(points)) for each in (x * x, x * y, y * y))
    over = np.maximum(xx * yy - xy * xy, 1e-20)
    found = []
    for along, aside in ((yy, -xy), (-xy, xx)):
        values = near * (along[row] * x + aside[row] * y) / over[row]
        less = -np.bincount(row, values, len(points))
        found.append(scipy.sparse.csr_matrix((np.concatenate([values, less]), (
            np.concatenate([row, np.arange(len(points))]), np.concatenate([column, points]))),
            links.shape))
    return found


def _tangents(normals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two unit vectors (N, 3) across normals (N, 3); their cross product is the normal."""
    across = np.where(np.abs(normals[:, :1]) < 0.6, np.eye(3)[0], np.eye(3)[1])
    first = unit(np.cross(normals, across))
    return first, np.cross(normals, first)


def _part_of_vertices(mesh: Mesh, skeleton: Skeleton) -> Numbers:
    """Return the part of each vertex (V,): 0 trunk, 1 left arm, 2 right arm, -1 none of them."""
    shares = np.stack([share_of_joints(mesh, skeleton, joints)
                       for joints in (TRUNK_JOINTS, *ARMS)])
    return np.asarray(np.where(shares.max(axis=0) > OWN, shares.argmax(axis=0), -1), np.intp)


def thinned(vertices: FloatArray, sizes: FloatArray) -> Numbers:
    """Return the indices of vertices, one per grid cell.

    ``vertices`` (V, 3) and the cells' ``sizes`` (V,) are in metres.
    """
    cells = np.concatenate([np.floor((vertices + CORNER_M) / sizes[:, None]), sizes[:, None]],
                           axis=1)
    _, first = np.unique(cells, axis=0, return_index=True)
    return np.sort(first)


def _rest_distances(mesh: Mesh, own: Numbers, other: Numbers) -> NDArray[np.float32]:
    """Return distances (A, B) between points at rest; -1 for two sides of one limb."""
    offsets = mesh.vertices[own][:, None] - mesh.vertices[other][None]
    first, second = (mesh.attributes["normals"][numbers] for numbers in (own, other))
    behind = ((np.einsum("abx,bx->ab", offsets, second) < 0)
              | (np.einsum("abx,ax->ab", offsets, first) > 0))
    facing = np.einsum("ax,bx->ab", first, second) < 0
    apart = lengths(offsets)
    return np.where(behind & facing & (apart < LIMB_M), -1.0, apart).astype(np.float32)


def _nearby(vertices: FloatArray) -> tuple[Any, FloatArray]:
    """Return a symmetric smoothing matrix (V, V) by distance at rest, and 1 / its row sums (V,)."""
    links = scipy.spatial.cKDTree(vertices).sparse_distance_matrix(
        scipy.spatial.cKDTree(vertices), 1.5 * SPREAD_M, output_type="coo_matrix").tocsr()
    weights = scipy.sparse.csr_matrix((np.exp(-(links.data / SPREAD_M) ** 2), links.indices,
                                 links.indptr), links.shape) + scipy.sparse.eye(len(vertices))
    return weights.tocsr(), 1 / np.asarray(weights.sum(axis=1)).ravel()


def presses_of(character: Character, meshes: Sequence[Mesh]) -> Presses | None:
    """Return the vertices of meshes, concatenated, that press, and how they follow the points."""
    points = points_of(character)
    if points is None:
        return None
    mesh = _joined(meshes)
    follows = np.minimum(share_of_joints(
        mesh, character.skeleton, (*TRUNK_JOINTS, *ARMS[0], *ARMS[1])), 1.0)
    away, near = scipy.spatial.cKDTree(points.rest).query(mesh.vertices, FOLLOWED)
    shares = 1 / (away + 0.002) ** 2
    shares = shares / shares.sum(axis=1, keepdims=True)
    amount = follows * clip01(2 - 2 * away[:, 0] / NEAR_M)
    vertices = np.flatnonzero(amount)
    values = (shares * amount[:, None])[vertices]
    rows = np.repeat(np.arange(len(vertices)), FOLLOWED)
    follow = scipy.sparse.csr_matrix((values.ravel(), (rows, near[vertices].ravel())),
                               shape=(len(vertices), len(points.rest)))
    return Presses(points, vertices, follow)
