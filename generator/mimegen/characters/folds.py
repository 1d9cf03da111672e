"""Folds: where two parts of a body meet at a bent joint, neither lies inside the other.

Skin follows joints by linear blending, which lets what lies before and behind a crease pass through
one another. Here what has passed the plane between both bones comes back to its own side: the plane
goes through the crease itself, so both sides give way alike. What was deepest ends up farthest from
the plane, so the crease closes at its mouth. It depends on nothing but the pose of the frame.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import lengths, product, unit
from mimegen.characters.character import Character, Mesh, Places
from mimegen.characters.helpers import has_helpers, share_of_joints
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray


class CreaseKind(NamedTuple):
    """The crease at ``joint``, whose bone folds against the flesh of ``upper``.

    At rest the upper flesh's bone comes down ``down`` (3,), the crease faces ``inner`` (3,) and
    lies ``along`` the joint's bone, as a share of it.
    """

    joint: str
    upper: tuple[str, ...]
    down: tuple[float, float, float]
    inner: tuple[float, float, float]
    along: float


TRUNK = ("Hips", "Spine", "Spine1", "Spine2")
BELOW = (0.0, 0.0, -1.0)
AHEAD = (0.0, -1.0, 0.0)
BEHIND = (0.0, 1.0, 0.0)
KINDS = tuple(kind for side, out in (("Left", 1.0), ("Right", -1.0)) for kind in (
    CreaseKind(f"{side}ForeArm", (f"{side}Arm",), (out, 0.0, 0.0), AHEAD, 0.05),
    CreaseKind(f"{side}Leg", (f"{side}UpLeg",), BELOW, BEHIND, -0.01),
    CreaseKind(f"{side}UpLeg", TRUNK, BELOW, AHEAD, 0.02)))
# Of both parts' flesh is what follows them by NEAR at least; the lower one's by LOWER of that. It
# reaches so far from the joint, in lengths of its bone.
NEAR = 0.3
LOWER = 0.45
REACH = 1.3
# Where short thick legs have no vertex in the crease that does, those that follow it by LEAST tell.
LEAST = 0.1
# The crease itself: so near (m) to where it lies along the bone, to the middle and to the front.
CREASE_M = 0.02
BESIDE_M = 0.05
BEFORE_M = 0.02
CREASED = 0.6
# Bends begin to fold at the first cosine between the bones, and fold in full at the second.
STARTS = 0.8
FULL = 0.5
# How far (m) sides may pass the plane, so that no light falls through between them, how softly they
# are held there, and how far away from it what was deep ends up: by a share, and at most.
PASS_M = 0.0006
SOFT_M = 0.003
BACK = 0.3
BACK_M = 0.006
# Sides meet on a surface that bows by so much (m) from its middle to so far beside it: through a
# flat one light would fall.
BOW_M = 0.004
WIDE_M = 0.05
# Only on the inner side of the joint: from here on (m), in full so much farther in.
INNER_M = 0.005
# The lower part presses what is over it: in full as far as the first share of the way to its bone's
# end, from the second on not.
END = (0.9, 1.095)
# A thigh's inner edge is where the middle of the body is at rest. What of the trunk is on its own
# side of that it presses in full, from the second (m), beyond the edge, on not: hems rise evenly
# beside it. What is farther (m) on the other side of the body at rest it never meets.
EDGE_M = (0.0, -0.05)
FARTHEST_M = 0.1


class CreasePlane(NamedTuple):
    """A crease in a frame: a place (3,) on the joint's axis, unit vectors (3,), and its share.

    The lower part's bone ends so far (m) along the ``inner`` way.
    """

    place: FloatArray
    normal: FloatArray
    inner: FloatArray
    share: float
    end: float


@dataclass(frozen=True, eq=False)
class Crease:
    """Where a fold is: its joints' numbers and what they are like at rest.

    That is the lower one's ``head`` (3,) and ``bone`` (3,), and the unit vector ``down`` (3,).

    ``middle`` maps joint columns to the middle of the crease: joints (N,) and rows (N, 4). A
    thigh's inner ``edge`` is so far (m) to the right of its joint; for other parts it is 0.
    """

    joint: int
    above: int
    head: FloatArray
    bone: FloatArray
    down: FloatArray
    middle: tuple[NDArray[np.intp], FloatArray]
    edge: float

    def plane(self, columns: Places) -> CreasePlane | None:
        """Return the plane for joint columns (4 J, 3); None where nothing is folded."""
        blocks = columns.reshape(-1, 4, 3)
        own = np.asarray(blocks[self.joint], float)
        first = product(self.down, np.asarray(blocks[self.above, :3], float))
        bone = product(self.bone, own[:3])
        second = unit(bone)
        bend = float(np.sum(first * second))
        if bend >= STARTS:
            return None
        normal, inner = unit(first + second), unit(second - first)
        place = product(self.head, own[:3]) + own[3]
        joints, rows = self.middle
        middle = np.einsum("nk,nkx->x", rows, np.asarray(blocks[joints], float))
        place = place + np.sum((middle - place) * normal) * normal
        return CreasePlane(place, normal, inner, min((STARTS - bend) / (STARTS - FULL), 1.0),
                           float(np.sum(bone * inner)))


@dataclass(frozen=True, eq=False)
class Fold:
    """A crease, and which vertices (N,) of a body fold there.

    ``upper`` (N,) is 1 for those of the upper part and -1 for those of the lower.
    """

    crease: Crease
    vertices: NDArray[np.intp]
    upper: NDArray[np.float32]

    def press(self, places: Places, columns: Places) -> None:
        """Bring back to their side what of vertices (V, 3) has passed the crease's plane."""
        plane = self.crease.plane(columns)
        if plane is None:
            return
        x, y, z = (places[self.vertices, axis] - float(plane.place[axis]) for axis in range(3))
        beside = _along(x, y, z, quaternions.cross(plane.normal, plane.inner))
        bow = BOW_M * (1 - 2 * np.minimum((beside / WIDE_M) ** 2, 1.0))
        beyond = self.upper * (_along(x, y, z, plane.normal) - bow)
        inside = _along(x, y, z, plane.inner)
        passed = np.flatnonzero((beyond > PASS_M - SOFT_M) & (inside > -INNER_M))
        upper = self.upper[passed]
        share = np.clip((inside[passed] + INNER_M) / (2 * INNER_M), 0.0, 1.0) * plane.share
        over = self._over(beside[passed], inside[passed] / plane.end)
        share = share * np.where(upper > 0, over, 1.0)
        deep = softly(beyond[passed] - PASS_M)
        back = (deep + np.minimum(BACK * deep, BACK_M)) * share * upper
        places[self.vertices[passed]] -= (
            back[:, None] * plane.normal.astype(places.dtype)).astype(places.dtype)

    def _over(self, beside: FloatArray, along: FloatArray) -> FloatArray:
        """Return how surely (N,), 0 to 1, the lower part lies below what is over it.

        That is so far (m) to the right of its joint, and a share ``along`` its bone.
        """
        full, none = END
        over = np.clip((none - along) / (none - full), 0.0, 1.0)
        if self.crease.edge:
            full, none = EDGE_M
            own = abs(self.crease.edge) - np.sign(self.crease.edge) * beside
            over = over * np.clip((own - none) / (full - none), 0.0, 1.0)
        return np.asarray(over)


def _along(x: FloatArray, y: FloatArray, z: FloatArray, way: FloatArray) -> FloatArray:
    return np.asarray(x * float(way[0]) + y * float(way[1]) + z * float(way[2]))


def softly(values: FloatArray) -> FloatArray:
    """Return values (N,) above zero, those below as zero, with a soft bend between."""
    soft = (np.clip(values, -SOFT_M, SOFT_M) + SOFT_M) ** 2 / (4 * SOFT_M)
    return np.asarray(np.maximum(soft, values))


@lru_cache(maxsize=12)
def creases_of(character: Character) -> Mapping[CreaseKind, Crease]:
    """Return where a character folds: not without helper joints, nor where a suit is hard."""
    skeleton = character.skeleton
    if not has_helpers(skeleton):
        return {}
    found = {kind: _crease(character, kind) for kind in KINDS}
    return {kind: crease for kind, crease in found.items() if len(crease.middle[0])}


def _crease(character: Character, kind: CreaseKind) -> Crease:
    skeleton = character.skeleton
    joint, above = skeleton.index[kind.joint], skeleton.index[kind.upper[0]]
    bone = skeleton.tails[joint] - skeleton.heads[joint]
    middle = np.zeros((len(skeleton.names), 4))
    for lower in (LOWER, LEAST):
        for mesh in character.soft:
            _add_crease(middle, mesh, skeleton, kind, lower)
        if middle.any():
            break
    followed = np.flatnonzero(middle[:, 3])
    rows = middle[followed] / max(float(middle[:, 3].sum()), 1e-12)
    edge = float(skeleton.heads[joint, 0]) if kind.upper == TRUNK else 0.0
    return Crease(joint, above, skeleton.heads[joint], bone, np.array(kind.down),
                  (followed, rows), edge)


def _add_crease(middle: FloatArray, mesh: Mesh, skeleton: Skeleton, kind: CreaseKind,
                least: float) -> None:
    """Add to ``middle`` (J, 4) what a mesh's vertices in the crease follow.

    Those count that follow the lower part by so much, ``least``, of what they follow both.
    """
    upper, lower = _shares(mesh, skeleton, kind)
    from_joint, line = _places(mesh, skeleton, kind)
    inner = product(from_joint, np.array(kind.inner))
    axis = np.cross(kind.inner, kind.down)
    beside = np.abs(product(from_joint, axis))
    amount = (np.clip(1 - np.abs(line) / CREASE_M, 0, 1) * np.clip(inner / BEFORE_M, 0, 1)
              * np.clip(1 - beside / BESIDE_M, 0, 1)
              * ((upper + lower > CREASED) & (lower > least * (upper + lower))))
    chosen = np.flatnonzero(amount)
    rest = np.concatenate([mesh.vertices[chosen], np.ones((len(chosen), 1))], axis=1)
    shares = amount[chosen, None] * mesh.weights[chosen]
    np.add.at(middle, mesh.joints[chosen], shares[:, :, None] * rest[:, None])


def _shares(mesh: Mesh, skeleton: Skeleton, kind: CreaseKind) -> tuple[FloatArray, FloatArray]:
    """Return by how much vertices (V,) follow the upper part, and by how much the lower."""
    return (share_of_joints(mesh, skeleton, kind.upper),
            share_of_joints(mesh, skeleton, (kind.joint,)))


def _places(mesh: Mesh, skeleton: Skeleton, kind: CreaseKind) -> tuple[FloatArray, FloatArray]:
    """Return vertices (V, 3) from the joint, and how far (V,) they are beyond the crease's line."""
    joint = skeleton.index[kind.joint]
    bone = skeleton.tails[joint] - skeleton.heads[joint]
    from_joint = mesh.vertices - skeleton.heads[joint]
    return from_joint, product(from_joint, unit(bone)) - kind.along * float(lengths(bone))


def folds_of(character: Character, meshes: Sequence[Mesh]) -> tuple[Fold, ...]:
    """Return the folds of a character, as part of meshes one after another."""
    found = []
    for kind, crease in creases_of(character).items():
        sides = np.concatenate([_sides(mesh, character.skeleton, kind) for mesh in meshes])
        vertices = np.flatnonzero(sides)
        found.append(Fold(crease, vertices, sides[vertices].astype(np.float32)))
    return tuple(found)


def _sides(mesh: Mesh, skeleton: Skeleton, kind: CreaseKind) -> FloatArray:
    """Return 1 for vertices (V,) of the upper part, -1 for the lower's, 0 for what never folds."""
    upper, lower = _shares(mesh, skeleton, kind)
    from_joint, line = _places(mesh, skeleton, kind)
    joint = skeleton.index[kind.joint]
    reach = REACH * float(lengths(skeleton.tails[joint] - skeleton.heads[joint]))
    near = (upper + lower > NEAR) & (lengths(from_joint) < reach)
    below = (line > 0) & (lower > LOWER * (upper + lower))
    aside = np.sign(skeleton.heads[joint, 0]) * mesh.vertices[:, 0]
    near &= aside > -FARTHEST_M
    return np.where(near, np.where(below, -1.0, 1.0), 0.0)
