"""Find when the feet of motions and of performances stand on the ground."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Performance
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.footfalls import standing_feet
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.readers.roles import find_roles
from mimegen.retarget.rest import Alignment
from mimegen.retarget.stance import sole, stays_afloat

# How far the standard skeleton's heel lies behind its ankle, in metres.
HEEL_M = 0.05


def feet_standing(motion: Motion, roles: Mapping[str, str] | None = None,
                  loop: bool = False) -> NDArray[np.bool_] | None:
    """Return a mask (F, 2) of the frames in which the left and the right foot stand.

    ``roles`` maps roles to joint names; without it they are found. ``loop`` is as in
    `standing_feet`. None if the skeleton has no joints at the toes, without which the end of a
    contact cannot be told.
    """
    roles = roles or find_roles(motion.skeleton).joints
    if not all(f"{side}_toe" in roles for side in SIDES):
        return None
    joints = {role: motion.skeleton.index[name] for role, name in roles.items()}
    if stays_afloat(motion, joints):
        return np.zeros((motion.frames, len(SIDES)), bool)
    return standing_feet(_motion_soles(motion, roles), motion.fps, loop=loop)


def performed_standing(performance: Performance, loop: bool = False) -> NDArray[np.bool_]:
    """Return a mask (F, 2) of the frames in which a character's feet stand on the stage's floor."""
    return standing_feet(_character_soles(performance), performance.motion.fps, 0.0, loop)


def _motion_soles(motion: Motion, roles: Mapping[str, str]) -> FloatArray:
    """Return the points of the soles (F, 2, 3, 3): heels, balls and tips of the toes.

    They are those of the standard skeleton, scaled to the motion's feet.
    """
    standard = standard_skeleton()
    goal = _standard_roles()
    corrections = Alignment(motion, roles, standard, goal).corrections
    pose, soles = motion.global_pose, []
    for side in SIDES:
        ankle, toe = (motion.skeleton.index[roles[f"{side}_{part}"]] for part in ("foot", "toe"))
        turns = [quaternions.multiply(pose.rotations[:, joint], quaternions.conjugate(
            corrections.get(f"{side}_{part}", corrections[f"{side}_foot"])))
            for joint, part in ((ankle, "foot"), (toe, "toe"))]
        places = pose.positions[:, ankle], pose.positions[:, toe]
        soles.append(_sole_points(places, turns, _standard_sole(standard, goal, side)))
    return np.stack(soles, axis=1)


@lru_cache(maxsize=1)
def _standard_roles() -> Mapping[str, str]:
    return find_roles(standard_skeleton()).joints


def _standard_sole(skeleton: Skeleton, roles: Mapping[str, str], side: str) -> FloatArray:
    """Return heel and ball from the ankle, tip from the toe joint, the toe joint from the ankle."""
    ankle, toe = (skeleton.index[roles[f"{side}_{part}"]] for part in ("foot", "toe"))
    level = np.array([1.0, 1.0, 0.0])
    start, joint, end = skeleton.heads[ankle], skeleton.heads[toe], skeleton.tails[toe]
    heel = start * level + [0.0, HEEL_M, 0.0]
    return np.array([heel - start, joint * level - start, end * level - joint, joint - start])


def _sole_points(places: tuple[FloatArray, FloatArray], turns: list[FloatArray],
                 sole_points: FloatArray) -> FloatArray:
    """Return the points (F, 3, 3) of a sole from ankle and toe joint, (F, 3) each."""
    heel, ball, tip, toes = sole_points
    size = np.median(np.linalg.norm(places[1] - places[0], axis=1)) / np.linalg.norm(toes)
    return np.stack([places[0] + quaternions.rotate(turns[0], size * heel),
                     places[0] + quaternions.rotate(turns[0], size * ball),
                     places[1] + quaternions.rotate(turns[1], size * tip)], axis=1)


def _character_soles(performance: Performance) -> FloatArray:
    """Return the points of a character's own soles (F, 2, 3, 3): heels, balls, tips of the toes."""
    character, motion = performance.character, performance.motion
    roles = find_roles(character.skeleton, file=character.name).joints
    joints = {role: character.skeleton.index[name] for role, name in roles.items()}
    pose, soles = motion.global_pose, []
    for side in SIDES:
        known, ankle = sole(character, joints, side), joints[f"{side}_foot"]
        toe = joints.get(f"{side}_toe", ankle)
        on_foot = [pose.positions[:, ankle] + quaternions.rotate(pose.rotations[:, ankle], point)
                   for point in (known.heel, known.ball, known.toes)]
        tip = on_foot[2] + quaternions.rotate(pose.rotations[:, toe], known.tip)
        soles.append(np.stack([on_foot[0], on_foot[1], tip], axis=1))
    return np.stack(soles, axis=1)
