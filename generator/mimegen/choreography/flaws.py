"""Flaws: measures of everything that has made choreographed motions look wrong."""

from collections.abc import Iterator, Sequence

import numpy as np

from mimegen.base.vectors import unit
from mimegen.choreography.anchors import SIDES, Anchors
from mimegen.choreography.arms import (
    NEUTRAL_TWIST_DEG,
    TRUNK,
    arm_limb,
    forearm_twist,
    wrist_angle,
)
from mimegen.choreography.balance import off_balance
from mimegen.choreography.body import away_from_capsule, capsules
from mimegen.choreography.finding import Finding, Kind
from mimegen.choreography.forms import off_form
from mimegen.choreography.life import ALL_VARIATION, KeptVariation
from mimegen.choreography.ranges import joint_angles, joint_ranges
from mimegen.choreography.score import Score
from mimegen.choreography.solving import finished_anchors, touch_errors
from mimegen.choreography.variation import is_written
from mimegen.motion import Motion, quaternions
from mimegen.motion.limbs import across
from mimegen.motion.quaternions import FloatArray

REACH_LIMIT_CM = 2.5
# How far hands may be off the rod, ring or cup that they hold, and turned away from a rod's axis.
FORM_LIMITS = {"cm": 2.5, "degrees": 35.0}
# Pronation and supination from the thumb-up middle: 85 to 90 degrees each in healthy adults
# (Boone and Azen 1979), plus a few from shoulder movements that this skeleton lacks.
TWIST_LIMIT_DEG = 96.0
WRIST_LIMIT_DEG = 68.0
# A boxer's elbow extends at about 1000 degrees a second (Piorkowski, Lees and Barton 2011), a
# pitcher's at 2300 (Fleisig et al. 1995).
SPEED_LIMIT_DEG_S = 2000.0
HAND_INSIDE_LIMIT_CM = 1.0
ARM_INSIDE_LIMIT_CM = 2.5
HEAD_INSIDE_LIMIT_CM = -0.5
# Half the thickness of hands and forearms. The overlap limit is generous, because hands that clasp
# each other, or a thin rod, overlap.
THICK_M = {"Hand": 0.02, "ForeArm": 0.032}
LIMBS_INSIDE_LIMIT_CM = 3.0
PLANTED_HEIGHT_M = 0.002
FOOT_SLIDE_LIMIT_MM = 3.0
FLOOR_LIMIT_CM = 1.0
# Imbalance must last this long to count: a long stride or lunge is a fall that the other foot
# catches within half a second.
BALANCE_LIMIT_CM = 5.0
BALANCE_TIME_S = 0.5
# If no joint is faster than this for this long, viewers see a still picture. Quiet standing sways
# at about 1 cm/s.
FROZEN_SPEED_CM_S = 4.0
FROZEN_TIME_S = 0.3


def flaws(
    motions: Sequence[Motion], score: Score, seed: int, style: str | None,
    variation: KeptVariation = ALL_VARIATION,
) -> list[Finding]:
    """Return the faults of motions that ``solved_scene`` made with the same arguments.

    The list is empty if there are none.
    """
    findings: list[Finding] = []
    exact = is_written(seed, style) and not score.compiled
    scene = finished_anchors(motions, score, seed, style, variation)
    for number, (motion, part, anchors) in enumerate(zip(motions, score.parts(), scene,
                                                         strict=True)):
        own = [*_reach(touch_errors(anchors, exact, not score.compiled), motion.fps),
               *_forms(anchors),
               *_joints(motion), *_ranges(motion), *_contacts(motion), *_feet(motion),
               *_ends(motion)]
        if part.balanced:
            own += _balance(motion)
        findings += [finding._replace(part=f"partner's {finding.part}") for finding in own] \
            if number else own
    return findings


def _worst(
    kind: Kind, part: str, values: FloatArray, limit: float, unit_name: str, fps: float
) -> Iterator[Finding]:
    """Yield a finding for the greatest of values (F,), if it is above the limit."""
    frame = int(np.argmax(values))
    if values[frame] > limit:
        yield Finding(kind, part, frame / fps, float(values[frame]), limit, unit_name)


def _reach(misses: dict[str, FloatArray], fps: float) -> Iterator[Finding]:
    for side, metres in misses.items():
        yield from _worst("reach", f"{side} hand", 100 * metres, REACH_LIMIT_CM, "cm", fps)


def _forms(anchors: Anchors) -> Iterator[Finding]:
    for off in off_form(anchors):
        yield from _worst("form", off.part, off.values, FORM_LIMITS[off.unit], off.unit,
                          anchors.context.fps)


def _joints(motion: Motion) -> Iterator[Finding]:
    pose, index, fps = motion.global_pose, motion.skeleton.index, motion.fps
    for side, sign in SIDES.items():
        hand = pose.rotations[:, index[f"{side}Hand"]]
        lower = untwisted_forearm(motion, side)
        twist = np.abs(forearm_twist(lower, hand) - NEUTRAL_TWIST_DEG)
        yield from _worst("twist", f"{side} forearm", twist, TWIST_LIMIT_DEG, "degrees", fps)
        bend = wrist_angle(lower, hand, sign)
        yield from _worst("wrist", f"{side} wrist", bend, WRIST_LIMIT_DEG, "degrees", fps)
    yield from too_fast(motion)


def too_fast(motion: Motion) -> Iterator[Finding]:
    """Yield a finding for the fastest joint, if it turns faster than people can."""
    if motion.frames < 2:
        return
    fps = motion.fps
    turns = quaternions.multiply(
        quaternions.conjugate(motion.rotations[:-1]), motion.rotations[1:]
    )
    speed = np.rad2deg(np.linalg.norm(quaternions.to_rotation_vectors(turns), axis=-1)) * fps
    joint = int(np.argmax(speed.max(axis=0)))
    name = motion.skeleton.names[joint]
    yield from _worst("speed", name, speed[:, joint], SPEED_LIMIT_DEG_S, "degrees/s", fps)


def untwisted_forearm(motion: Motion, side: str) -> FloatArray:
    """Return the forearm's global rotations (F, 4) without its part of the hand's twist."""
    skeleton, pose = motion.skeleton, motion.global_pose
    shoulder, elbow, wrist = (
        pose.positions[:, skeleton.index[side + name]] for name in ("Arm", "ForeArm", "Hand")
    )
    upper = pose.rotations[:, skeleton.index[f"{side}Arm"]]
    limb = arm_limb(skeleton, side)
    hinge = quaternions.cross(limb.pole, unit(limb.upper + limb.lower))
    hinge_now = across(quaternions.rotate(upper, hinge), unit(elbow - shoulder))
    before = _frame(limb.lower, hinge)
    return quaternions.from_frames(
        _frame(wrist - elbow, hinge_now) @ np.swapaxes(before, -1, -2)
    )


def _frame(bone: FloatArray, hinge: FloatArray) -> FloatArray:
    first = unit(bone)
    second = across(hinge, first)
    return np.stack([first, second, quaternions.cross(first, second)], axis=-1)


def _ranges(motion: Motion) -> Iterator[Finding]:
    known = joint_ranges()
    for (name, part), angles in joint_angles(motion).items():
        least, most = known.ranges[name].range
        for sign, limit in ((1, most), (-1, least)):
            values = sign * angles
            for found in _worst("range", f"{part} ({name})", values, sign * limit + known.slack,
                                "degrees", motion.fps):
                yield found._replace(value=sign * found.value, limit=limit)


def _contacts(motion: Motion) -> Iterator[Finding]:
    pose = motion.global_pose
    for side in SIDES:
        for part, names, limit in (
            ("Hand", (*TRUNK, "neck", "skull", "face"), HAND_INSIDE_LIMIT_CM),
            ("ForeArm", TRUNK, ARM_INSIDE_LIMIT_CM),
            ("ForeArm", ("neck", "skull", "face"), HEAD_INSIDE_LIMIT_CM),
        ):
            points = _along(motion, side, part)
            gaps = [away_from_capsule(capsules()[name], pose, points)[0] for name in names]
            inside = -100 * np.min(gaps, axis=(0, 2))
            where = "hand" if part == "Hand" else "forearm"
            against = " and head" if limit == HEAD_INSIDE_LIMIT_CM else ""
            yield from _worst("contact", f"{side} {where}{against}", inside, limit, "cm inside",
                              motion.fps)
    for first, second in (("Hand", "Hand"), ("Hand", "ForeArm"), ("ForeArm", "Hand"),
                          ("ForeArm", "ForeArm")):
        apart = np.linalg.norm(_along(motion, "Left", first)[:, :, None]
                               - _along(motion, "Right", second)[:, None], axis=-1)
        inside = 100 * (THICK_M[first] + THICK_M[second] - apart.min(axis=(1, 2)))
        yield from _worst("contact", f"Left {first} and Right {second}", inside,
                          LIMBS_INSIDE_LIMIT_CM, "cm inside", motion.fps)


def _along(motion: Motion, side: str, part: str) -> FloatArray:
    """Return points (F, N, 3) along the middle of a hand (to the fingertips) or a forearm."""
    pose, index = motion.global_pose, motion.skeleton.index
    wrist, knuckle, tip = (
        pose.positions[:, index[side + name]]
        for name in ("Hand", "HandMiddle1", "HandMiddle3")
    )
    if part == "Hand":
        return np.stack([wrist, (wrist + knuckle) / 2, knuckle, tip], axis=1)
    elbow = pose.positions[:, index[f"{side}ForeArm"]]
    shares = np.linspace(0.0, 0.85, 6)[None, :, None]
    return np.asarray(elbow[:, None] * (1 - shares) + wrist[:, None] * shares)


def foot_slide(motion: Motion, side: str) -> FloatArray:
    """Return the distance (F,), in metres, that a standing foot's ball has slid since put down.

    It is 0 while the foot is in the air.
    """
    ball = motion.skeleton.index[f"{side}ToeBase"]
    places = motion.global_pose.positions[:, ball]
    standing = places[:, 2] < motion.skeleton.heads[ball, 2] + PLANTED_HEIGHT_M
    put_down = standing & ~np.r_[False, standing[:-1]]
    since = np.maximum.accumulate(np.where(put_down, np.arange(len(places)), 0))
    moved = np.linalg.norm((places - places[since])[:, :2], axis=-1)
    return np.asarray(np.where(standing, moved, 0.0))


def _feet(motion: Motion) -> Iterator[Finding]:
    pose, index = motion.global_pose, motion.skeleton.index
    for side in SIDES:
        slide = 1000 * foot_slide(motion, side)
        yield from _worst("feet", f"{side} foot", slide, FOOT_SLIDE_LIMIT_MM, "mm", motion.fps)
        ball = index[f"{side}ToeBase"]
        under = 100 * (motion.skeleton.heads[ball, 2] - pose.positions[:, ball, 2])
        yield from _worst("floor", f"{side} foot", under, FLOOR_LIMIT_CM, "cm under", motion.fps)


def _ends(motion: Motion) -> Iterator[Finding]:
    """Find a beginning or an end in which nothing moves."""
    frames = round(FROZEN_TIME_S * motion.fps)
    if motion.frames <= 2 * frames:
        return
    places = motion.global_pose.positions
    for part, span in (("beginning", slice(0, frames + 1)), ("end", slice(-frames - 1, None))):
        moved = np.linalg.norm(np.diff(places[span], axis=0), axis=-1)
        speed = float(100 * motion.fps * moved.mean(axis=0).max())
        if speed < FROZEN_SPEED_CM_S:
            time = 0.0 if part == "beginning" else motion.last_s
            yield Finding("frozen", part, time, speed, FROZEN_SPEED_CM_S, "cm/s")


def _balance(motion: Motion) -> Iterator[Finding]:
    """Find spans in which the centre of mass is outside the standing feet for too long."""
    outside, rate = off_balance(motion)
    spell = max(1, round(BALANCE_TIME_S * rate))
    if len(outside) >= spell:
        apart = np.linalg.norm(outside, axis=-1)
        windows = np.lib.stride_tricks.sliding_window_view(apart, spell).min(axis=1)
        yield from _worst("balance", "centre of mass", 100 * windows, BALANCE_LIMIT_CM,
                          "cm outside", rate)
