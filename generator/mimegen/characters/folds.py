"""Folds: keep the two parts of a body that meet at a bent joint from entering each other.

Linear blend skinning lets the skin before and behind a crease intersect. Here, vertices that have
passed the plane half-way between the two bones are moved back to their own side. The plane goes
through the crease itself, so both sides give way equally. The deepest vertices end up farthest from
the plane, so the crease closes at its mouth. The result depends only on the frame's pose.
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
    """The crease at ``joint``, whose bone folds against the flesh of the joints ``upper``.

    ``down`` (3,) is the direction of the upper part's bone at rest, and ``inner`` (3,) the
    direction in which the crease faces. ``along`` is the crease's position along the joint's bone,
    as a fraction of its length.
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
# Creases at the elbows, knees and hips of both sides.
KINDS = tuple(kind for side, out in (("Left", 1.0), ("Right", -1.0)) for kind in (
    CreaseKind(f"{side}ForeArm", (f"{side}Arm",), (out, 0.0, 0.0), AHEAD, 0.05),
    CreaseKind(f"{side}Leg", (f"{side}UpLeg",), BELOW, BEHIND, -0.01),
    CreaseKind(f"{side}UpLeg", TRUNK, BELOW, AHEAD, 0.02)))
# Vertices can fold if their weights on both parts sum to more than NEAR. They belong to the lower
# part if it has more than the fraction LOWER of that sum. They must be nearer to the joint than
# REACH lengths of its bone.
NEAR = 0.3
LOWER = 0.45
REACH = 1.3
# On short thick legs no vertex in the crease may reach LOWER; then this smaller fraction is used to
# find the crease.
LOWER_ON_SHORT_LEGS = 0.1
# Vertices that define the crease are weighted by their distance, in metres, from its line along the
# bone (none from CREASE_M on) and to either side (none from BESIDE_M on), and by how far in front
# of the joint they are (in full from BEFORE_M on). Their weights on both parts sum to more than
# CREASED.
CREASE_M = 0.02
BESIDE_M = 0.05
BEFORE_M = 0.02
CREASED = 0.6
# Cosine of the angle between the bones below which folding begins, and below which it acts in full.
STARTS = 0.8
FULL = 0.5
# Vertices may pass the plane by PASS_M (metres), so that no light falls through between the sides;
# the limit is soft within SOFT_M (metres). Vertices that were deep are moved beyond it by the
# fraction BACK of their depth, at most BACK_M (metres).
PASS_M = 0.0006
SOFT_M = 0.003
BACK = 0.3
BACK_M = 0.006
# The sides meet on a curved surface, BOW_M (metres) past the plane in its middle and as far before
# it at WIDE_M (metres) to either side: light would fall through a flat one.
BOW_M = 0.004
WIDE_M = 0.05
# Folding acts on the inner side of the joint only: it begins this far (metres) outside the joint's
# axis and is complete this far inside.
INNER_M = 0.005
# The lower part presses the upper one in full up to the first fraction of its bone's reach, and no
# longer from the second on.
END = (0.9, 1.095)
# A thigh's inner edge is the body's middle at rest. The thigh presses the trunk in full on its own
# side of the edge, fading to nothing at the second value (metres), beyond the edge, so that hems
# rise evenly beside it. It never presses vertices that lie more than MAX_PRESS_M (metres) on the
# body's other side at rest.
EDGE_M = (0.0, -0.05)
MAX_PRESS_M = 0.1


class CreasePlane(NamedTuple):
    """The plane of a crease in one frame.

    ``place`` (3,) is a point on the joint's axis; ``normal`` and ``inner`` are unit vectors (3,);
    ``share`` is how strongly folding acts, 0 to 1; ``end`` is how far the lower part's bone reaches
    along ``inner``, in metres.
    """

    place: FloatArray
    normal: FloatArray
    inner: FloatArray
    share: float
    end: float


@dataclass(frozen=True, eq=False)
class Crease:
    """A crease of one character: the indices of its joints, and its geometry at rest.

    ``joint`` is the lower joint, with its ``head`` (3,) and ``bone`` (3,); ``above`` is the upper
    one, whose bone has the unit direction ``down`` (3,). ``middle`` maps joint columns to the
    middle of the crease: joints (N,) and rows (N, 4). ``edge`` is a thigh's distance from its inner
    edge, as the X of its joint in metres; 0 for other joints.
    """

    joint: int
    above: int
    head: FloatArray
    bone: FloatArray
    down: FloatArray
    middle: tuple[NDArray[np.intp], FloatArray]
    edge: float

    def plane(self, columns: Places) -> CreasePlane | None:
        """Return the plane for joint columns (4 J, 3); None if the joint is hardly bent."""
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
    """A crease, and the vertices (N,) of a body that fold there.

    ``upper`` (N,) is 1 for vertices of the upper part and -1 for those of the lower one.
    """

    crease: Crease
    vertices: NDArray[np.intp]
    upper: NDArray[np.float32]

    def press(self, places: Places, columns: Places) -> None:
        """Move vertices (V, 3) that have passed the crease's plane back to their side, in place."""
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
        """Return how strongly (N,), 0 to 1, the lower part presses vertices of the upper part.

        ``beside`` (N,) is their distance to the right of the joint in metres, ``along`` (N,) their
        position along the lower bone as a fraction of its reach.
        """
        full, none = END
        over = np.clip((none - along) / (none - full), 0.0, 1.0)
        if self.crease.edge:
            full, none = EDGE_M
            own = abs(self.crease.edge) - np.sign(self.crease.edge) * beside
            over = over * np.clip((own - none) / (full - none), 0.0, 1.0)
        return np.asarray(over)


def _along(x: FloatArray, y: FloatArray, z: FloatArray, direction: FloatArray) -> FloatArray:
    """Return the components (N,) of vectors (x, y, z) along ``direction`` (3,)."""
    return np.asarray(x * float(direction[0]) + y * float(direction[1]) + z * float(direction[2]))


def softly(values: FloatArray) -> FloatArray:
    """Return max(values, 0) for values (N,), with a smooth bend within SOFT_M around zero."""
    soft = (np.clip(values, -SOFT_M, SOFT_M) + SOFT_M) ** 2 / (4 * SOFT_M)
    return np.asarray(np.maximum(soft, values))


@lru_cache(maxsize=12)
def creases_of(character: Character) -> Mapping[CreaseKind, Crease]:
    """Return the creases of a character.

    Empty for characters without helper joints; joints covered by a hard suit have none.
    """
    skeleton = character.skeleton
    if not has_helpers(skeleton):
        return {}
    found = {kind: _crease(character, kind) for kind in KINDS}
    return {kind: crease for kind, crease in found.items() if len(crease.middle[0])}


def _crease(character: Character, kind: CreaseKind) -> Crease:
    """Return the crease of a kind on a character; its ``middle`` is empty if there is none."""
    skeleton = character.skeleton
    joint, above = skeleton.index[kind.joint], skeleton.index[kind.upper[0]]
    bone = skeleton.tails[joint] - skeleton.heads[joint]
    middle = np.zeros((len(skeleton.names), 4))
    for lower in (LOWER, LOWER_ON_SHORT_LEGS):
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
    """Add the weights of a mesh's vertices in the crease to ``middle`` (J, 4).

    Only vertices count whose weight on the lower part is more than the fraction ``least`` of their
    weight on both.
    """
    upper, lower = _shares(mesh, skeleton, kind)
    from_joint, line = _relative_positions(mesh, skeleton, kind)
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
    """Return the weights of vertices (V,) on the upper part and on the lower part."""
    return (share_of_joints(mesh, skeleton, kind.upper),
            share_of_joints(mesh, skeleton, (kind.joint,)))


def _relative_positions(mesh: Mesh, skeleton: Skeleton, kind: CreaseKind
                        ) -> tuple[FloatArray, FloatArray]:
    """Return vertices (V, 3) relative to the joint, and how far (V,) they are beyond the crease.

    The second is measured along the joint's bone. Both are in metres.
    """
    joint = skeleton.index[kind.joint]
    bone = skeleton.tails[joint] - skeleton.heads[joint]
    from_joint = mesh.vertices - skeleton.heads[joint]
    return from_joint, product(from_joint, unit(bone)) - kind.along * float(lengths(bone))


def folds_of(character: Character, meshes: Sequence[Mesh]) -> tuple[Fold, ...]:
    """Return the folds of a character; vertex indices count through all meshes, concatenated."""
    found = []
    for kind, crease in creases_of(character).items():
        sides = np.concatenate([_sides(mesh, character.skeleton, kind) for mesh in meshes])
        vertices = np.flatnonzero(sides)
        found.append(Fold(crease, vertices, sides[vertices].astype(np.float32)))
    return tuple(found)


def _sides(mesh: Mesh, skeleton: Skeleton, kind: CreaseKind) -> FloatArray:
    """Return 1 for vertices (V,) of the upper part, -1 for the lower part, 0 for all others."""
    upper, lower = _shares(mesh, skeleton, kind)
    from_joint, line = _relative_positions(mesh, skeleton, kind)
    joint = skeleton.index[kind.joint]
    reach = REACH * float(lengths(skeleton.tails[joint] - skeleton.heads[joint]))
    near = (upper + lower > NEAR) & (lengths(from_joint) < reach)
    below = (line > 0) & (lower > LOWER * (upper + lower))
    aside = np.sign(skeleton.heads[joint, 0]) * mesh.vertices[:, 0]
    near &= aside > -MAX_PRESS_M
    return np.where(near, np.where(below, -1.0, 1.0), 0.0)
