"""Helper joints at shoulders, elbows and wrists, so that flesh keeps its volume where they turn.

Linear blend skinning draws flesh in towards a joint that bends or twists far: the mean of two
places on a circle lies inside it. A helper that has turned part of the way halves the angle
between what is blended (Mohr and Gleicher, "Building Efficient, Accurate Character Skins from
Examples", 2003).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mimegen.base.decisions import largest
from mimegen.base.easing import ramp
from mimegen.base.vectors import product
from mimegen.characters.character import Mesh
from mimegen.characters.surface import dense_weights
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray


class Helper(NamedTuple):
    """A joint at another's place, with a share of its bend and of its twist about its bone."""

    joint: str
    bend: float
    twist: float

    @property
    def parent(self) -> str:
        """The joint that it hangs on: its own, unless that bends away from it."""
        return self.joint if self.bend else self.joint.replace("Hand", "ForeArm")


# Down the arm. The forearm's twist comes in thirds at the elbow, and the hand's at the wrist.
KINDS = {"ArmHalf": ("Arm", 1 / 2, 1 / 2), "ForeArmHalf": ("ForeArm", 1 / 2, 1 / 3),
         "ForeArmTwist": ("ForeArm", 1, 2 / 3), "HandTwist": ("Hand", 0, 1 / 3),
         "HandHalf": ("Hand", 1 / 2, 2 / 3)}
HELPERS: Mapping[str, Helper] = {
    side + name: Helper(side + joint, bend, twist)
    for name, (joint, bend, twist) in KINDS.items() for side in ("Left", "Right")}
# Cosines of directions from the shoulder in the T pose, down and towards the neck: the armpit's
# hollow closes when an arm is raised, and the neck stays.
BELOW, INWARDS = (-0.9, 0.0), (-1.0, -0.6)
# Half a turn one way is half a turn the other way: near it helpers go back, by this many radians
# for each, so that they never flip.
BACK = 3.0


def helped_joint(name: str) -> str:
    """Return the joint that a helper helps; other names as they are."""
    return HELPERS[name].joint if name in HELPERS else name


def with_helpers(skeleton: Skeleton) -> Skeleton:
    """Return the skeleton with helper joints at the end."""
    joints = [skeleton.index[helper.joint] for helper in HELPERS.values()]
    parents = [skeleton.index[helper.parent] for helper in HELPERS.values()]
    return Skeleton(
        skeleton.names + tuple(HELPERS),
        np.concatenate([skeleton.parents, np.array(parents, dtype=skeleton.parents.dtype)]),
        np.concatenate([skeleton.heads, skeleton.heads[joints]]),
        np.concatenate([skeleton.tails, skeleton.tails[joints]]),
    )


def following_helpers(mesh: Mesh, skeleton: Skeleton) -> Mesh:
    """Return a mesh of a body without helpers as it follows the ``skeleton`` with them.

    What blends two neighbours follows the joint half-way and the nearer neighbour instead; the
    forearm follows the twist of the elbow's end, the middle, and the wrist's end.
    """
    weights = dense_weights(mesh.joints, mesh.weights, len(skeleton.names))
    for side in ("Left", "Right"):
        for name in ("Arm", "ForeArm", "Hand"):
            weights = _half_way(weights, mesh.vertices, skeleton, side + name)
        weights = _twisting(weights, mesh.vertices, skeleton, side)
    joints = largest(weights, mesh.joints.shape[1] + 1)
    values = np.take_along_axis(weights, joints, axis=1)
    return replace(mesh, joints=joints.astype(np.int32),
                   weights=values / values.sum(axis=1, keepdims=True))


def _half_way(weights: FloatArray, vertices: FloatArray, skeleton: Skeleton,
              name: str) -> FloatArray:
    joint = skeleton.index[name]
    own, above = _below(skeleton, joint), _above(skeleton, joint)
    own_weight, above_weight = weights[:, own].sum(axis=1), weights[:, above].sum(axis=1)
    moved = np.minimum(own_weight, above_weight)
    if name.removeprefix("Left").removeprefix("Right") == "Arm":
        moved = moved * _about_shoulder(vertices, skeleton, joint)
    found = weights.copy()
    found[:, own] *= (1 - moved / np.maximum(own_weight, 1e-12))[:, None]
    found[:, above] *= (1 - moved / np.maximum(above_weight, 1e-12))[:, None]
    found[:, skeleton.index[name + "Half"]] = 2 * moved
    return found


def _about_shoulder(vertices: FloatArray, skeleton: Skeleton, joint: int) -> FloatArray:
    """Return how much flesh (V,) turns with a shoulder, 0 to 1: not the armpit, not the neck."""
    away = vertices - skeleton.heads[joint]
    away = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-6)
    outwards = away[:, 0] * np.sign(skeleton.heads[joint, 0])
    return ramp(away[:, 2], *BELOW) * ramp(outwards, *INWARDS)


def _twisting(weights: FloatArray, vertices: FloatArray, skeleton: Skeleton,
              side: str) -> FloatArray:
    forearm, elbow, wrist = (skeleton.index[side + name] for name in
                             ("ForeArm", "ForeArmTwist", "HandTwist"))
    along = skeleton.heads[wrist] - skeleton.heads[forearm]
    away = product(vertices - skeleton.heads[forearm], along)
    place = np.clip(away / np.sum(along * along), 0.0, 1.0)
    found = weights.copy()
    found[:, forearm] = weights[:, forearm] * (1 - np.abs(2 * place - 1))
    found[:, elbow] = weights[:, forearm] * np.maximum(1 - 2 * place, 0.0)
    found[:, wrist] = weights[:, forearm] * np.maximum(2 * place - 1, 0.0)
    return found


def _above(skeleton: Skeleton, joint: int) -> list[int]:
    found = []
    while joint > 0:
        joint = int(skeleton.parents[joint])
        found.append(joint)
    return found


def _below(skeleton: Skeleton, joint: int) -> list[int]:
    """Return a joint and all below it, but for helpers."""
    found = {joint}
    for child, parent in enumerate(skeleton.parents):
        if int(parent) in found and skeleton.names[child] not in HELPERS:
            found.add(child)
    return sorted(found)


def with_helpers_turned(motion: Motion) -> Motion:
    """Return the motion with its helper joints, if it has any, turned as the others are."""
    skeleton = motion.skeleton
    rotations = motion.rotations.copy()
    for name, helper in HELPERS.items():
        if name in skeleton.index:
            joint = skeleton.index[helper.joint]
            turned = rotations[:, joint]
            bone = skeleton.tails[joint] - skeleton.heads[joint]
            part = partly(turned, bone / np.linalg.norm(bone), helper)
            rotations[:, skeleton.index[name]] = part if helper.parent != helper.joint else (
                quaternions.multiply(quaternions.conjugate(turned), part))
    return Motion(skeleton, motion.fps, motion.root_positions, rotations)


def partly(turned: FloatArray, bone: FloatArray, helper: Helper) -> FloatArray:
    """Return a helper's share of local rotations (F, 4) of a ``bone``, a unit vector (3,)."""
    twist = quaternions.twist_about(turned, bone)
    bend = quaternions.multiply(turned, quaternions.conjugate(twist))
    angle = product(quaternions.to_rotation_vectors(twist), bone)
    angle = np.sign(angle) * np.minimum(helper.twist * np.abs(angle),
                                        BACK * (np.pi - np.abs(angle)))
    return quaternions.multiply(quaternions.scale(bend, np.array(helper.bend)),
                                quaternions.from_rotation_vectors(angle[:, None] * bone))
