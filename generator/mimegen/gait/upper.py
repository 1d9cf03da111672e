"""Trunk, head and arms, in phase with the legs."""

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import smoothstep
from mimegen.gait.habits import ArmHabit, Habits
from mimegen.gait.walker import Pace
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.hand_shapes import FINGERS as FINGER_NAMES
from mimegen.motion.hand_shapes import side_pose

# Cumulative fractions of the chest's rotation relative to the pelvis at each joint of the spine.
SPINE = {"Spine": 0.3, "Spine1": 0.65, "Spine2": 1.0}
# Fraction of the chest's rotations that the head follows (Pozzo, Berthoz & Lefort, "Head
# stabilization during various locomotor tasks in humans", Exp. Brain Res. 82, 1990), and the neck's
# fraction of the rotation from chest to head.
HEAD_SHARE = 0.25
NECK_SHARE = 0.5
# The head nods down by this as the body rises, so that the gaze stays on its target.
NOD_DEG = 1.2
# Fraction of the arm's swing that the shoulder blade follows.
BLADE_SHARE = 0.12
# Factors on the closing of fingers, by joint.
FINGER_FACTORS = (0.8, 1.1, 0.7)
STANDING_ELBOW_DEG = 14.0
MIN_ELBOW_DEG = 5.0
STANDING_OUT_DEG = 7.0


def trunk(rotations: FloatArray, skeleton: Skeleton, pace: Pace, phases: FloatArray,
          heading: FloatArray, amplitude: FloatArray, habits: Habits) -> FloatArray:
    """Set the spine's global rotations; return the chest's (F, 4)."""
    angle = 2 * np.pi * phases
    turn = amplitude * pace.thorax_turn * np.cos(angle - 0.2)
    over = sum(pace.contacts[0][0]) / 2
    roll = amplitude * pace.roll * np.cos(2 * np.pi * (phases - over))
    nod = amplitude * pace.nod * np.cos(2 * angle - 0.6)
    if pace.manner.favours is not None:
        roll = roll - amplitude * pace.manner.favours.roll_deg * _on_right(pace, phases)
    roll = roll + amplitude * habits.roll
    lean = amplitude * (pace.lean + habits.lean) + nod + pace.slope_deg * 0.35
    chest = quaternions.from_euler(
        "ZXY", np.stack([np.rad2deg(heading) + turn, lean, roll], axis=-1))
    pelvis = rotations[:, 0].copy()
    for name, share in SPINE.items():
        rotations[:, skeleton.index[name]] = quaternions.slerp(pelvis, chest, share)
    return chest


def _on_right(pace: Pace, phases: FloatArray) -> FloatArray:
    """Return the fraction (F,) of the weight on the right foot: 1 in its mid-stance, 0 in swing."""
    start, end = pace.contacts[1][0]
    share = np.clip(((phases - start) % 1.0) / (end - start), 0.0, 1.0)
    return np.asarray(smoothstep(np.clip(1 - np.abs(2 * share - 1), 0.0, 1.0)))


def head(rotations: FloatArray, skeleton: Skeleton, pace: Pace, phases: FloatArray,
         heading: FloatArray, chest: FloatArray, amplitude: FloatArray, habits: Habits) -> None:
    """Set the global rotations of neck and head; the head stays nearly level and ahead."""
    turned = np.rad2deg(heading) + amplitude * habits.head_left
    nodding = amplitude * (0.35 * pace.lean - NOD_DEG * np.cos(4 * np.pi * phases + 0.6))
    floor_height = quaternions.from_euler(
        "ZXY", np.stack([turned, nodding, np.zeros(len(phases))], axis=-1))
    held = quaternions.slerp(floor_height, chest, HEAD_SHARE)
    down = quaternions.from_euler("X", (amplitude * (pace.head + habits.head_down))[:, None])
    held = quaternions.multiply(held, down)
    rotations[:, skeleton.index["Neck"]] = quaternions.slerp(chest, held, NECK_SHARE)
    rotations[:, skeleton.index["Head"]] = held


def arms(rotations: FloatArray, skeleton: Skeleton, pace: Pace, phases: FloatArray,
         chest: FloatArray, amplitude: FloatArray, habits: Habits) -> None:
    """Set the global rotations of both arms and their hands."""
    for (side, sign, when), habit in zip((("Left", 1.0, 0.5), ("Right", -1.0, 0.0)), habits.arms,
                                         strict=True):
        _set_arm(rotations, skeleton, pace, phases - when - pace.late, chest, amplitude, side, sign,
                 habit)


def _set_arm(rotations: FloatArray, skeleton: Skeleton, pace: Pace, phases: FloatArray,
             chest: FloatArray, amplitude: FloatArray, side: str, sign: float, habit: ArmHabit
             ) -> None:
    """Set one arm's rotations; it is furthest ahead at phase 0."""
    swing = amplitude * (pace.arm_middle + habit.swing * pace.arm_swing
                         * np.cos(2 * np.pi * phases))
    later = 0.5 + 0.5 * np.cos(2 * np.pi * (phases - 0.06))
    elbow = (1 - amplitude) * STANDING_ELBOW_DEG + amplitude * np.maximum(
        pace.elbow + habit.elbow + habit.swing * pace.elbow_swing * later, MIN_ELBOW_DEG)
    out = (1 - amplitude) * STANDING_OUT_DEG + amplitude * (pace.arms_out + habit.out)
    blade = quaternions.multiply(chest, quaternions.from_euler("ZY", np.stack([
        sign * (-BLADE_SHARE * (swing - pace.arm_middle * amplitude) + amplitude
                * pace.shoulders_back),
        -sign * amplitude * pace.shoulders_up], axis=-1)))
    upper = _turned(chest, "XY", -swing, sign * (90.0 - out))
    # The palms of hanging arms face slightly backwards.
    upper = quaternions.multiply(upper, _about("X", np.full(len(phases), 12.0)))
    lower = quaternions.multiply(upper, _about("Z", -sign * elbow))
    lower = quaternions.multiply(lower, _about("X", np.full(len(phases), 10.0)))
    index = skeleton.index
    rotations[:, index[f"{side}Shoulder"]] = blade
    rotations[:, index[f"{side}Arm"]] = upper
    rotations[:, index[f"{side}ForeArm"]] = lower
    hand = quaternions.multiply(lower, _about("X", np.full(len(phases), habit.palm)))
    rotations[:, index[f"{side}Hand"]] = hand
    _set_fingers(rotations, skeleton, hand, pace.hands + habit.curl, side, sign)


def _set_fingers(rotations: FloatArray, skeleton: Skeleton, hand: FloatArray, closed: float,
                 side: str, sign: float) -> None:
    """Set the fingers of a relaxed hand (F, 4); ``closed`` is the further bend of each joint."""
    relaxed = side_pose("relaxed", sign).reshape(5, 3, 4)
    more = np.cumsum(FINGER_FACTORS) * closed
    for number, finger in enumerate(("Thumb", *FINGER_NAMES)):
        share = 0.35 if finger == "Thumb" else 1.0
        for bone, bent in enumerate(sign * share * more):
            held = quaternions.multiply(_about("Y", np.array([bent]))[0], relaxed[number, bone])
            rotations[:, skeleton.index[f"{side}Hand{finger}{bone + 1}"]] = quaternions.multiply(
                hand, held)


def _turned(base: FloatArray, axes: str, *angles: FloatArray) -> FloatArray:
    return quaternions.multiply(base, quaternions.from_euler(axes, np.stack(angles, axis=-1)))


def _about(axis: str, angles: FloatArray) -> FloatArray:
    return quaternions.from_euler(axis, angles[:, None])
