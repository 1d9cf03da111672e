"""Faults of movement: motions that no body can make."""

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.vectors import unit
from mimegen.characters.character import Performance
from mimegen.faults.acting import SIDES, Acting, ease_of
from mimegen.faults.fault import FaultRecord
from mimegen.motion import Motion, quaternions
from mimegen.motion.limbs import middle_joint
from mimegen.motion.quaternions import FloatArray

Faulty = tuple[Performance, FaultRecord]
# Frequency of slides; in short spans it is higher, so that they have room for both directions.
SLIDE_HZ = 0.6
NECK_SHARE = 0.4
# Rate of twitches, and half the duration of one.
TWITCHES_HZ = 3.0
TWITCH_S = 0.16
BENDING = ("left_forearm", "right_forearm", "left_shin", "right_shin")
BACKWARDS = np.array([0.0, 1.0, 0.0])
UP = np.array([0.0, 0.0, 1.0])
# How far behind the chest's joint a hand that goes through the body comes out, in metres.
BEHIND_M = 0.25


def foot_slide(acting: Acting) -> Faulty:
    """Slide the whole body, with its feet, to and fro along the ground."""
    span = acting.span()
    heading = acting.random.uniform(0.0, 2.0 * np.pi)
    way = np.array([np.cos(heading), np.sin(heading), 0.0])
    hz = max(SLIDE_HZ, 0.75 / (span[1] - span[0] - ease_of(span)))
    swing = np.sin(2 * np.pi * hz * (acting.times - span[0])) * acting.strength(span)
    shift = acting.fault.value / 2 * swing[:, None] * way
    feet = tuple(acting.name(f"{side}_foot") for side in SIDES)
    return acting.with_root(shift), acting.record(span, joints=feet)


def float_(acting: Acting) -> Faulty:
    """Lift the body off the ground."""
    span = acting.span()
    shift = acting.fault.value * acting.strength(span)[:, None] * UP
    return acting.with_root(shift), acting.record(span, joints=(acting.name("hips"),))


def sink(acting: Acting) -> Faulty:
    """Sink the body into the ground, which hides the part below it."""
    span = acting.span()
    shift = -acting.fault.value * acting.strength(span)[:, None] * UP
    return acting.with_root(shift), acting.record(span, joints=(acting.name("hips"),))


def joint_backwards(acting: Acting) -> Faulty:
    """Bend a random elbow or knee the wrong way, regardless of its own bend."""
    span = acting.span()
    role = str(acting.random.choice(BENDING))
    rotations = acting.motion.rotations.copy()
    joint = acting.joints[role]
    hinge = _hinge(acting, role)
    # The rest pose may already bend the joint correctly; the amount counts from the straight limb.
    wrong = quaternions.from_rotation_vectors(
        -(np.radians(acting.fault.value) + _bent(acting, role, hinge)) * hinge)
    rotations[:, joint] = quaternions.slerp(rotations[:, joint], wrong, acting.strength(span))
    return acting.with_turns(rotations), acting.record(span, joints=(acting.name(role),))


def _hinge(acting: Acting, role: str) -> FloatArray:
    """Return the axis (3,) about which a joint bends correctly: elbows forward, knees backward."""
    side, part = role.split("_")
    end, way = ("hand", -BACKWARDS) if part == "forearm" else ("foot", BACKWARDS)
    return unit(np.cross(acting.bone(role, f"{side}_{end}"), way))


def _bent(acting: Acting, role: str, hinge: FloatArray) -> float:
    """Return how far the rest pose bends a joint correctly about its hinge, in radians."""
    side, part = role.split("_")
    above, end = ("upper_arm", "hand") if part == "forearm" else ("thigh", "foot")
    upper, lower = acting.bone(f"{side}_{above}", role), acting.bone(role, f"{side}_{end}")
    return float(np.arctan2(np.cross(upper, lower) @ hinge, upper @ lower))


def hand_through_body(acting: Acting) -> Faulty:
    """Move the hand that moves more into the chest and, for larger amounts, out of the back."""
    span, side = acting.span(), acting.moving_side()
    places = acting.motion.global_pose.positions
    wrist = places[:, acting.joints[f"{side}_hand"]]
    goal = _behind(acting)
    share = (acting.fault.value * acting.strength(span))[:, None]
    reached = _with_hand_at(acting, side, wrist + share * (goal - wrist))
    return reached, acting.record(span, joints=(acting.name(f"{side}_hand"),))


def _behind(acting: Acting) -> FloatArray:
    """Return the positions (F, 3) that are BEHIND_M behind the chest, in the chest's axes."""
    pose = acting.motion.global_pose
    chest = acting.joints.get("chest", acting.joints["hips"])
    return pose.positions[:, chest] + quaternions.rotate(
        pose.rotations[:, chest], BEHIND_M * BACKWARDS)


def _with_hand_at(acting: Acting, side: str, goal: FloatArray) -> Performance:
    """Return the performance with a wrist at ``goal`` (F, 3), or as near as the arm reaches."""
    upper, lower, hand = (acting.joints[f"{side}_{part}"] for part in
                          ("upper_arm", "forearm", "hand"))
    pose, heads = acting.motion.global_pose, acting.skeleton.heads
    lengths = np.linalg.norm([heads[lower] - heads[upper], heads[hand] - heads[lower]], axis=1)
    shoulder, elbow = pose.positions[:, upper], pose.positions[:, lower]
    reach = goal - shoulder
    distance = np.clip(np.linalg.norm(reach, axis=1), 0.05, 0.999 * lengths.sum())
    along, aside = middle_joint(lengths[0], lengths[1], distance)
    line = unit(reach)
    bend = elbow - shoulder
    bend = unit(bend - np.sum(bend * line, axis=1, keepdims=True) * line)
    middle = shoulder + along[:, None] * line + aside[:, None] * bend
    turns = pose.rotations.copy()
    _turn_below(acting, turns, upper, elbow - shoulder, middle - shoulder)
    forearm = quaternions.rotate(turns[:, lower], heads[hand] - heads[lower])
    _turn_below(acting, turns, lower, forearm, shoulder + distance[:, None] * line - middle)
    moved = Motion.from_global_rotations(acting.skeleton, acting.motion.fps,
                                         acting.motion.root_positions, turns)
    return acting.with_turns(moved.rotations)


def _turn_below(acting: Acting, turns: FloatArray, joint: int, old: FloatArray,
                new: FloatArray) -> None:
    """Rotate a joint and all below it, in ``turns`` (F, J, 4), from direction ``old`` to ``new``.

    ``old`` and ``new`` (F, 3) are vectors in the world.
    """
    turn = quaternions.between(old, new)
    for number in acting.below(joint):
        turns[:, number] = quaternions.multiply(turn, turns[:, number])


def head_turned(acting: Acting) -> Faulty:
    """Turn neck and head to a random side."""
    span = acting.span()
    angle = np.radians(acting.fault.value) * acting.strength(span) * acting.random.choice([-1, 1])
    neck = next((role for role in ("neck1", "neck") if role in acting.joints), None)
    shares = {"head": 1.0} if neck is None else {neck: NECK_SHARE, "head": 1 - NECK_SHARE}
    rotations = acting.motion.rotations.copy()
    for role, share in shares.items():
        joint = acting.joints[role]
        turn = quaternions.from_rotation_vectors((angle * share)[:, None] * UP)
        rotations[:, joint] = quaternions.multiply(rotations[:, joint], turn)
    return acting.with_turns(rotations), acting.record(span, joints=tuple(
        acting.name(role) for role in shares))


def twitches(acting: Acting) -> Faulty:
    """Make arms and head jerk about three times a second, each time about a random axis."""
    span = acting.span()
    roles = [role for role in ("left_upper_arm", "right_upper_arm", "left_forearm",
                               "right_forearm", "head") if role in acting.joints]
    rotations = acting.motion.rotations.copy()
    late = 0.5 / TWITCHES_HZ
    moments = np.arange(span[0] + TWITCH_S, span[1] - TWITCH_S - late, 1 / TWITCHES_HZ)
    if not len(moments):
        raise RequestError(f"--fault {acting.fault.name}: the clip is too short for a twitch, with"
                           f" {acting.seconds:.2f} s; use one of at least a second")
    for moment in moments:
        joint = acting.joints[str(acting.random.choice(roles))]
        jerk = _jerk(acting, moment + acting.random.uniform(0, late))
        rotations[:, joint] = quaternions.multiply(rotations[:, joint], jerk)
    return acting.with_turns(rotations), acting.record(span, joints=tuple(
        acting.name(role) for role in roles))


def _jerk(acting: Acting, moment: float) -> FloatArray:
    """Return rotations (F, 4): a short turn about a random axis around a time, else none."""
    axis = unit(acting.random.normal(size=3))
    size = acting.random.uniform(0.6, 1.0) * np.radians(acting.fault.value)
    share = np.clip(1 - np.abs(acting.times - moment) / TWITCH_S, 0.0, 1.0)
    return quaternions.from_rotation_vectors((size * share)[:, None] * axis)


def frozen_limb(acting: Acting) -> Faulty:
    """Freeze the arm that moves more in its pose for a span of the clip."""
    side = acting.moving_side()
    start = (1 - acting.fault.value) * acting.seconds * acting.random.uniform(0.4, 0.6)
    end = start + acting.fault.value * acting.seconds
    first, last = (int(np.clip(round(moment * acting.motion.fps), 0, acting.motion.frames - 1))
                   for moment in (start, end))
    root = next(role for role in (f"{side}_clavicle", f"{side}_upper_arm") if role in acting.joints)
    rotations = acting.motion.rotations.copy()
    for joint in acting.below(acting.joints[root]):
        rotations[first : last + 1, joint] = rotations[first, joint]
    return acting.with_turns(rotations), acting.record(
        (first / acting.motion.fps, last / acting.motion.fps), joints=(acting.name(root),))
