"""Presses: where an arm lies against the trunk both give way alike.

A body's soft surface is told by points. Two of them face each other if their normals do, if they
are near, and if they were not two sides of one limb at rest. What is behind the surface that faces
it comes out of it, and so does that surface; the shifts are smoothed over the skin, and what they
press in comes out about the shoulder. All that is drawn goes along with the points next to it.
It depends on nothing but the pose of the frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from mimegen.base.vectors import lengths, unit
from mimegen.characters.character import Character, Mesh, Places, joined_weights
from mimegen.characters.folds import TRUNK, softly
from mimegen.characters.helpers import has_helpers, share_of_joints
from mimegen.characters.surface import vertex_normals
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

Numbers = NDArray[np.intp]

ARMS = (("LeftArm", "LeftForeArm"), ("RightArm", "RightForeArm"))
TRUNK_JOINTS = (*TRUNK, "LeftShoulder", "RightShoulder")
# Points are so far apart (m), from a corner that no body's middle lies on; a part's flesh is what
# follows it by OWN at least.
CELL_M, CORNER_M, OWN = 0.024, 0.0037, 0.5
# Surfaces that are nearer than REACH_M, in full FULL_M before, may press; so much (m) they were
# farther apart at rest, from the first on and in full from the second, else they are one fold.
REACH_M, FULL_M, APART_M = 0.07, 0.015, (0.02, 0.04)
# How far (m) is told roughly is right by so much.
ROUGHLY_M = 1e-4
# They face each other in full from this cosine on.
FACING = -0.2
# So far (m) from being behind one another points begin to touch, and do in full.
# Pairs that may press by so much do so in full.
TOUCH_M, SURELY = (0.012, 0.0045), 0.3
# How wide and how far (m) a point looks at what faces it, and how far from it (m) it comes to lie.
WIDE_M, LONG_M, GAP_M = 0.02, 0.05, 0.0015
# From so much that faces it on a point is moved in full; so often, by so much of how far it is
# behind, and at most so far (m).
SURE = 0.1
ROUNDS, PUSH, FARTHEST_M = 4, 1.0, 0.03
# Shifts are spread over what is so near (m) at rest; what is drawn follows so many points
# that are nearer than NEAR_M.
SPREAD_M, FOLLOWED, NEAR_M = 0.035, 4, 0.05
# What is moved less (m) than this comes out for what is pressed in, so far from the shoulder (m).
# By so much more than is told by the points, which are sparser than the skin where it is creased.
STILL_M, BESIDE_M, MORE = 0.005, 0.3, 2.0


class Pairs(NamedTuple):
    """Points that face each other: numbers (N,) of both, and how much they do (N,), 0 to 1."""

    own: Numbers
    other: Numbers
    amount: FloatArray

    def chosen(self, which: NDArray[np.bool_]) -> "Pairs":
        """Return some of them (N,)."""
        numbers = np.flatnonzero(which)
        return Pairs(self.own[numbers], self.other[numbers], self.amount[numbers])

    def facing(self, normals: FloatArray) -> "Pairs":
        """Return them with the amount by which ``normals`` (P, 3) face each other."""
        cosines = _dots(normals[self.own], normals[self.other])
        return self._replace(amount=self.amount * _rising(cosines / FACING))

    def touching(self, places: FloatArray, normals: FloatArray) -> FloatArray:
        """Return how much points (P,) touch another, 0 to 1: each is nearly behind the other."""
        ways = places[self.own] - places[self.other]
        ahead = np.maximum(_dots(ways, normals[self.other]), -_dots(ways, normals[self.own]))
        touch = (_rising((TOUCH_M[0] - ahead) / (TOUCH_M[0] - TOUCH_M[1]))
                 * _rising(self.amount / SURELY))
        most = np.zeros(len(places))
        np.maximum.at(most, self.own, touch)
        np.maximum.at(most, self.other, touch)
        return most


class Sides(NamedTuple):
    """Pairs told for each point that may be pushed: numbers (N,) of it and of what faces it.

    ``out`` and ``across`` (N, 3) are unit vectors: out of what faces it, and across both.
    """

    own: Numbers
    other: Numbers
    amount: FloatArray
    out: FloatArray
    across: FloatArray

    @staticmethod
    def of(pairs: Pairs, normals: FloatArray, touch: FloatArray) -> "Sides":
        """Return those of points that ``touch`` (P,) by more than 0."""
        both = joined([pairs, Pairs(pairs.other, pairs.own, pairs.amount)])
        both = both.chosen(touch[both.own] > 0)
        out = normals[both.other]
        return Sides(*both, out, unit(out - normals[both.own]))


def joined(pairs: Sequence[Pairs]) -> Pairs:
    """Return all of them."""
    own, other, amount = (np.concatenate(each) for each in zip(*pairs, strict=True))
    return Pairs(own, other, amount)


@dataclass(frozen=True, eq=False)
class Contact:
    """Points of one arm (A,) and of the trunk (B,) that may press each other.

    ``apart`` (A, B) is how far (m) they are from each other at rest, less than zero where never.
    """

    own: Numbers
    other: Numbers
    apart: NDArray[np.float32]

    def pairs(self, places: FloatArray, normals: FloatArray) -> Pairs:
        """Return which points at ``places`` (P, 3) with ``normals`` face each other."""
        arm = _near(places[self.own], places[self.other])
        trunk = _near(places[self.other], places[self.own[arm]])
        rows, columns, roughly = _close(places[self.own[arm]], places[self.other[trunk]])
        apart = self.apart[arm[rows], trunk[columns]]
        may = np.flatnonzero(apart > roughly + (APART_M[0] - ROUGHLY_M))
        own, other, apart = self.own[arm[rows[may]]], self.other[trunk[columns[may]]], apart[may]
        away = lengths(places[own] - places[other])
        amount = (_rising((apart - away - APART_M[0]) / (APART_M[1] - APART_M[0]))
                  * _rising((REACH_M - away) / FULL_M))
        found = Pairs(own, other, amount).chosen(amount > 0).facing(normals)
        return found.chosen(found.amount > 0)


def _near(places: FloatArray, others: FloatArray) -> Numbers:
    """Return which places (A, 3) are near the box about others (B, 3)."""
    if not len(others):
        return np.zeros(0, np.intp)
    near = np.ones(len(places), np.bool_)
    for axis, other in zip(places.T, others.T, strict=True):
        near &= (axis > other.min() - REACH_M) & (axis < other.max() + REACH_M)
    return np.flatnonzero(near)


def _close(first: FloatArray, second: FloatArray) -> tuple[Numbers, Numbers, NDArray[np.float32]]:
    """Return which of both (A, 3) and (B, 3) are near each other (N,), and how near, roughly."""
    one, other = first.astype(np.float32), second.astype(np.float32)
    squares = np.square(one[:, 0, None] - other[:, 0])
    for axis in (1, 2):
        squares += np.square(one[:, axis, None] - other[:, axis])
    numbers = np.flatnonzero(squares < REACH_M ** 2)
    rows, columns = np.divmod(numbers, max(len(other), 1))
    return rows, columns, np.sqrt(squares.ravel()[numbers])


@dataclass(frozen=True, eq=False)
class Points:
    """Points (P,) of a body's soft surface, and all that does not change with the pose.

    ``skin`` (2 P, 4 J) maps joint columns to places and normals. ``spread`` (P, P) smooths shifts.
    ``areas`` (P,) are m2, ``beside`` (P, 2) is how far each comes out for either arm, 0 to 1.
    """

    rest: FloatArray
    skin: Any
    spread: Any
    areas: FloatArray
    beside: FloatArray
    contacts: tuple[Contact, ...]

    def shifts(self, columns: Places) -> FloatArray | None:
        """Return how far (P, 3) points go for joint columns (4 J, 3); None where nothing is."""
        both = np.asarray(self.skin @ columns, float).reshape(2, -1, 3)
        places, normals = both[0], unit(both[1])
        pairs = joined([contact.pairs(places, normals) for contact in self.contacts])
        touch = pairs.touching(places, normals)
        sides = Sides.of(pairs, normals, touch)
        if not len(sides.own):
            return None
        shifts = np.zeros_like(places)
        for _ in range(ROUNDS):
            push = touch[:, None] * pushed(places + shifts, sides)
            if not push.any():
                break
            shifts += self.spread @ push
        shifts += self._coming_out(shifts, normals)
        size = lengths(shifts)
        return np.asarray(shifts * (FARTHEST_M / np.maximum(size, FARTHEST_M))[:, None])

    def _coming_out(self, shifts: FloatArray, normals: FloatArray) -> FloatArray:
        """Return how far (P, 3) the skin about shoulders comes out for what shifts press in."""
        lost = -(self.areas * _dots(shifts, normals))
        comes = self.beside * np.maximum(1 - lengths(shifts) / STILL_M, 0.0)[:, None]
        sums = [np.array([float((side * of).sum()) for side in each.T]) for each, of in (
            (self.beside, lost), (comes, self.areas))]
        share = MORE * np.maximum(sums[0], 0.0) / np.maximum(sums[1], 1e-9)
        return np.asarray((comes * share).sum(axis=1)[:, None] * normals)


def pushed(places: FloatArray, sides: Sides) -> FloatArray:
    """Return the shifts (P, 3) that take points out of what faces them."""
    ways = places[sides.own] - places[sides.other]
    away = _dots(ways, ways)
    aside = away - _dots(ways, sides.across) ** 2
    nearness = sides.amount * np.exp(-aside / WIDE_M ** 2 - away / LONG_M ** 2)

    def summed(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(sides.own, values, len(places)), float)

    weight = np.maximum(summed(nearness), 1e-12)
    ahead = summed(nearness * _dots(ways, sides.out)) / weight
    sure = np.minimum(weight / SURE, 1.0)
    direction = unit(np.stack([summed(nearness * axis) for axis in sides.out.T], axis=1))
    return np.asarray((PUSH * sure * softly(GAP_M - ahead))[:, None] * direction)


def _dots(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("nx,nx->n", first, second))


def _rising(values: FloatArray) -> FloatArray:
    return np.asarray(np.clip(values, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Presses:
    """What of a body's vertices (N,) follows its points: a matrix (N, P)."""

    points: Points
    vertices: Numbers
    follow: Any

    def apply(self, places: Places, columns: Places) -> None:
        """Move vertices (V, 3), blended with joint columns (4 J, 3), in place."""
        shifts = self.points.shifts(columns)
        if shifts is not None:
            places[self.vertices] += (self.follow @ shifts).astype(places.dtype)


@lru_cache(maxsize=12)
def points_of(character: Character) -> Points | None:
    """Return the points of a character; None without helper joints, or where arms are hard."""
    skeleton = character.skeleton
    if not has_helpers(skeleton) or not character.soft:
        return None
    mesh = _joined(character.soft)
    mesh = _chosen(mesh, np.flatnonzero(_part(mesh, skeleton) >= 0))
    mesh = _chosen(mesh, thinned(mesh.vertices))
    trunk, left, right = (np.flatnonzero(_part(mesh, skeleton) == number) for number in range(3))
    if not (len(trunk) and len(left) and len(right)):
        return None
    spread, areas = _spread(mesh.vertices)
    shoulders = skeleton.heads[[skeleton.index[arm] for arm, _ in ARMS]]
    far = np.stack([lengths(mesh.vertices - shoulder) for shoulder in shoulders], axis=1)
    return Points(mesh.vertices, _skin(mesh, len(skeleton.names)), spread, areas,
                  _rising(2 - 2 * far / BESIDE_M),
                  tuple(Contact(arm, trunk, _apart(mesh, arm, trunk)) for arm in (left, right)))


def _joined(meshes: Sequence[Mesh]) -> Mesh:
    """Return meshes as one, without faces, its normals (V, 3) an attribute."""
    joints, weights = joined_weights(meshes)
    normals = np.concatenate([vertex_normals(mesh.vertices, mesh.faces) for mesh in meshes])
    return Mesh("joined", np.concatenate([mesh.vertices for mesh in meshes]),
                np.zeros((0, 4), np.int32), joints, weights, "", attributes={"normals": normals})


def _chosen(mesh: Mesh, numbers: Numbers) -> Mesh:
    return replace(mesh, vertices=mesh.vertices[numbers], joints=mesh.joints[numbers],
                   weights=mesh.weights[numbers],
                   attributes={"normals": mesh.attributes["normals"][numbers]})


def _skin(mesh: Mesh, joints: int) -> Any:
    """Return the matrix (2 V, 4 J) from joint columns to places and then normals."""
    count, wide = mesh.joints.shape
    columns = (4 * mesh.joints[:, :, None] + np.arange(4)).ravel()
    rows = np.repeat(np.arange(count), 4 * wide)
    matrices = []
    for vectors, last in ((mesh.vertices, 1.0), (mesh.attributes["normals"], 0.0)):
        rest = np.concatenate([vectors, np.full((count, 1), last)], axis=1)
        values = (mesh.weights[:, :, None] * rest[:, None]).astype(np.float32).ravel()
        matrices.append(sparse.csr_matrix((values, (rows, columns)), (count, 4 * joints)))
    matrix = sparse.vstack(matrices, format="csr")
    matrix.eliminate_zeros()
    return matrix


def _part(mesh: Mesh, skeleton: Skeleton) -> Numbers:
    """Return 0 (V,) for the trunk's, 1 and 2 for those of either arm, -1 for the rest."""
    shares = np.stack([share_of_joints(mesh, skeleton, joints)
                       for joints in (TRUNK_JOINTS, *ARMS)])
    return np.asarray(np.where(shares.max(axis=0) > OWN, shares.argmax(axis=0), -1), np.intp)


def thinned(vertices: FloatArray) -> Numbers:
    """Return the numbers of vertices (V, 3), one of each cell."""
    cells = np.floor((vertices + CORNER_M) / CELL_M).astype(int)
    _, first = np.unique(cells, axis=0, return_index=True)
    return np.sort(first)


def _apart(mesh: Mesh, own: Numbers, other: Numbers) -> NDArray[np.float32]:
    """Return how far (A, B) points are from each other at rest, -1 for two sides of one limb."""
    ways = mesh.vertices[own][:, None] - mesh.vertices[other][None]
    first, second = (mesh.attributes["normals"][numbers] for numbers in (own, other))
    behind = ((np.einsum("abx,bx->ab", ways, second) < 0)
              | (np.einsum("abx,ax->ab", ways, first) > 0))
    facing = np.einsum("ax,bx->ab", first, second) < 0
    return np.where(behind & facing, -1.0, lengths(ways)).astype(np.float32)


def _spread(vertices: FloatArray) -> tuple[Any, FloatArray]:
    """Return the matrix (V, V) that averages over what is near at rest, and areas (V,) in m2."""
    links = cKDTree(vertices).sparse_distance_matrix(
        cKDTree(vertices), 1.5 * SPREAD_M, output_type="coo_matrix").tocsr()
    weights = sparse.csr_matrix((np.exp(-(links.data / SPREAD_M) ** 2), links.indices,
                                 links.indptr), links.shape) + sparse.eye(len(vertices))
    sums = np.asarray(weights.sum(axis=1)).ravel()
    spread = sparse.csr_matrix(sparse.diags(1 / sums) @ weights)
    return spread, np.pi * SPREAD_M ** 2 / sums


def presses_of(character: Character, meshes: Sequence[Mesh]) -> Presses | None:
    """Return what of meshes, one after another, presses with a character's points."""
    points = points_of(character)
    if points is None:
        return None
    mesh = _joined(meshes)
    follows = np.minimum(share_of_joints(
        mesh, character.skeleton, (*TRUNK_JOINTS, *ARMS[0], *ARMS[1])), 1.0)
    away, near = cKDTree(points.rest).query(mesh.vertices, FOLLOWED)
    shares = 1 / (away + 0.002) ** 2
    shares = shares / shares.sum(axis=1, keepdims=True)
    amount = follows * _rising(2 - 2 * away[:, 0] / NEAR_M)
    vertices = np.flatnonzero(amount)
    values = (shares * amount[:, None])[vertices]
    rows = np.repeat(np.arange(len(vertices)), FOLLOWED)
    follow = sparse.csr_matrix((values.ravel(), (rows, near[vertices].ravel())),
                               shape=(len(vertices), len(points.rest)))
    return Presses(points, vertices, follow)
