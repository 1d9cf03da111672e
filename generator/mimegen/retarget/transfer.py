"""Turn a source's motion into a character's performance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.vectors import product, unit
from mimegen.characters.character import Character, Performance
from mimegen.characters.followers import FOLLOWERS, follows, with_followers_turned
from mimegen.characters.helpers import ADDED, helped_joint, with_helpers_turned
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.hand_shapes import hand_shapes
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded
from mimegen.readers.names import SIDES
from mimegen.readers.roles import find_roles
from mimegen.retarget.anatomy import FINGERS, bone_direction, hand_axes, leg_length
from mimegen.retarget.arms import with_arms_apart
from mimegen.retarget.clearance import with_hands_clear
from mimegen.retarget.feet import feet_of, on_the_ground
from mimegen.retarget.ground import Ground
from mimegen.retarget.hands import with_hands_meeting
from mimegen.retarget.meeting import Performer, meeting
from mimegen.retarget.rest import Alignment
from mimegen.retarget.smoothing import as_lively, calmed
from mimegen.retarget.stance import standing_height
from mimegen.retarget.trunk import trunk_turns


@dataclass(frozen=True)
class TransferParameters:
    """How a source's motion is transferred.

    Chosen on the recordings of ``docs/research/retargeting.md``.
    """

    # Fraction of the twist between elbow and hand that the forearm takes, and not the wrist.
    forearm_share_of_twist: float = 0.6
    # Weight (see `feet.on_the_ground`) of keeping hips on the source's path: for one person, who
    # may walk on longer legs, and for several, who must keep meeting.
    alone: float = 1e-3
    together: float = 0.05


TRANSFER = TransferParameters()
# Beginnings of the roles whose rotations are smoothed: trunks and feet are solved from few markers,
# and bend slowly.
TWITCHY = ("hips", "spine", "chest", "neck", "left_foot", "right_foot", "left_toe", "right_toe")


def retarget(motion: Motion, character: Character,
             roles: Mapping[str, str] | None = None, *, hand_shape: str = "relaxed",
             repair: bool = True) -> Performance:
    """Let a character perform a motion (mimegen's convention) at the motion's frame rate.

    ``roles`` maps roles to the motion's joint names; without it they are found by name and shape.
    Fingers that the motion lacks get a ``hand_shape`` (mocap/hand_shapes.yaml). Without ``repair``,
    contacts of feet, hands and body stay as bone directions alone make them. Raises RequestError if
    a skeleton's essential roles cannot be found, or for an unknown hand shape.
    """
    return retarget_scene([(motion, roles)], [character], hand_shape=hand_shape, repair=repair)[0]


def retarget_scene(sources: Sequence[tuple[Motion, Mapping[str, str] | None]],
                   characters: Sequence[Character], *, hand_shape: str = "relaxed",
                   repair: bool = True) -> tuple[Performance, ...]:
    """Let several characters perform motions that share world coordinates and time.

    ``sources`` are motions with their roles as in `retarget`, one for each character. Horizontal
    positions are scaled by one factor for all, the geometric mean of the factors that each body
    would have alone, so that people who meet in the sources meet in the scene: hands of one person
    that touch another's hands or body do so there. All motions have the same frames and rate.
    Raises RequestError as `retarget` does.
    """
    known = [(rounded(motion), roles or find_roles(motion.skeleton, file="the motion").joints)
             for motion, roles in sources]
    goals = [_roles_of(character) for character in characters]
    own = [leg_scale(motion.skeleton, roles, character)
           for (motion, roles), character in zip(known, characters, strict=True)]
    scale = shared_scale(own)
    staying = TRANSFER.alone if len(known) == 1 else TRANSFER.together
    done = []
    for (motion, roles), character, goal in zip(known, characters, goals, strict=True):
        performance = _transferred(motion, roles, character, goal, scale, hand_shape)
        done.append(_repaired(performance, motion, roles, goal, scale, staying)
                    if repair else performance)
    if len(done) == 1 or not repair:
        return tuple(map(_with_helpers_turned, done))
    people = [Performer(motion, _numbered(motion.skeleton, roles), performance,
                        _numbered(performance.character.skeleton, goal), size)
              for (motion, roles), performance, goal, size
              in zip(known, done, goals, own, strict=True)]
    return tuple(_with_helpers_turned(person.performance) for person in meeting(people, scale))


def shared_scale(scales: Sequence[float]) -> float:
    """Return the factor of a scene's horizontal positions from those that each body would have."""
    # The geometric mean: for a tall and a short person, the scene is as much too large for the one
    # as it is too small for the other.
    return float(np.exp(np.mean(np.log(scales))))


def leg_scale(skeleton: Skeleton, roles: Mapping[str, str] | None, character: Character) -> float:
    """Return how many times as long as a motion's legs a character's are.

    Horizontal paths are scaled by this. ``roles`` are as in `retarget`.
    """
    roles = roles or find_roles(skeleton, file="the motion").joints
    own = leg_length(character.skeleton, _numbered(character.skeleton, _roles_of(character)))
    return own / leg_length(skeleton, _numbered(skeleton, roles))


def _with_helpers_turned(performance: Performance) -> Performance:
    return Performance(performance.character, rounded(
        with_followers_turned(with_helpers_turned(performance.motion))))


@lru_cache(maxsize=4)
def _roles_of(character: Character) -> Mapping[str, str]:
    return find_roles(character.skeleton, file=character.name).joints


def _numbered(skeleton: Skeleton, roles: Mapping[str, str]) -> dict[str, int]:
    return {role: skeleton.index[name] for role, name in roles.items()}


def _transferred(motion: Motion, roles: Mapping[str, str], character: Character,
                 goal_roles: Mapping[str, str], scale: float, hand_shape: str) -> Performance:
    """Return the performance that follows from bone directions and the scaled path of the hips."""
    target = character.skeleton
    source, goal = _numbered(motion.skeleton, roles), _numbered(target, goal_roles)
    if _same_skeleton(motion.skeleton, target):
        # The same bones in the same rest pose: rotations are copied, as any alignment would add an
        # error.
        order = [motion.skeleton.index[helped_joint(follows(name))] for name in target.names]
        rotations = motion.global_pose.rotations[:, order]
    else:
        aligned = _aligned(motion, roles, target, goal_roles)
        aligned |= {role: calmed(turns, motion.fps) for role, turns in aligned.items()
                    if role.startswith(TWITCHY)}
        places = {role: motion.global_pose.positions[:, joint] for role, joint in source.items()}
        rotations = _rotations(aligned, places, target, goal, motion.fps, hand_shape)
    root = _root(motion, source, target, goal, rotations, scale)
    return _with_helpers_turned(Performance(character, Motion.from_global_rotations(
        target, motion.fps, root, quaternions.without_flips(rotations))))


def _repaired(performance: Performance, source: Motion, roles: Mapping[str, str],
              goal_roles: Mapping[str, str], scale: float, staying: float) -> Performance:
    """Return the performance with contacts of hands, body and feet repaired."""
    character, moved = performance.character, performance.motion
    joints, goal = _numbered(source.skeleton, roles), _numbered(moved.skeleton, goal_roles)
    # Hands first: their contacts matter more than the ground's, and moving feet does not move hands
    # relative to the body.
    moved, touch = with_hands_meeting(rounded(moved), source, joints, character, goal)
    moved = rounded(moved)
    ground = Ground(character, goal)
    moved = ground.lifted(moved)
    # Feet after the body is lifted: they go to the ground from wherever that puts the hips.
    feet = feet_of(moved, source, joints, character, goal, scale)
    moved = rounded(on_the_ground(rounded(moved), feet, ground, staying))
    # Arms before hands, and once more afterwards: a hand that is taken out of the body must not
    # push its arm into the other arm.
    apart = with_arms_apart(moved, character, goal, touch)
    clear = with_hands_clear(apart, character, goal, touch.on_shaft)
    moved = with_arms_apart(clear, character, goal, touch, apart)
    if moved is not clear:
        # No rounds of moving palms out of the body: these would take arms back into each other.
        moved = with_hands_clear(moved, character, goal, touch.on_shaft, 0)
    return Performance(character, ground.hands_lifted(moved))


def _same_skeleton(source: Skeleton, target: Skeleton) -> bool:
    """Return whether rotations can be copied: both have the same joints in the same rest pose."""
    names = [name for name in target.names if name not in {*ADDED, *FOLLOWERS}]
    if not set(names) <= set(source.names):
        return False
    order, own = ([skeleton.index[name] for name in names] for skeleton in (source, target))
    source_ways = unit(source.tails[order] - source.heads[order])
    target_ways = unit(target.tails[own] - target.heads[own])
    return bool(np.median(np.sum(source_ways * target_ways, axis=1)) > np.cos(np.radians(1.0)))


def _aligned(motion: Motion, roles: Mapping[str, str], target: Skeleton,
             goal_roles: Mapping[str, str]) -> dict[str, FloatArray]:
    """Return global rotations (F, 4) from the target's rest pose for every role of the source."""
    alignment = Alignment(motion, roles, target, goal_roles)
    turns = motion.global_pose.rotations
    return {role: quaternions.multiply(turns[:, motion.skeleton.index[roles[role]]],
                                       quaternions.conjugate(correction))
            for role, correction in alignment.corrections.items()}


def _rotations(aligned: dict[str, FloatArray], places: Mapping[str, FloatArray],
               target: Skeleton, goal: Mapping[str, int], fps: float,
               hand_shape: str) -> FloatArray:
    """Return global rotations (F, J, 4) of all the target's joints.

    ``aligned`` are the source's rotations from the target's rest pose; ``places`` (F, 3) the
    positions of its joints.
    """
    turns = {role: turn for role, turn in aligned.items() if role in goal}
    heads = {role: target.heads[joint] for role, joint in goal.items()}
    turns |= trunk_turns(aligned, places, heads, fps)
    for side in SIDES:
        turns |= _forearm(turns, target, goal, side)
    shaped = _shaped_fingers(target, goal, set(turns), hand_shape)
    rotations = np.empty((len(aligned["hips"]), len(target.names), 4))
    role_of = {joint: role for role, joint in goal.items()}
    for joint, parent in enumerate(target.parents):
        role = role_of.get(joint)
        if role in turns:
            rotations[:, joint] = turns[role]
        else:
            above = rotations[:, parent] if parent >= 0 else turns["hips"]
            rotations[:, joint] = quaternions.multiply(
                above, shaped.get(joint, quaternions.IDENTITY))
    return rotations


def _forearm(turns: dict[str, FloatArray], target: Skeleton, goal: Mapping[str, int],
             side: str) -> dict[str, FloatArray]:
    """Return the forearm's rotation with a share of the hand's twist, so that skin wrings less."""
    upper, lower, hand = (f"{side}_{part}" for part in ("upper_arm", "forearm", "hand"))
    along = bone_direction(target, goal, lower)
    if hand not in turns or along is None:
        return {}
    # The forearm's rotation without any twist relative to the upper arm.
    straight = quaternions.multiply(quaternions.between(
        quaternions.rotate(turns[upper], along), quaternions.rotate(turns[lower], along)),
        turns[upper])
    between = quaternions.multiply(quaternions.conjugate(straight), turns[hand])
    twist = quaternions.twist_about(between, along)
    # q and -q are the same rotation, so half the angle is unwrapped with period pi: the hand may
    # turn past 180 degrees without a jump of the forearm.
    angle = 2 * np.unwrap(np.arctan2(product(twist[:, 1:], along), twist[:, 0]), period=np.pi)
    # A full turn more or less gives the same hand: the one nearest to thumbs up is anatomical.
    angle -= 2 * np.pi * np.round(np.median(angle) / (2 * np.pi))
    share = quaternions.from_rotation_vectors(
        (TRANSFER.forearm_share_of_twist * angle)[:, None] * along)
    return {lower: quaternions.multiply(straight, share)}


def _shaped_fingers(target: Skeleton, goal: Mapping[str, int], known: set[str],
                    hand_shape: str) -> dict[int, FloatArray]:
    """Return local rotations (4,), by joint, for the fingers that the source lacks."""
    shape = hand_shapes().get(hand_shape)
    if shape is None:
        raise RequestError(f"no hand shape {hand_shape!r}, expected one of"
                           f" {', '.join(sorted(hand_shapes()))}")
    bends = {"index": shape.index, "middle": shape.middle, "ring": shape.ring,
             "pinky": shape.pinky, "thumb": (max(0.0, shape.thumb[0]) / 4, *shape.thumb[2:])}
    found = {}
    for side in SIDES:
        axes = hand_axes(target.heads, goal, side)
        for finger in FINGERS if axes else ():
            for number, angle in enumerate(bends[finger], 1):
                role = f"{side}_{finger}{number}"
                if axes is None or role not in goal or role in known:
                    continue
                along = bone_direction(target, goal, role)
                # Thumbs bend halfway between towards the palm and along the hand.
                palm = -axes[1] if finger != "thumb" else axes[0] - axes[1]
                bend = unit(np.cross(axes[0] if along is None else along, palm))
                found[goal[role]] = quaternions.from_rotation_vectors(np.radians(angle) * bend)
    return found


def _root(motion: Motion, source: Mapping[str, int], target: Skeleton, goal: Mapping[str, int],
          rotations: FloatArray, scale: float) -> FloatArray:
    """Return the root's path (F, 3), from the middle between the source's hip joints.

    Heights are scaled by leg length, horizontal positions by ``scale``.
    """
    legs = leg_length(target, goal) / leg_length(motion.skeleton, source)
    places = motion.global_pose.positions
    hips = (places[:, source["left_thigh"]] + places[:, source["right_thigh"]]) / 2
    middle = (target.heads[goal["left_thigh"]] + target.heads[goal["right_thigh"]]) / 2
    ankle = target.heads[[goal["left_foot"], goal["right_foot"]], 2].mean()
    level = standing_height(motion, source)
    # Horizontally by the scene's one factor, so that people meet; heights by the person's own legs,
    # so that feet reach the ground.
    size = np.array([scale, scale, legs])
    path = (hips - [0.0, 0.0, level]) * size + [0.0, 0.0, ankle]
    root = path - quaternions.rotate(rotations[:, 0], middle - target.heads[0])
    # One joint's path has its markers' noise; the trunk as a whole moves more calmly.
    return as_lively(root, _calmest(motion, source) * size, motion.fps)


def _calmest(motion: Motion, source: Mapping[str, int]) -> FloatArray:
    """Return the mean path (F, 3) of the trunk's joints, with higher weights for calm ones."""
    places = motion.global_pose.positions
    trunk = places[:, [source[role] for role in
                       ("hips", "left_upper_arm", "right_upper_arm", "head")]]
    if motion.frames < 4:
        return np.asarray(trunk.mean(axis=1))
    # Weighted by the inverse square of their jerk, as for independent errors.
    jerk = np.linalg.norm(np.diff(trunk, n=3, axis=0), axis=2).mean(axis=0)
    return np.asarray(np.average(trunk, axis=1, weights=1 / np.maximum(jerk, 1e-9) ** 2))
