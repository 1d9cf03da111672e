"""Contact repair: soles on the ground where the source's are, and nothing below it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import (
    distance_transform_edt,
    gaussian_filter1d,
    label,
    maximum_filter1d,
)

from mimegen.characters.character import Character
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.anatomy import leg_length
from mimegen.retarget.balance import Stance, hips_following
from mimegen.retarget.ground import Ground
from mimegen.retarget.limbs import bent_to
from mimegen.retarget.smoothing import as_lively, smooth_cover
from mimegen.retarget.stance import Sole, sole, source_contacts, standing_height

UP = np.array([0.0, 0.0, 1.0])
# How long (s) soles level out before a contact, and how long the hold sets in within it.
BLEND, HOLD = 0.12, 0.06
# How long (s) before and after a contact the foot goes as the source's, and how long it takes at
# most to go back to where bone directions alone put it.
REACH, FADE = 0.1, 0.5
# How much of its length a planted leg may need before the hips sink for it.
LONGEST_LEG = 0.998
# From here (m) down to half of it feet more and more swing at least as high as the source's; how
# softly (m) that sets in.
HIGHEST_SWING, SOFT = 0.16, 0.004


@dataclass
class Foot:
    """One foot of the target while it is worked on; all arrays frames first.

    ``heel_led`` and ``ball_led`` (F, 3) are where the source's go, at the target's size.
    """

    thigh: int
    shin: int
    foot: int
    toe: int | None
    sole: Sole
    heel_down: NDArray[np.bool_]
    ball_down: NDArray[np.bool_]
    turn: FloatArray
    toe_turn: FloatArray
    ankle: FloatArray
    heel_led: FloatArray
    ball_led: FloatArray


def feet_of(motion: Motion, source: Motion, source_joints: Mapping[str, int],
            character: Character, joints: Mapping[str, int], scale: float) -> list[Foot]:
    """Return both feet of a character's motion, led over the ground by the source's times scale."""
    return [_foot(motion, source, source_joints, character, joints, side, scale) for side in SIDES]


def on_the_ground(motion: Motion, feet: list[Foot], ground: Ground, staying: float) -> Motion:
    """Return the character's motion with feet planted where and when the source's are.

    Heels and balls that rest do not slide, soles lie flat and never go below Z = 0, and feet swing
    as high as the source's; first the hips follow the planted feet, so that legs keep their
    bend, or stay where they are by the weight ``staying``; then the legs reach.
    """
    for foot in feet:
        _flatten(foot, motion.fps)
    shift = hips_following([_stance(foot, motion.fps) for foot in feet], motion.fps, staying)
    shift[:, 2] += smooth_cover(-(ground.clearance(motion) + shift[:, 2]), motion.fps)
    for foot in feet:
        foot.ankle = foot.ankle + shift
        foot.ankle = foot.ankle + _correction(foot, motion.fps)
    motion = Motion(motion.skeleton, motion.fps, motion.root_positions + shift, motion.rotations)
    sinking = _sinking_hips(motion, feet)
    return _legs_bent(motion, feet, sinking)


def _foot(motion: Motion, source: Motion, source_joints: Mapping[str, int], character: Character,
          joints: Mapping[str, int], side: str, scale: float) -> Foot:
    thigh, shin, foot = (joints[f"{side}_{part}"] for part in ("thigh", "shin", "foot"))
    toe = joints.get(f"{side}_toe")
    heel, ball = source_contacts(source, source_joints, side)
    turns = motion.global_pose.rotations
    legs = leg_length(motion.skeleton, joints) / leg_length(source.skeleton, source_joints)
    parts = ("foot", "toe" if f"{side}_toe" in source_joints else "foot")
    led = [np.array([scale, scale, legs]) * _above_rest(source, source_joints, side, part)
           for part in parts]
    return Foot(thigh, shin, foot, toe, sole(character, joints, side), heel, ball,
                turns[:, foot], turns[:, foot if toe is None else toe],
                as_lively(motion.global_pose.positions[:, foot], led[0], motion.fps), *led)


def _above_rest(source: Motion, joints: Mapping[str, int], side: str, part: str) -> FloatArray:
    """Return a source joint's places (F, 3), heights from where it rests."""
    level = standing_height(source, joints, part)
    return source.global_pose.positions[:, joints[f"{side}_{part}"]] - [0.0, 0.0, level]


def _ramp(flags: NDArray[np.bool_], fps: float) -> FloatArray:
    """Return weights (F,) that are 1 at the flags and go smoothly to 0 around them."""
    if not flags.any():
        return np.zeros(len(flags))
    return 1 - _ease(np.clip(_seconds_in(~flags, fps) / BLEND, 0, 1))


def _flat(turns: FloatArray, weights: FloatArray) -> FloatArray:
    """Turn soles level by ``weights`` (F,), 0 to 1."""
    level = quaternions.between(quaternions.rotate(turns, UP), UP)
    return quaternions.multiply(quaternions.scale(level, weights), turns)


def _flatten(foot: Foot, fps: float) -> None:
    foot.turn = _flat(foot.turn, _ramp(foot.heel_down & foot.ball_down, fps))
    foot.toe_turn = _flat(foot.toe_turn, _ramp(foot.ball_down, fps))


def _lowest(foot: Foot) -> FloatArray:
    """Return how far the lowest point of foot and toes lies below the ankle, (F,), below zero."""
    foot_up, toe_up = (quaternions.rotate(quaternions.conjugate(turn), UP)
                       for turn in (foot.turn, foot.toe_turn))
    on_foot = foot_up @ foot.sole.skin.T
    on_toes = (foot_up @ foot.sole.toes)[:, None] + toe_up @ (foot.sole.skin - foot.sole.toes).T
    return np.asarray((on_foot + foot.sole.of_toes * (on_toes - on_foot)).min(axis=1))


def _correction(foot: Foot, fps: float) -> FloatArray:
    """Return how the ankle must move (F, 3) so that what rests does not slide or sink."""
    stance = _stance(foot, fps)
    correction = _between_runs(stance.shifts, stance.runs > 0, FADE * fps)
    ball = (foot.ankle + quaternions.rotate(foot.turn, foot.sole.toes))[:, 2] + foot.sole.tip[2]
    low = foot.ball_led[:, 2] - ball
    share = _ease(np.clip(2 - 2 * foot.ball_led[:, 2] / HIGHEST_SWING, 0, 1))
    lift = share * (low + np.hypot(low, SOFT)) / 2
    height = stance.near * stance.shifts[:, 2] + (1 - stance.near) * lift
    correction[:, 2] = gaussian_filter1d(height, HOLD / 3 * fps, mode="nearest")
    sunk = np.maximum(-(foot.ankle[:, 2] + correction[:, 2] + _lowest(foot)), 0.0)
    correction[:, 2] += smooth_cover(sunk, fps)
    return correction


def _path(foot: Foot, frames: NDArray[np.intp], lock: FloatArray, near: FloatArray,
          on_ball: FloatArray) -> FloatArray:
    """Return the ankle's path (F, 3) in some frames, while the foot turns about toes or heel.

    ``lock``, ``near`` and ``on_ball`` (F,) are shares of all frames: how much the pivot stays
    instead of going as the source's; how much it leads the ankle; toes (1) or heel (0).
    """
    steps = np.zeros((len(frames) - 1, 3))
    for share, arm, led in ((1 - on_ball, foot.sole.heel, foot.heel_led),
                            (on_ball, foot.sole.toes, foot.ball_led)):
        steps += _halfway(share[frames]) * (
            np.diff(-quaternions.rotate(foot.turn[frames], arm), axis=0)
            + _halfway(1 - lock[frames]) * np.diff(led[frames], axis=0))
    near = _halfway(near[frames])
    steps = near * steps + (1 - near) * np.diff(foot.ankle[frames], axis=0)
    path = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    return np.asarray(path + np.mean(foot.ankle[frames] - path, axis=0))


def _halfway(values: FloatArray) -> FloatArray:
    """Return values (F - 1, 1) half-way between the frames of ``values`` (F,)."""
    return np.asarray((values[1:] + values[:-1])[:, None] / 2)


def _between_runs(values: FloatArray, known: NDArray[np.bool_], longest: float) -> FloatArray:
    """Keep ``values`` (F, C) where known; go smoothly from one known run to the next elsewhere.

    More than ``longest`` frames from any known one they are zero.
    """
    frames = np.arange(len(values))
    at = np.flatnonzero(known)
    if len(at) == 0:
        return np.zeros_like(values)
    position = np.searchsorted(at, frames)
    before, after = at[np.maximum(position - 1, 0)], at[np.minimum(position, len(at) - 1)]
    before = np.where(known, frames, before)
    after = np.where(known, frames, after)
    gap = np.where((frames > before) & (frames < after), after - before, np.inf)
    span = np.minimum(gap, longest)
    since = np.clip(np.abs(frames - before) / span, 0.0, 1.0)
    until = np.clip(np.abs(after - frames) / span, 0.0, 1.0)
    first = np.where(frames < at[0], 0.0, 1 - _ease(since))[:, None]
    second = np.where(frames > at[-1], 0.0, 1 - _ease(until))[:, None]
    mixed = first * values[before] + second * values[after]
    return np.where(known[:, None], values, mixed)


def _ease(share: FloatArray) -> FloatArray:
    """Return the quintic from 0 to 1 with no speed and no acceleration at its ends."""
    return np.asarray(share**3 * (10 - 15 * share + 6 * share**2))


def _stance(foot: Foot, fps: float) -> Stance:
    """Return where the ankle should be while the foot rests, and shortly before and after.

    What rests stays; just before and after it goes as the source's does. Both set in smoothly, so
    that the ankle's speed has no steps.
    """
    down = foot.heel_down | foot.ball_down
    if not down.any():
        return Stance(np.zeros_like(foot.ankle), np.zeros(len(down), np.intp), np.zeros(len(down)))
    inside = np.inf * np.ones(len(down)) if down.all() else _seconds_in(down, fps)
    lock = _ease(np.clip(inside / HOLD, 0, 1))
    near = 1 - _ease(np.clip(_seconds_in(~down, fps) / REACH, 0, 1))
    nearest = distance_transform_edt(~down, return_distances=False, return_indices=True)[0]
    on_ball = gaussian_filter1d(foot.ball_down[nearest].astype(float), HOLD / 3 * fps,
                                mode="nearest")
    runs, count = label(maximum_filter1d(down, 2 * round(REACH * fps) + 1))
    goal = foot.ankle.copy()
    led = on_ball * foot.ball_led[:, 2] + (1 - on_ball) * foot.heel_led[:, 2]
    goal[:, 2] = (1 - lock) * np.maximum(led, 0.0) - _lowest(foot)
    for run in range(1, count + 1):
        frames = np.flatnonzero(runs == run)
        goal[frames, :2] = _path(foot, frames, lock, near, on_ball)[:, :2]
    return Stance(goal - foot.ankle, runs, near)


def _seconds_in(mask: NDArray[np.bool_], fps: float) -> FloatArray:
    """Return how far (s) frames inside a mask (F,) are from its edges; a take's ends are none."""
    return np.asarray(distance_transform_edt(np.pad(mask, 1, mode="edge"))[1:-1] / fps)


def _sinking_hips(motion: Motion, feet: list[Foot]) -> FloatArray:
    """Return how far the hips go down (F,) where planted legs are too short for them."""
    needed = np.zeros(motion.frames)
    for foot in feet:
        bones = motion.skeleton.offsets[[foot.shin, foot.foot]]
        longest = LONGEST_LEG * np.linalg.norm(bones, axis=1).sum()
        over = _sinking(motion, foot, np.maximum(longest, _extent(motion, foot)))
        needed = np.maximum(needed, np.where(foot.heel_down | foot.ball_down, over, 0.0))
    return smooth_cover(np.clip(needed, 0.0, 0.2), motion.fps)


def _extent(motion: Motion, foot: Foot) -> FloatArray:
    """Return how far ankle and hip joint are apart (F,) before any repair."""
    places = motion.global_pose.positions
    return np.asarray(np.linalg.norm(places[:, foot.foot] - places[:, foot.thigh], axis=1))


def _sinking(motion: Motion, foot: Foot, lengths: FloatArray) -> FloatArray:
    """Return how far the hips go down (F,) for the ankle to be ``lengths`` (F,) from the hip."""
    away = foot.ankle - motion.global_pose.positions[:, foot.thigh]
    height = np.sqrt(np.maximum(lengths**2 - np.sum(away[:, :2] ** 2, axis=1), 0.0))
    return np.asarray(np.where(away[:, 2] < 0, -height - away[:, 2], 0.0))


def _legs_bent(motion: Motion, feet: list[Foot], shift: FloatArray) -> Motion:
    pose = motion.global_pose
    down = shift[:, None] * UP
    rotations = pose.rotations.copy()
    for foot in feet:
        chain = [foot.thigh, foot.shin, foot.foot]
        hinge = quaternions.rotate(pose.rotations[:, foot.thigh], [1.0, 0.0, 0.0])
        bent_to(rotations, pose.positions - down[:, None], chain, foot.ankle, hinge)
        rotations[:, foot.foot] = foot.turn
        if foot.toe is not None:
            rotations[:, foot.toe] = foot.toe_turn
    return Motion.from_global_rotations(motion.skeleton, motion.fps, motion.root_positions - down,
                                        quaternions.without_flips(rotations))
