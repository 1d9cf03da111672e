"""Hands that are near each other or the head in the source are so on the target."""

from collections.abc import Mapping

import numpy as np

from mimegen.characters.character import Character
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.roles import SIDES
from mimegen.retarget.anatomy import leg_length, unit
from mimegen.retarget.limbs import bent_to
from mimegen.retarget.stance import outer_vertices

# Distances in metres at which wrists begin to matter to each other and to the head, and from
# which they do so fully.
HANDS_FAR, HANDS_NEAR = 0.36, 0.14
HEAD_FAR, HEAD_NEAR = 0.28, 0.12
# What holds a wrist where the rotations alone put it.
REST_WEIGHT = 0.05
# How far a bare face stands out before the head's middle.
FACE = 0.125
FOREHEAD = np.array([0.0, -0.03, 0.1])


def with_hands_meeting(motion: Motion, source: Motion, source_joints: Mapping[str, int],
                       character: Character, joints: Mapping[str, int]) -> Motion:
    """Return the target's motion with wrists as far from each other and the head as the source's.

    Distances are scaled by leg length; a helmet keeps hands off by as much as it stands out. Each
    wrist's shift is the least-squares balance of what the other hand, the head and the arm's own
    pose ask for; the elbow bends to reach it, the hand's rotation stays.
    """
    arms = [f"{side}_{part}" for side in SIDES for part in ("upper_arm", "forearm", "hand")]
    if any(role not in source_joints or role not in joints for role in arms):
        return motion
    scale = leg_length(motion.skeleton, joints) / leg_length(source.skeleton, source_joints)
    ours, our_head = _wrists_and_head(source, source_joints)
    theirs, their_head = _wrists_and_head(motion, joints)
    apart = (ours[:, 0] - ours[:, 1]) * scale
    across = apart - (theirs[:, 0] - theirs[:, 1])
    from_head = (ours - our_head[:, None]) * scale
    head = _nearness(np.linalg.norm(from_head, axis=2), HEAD_NEAR, HEAD_FAR)
    from_head += _bulge(character, joints) * unit(from_head)
    to_head = from_head - (theirs - their_head[:, None])
    hands = _nearness(np.linalg.norm(apart, axis=1), HANDS_NEAR, HANDS_FAR)
    return arms_bent(motion, joints, theirs + _balance(hands, head, across, to_head))


def _wrists_and_head(motion: Motion, joints: Mapping[str, int]) -> tuple[FloatArray, FloatArray]:
    """Return the places of left and right wrist (F, 2, 3) and of the head's middle (F, 3)."""
    pose = motion.global_pose
    middle = quaternions.rotate(pose.rotations[:, joints["head"]], FOREHEAD)
    wrists = [joints[f"{side}_hand"] for side in SIDES]
    return pose.positions[:, wrists], pose.positions[:, joints["head"]] + middle


def _nearness(distances: FloatArray, near: float, far: float) -> FloatArray:
    """Return weights that go smoothly from 1 at ``near`` to 0 at ``far``."""
    share = np.clip((far - distances) / (far - near), 0.0, 1.0)
    return np.asarray(share**2 * (3 - 2 * share))


def _balance(hands: FloatArray, head: FloatArray, across: FloatArray,
             to_head: FloatArray) -> FloatArray:
    """Solve the 2x2 normal equations of all frames at once for the wrists' shifts (F, 2, 3)."""
    matrix = np.zeros((len(hands), 2, 2))
    matrix[:, 0, 0] = REST_WEIGHT + hands + head[:, 0]
    matrix[:, 1, 1] = REST_WEIGHT + hands + head[:, 1]
    matrix[:, 0, 1] = matrix[:, 1, 0] = -hands
    pull = hands[:, None] * across
    right_side = np.stack([pull + head[:, :1] * to_head[:, 0], head[:, 1:] * to_head[:, 1] - pull],
                          axis=1)
    return np.asarray(np.linalg.solve(matrix, right_side))


def arms_bent(motion: Motion, joints: Mapping[str, int], goals: FloatArray) -> Motion:
    """Return the motion with elbows bent so that left and right wrist reach ``goals`` (F, 2, 3)."""
    pose = motion.global_pose
    rotations = pose.rotations.copy()
    for number, side in enumerate(SIDES):
        chain = [joints[f"{side}_{part}"] for part in ("upper_arm", "forearm", "hand")]
        inward = np.array([0.0, 0.0, -1.0 if side == "left" else 1.0])
        hinges = quaternions.rotate(pose.rotations[:, chain[0]], inward)
        bent_to(rotations, pose.positions, chain, goals[:, number], hinges)
    return Motion.from_global_rotations(motion.skeleton, motion.fps, motion.root_positions,
                                        quaternions.without_flips(rotations))


def _bulge(character: Character, joints: Mapping[str, int]) -> float:
    """Return how far (m) a helmet stands out before a bare face."""
    middle = character.skeleton.heads[joints["head"]] + FOREHEAD
    face = outer_vertices(character, {joints["head"]}) - middle
    before = face[np.all(np.abs(face[:, ::2]) < [0.06, 0.08], axis=1), 1]
    return max(0.0, float(-before.min()) - FACE) if len(before) else 0.0
