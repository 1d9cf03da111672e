"""Helper joints at shoulders, elbows, wrists, hips and knees, so that flesh keeps its volume.

Linear blend skinning draws flesh in towards a joint that bends or twists far, because the mean of
two points on a circle lies inside it. Helpers that turn part of the way keep the blended points
close to each other (Mohr and Gleicher, "Building Efficient, Accurate Character Skins from
Examples", 2003). The skin's weights on helpers are baked (``tools/bake_flesh.py``); the weights of
other meshes, such as a spacesuit, are derived from their weights on the neighbouring joints.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.decisions import largest
from mimegen.base.vectors import product, unit
from mimegen.characters.character import Mesh
from mimegen.characters.flesh import read_flesh
from mimegen.characters.movers import MOVERS, Mover, pressing
from mimegen.characters.surface import dense_weights
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray


class Helper(NamedTuple):
    """A joint that takes a fraction of another joint's rotation.

    ``bend`` and ``twist`` are the fractions of the rotation across and about the bone. The helper
    lies at the position of ``joint``, or displaced from it by ``inward`` (towards the trunk's
    middle) and ``below``, in lengths of the bone: then it also draws aside what follows it.
    """

    joint: str
    bend: float
    twist: float
    inward: float = 0.0
    below: float = 0.0

    def parent(self, skeleton: Skeleton) -> int:
        """Return the index of its parent: its own joint, or that joint's parent.

        The latter holds if it bends less than half, or is displaced ``below``.
        """
        joint = skeleton.index[self.joint]
        return joint if self.bend >= 1 / 2 and not self.below else int(skeleton.parents[joint])

    def away(self, skeleton: Skeleton) -> FloatArray:
        """Return the helper's displacement (3,) from its joint, in metres."""
        joint = skeleton.index[self.joint]
        bone = skeleton.tails[joint] - skeleton.heads[joint]
        inward = -np.sign(bone[0]) * self.inward
        return np.asarray(np.linalg.norm(bone) * np.array([inward, 0.0, -self.below]))


# The point about which a rising shoulder turns its outside, in lengths of the collar bone; fitted.
INWARD = 0.9
BELOW = 2.7
# From the shoulder down arm and leg: each helper's joint, ``bend``, ``twist`` and displacement. At
# the shoulder flesh bends but does not twist; the upper arm's twist increases along the arm. As a
# shoulder rises, its outside is drawn up and inwards, as if it turned about a point low in the
# trunk. The forearm's twist is spread in thirds at the elbow, the hand's at the wrist.
KINDS: Mapping[str, tuple[str, *tuple[float, ...]]] = {
    "ShoulderAside": ("Shoulder", 1, 1, INWARD, BELOW),
    "ArmBend1": ("Arm", 1 / 4, 0), "ArmBend2": ("Arm", 1 / 2, 0), "ArmBend3": ("Arm", 3 / 4, 0),
    "ArmTwist1": ("Arm", 1, 0), "ArmTwist2": ("Arm", 1, 1 / 3), "ArmTwist3": ("Arm", 1, 2 / 3),
    "ForeArmBend1": ("ForeArm", 1 / 3, 1 / 9), "ForeArmBend2": ("ForeArm", 2 / 3, 2 / 9),
    "ForeArmTwist1": ("ForeArm", 1, 1 / 3), "ForeArmTwist2": ("ForeArm", 1, 2 / 3),
    "HandTwist1": ("Hand", 0, 1 / 3), "HandBend1": ("Hand", 1 / 2, 2 / 3),
    "UpLegBend1": ("UpLeg", 1 / 3, 1 / 3), "UpLegBend2": ("UpLeg", 2 / 3, 2 / 3),
    "LegBend1": ("Leg", 1 / 3, 1 / 3), "LegBend2": ("Leg", 2 / 3, 2 / 3),
}
HELPERS: Mapping[str, Helper] = {
    side + name: Helper(side + joint, *shares)
    for name, (joint, *shares) in KINDS.items() for side in ("Left", "Right")}
ADDED = (*HELPERS, *MOVERS)
# Bend and twist of arms are measured from the middle of their range, half-way down from the T pose,
# in radians about Y. Measured from the T pose, an arm that swings forward directly and one that is
# lowered first would seem twisted against each other.
MIDDLE = {"LeftArm": np.radians(48.0), "RightArm": -np.radians(48.0)}
# A twist by half a turn is the same in both directions. To avoid a jump there, helpers turn back
# near it, by this many radians per radian.
BACK = 3.0


def helped_joint(name: str) -> str:
    """Return the joint that a helper or mover belongs to; other names are returned unchanged."""
    name = MOVERS[name].parent if name in MOVERS else name
    return HELPERS[name].joint if name in HELPERS else name


def share_of_joints(mesh: Mesh, skeleton: Skeleton, joints: Collection[str]) -> FloatArray:
    """Return the weights of vertices (V,) on the given joints, with their helpers and movers."""
    own = np.array([helped_joint(name) in joints for name in skeleton.names])
    return np.asarray(np.where(own[mesh.joints], mesh.weights, 0.0).sum(axis=1))


def has_helpers(skeleton: Skeleton) -> bool:
    """Return whether a skeleton has helper joints."""
    return next(iter(HELPERS)) in skeleton.index


def with_helpers(skeleton: Skeleton) -> Skeleton:
    """Return the skeleton with helper joints and movers appended."""
    helpers: tuple[Helper | Mover, ...] = (*HELPERS.values(), *MOVERS.values())
    names = skeleton.names + ADDED
    joints = [skeleton.index[helper.joint] for helper in helpers]
    parents = [helper.parent(skeleton) for helper in HELPERS.values()]
    parents += [names.index(mover.parent) for mover in MOVERS.values()]
    away = np.array([helper.away(skeleton) for helper in helpers])
    return Skeleton(
        names,
        np.concatenate([skeleton.parents, np.array(parents, dtype=skeleton.parents.dtype)]),
        np.concatenate([skeleton.heads, skeleton.heads[joints] + away]),
        np.concatenate([skeleton.tails, skeleton.tails[joints] + away]),
    )


def following_helpers(mesh: Mesh, skeleton: Skeleton) -> Mesh:
    """Return a mesh whose weights use the helper joints of ``skeleton``.

    A vertex between two joints follows the nearest helpers between them instead; a forearm's twist
    is spread from the elbow over its middle to the wrist. A mesh that already uses helpers is
    returned unchanged.
    """
    if mesh.joints.max() >= skeleton.index[next(iter(HELPERS))]:
        return mesh
    weights = dense_weights(mesh.joints, mesh.weights, len(skeleton.names))
    for side in ("Left", "Right"):
        for name in ("Arm", "ForeArm", "Hand", "UpLeg", "Leg"):
            weights = by_steps(weights, skeleton, side + name)
        weights = twisting(weights, mesh.vertices, skeleton, side)
    joints, values = strongest(weights, mesh.joints.shape[1] + 1)
    return replace(mesh, joints=joints, weights=values)


def strongest(weights: FloatArray, count: int) -> tuple[NDArray[np.int32], FloatArray]:
    """Return the ``count`` strongest joints (V, K) of weights (V, J), and their weights.

    The weights of a vertex are normalised to a sum of 1.
    """
    joints = largest(weights, count)
    values = np.take_along_axis(weights, joints, axis=1)
    return joints.astype(np.int32), values / values.sum(axis=1, keepdims=True)


def by_steps(weights: FloatArray, skeleton: Skeleton, name: str) -> FloatArray:
    """Return weights (V, J) in which blends across one joint are moved to its helpers.

    A vertex's weight on the joint, as a fraction of its weight on both sides, is a position on the
    line from the joints above (0) over the helpers, by their ``bend``, to the joint itself (1). The
    vertex then follows the two nearest points of that line.
    """
    joint = skeleton.index[name]
    own, above = joints_below(skeleton, joint), _above(skeleton, joint)
    own_weight, above_weight = weights[:, own].sum(axis=1), weights[:, above].sum(axis=1)
    both = own_weight + above_weight
    share = own_weight / np.maximum(both, 1e-12)
    steps = [helper for helper in HELPERS if HELPERS[helper].joint == name and
             0 < HELPERS[helper].bend < 1]
    places = np.array([0.0, *(HELPERS[helper].bend for helper in steps), 1.0])
    parts = both[:, None] * interpolation_weights(share, places)
    found = weights.copy()
    found[:, own] *= (parts[:, -1] / np.maximum(own_weight, 1e-12))[:, None]
    found[:, above] *= (parts[:, 0] / np.maximum(above_weight, 1e-12))[:, None]
    found[:, [skeleton.index[helper] for helper in steps]] = parts[:, 1:-1]
    return found


def interpolation_weights(values: FloatArray, places: FloatArray) -> FloatArray:
    """Return linear interpolation weights (V, P) of values (V,) between rising positions (P,)."""
    return np.stack([np.interp(values, places, row) for row in np.eye(len(places))], axis=1)


def twisting(weights: FloatArray, vertices: FloatArray, skeleton: Skeleton,
             side: str) -> FloatArray:
    """Return weights (V, J) in which a forearm's vertices twist by their position along it."""
    line = [skeleton.index[side + name] for name in
            ("ForeArmTwist1", "ForeArmTwist2", "ForeArm", "HandTwist1")]
    forearm, wrist = line[-2:]
    place = along(vertices, skeleton.heads[forearm], skeleton.heads[wrist])
    found = weights.copy()
    found[:, line] = weights[:, [forearm]] * interpolation_weights(
        place, np.array([0.0, 0.25, 0.5, 1.0]))
    return found


def along(points: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the positions (N,) of points (N, 3) on the line from ``start`` (0) to ``end`` (1)."""
    way = end - start
    return np.asarray(product(points - start, way) / np.sum(way * way))


def _above(skeleton: Skeleton, joint: int) -> list[int]:
    """Return the indices of all ancestors of a joint, from its parent to the root."""
    found = []
    while joint > 0:
        joint = int(skeleton.parents[joint])
        found.append(joint)
    return found


def joints_below(skeleton: Skeleton, joint: int) -> list[int]:
    """Return the indices of a joint and all its descendants, without helpers."""
    found = {joint}
    for child, parent in enumerate(skeleton.parents):
        if int(parent) in found and skeleton.names[child] not in ADDED:
            found.add(child)
    return sorted(found)


def with_helpers_on(motion: Motion, moves: FloatArray) -> Motion:
    """Return a motion of a skeleton without helpers as a motion of the one with helpers.

    ``moves`` (M, 3) are the movers' rotation vectors at full pressure, in radians.
    """
    added = np.tile(quaternions.IDENTITY, (motion.frames, len(ADDED), 1))
    return with_helpers_turned(Motion(
        with_helpers(motion.skeleton), motion.fps, motion.root_positions,
        np.concatenate([motion.rotations, added], axis=1)), moves)


def with_helpers_turned(motion: Motion, moves: FloatArray | None = None) -> Motion:
    """Return the motion with its helper joints, if any, turned as the other joints require.

    ``moves`` (M, 3) are the movers' rotation vectors at full pressure, in radians; the baked ones
    by default.
    """
    skeleton = motion.skeleton
    known = {name: helper for name, helper in HELPERS.items() if name in skeleton.index}
    if not known:
        return motion
    joints = [skeleton.index[helper.joint] for helper in known.values()]
    own = np.equal([helper.parent(skeleton) for helper in known.values()], joints)
    turned = motion.rotations[:, joints]
    bones = unit(skeleton.tails[joints] - skeleton.heads[joints])
    parts = partly(turned, bones, tuple(known.values()))
    rotations = motion.rotations.copy()
    rotations[:, [skeleton.index[name] for name in known]] = np.where(
        own[:, None], quaternions.multiply(quaternions.conjugate(turned), parts), parts)
    most = read_flesh().moves if moves is None else moves
    rotations[:, [skeleton.index[name] for name in MOVERS]] = quaternions.from_rotation_vectors(
        pressing(skeleton, motion.rotations)[..., None] * most)
    return Motion(skeleton, motion.fps, motion.root_positions, rotations)


def partly(turned: FloatArray, bones: FloatArray, helpers: Sequence[Helper]) -> FloatArray:
    """Return helpers' fractions (F, H, 4) of local rotations (F, H, 4) of bones.

    ``bones`` (H, 3) are their unit vectors at rest.
    """
    middles = quaternions.from_rotation_vectors(
        [[0.0, MIDDLE.get(helper.joint, 0.0), 0.0] for helper in helpers])
    backs, bones = quaternions.conjugate(middles), quaternions.rotate(middles, bones)
    at_rest = _shares(backs, bones, helpers)
    return quaternions.multiply(
        _shares(quaternions.multiply(turned, backs), bones, helpers),
        quaternions.conjugate(at_rest))


def _shares(turned: FloatArray, bones: FloatArray, helpers: Sequence[Helper]) -> FloatArray:
    """Return helpers' fractions of the bend and twist of rotations (..., H, 4) of bones (H, 3)."""
    twists = quaternions.twist_about(turned, bones)
    bends = quaternions.multiply(turned, quaternions.conjugate(twists))
    angles = np.sum(quaternions.to_rotation_vectors(twists) * bones, axis=-1)
    angles = np.sign(angles) * np.minimum([helper.twist for helper in helpers] * np.abs(angles),
                                          BACK * (np.pi - np.abs(angles)))
    return quaternions.multiply(
        quaternions.scale(bends, [helper.bend for helper in helpers]),
        quaternions.from_rotation_vectors(angles[..., None] * bones))
