"""Legs: feet on the floor, heels that lift when a leg is too short, and hips and knees."""

from typing import NamedTuple

import numpy as np
import scipy

from mimegen.base.angles import wrapped_deg
from mimegen.base.easing import ramp
from mimegen.base.vectors import lengths, unit
from mimegen.choreography.timing import widened
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.limbs import BentLimb, Limb, bend, eased_reach
from mimegen.motion.quaternions import FloatArray

# A foot whose ball is lower than this stands.
PLANTED_HEIGHT_M = 0.006
# Candidates for the lift of a heel, in degrees.
HEEL_ANGLES = np.arange(0.0, 66.0, 1.0)
# The heel lifts before a leg is straighter than this fraction of its length; in standing the leg
# may be as straight as STANDING.
STRAIGHTEST = 0.997
STANDING = 0.9995
HEEL_SMOOTHING_S = 0.03
# A hip that is too high even on tiptoe, with the heel lifted by TIPTOE_DEG, is lowered by at most
# TOO_HIGH_M; less if the foot is raised, and not at all from TIPTOE_M on.
TIPTOE_DEG = 45.0
TIPTOE_M = 0.03
TOO_HIGH_M = 0.08
HEEL_BEHIND_ANKLE_M = 0.045
# A foot is fully in the air if it is this much higher than PLANTED_HEIGHT_M.
IN_AIR_M = 0.06
# Under a steep heel, as in running, the toes leave the floor later than the foot: not at all below
# the first angle, fully from the second, until the foot is this high (m).
STEEP_DEG = (60.0, 90.0)
TOES_LAG_M = 0.14
# A foot that is left too far behind comes up over its toes: this long around that time, and this
# far at most.
TOE_OFF_S = 0.05
TOE_OFF_M = 0.1
# Largest angle between the knee's and the pelvis' direction, whichever way the foot is turned.
HIP_TURN_DEG = 75.0
# A person begins to lie on the belly if the front of the pelvis points down by more than this
# cosine.
LYING = 0.8
# A person lies on the back if the front of the pelvis points up and its top does not. Both are
# cosines with the vertical: the change begins at the first value and is complete at the second.
FRONT_UP = (0.15, 0.4)
TOP_UP = (0.5, 0.2)
# A foot is behind if the line from the hip to it points backwards: the cosines at which this begins
# and is complete.
BEHIND = (0.5, 0.8)
# Limits of the ankle, toes up and toes down: in a deeper squat the heel lifts, in a jump the toes
# point no farther. The heel is corrected ANKLE_ROUNDS times.
RAISED_DEG = 42.0
POINTED_DEG = 58.0
ANKLE_ROUNDS = 2


class FootGoal(NamedTuple):
    """The goal of one foot.

    ``ball`` (F, 3) are the positions of its ball in the world, in metres. ``turn`` (F,) is the
    toes' turn to the left and ``heel`` (F,) the heel's lift, in degrees; below 0 the toes are
    lifted instead. The heel lifts further before the leg is straighter than ``straightest``, a
    fraction of its length, one for all frames or (F,).
    """

    ball: FloatArray
    turn: FloatArray
    heel: FloatArray
    straightest: FloatArray | float = STRAIGHTEST


def leg_limb(skeleton: Skeleton, side: str) -> Limb:
    """Return the leg at rest; knees point forward."""
    hip, knee, ankle = (
        skeleton.heads[skeleton.index[side + name]] for name in ("UpLeg", "Leg", "Foot")
    )
    return Limb(knee - hip, ankle - knee, np.array([0.0, -1.0, 0.0]))


def too_high(skeleton: Skeleton, side: str, hip: FloatArray, goal: FootGoal) -> FloatArray:
    """Return by how many metres (F,) a hip (F, 3) is too high for a foot on tiptoe on the floor."""
    ankle = _ankle(skeleton, side, goal, np.full_like(goal.heel, TIPTOE_DEG))
    reach = goal.straightest * leg_limb(skeleton, side).reach
    flat = np.linalg.norm((hip - ankle)[:, :2], axis=-1)
    over = hip[:, 2] - ankle[:, 2] - np.sqrt(np.maximum(reach**2 - flat**2, 0.0))
    standing = 1.0 - np.clip(raised(skeleton, side, goal) / TIPTOE_M, 0.0, 1.0)
    return np.asarray(standing * np.clip(over, 0.0, TOO_HIGH_M))


def leg_rotations(
    skeleton: Skeleton, side: str, hip: FloatArray, pelvis: FloatArray, goal: FootGoal,
    fps: float,
) -> dict[str, FloatArray]:
    """Return the global rotations (F, 4) of a leg's joints by name.

    ``hip`` (F, 3) are the hip's positions, ``pelvis`` (F, 4) the pelvis' rotations.
    """
    least = _heel_lift(skeleton, side, hip, goal, leg_limb(skeleton, side).reach)
    heel = goal.heel + _unhurried(np.maximum(least - np.maximum(goal.heel, 0.0), 0.0), fps)
    goal = _toe_off(skeleton, side, hip, goal, heel, fps)
    in_air = _in_air(skeleton, side, goal)
    for _ in range(ANKLE_ROUNDS):
        bent = _bent(skeleton, side, hip, pelvis, goal, heel, in_air)
        raised = ankle_angle(skeleton, side, quaternions.from_frames(bent.lower),
                             _foot_rotation(goal.turn, heel))
        beyond = np.maximum(raised - RAISED_DEG, 0.0) + in_air * np.minimum(
            raised + POINTED_DEG, 0.0)
        heel = heel + scipy.ndimage.gaussian_filter1d(beyond, HEEL_SMOOTHING_S * fps,
                                                      mode="nearest")
    bent = _bent(skeleton, side, hip, pelvis, goal, heel, in_air)
    foot = _foot_rotation(goal.turn, heel)
    # The toes of a standing foot lie flat on the floor, or lift with the foot if it is on its heel.
    toe = quaternions.slerp(_foot_rotation(goal.turn, np.minimum(heel, 0.0)), foot,
                            _toes_up(skeleton, side, goal, heel, in_air))
    return {
        f"{side}UpLeg": quaternions.from_frames(bent.upper),
        f"{side}Leg": quaternions.from_frames(bent.lower),
        f"{side}Foot": foot,
        f"{side}ToeBase": toe,
    }


def ankle_angle(skeleton: Skeleton, side: str, shin: FloatArray, foot: FloatArray) -> FloatArray:
    """Return the ankle's angle (F,) in degrees from rest, above 0 with the toes towards the shin.

    ``shin`` and ``foot`` (F, 4) are global rotations.
    """
    knee, ankle = (skeleton.heads[skeleton.index[side + name]] for name in ("Leg", "Foot"))
    down, ahead = unit(ankle - knee), unit(_instep(skeleton, side))
    now = np.sum(quaternions.rotate(shin, down) * quaternions.rotate(foot, ahead), axis=-1)
    at_rest = np.arccos(np.clip(np.sum(down * ahead), -1.0, 1.0))
    return np.asarray(np.rad2deg(np.arccos(np.clip(now, -1.0, 1.0)) - at_rest))


def _bent(skeleton: Skeleton, side: str, hip: FloatArray, pelvis: FloatArray, goal: FootGoal,
          heel: FloatArray, in_air: FloatArray) -> BentLimb:
    """Return the leg bent to put its foot at the goal, with the heel lifted by ``heel`` (F,)."""
    line = _ankle(skeleton, side, goal, heel) - hip
    distance = lengths(line)
    # In the air a leg that is too short is softly limited to its length, or the knee would snap.
    eased = eased_reach(distance, leg_limb(skeleton, side).reach)
    ankle = hip + line * (1.0 + in_air * (eased / distance - 1.0))[:, None]
    forward = np.array([0.0, -1.0, 0.0])
    ahead = quaternions.rotate(pelvis, forward)
    facing = _facing(pelvis, ahead)
    apart = wrapped_deg(goal.turn - facing)
    apart = np.clip(apart, -HIP_TURN_DEG, HIP_TURN_DEG)
    # On the belly, the pelvis has no direction along the floor: the knee then follows the foot.
    lying = np.clip((-ahead[:, 2] - LYING) / (1.0 - LYING), 0.0, 1.0)
    turn = facing + apart + lying * (goal.turn - facing - apart)
    toes = quaternions.rotate(_foot_rotation(turn, np.zeros_like(heel)), forward)
    outward = np.array([0.12 if side == "Left" else -0.12, 0.0, 0.0])
    pole = unit(0.6 * toes + 0.5 * quaternions.rotate(pelvis, forward + outward))
    # If the thigh points forward, or the foot is behind, the leg is nearly parallel to the pole,
    # which then does not determine the knee: it points up instead, or down, as in kneeling.
    level = quaternions.rotate(_foot_rotation(facing, np.zeros_like(heel)), forward)
    behind = ramp(-np.sum(unit(line) * level, axis=-1), *BEHIND)
    pole[:, 2] += (1.0 - lying) * (0.35 - behind)
    return bend(leg_limb(skeleton, side), hip, ankle, pole)


def _facing(pelvis: FloatArray, ahead: FloatArray) -> FloatArray:
    """Return the pelvis' heading (F,) along the floor, in degrees to the left of -Y.

    ``ahead`` (F, 3) is the direction of its front. If a person lies on the back and the front
    passes straight up, its horizontal part reverses, but the line across the hips does not; so the
    hips give the direction there.
    """
    facing = np.rad2deg(np.arctan2(ahead[:, 0], -ahead[:, 1]))
    left = quaternions.rotate(pelvis, np.array([1.0, 0.0, 0.0]))
    across = np.rad2deg(np.arctan2(left[:, 1], left[:, 0]))
    upright = quaternions.rotate(pelvis, np.array([0.0, 0.0, 1.0]))[:, 2]
    on_back = ramp(ahead[:, 2], *FRONT_UP) * ramp(upright, *TOP_UP)
    return np.asarray(facing + on_back * wrapped_deg(across - facing))


def _toe_off(skeleton: Skeleton, side: str, hip: FloatArray, goal: FootGoal, heel: FloatArray,
             fps: float) -> FootGoal:
    """Return the goal of a foot, lifted over its toes where it is left too far behind to reach."""
    line = hip - _ankle(skeleton, side, goal, heel)
    over = np.maximum(lengths(line) - goal.straightest * leg_limb(skeleton, side).reach, 0.0)
    wide = widened(over, TOE_OFF_S, 0.5 * TOE_OFF_S, fps)
    return goal._replace(ball=goal.ball + np.minimum(wide, TOE_OFF_M)[:, None] * unit(line))


def _in_air(skeleton: Skeleton, side: str, goal: FootGoal) -> FloatArray:
    """Return how far (F,) a foot is off the floor: 0 standing, 1 fully in the air."""
    height = raised(skeleton, side, goal)
    return np.asarray(np.clip((height - PLANTED_HEIGHT_M) / IN_AIR_M, 0.0, 1.0))


def _toes_up(skeleton: Skeleton, side: str, goal: FootGoal, heel: FloatArray, in_air: FloatArray
             ) -> FloatArray:
    """Return how far (F,) the toes have lifted with the foot: 0 flat on the floor, 1 fully."""
    way = np.clip(raised(skeleton, side, goal) / TOES_LAG_M, 0.0, 1.0)
    return np.asarray(in_air + ramp(heel, *STEEP_DEG) * (np.sin(np.pi / 2 * way) - in_air))


def raised(skeleton: Skeleton, side: str, goal: FootGoal) -> FloatArray:
    """Return the height (F,), in metres, of a foot above standing on its ball or its heel."""
    return np.asarray(goal.ball[:, 2] - _ball(skeleton, side)[2]
                      - rolled_up(skeleton, side, goal.heel))


def leg_length(skeleton: Skeleton, side: str, knee_deg: float) -> float:
    """Return the distance from hip to ankle, in metres, with the knee bent by ``knee_deg``."""
    limb = leg_limb(skeleton, side)
    thigh, shin = float(np.linalg.norm(limb.upper)), float(np.linalg.norm(limb.lower))
    return float(np.sqrt(thigh**2 + shin**2 + 2 * thigh * shin * np.cos(np.deg2rad(knee_deg))))


def ankle_position(skeleton: Skeleton, side: str, goal: FootGoal) -> FloatArray:
    """Return the ankle's positions (F, 3) with the heel lifted as in the goal."""
    return _ankle(skeleton, side, goal, goal.heel)


def on_heel(skeleton: Skeleton, side: str, goal: FootGoal) -> FootGoal:
    """Return the goal with the ball moved as the foot turns about its heel to lift the toes."""
    length, ball = _from_heel(skeleton, side)
    angle = np.deg2rad(np.minimum(goal.heel, 0.0))
    yaw = np.deg2rad(goal.turn)
    toes = np.stack([np.sin(yaw), -np.cos(yaw), np.zeros_like(yaw)], axis=-1)
    places = goal.ball - toes * (length * (1 - np.cos(angle)) - ball * np.sin(angle))[:, None]
    places[:, 2] = np.maximum(goal.ball[:, 2], ball + rolled_up(skeleton, side, goal.heel))
    return goal._replace(ball=places)


def rolled_up(skeleton: Skeleton, side: str, heel: FloatArray) -> FloatArray:
    """Return how much higher (F,), in metres, the ball is if the foot stands only on its heel."""
    length, ball = _from_heel(skeleton, side)
    angle = np.deg2rad(np.minimum(heel, 0.0))
    return np.asarray(ball * (np.cos(angle) - 1.0) - length * np.sin(angle))


def _from_heel(skeleton: Skeleton, side: str) -> tuple[float, float]:
    """Return how far the ball is ahead of the heel, about which the foot turns, and its height."""
    ball, foot = _ball(skeleton, side), skeleton.heads[skeleton.index[f"{side}Foot"]]
    return float(np.linalg.norm((ball - foot)[:2])) + HEEL_BEHIND_ANKLE_M, float(ball[2])


def _ball(skeleton: Skeleton, side: str) -> FloatArray:
    return np.asarray(skeleton.heads[skeleton.index[f"{side}ToeBase"]])


def _instep(skeleton: Skeleton, side: str) -> FloatArray:
    return np.asarray(_ball(skeleton, side) - skeleton.heads[skeleton.index[f"{side}Foot"]])


def _ankle(skeleton: Skeleton, side: str, goal: FootGoal, heel: FloatArray) -> FloatArray:
    """Return the ankle's positions (F, 3) above the goal's ball, for heels lifted by ``heel``."""
    foot = _foot_rotation(goal.turn, heel)
    return np.asarray(goal.ball - quaternions.rotate(foot, _instep(skeleton, side)))


def _foot_rotation(turn: FloatArray, heel: FloatArray) -> FloatArray:
    angles = np.stack([turn, heel, np.zeros_like(turn)], axis=-1)
    return quaternions.from_euler("ZXY", angles)


def _heel_lift(
    skeleton: Skeleton, side: str, hip: FloatArray, goal: FootGoal, reach: float
) -> FloatArray:
    """Return the least heel lift (F,), in degrees, at which the leg reaches the foot."""
    # In the foot's own axes, the candidates are the same for all frames.
    lifts = np.zeros((len(HEEL_ANGLES), 3))
    lifts[:, 1] = HEEL_ANGLES
    ankles = quaternions.rotate(quaternions.from_euler("ZXY", lifts), _instep(skeleton, side))
    turn = _foot_rotation(-goal.turn, np.zeros_like(goal.turn))
    ball = quaternions.rotate(turn, goal.ball - hip)
    distance = np.linalg.norm(ball[:, None] - ankles, axis=-1)
    limit = np.broadcast_to(reach * goal.straightest, len(hip))
    fits = distance <= limit[:, None]
    first = np.where(fits.any(axis=1), np.argmax(fits, axis=1), np.argmin(distance, axis=1))
    rows = np.arange(len(hip))
    before = np.maximum(first - 1, 0)
    near, far = distance[rows, before], distance[rows, first]
    share = np.where(near > far + 1e-12, (near - limit) / np.maximum(near - far, 1e-9), 0.0)
    lift = HEEL_ANGLES[before] + np.clip(share, 0, 1) * (HEEL_ANGLES[first] - HEEL_ANGLES[before])
    return np.asarray(lift)


def _unhurried(heel: FloatArray, fps: float) -> FloatArray:
    """Return heel lifts (F,) that begin early enough to be high enough without a jerk."""
    return widened(heel, 2 * HEEL_SMOOTHING_S, HEEL_SMOOTHING_S, fps)
