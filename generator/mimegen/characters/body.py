"""A naked body in the rest pose, made from a phenotype."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.bake import Bake, read_bake
from mimegen.characters.face_shapes import face_offsets
from mimegen.characters.flesh import Flesh, read_flesh
from mimegen.characters.helpers import with_helpers, with_helpers_on
from mimegen.characters.phenotype import Phenotype, target_strengths
from mimegen.characters.skull import with_round_vault
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, eq=False)
class Body:
    """A naked person in the T pose with bare soles on Z = 0, exactly mirror-symmetric.

    ``vertices`` (V, 3), in metres, are shared by the surfaces in ``faces`` (quads): body, tights (a
    close-fitting surface without fingers and toes), eyes, upper_lashes and lower_lashes. ``joints``
    and ``weights`` (V, 4) are skin weights on the skeleton's joints; ``flesh`` has those on the
    joints and helper joints of ``helped``. ``masks`` (V,), 0 to 1, mark lips, face, eyelids and so
    on. ``mirror`` (V,) is the index of each vertex's counterpart.
    """

    phenotype: Phenotype
    skeleton: Skeleton
    vertices: FloatArray
    joints: NDArray[np.int32]
    weights: FloatArray
    flesh: Flesh
    faces: Mapping[str, NDArray[np.int32]]
    masks: Mapping[str, FloatArray]
    mirror: NDArray[np.intp]

    @property
    def helped(self) -> Skeleton:
        """The skeleton with helper joints."""
        return with_helpers(self.skeleton)

    def joint(self, name: str) -> FloatArray:
        """Return the position (3,) of a joint, in metres."""
        return np.asarray(self.skeleton.heads[self.skeleton.index[name]])


def make_body(phenotype: Phenotype) -> Body:
    """Return the body of a phenotype."""
    bake = read_bake()
    points = shaped_points(bake, phenotype)
    count, joints = len(bake.joints), len(bake.joint_names)
    vertices, heads, tails = np.split(points, [count, count + joints])
    skeleton = Skeleton(bake.joint_names, bake.joint_parents, heads, tails)
    flesh, sculpted = read_flesh(), skeleton
    skeleton = rest_skeleton(sculpted)
    vertices = at_rest(vertices, flesh, sculpted, skeleton)
    ground = np.array([0.0, 0.0, vertices[bake.faces["body"], 2].min()])
    skeleton = Skeleton(
        skeleton.names, skeleton.parents, skeleton.heads - ground, skeleton.tails - ground
    )
    return Body(
        phenotype, skeleton, vertices - ground, bake.joints, bake.weights, flesh, bake.faces,
        bake.masks, bake.mirror[:count],
    )


def shaped_points(bake: Bake, phenotype: Phenotype) -> FloatArray:
    """Return the points of a phenotype, scaled to its height.

    The stature targets are used as far as they reach; uniform scaling does the rest.
    """
    body = np.unique(bake.faces["body"])
    statures = np.array([0.0, 0.5, 1.0])
    candidates = [
        bake.points(target_strengths(phenotype, stature, bake.target_names))
        for stature in statures
    ]
    heights = np.array([np.ptp(points[body, 2]) for points in candidates])
    stature = float(np.interp(phenotype.height, heights, statures))
    points = bake.points(target_strengths(phenotype, stature, bake.target_names),
                         face_offsets(phenotype.face, len(bake.half)))
    return with_round_vault(points * (phenotype.height / np.ptp(points[body, 2])), bake.faces)


def rest_skeleton(skeleton: Skeleton) -> Skeleton:
    """Return the skeleton, given in the data's A pose, in the T pose of the standard skeleton."""
    turns = rest_rotations(skeleton)
    heads = skeleton.heads.copy()
    for joint in range(1, len(heads)):
        parent = skeleton.parents[joint]
        heads[joint] = heads[parent] + quaternions.rotate(turns[parent], skeleton.offsets[joint])
    tails = heads + quaternions.rotate(turns, skeleton.tails - skeleton.heads)
    return Skeleton(skeleton.names, skeleton.parents, heads, tails)


def at_rest(vertices: FloatArray, flesh: Flesh, skeleton: Skeleton, rest: Skeleton) -> FloatArray:
    """Return the positions (V, 3) in the T pose that skinning maps to the sculpted A pose.

    So a body whose arms are half-way down has exactly the shape that was sculpted.
    """
    back = quaternions.conjugate(rest_rotations(skeleton))
    posed = Motion.from_global_rotations(rest, 1.0, skeleton.heads[:1], back[None])
    matrices, shifts = moves(with_helpers_on(posed, flesh.moves))
    blend = np.einsum("vk,vkab->vab", flesh.weights, matrices[flesh.joints])
    shift = np.einsum("vk,vka->va", flesh.weights, shifts[flesh.joints])
    return np.asarray(np.einsum("vab,vb->va", inverse(blend), vertices - shift))


def moves(motion: Motion) -> tuple[FloatArray, FloatArray]:
    """Return the transforms of the joints in a motion's first frame.

    They are matrices (J, 3, 3) and shifts (J, 3) as in ``character.joint_transforms``.
    """
    pose = motion.global_pose
    matrices = quaternions.to_matrices(pose.rotations[0])
    return matrices, pose.positions[0] - np.einsum("jab,jb->ja", matrices, motion.skeleton.heads)


def inverse(matrices: FloatArray) -> FloatArray:
    """Return the inverses of matrices (N, 3, 3).

    Computed without LAPACK, so that the result is the same on every machine.
    """
    first, second, third = np.moveaxis(matrices, 1, 0)
    across = np.stack([quaternions.cross(second, third), quaternions.cross(third, first),
                       quaternions.cross(first, second)], axis=2)
    return np.asarray(across / np.sum(first * across[:, :, 0], axis=1)[:, None, None])


def rest_rotations(skeleton: Skeleton) -> FloatArray:
    """Return the global rotations (J, 4) that align every bone with the standard skeleton's.

    The trunk keeps its shape, the feet stay flat on the ground, and the palms turn to face down.
    """
    standard = standard_skeleton()
    turns = np.tile(quaternions.IDENTITY, (len(skeleton.names), 1))
    for side in ("Left", "Right"):
        for bone in ("Arm", "UpLeg", "Leg"):
            joint = skeleton.index[side + bone]
            turns[joint] = quaternions.between(direction(skeleton, joint),
                                               direction(standard, joint))
        turns[skeleton.index[side + "Hand"]] = hand_alignment(skeleton, standard, side)
        turns[skeleton.index[side + "ForeArm"]] = forearm_alignment(skeleton, standard, side, turns)
        for bone in ("Foot", "ToeBase"):
            joint = skeleton.index[side + bone]
            level = np.array([1.0, 1.0, 0.0])
            turns[joint] = quaternions.between(direction(skeleton, joint) * level,
                                               direction(standard, joint) * level)
        for finger in ("Thumb", "Index", "Middle", "Ring", "Pinky"):
            align_finger(skeleton, standard, f"{side}Hand{finger}", turns)
    return turns


def direction(skeleton: Skeleton, joint: int) -> FloatArray:
    """Return the unit vector (3,) from a bone's head to its tail."""
    along = skeleton.tails[joint] - skeleton.heads[joint]
    return np.asarray(along / np.linalg.norm(along))


def hand_alignment(skeleton: Skeleton, standard: Skeleton, side: str) -> FloatArray:
    """Return the rotation (4,) that aligns a hand with the standard one.

    It aligns the directions from wrist to knuckles and from index to little finger.
    """
    return quaternions.from_matrices(
        hand_frame(standard, side) @ hand_frame(skeleton, side).T
    )


def hand_frame(skeleton: Skeleton, side: str) -> FloatArray:
    """Return a hand's orthonormal axes as columns (3, 3).

    They point along the hand, across its back, and out of its back.
    """
    wrist, knuckle, index, little = (
        skeleton.heads[skeleton.index[f"{side}Hand{part}"]]
        for part in ("", "Middle1", "Index1", "Pinky1")
    )
    along = (knuckle - wrist) / np.linalg.norm(knuckle - wrist)
    across = little - index
    across = across - (across @ along) * along
    across = across / np.linalg.norm(across)
    return np.stack([along, across, np.cross(along, across)], axis=1)


def forearm_alignment(
    skeleton: Skeleton, standard: Skeleton, side: str, turns: FloatArray
) -> FloatArray:
    """Return the rotation (4,) that aligns a forearm with the standard one.

    Its roll is half-way between those of upper arm and hand.
    """
    joint = skeleton.index[side + "ForeArm"]
    halfway = quaternions.slerp(turns[skeleton.index[side + "Arm"]],
                                turns[skeleton.index[side + "Hand"]], np.array(0.5))
    now = quaternions.rotate(halfway, direction(skeleton, joint))
    return quaternions.multiply(
        quaternions.between(now, direction(standard, joint)), halfway
    )


def align_finger(skeleton: Skeleton, standard: Skeleton, finger: str, turns: FloatArray) -> None:
    """Align one finger, bone after bone, with the standard one.

    Its rotations are written into ``turns`` (J, 4).
    """
    for number in "123":
        joint = skeleton.index[finger + number]
        before = turns[skeleton.parents[joint]]
        now = quaternions.rotate(before, direction(skeleton, joint))
        turns[joint] = quaternions.multiply(
            quaternions.between(now, direction(standard, joint)), before
        )
