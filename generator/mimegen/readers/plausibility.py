"""Check whether a motion is possible for a person; report doubts as sentences with numbers.

Nothing here changes a motion. Doubts are notes to the user; only a motion that is certainly not an
upright person's is refused.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.vectors import lengths, unit
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.dropouts import frame_list_text
from mimegen.readers.names import SIDES
from mimegen.readers.posture import (
    BELIEVABLE_HEIGHTS,
    Posture,
    across,
    knee_bends,
    limb_lengths,
    on_all_fours,
    posture_at_rest,
    posture_of,
    trunk,
    upright,
)
from mimegen.readers.sides import knee_and_foot_signs

# Sine (of 20 degrees) of the backward bend that counts as wrong; knee models bend backward by a few
# degrees. Fractions of frames with wrong knees and elbows above which there is a note.
WRONG_BEND = 0.35
WRONG_KNEES = 0.03
WRONG_ELBOWS = 0.2
# A bend of the elbow is wrong if the upper arm hangs (cosine to the trunk above the first), the
# forearm points back (component along the front below the second), and the elbow is bent (cosine
# between upper arm and forearm below the third).
HANGS = 0.8
POINTS_BACK = -0.75
STRAIGHT = 0.87
# A wrist counts as inside the trunk within these distances: a fraction of the shoulders' distance
# to the side, and fractions of the trunk's length forward and up (for a man of 1.75 m, 11 cm to the
# side and 7 cm forward). Fraction of frames above which there is a note.
INNER_WIDTH, INNER_DEPTH, INNER_TOP = 0.3, 0.15, 0.9
INSIDE_SHARE = 0.05
# Greatest believable speed in m/s (the fastest runner reached 12.4), and the time in seconds over
# which speed is measured.
FASTEST_RUN = 12.0
SPEED_OVER_S = 0.1
# Change from one frame to the next, in metres or degrees, that counts as a leap if the steps before
# and after it are below CALM times as large.
LEAP_M = 0.3
LEAP_DEG = 45.0
CALM = 0.25
# Fraction of frames with the feet above the head for which there is a note.
NEARLY_ALL = 0.95
# Believable lengths of arm and trunk relative to the leg from hip to ankle. People have 0.68 and
# 0.55 (Winter 2009, figure 4.1); the ranges also admit characters of games. A body on all fours
# whose trunk is longer than the upper limit is refused as an animal.
ARM_TO_LEG = (0.5, 1.05)
TRUNK_TO_LEG = (0.35, 1.0)
# Ratio of a limb's length to that of the other side above which there is a note.
UNLIKE_SIDES = 1.15
# A body may be an animal if it is on all fours in at least the first fraction of the frames, and
# upright in no more than the second.
ON_ALL_FOURS = 0.5
EVER_UPRIGHT = 0.02
# A file in which every joint stays within this many metres has no motion. A span without any
# change gets a note if it lasts this many seconds and this fraction of the file.
NO_MOTION_M = 0.002
FROZEN_S = 1.0
FROZEN_SHARE = 0.1


def refuse_animals(file: Path, motion: Motion, roles: Mapping[str, str], insisted: bool
                   ) -> tuple[str, ...]:
    """Return a note if a body is on all fours through most of the file, in any unit and axes.

    Raises RequestError if its rest pose or its proportions are an animal's, unless ``insisted``.
    """
    body = posture_of(motion, roles)
    share = float(on_all_fours(body).mean())
    if share < ON_ALL_FOURS or upright(body).mean() > EVER_UPRIGHT:
        return ()
    said = f"the trunk is level, on hands and feet, in {share:.0%} of the frames"
    why = _animal(body, posture_at_rest(motion.skeleton, roles))
    if why and not insisted:
        raise RequestError(
            f"{file}: not an upright person: {said}, and {why}; expected the motion of a person. If"
            " it is one, list its bones in a file of 'role: bone' lines and give it with --map")
    return (f"{said}{f', and {why}' if why else ''}: this may be an animal",)


def _animal(body: Posture, rest: Posture) -> str:
    """Return what makes a body on all fours an animal, or an empty text."""
    if on_all_fours(rest).all():
        return "they do so in the rest pose"
    ratio = _trunk_to_leg(body)
    if ratio > TRUNK_TO_LEG[1]:
        return f"the trunk is {ratio:.1f} times as long as the legs"
    return ""


def _trunk_to_leg(body: Posture) -> float:
    """Return the ratio of the trunk's median length to the legs' mean length."""
    return float(np.median(lengths(trunk(body)))
                 / max(limb_lengths(body, "thigh", "shin", "foot").mean(), 1e-9))


def implausibilities(motion: Motion, roles: Mapping[str, str], height: float,
                     first: int) -> tuple[str, ...]:
    """Return sentences on what is implausible in a motion (metres, Z up).

    ``height`` is the body's in metres, ``first`` the number of the motion's first frame in the
    file.
    """
    body = posture_of(motion, roles)
    return (*_wrong_bends(body), *_inside(body), *_backward(body), *_upside_down(body),
            *_speed(motion, first), *_leaps(motion, first), *_build(body, height),
            *_stillness(motion, first))


def _wrong_bends(body: Posture) -> Iterator[str]:
    """Yield a note on each knee and elbow that bends backward too often."""
    for part, bends, least in (("knee", knee_bends(body), WRONG_KNEES),
                               ("elbow", _wrong_elbows(body), WRONG_ELBOWS)):
        for side, bend in zip(SIDES, bends.T, strict=True):
            share = float(np.mean(bend < -WRONG_BEND))
            if share > least:
                yield (f"the {side} {part} bends backward in {share:.0%} of the frames, by up to"
                       f" {np.degrees(np.arcsin(min(-bend.min(), 1.0))):.0f} degrees")


def _wrong_elbows(body: Posture) -> FloatArray:
    """Return how far (F, 2) bent forearms of hanging arms point back, as negative cosines.

    It is 0 for all other arms.
    """
    up = unit(trunk(body))
    front = unit(np.cross(across(body, "upper_arm"), up))
    bends = []
    for side in SIDES:
        shoulder, elbow, hand = (body[f"{side}_{p}"] for p in ("upper_arm", "forearm", "hand"))
        upper, lower = unit(elbow - shoulder), unit(hand - elbow)
        ahead = np.sum(lower * front, axis=1)
        wrong = (-np.sum(upper * up, axis=1) > HANGS) & (ahead < POINTS_BACK) & (
            np.sum(upper * lower, axis=1) < STRAIGHT)
        bends.append(np.where(wrong, ahead, 0.0))
    return np.stack(bends, axis=1)


def _backward(body: Posture) -> Iterator[str]:
    """Yield a note if feet or knees point backward by the sides in the bones' names."""
    found = knee_and_foot_signs(body)
    if found.feet < 0 or (found.knees < 0 and not found.feet):
        part = "feet" if found.feet < 0 else "knees"
        yield (f"the {part} point backward, according to the sides in the bones' names: left and"
               " right may be exchanged, or the file mirrored")


def _inside(body: Posture) -> Iterator[str]:
    """Yield a note on each wrist deep inside the trunk, which a drifted arm sensor may cause."""
    up, left = unit(trunk(body)), across(body, "upper_arm")
    front = unit(np.cross(left, up))
    tall = lengths(trunk(body))
    wide = lengths(body["left_upper_arm"] - body["right_upper_arm"])
    for side in SIDES:
        away = body[f"{side}_hand"] - body.middle("thigh")
        height, aside, ahead = (np.sum(away * axis, axis=1) for axis in (up, left, front))
        # Multiplied out, because a body whose joints all lie in one point has no size to divide by.
        deep = np.hypot(aside * INNER_DEPTH * tall, ahead * INNER_WIDTH * wide) \
            < INNER_WIDTH * wide * INNER_DEPTH * tall
        share = float(np.mean(deep & (height > 0.0) & (height < INNER_TOP * tall)))
        if share > INSIDE_SHARE:
            yield (f"the {side} hand is inside the trunk in {share:.0%} of the frames, where no"
                   " character can follow: the arm's sensors may have drifted")


def _upside_down(body: Posture) -> Iterator[str]:
    """Yield a note if the feet are nearly always above the head."""
    share = float(np.mean(body.middle("foot")[:, 2] > body["head"][:, 2]))
    if share > NEARLY_ALL:
        yield f"the feet are above the head in {share:.0%} of the frames"


def _speed(motion: Motion, first: int) -> Iterator[str]:
    """Yield a note if the hips move faster than people run."""
    over = min(max(1, round(SPEED_OVER_S * motion.fps)), motion.frames - 1)
    if over < 1:
        return
    positions = motion.root_positions
    speed = lengths(positions[over:] - positions[:-over]) * motion.fps / over
    if speed.max() > FASTEST_RUN:
        fastest = int(np.argmax(speed))
        yield (f"the hips move at up to {speed.max():.0f} m/s (from frame {fastest + first}), but"
               f" no person runs faster than {FASTEST_RUN:.0f}: the unit or the frame rate may be"
               " wrong")


def _leaps(motion: Motion, first: int) -> Iterator[str]:
    """Yield a note on jumps of the body's position or heading, as where takes are joined."""
    positions = motion.root_positions
    cosines = np.abs(np.sum(motion.rotations[1:, 0] * motion.rotations[:-1, 0], axis=1))
    for steps, least, said in (
            (lengths(np.diff(positions, axis=0)), LEAP_M, "leaps up to {:.1f} m"),
            (np.degrees(2 * np.arccos(np.minimum(cosines, 1.0))), LEAP_DEG,
             "turns up to {:.0f} degrees")):
        padded = np.pad(steps, 1)
        leaps = (steps > least) & (np.maximum(padded[:-2], padded[2:]) < CALM * steps)
        if leaps.any():
            yield (f"the body {said.format(steps[leaps].max())} from one frame to the next, after"
                   f" {frame_list_text(np.flatnonzero(leaps) + first)}: takes may be joined there,"
                   " or another person followed")


def _build(body: Posture, height: float) -> Iterator[str]:
    """Yield notes on sizes and proportions that no person has."""
    if not BELIEVABLE_HEIGHTS[0] <= height <= BELIEVABLE_HEIGHTS[1]:
        yield f"the body is {height:.2f} m tall by its legs"
    arms = limb_lengths(body, "upper_arm", "forearm", "hand")
    legs = limb_lengths(body, "thigh", "shin", "foot")
    for part, ratio, (least, most) in (
            ("arms are", arms.mean() / max(legs.mean(), 1e-9), ARM_TO_LEG),
            ("trunk is", _trunk_to_leg(body), TRUNK_TO_LEG)):
        if not least <= ratio <= most:
            yield f"the {part} {ratio:.2f} times as long as the legs, unlike a person's"
    for part, sides in (("arm", arms), ("leg", legs)):
        ratio = float(sides.max() / max(sides.min(), 1e-9))
        if ratio > UNLIKE_SIDES:
            longer, shorter = SIDES if sides[0] > sides[1] else SIDES[::-1]
            yield f"the {longer} {part} is {ratio:.2f} times as long as the {shorter}"


def _nothing_moves(motion: Motion) -> bool:
    """Return whether no joint moves. The root is checked first, because it is quick."""
    return bool(np.ptp(motion.root_positions, axis=0).max() < NO_MOTION_M
                and np.ptp(motion.global_pose.positions, axis=0).max() < NO_MOTION_M)


def _stillness(motion: Motion, first: int) -> Iterator[str]:
    """Yield a note if nothing moves in the whole file, or if one pose is held for a long span."""
    if _nothing_moves(motion):
        yield f"nothing moves in any of the {motion.frames} frames"
        return
    poses, positions = motion.rotations[..., 0], motion.root_positions[:, 0]
    same = np.pad((poses[1:] == poses[:-1]).all(axis=1) & (positions[1:] == positions[:-1]), 1)
    same = same.astype(int)
    starts, ends = np.flatnonzero(np.diff(same) > 0), np.flatnonzero(np.diff(same) < 0)
    spans = ends - starts
    if len(spans) and spans.max() >= max(FROZEN_S * motion.fps, FROZEN_SHARE * motion.frames):
        longest = int(np.argmax(spans))
        yield (f"nothing moves from frame {starts[longest] + first} to {ends[longest] + first}"
               f" ({spans[longest] / motion.fps:.1f} s)")
