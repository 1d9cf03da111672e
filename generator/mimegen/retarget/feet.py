"""Repair contacts of the feet: soles rest on the ground when the source's do, and never below it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.easing import minimum_jerk
from mimegen.base.vectors import lengths, product, unit
from mimegen.characters.character import Character
from mimegen.motion import Motion, quaternions
from mimegen.motion.contacts import velocities
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.anatomy import leg_length
from mimegen.retarget.ground import Ground
from mimegen.retarget.limbs import bent_to
from mimegen.retarget.smoothing import as_lively, calmed, smooth_cover, smoothest
from mimegen.retarget.stance import STANCE, Sole, resting_height, sole, source_contacts

UP = np.array([0.0, 0.0, 1.0])
LEVEL = np.array([1.0, 1.0, 0.0])


@dataclass(frozen=True)
class FeetParameters:
    """How feet are kept on the ground. Found on recordings: ``docs/research/retargeting.md``.

    Each low-pass (`smoothest`) has a cutoff (``*_hz``) and a weight ``free_*`` of leaving values
    unchanged in frames in which no foot rests: the smaller the weight, the smoother the path from
    one rest to the next.
    """

    # Time (s) after which a resting foot is held firmly, and time (s) before and after a rest that
    # still counts as part of it: a foot that stopped within one frame would jerk.
    hold_s: float = 0.12
    reach_s: float = 0.06
    # Rotation of soles to level.
    tilt_hz: float = 5.0
    free_tilt: float = 0.03
    # Standard deviation (s) of the low-pass of the rotations of resting feet.
    resting_calm_s: float = 0.025
    # Horizontal positions of ankles, their heights, and positions of the hips.
    step_hz: float = 3.0
    free_step: float = 0.1
    height_hz: float = 4.0
    free_height: float = 0.05
    hips_hz: float = 2.5
    # Weights: of a resting foot's horizontal position (so high that it hardly slides), of its
    # height, of following the source's foot over the ground below the height ``low_m`` (m), and of
    # swinging as high as the source's foot.
    firm: float = 1e5
    firm_height: float = 5.0
    follow: float = 10.0
    low_m: float = 0.05
    swing: float = 10.0
    # Low feet slower than this (m/s) follow the source's displacement only in part, and not at all
    # at `STANCE.resting_speed`.
    gliding_speed: float = 0.8
    # Length that a planted leg may need, as a fraction of its full length, before the hips sink. At
    # 1 the knee would lock, and near that small errors turn it fast.
    longest_leg: float = 0.998
    # Legs count as straight if the distance from hip to ankle is shorter than the bones by less
    # than this fraction (knees bent by up to 15 degrees), and gradually less up to twice that.
    nearly_straight: float = 0.008
    # Weight of leaving the hips unchanged in frames in which nobody stands, and the largest tilt
    # (radians) of the pelvis to one side.
    unmoved: float = 0.02
    most_list: float = 0.035
    # Between this height (m) of the source's foot and half of it, feet are increasingly made to
    # swing at least as high as the source's; ``soft_m`` (m) rounds the onset of that.
    highest_swing_m: float = 0.16
    soft_m: float = 0.004


FEET = FeetParameters()


@dataclass
class TargetFoot:
    """One foot of the target while it is repaired; all arrays have frames first.

    ``heel_path`` and ``ball_path`` (F, 3) are the paths of the source's ankle and toe joint, scaled
    to the target's size, with heights from where they rest.
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
    heel_path: FloatArray
    ball_path: FloatArray

    @property
    def down(self) -> NDArray[np.bool_]:
        """Whether heel or ball rests, (F,)."""
        return self.heel_down | self.ball_down


def feet_of(motion: Motion, source: Motion, source_joints: Mapping[str, int],
            character: Character, joints: Mapping[str, int], scale: float) -> list[TargetFoot]:
    """Return both feet of a motion; ``scale`` is that of the source's paths over the ground."""
    return [_foot(motion, source, source_joints, character, joints, side, scale) for side in SIDES]


def on_the_ground(motion: Motion, feet: list[TargetFoot], ground: Ground, staying: float) -> Motion:
    """Return the character's motion with feet planted where and when the source's are.

    Resting heels and balls do not slide, soles lie flat and never go below Z = 0, and feet swing as
    high as the source's. First the hips follow the planted feet, so that legs keep their bend; the
    weight ``staying`` holds the hips on their path. Then the legs bend to reach the feet.
    """
    for foot in feet:
        _flatten(foot, motion.fps)
    # Hips before legs: a correction that both feet need is made by the hips, so that legs keep
    # their bend.
    shift = _hips_following(feet, motion.fps, staying)
    shift[:, 2] += smooth_cover(ground.sinking(motion, shift[:, 2]), motion.fps)
    for foot in feet:
        foot.ankle = foot.ankle + shift
        foot.ankle = foot.ankle + _correction(foot, motion.fps)
    motion = Motion(motion.skeleton, motion.fps, motion.root_positions + shift, motion.rotations)
    # After the feet are in place, because the lengths of the legs follow from them.
    motion = _standing_straight(motion, feet, ground.joints["hips"])
    sinking = _sinking_hips(motion, feet)
    return _legs_bent(motion, feet, sinking)


def _foot(motion: Motion, source: Motion, source_joints: Mapping[str, int], character: Character,
          joints: Mapping[str, int], side: str, scale: float) -> TargetFoot:
    thigh, shin, foot = (joints[f"{side}_{part}"] for part in ("thigh", "shin", "foot"))
    toe = joints.get(f"{side}_toe")
    heel, ball = source_contacts(source, source_joints, side)
    turns = motion.global_pose.rotations
    legs = leg_length(motion.skeleton, joints) / leg_length(source.skeleton, source_joints)
    parts = ("foot", "toe" if f"{side}_toe" in source_joints else "foot")
    paths = [np.array([scale, scale, legs]) * _above_rest(source, source_joints, side, part)
             for part in parts]
    ankle = as_lively(motion.global_pose.positions[:, foot], paths[0], motion.fps)
    return TargetFoot(thigh, shin, foot, toe, sole(character, joints, side), heel, ball,
                      turns[:, foot], turns[:, foot if toe is None else toe], ankle, *paths)


def _above_rest(source: Motion, joints: Mapping[str, int], side: str, part: str) -> FloatArray:
    """Return a source joint's positions (F, 3), with heights from the level at which it rests."""
    level = resting_height(source, joints, part, side)
    return source.global_pose.positions[:, joints[f"{side}_{part}"]] - [0.0, 0.0, level]


def _soles_down(turns: FloatArray, resting: NDArray[np.bool_], fps: float) -> FloatArray:
    """Return the rotations (F, 4) of soles, level while they rest, with smooth changes in between.

    Resting soles are also smoothed, so that they do not twitch on the ground.
    """
    locked = _lock(resting, fps)
    # Smoothed during rests only: in swing the low-pass would take away the foot's own flick.
    turns = quaternions.slerp(turns, calmed(turns, fps, FEET.resting_calm_s), locked)
    # The smallest rotation that levels the sole keeps the direction of the toes.
    level = quaternions.between(quaternions.rotate(turns, UP), UP)
    weights = np.maximum(locked, FEET.free_tilt)
    goals = resting[:, None] * quaternions.to_rotation_vectors(level)
    tilt = smoothest(goals, weights, fps, FEET.tilt_hz)
    return quaternions.multiply(quaternions.from_rotation_vectors(tilt), turns)


def _lock(resting: NDArray[np.bool_], fps: float) -> FloatArray:
    """Return how firmly (F,) a resting part is held: 0 at the ends of each rest, 1 soon within it.
    """
    return minimum_jerk(np.clip(_seconds_in(resting, fps) / FEET.hold_s, 0, 1))


def _flatten(foot: TargetFoot, fps: float) -> None:
    foot.turn = _soles_down(foot.turn, foot.heel_down & foot.ball_down, fps)
    foot.toe_turn = _soles_down(foot.toe_turn, foot.ball_down, fps)


def _lowest(foot: TargetFoot) -> FloatArray:
    """Return the height (F,) of the lowest point of foot and toes from the ankle, below zero."""
    foot_up, toe_up = (quaternions.rotate(quaternions.conjugate(turn), UP)
                       for turn in (foot.turn, foot.toe_turn))
    on_foot = product(foot_up, foot.sole.skin.T)
    beyond = foot.sole.skin - foot.sole.toes
    on_toes = product(foot_up, foot.sole.toes)[:, None] + product(toe_up, beyond.T)
    return np.asarray((on_foot + foot.sole.of_toes * (on_toes - on_foot)).min(axis=1))


def _hips_following(feet: list[TargetFoot], fps: float, staying: float) -> FloatArray:
    """Return the smooth shift (F, 3) of the hips that leaves planted feet the least correction.

    Horizontally, hips follow the changes from frame to frame that planted feet need; in height, the
    mean that soles on the ground need. The weight ``staying`` draws them to their own path.
    """
    # Squared, because least squares weigh squared errors.
    locks = np.stack([_lock(foot.down, fps) ** 2 for foot in feet])
    firm = (locks[:, 1:] + locks[:, :-1]) / 2
    # Changes from frame to frame, not positions: positions would pull the hips back over the whole
    # distance that walking on longer or shorter legs has added.
    steps = _average(np.stack([_steps(foot, fps)[:, :2] for foot in feet]), firm)
    near = np.stack([_near(foot, fps) ** 2 for foot in feet])
    heights = _average(np.stack([_standing(foot, fps)[:, None] for foot in feet]), near)
    stay = np.full(near.shape[1], staying)
    over = smoothest(np.zeros((len(stay), 2)), stay, fps, FEET.hips_hz, steps, firm.sum(axis=0))
    standing = near.sum(axis=0)
    share = standing / (standing + stay)
    up = smoothest(share[:, None] * heights, standing + stay, fps, FEET.hips_hz)
    return np.concatenate([over, up], axis=1)


def _average(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the mean (F, C) of both feet's values (2, F, C) by weights (2, F), else 0."""
    total = np.einsum("kf,kfc->fc", weights, values)
    return np.asarray(total / np.maximum(weights.sum(axis=0), 1e-9)[:, None])


def _correction(foot: TargetFoot, fps: float) -> FloatArray:
    """Return the shift (F, 3) of the ankle by which resting parts do not slide or sink."""
    lock = _lock(foot.down, fps)
    firm = _halfway(FEET.firm * lock**2 + FEET.follow * _low(foot.ball_path))[:, 0]
    over = smoothest(np.zeros((len(lock), 2)), np.full(len(lock), FEET.free_step), fps,
                     FEET.step_hz, _steps(foot, fps)[:, :2], firm)
    ball = (foot.ankle + quaternions.rotate(foot.turn, foot.sole.toes))[:, 2] + foot.sole.tip[2]
    # Only swings that are too low are raised; a swing higher than the source's does no harm.
    below = foot.ball_path[:, 2] - ball
    near = _near(foot, fps)
    level = foot.ball_path[:, 2] / FEET.highest_swing_m
    swing = (1 - near) * minimum_jerk(np.clip(2 - 2 * level, 0, 1))
    # (x + sqrt(x^2 + s^2)) / 2 is a smooth max(x, 0): without a corner, feet do not jerk at its
    # onset.
    height = near * _standing(foot, fps) + swing * (below + np.hypot(below, FEET.soft_m)) / 2
    weights = FEET.free_height + near + FEET.firm_height * lock**2 + FEET.swing * swing
    up = smoothest(height[:, None], weights, fps, FEET.height_hz)[:, 0]
    # Last, lift whatever the low-passes left below the ground.
    up += smooth_cover(-(foot.ankle[:, 2] + up + _lowest(foot)), fps)
    return np.concatenate([over, up[:, None]], axis=1)


def _steps(foot: TargetFoot, fps: float) -> FloatArray:
    """Return the additional displacement (F - 1, 3) that the ankle needs from frame to frame.

    Resting parts stay. Otherwise the ankle follows the source's ankle, or the toes follow the
    source's toes if these are lower.
    """
    lock, on_ball = _lock(foot.down, fps), _on_ball(foot, fps)
    about_heel, about_toes = (np.diff(-quaternions.rotate(foot.turn, arm), axis=0)
                              for arm in (foot.sole.heel, foot.sole.toes))
    locked, toes = _halfway(lock), _halfway(on_ball)
    by_heel, by_toes = ((1 - locked) * _halfway(_going(path, fps)) * np.diff(path, axis=0)
                        for path in (foot.heel_path, foot.ball_path))
    by_heel, by_toes = by_heel + locked * about_heel, by_toes + about_toes
    return np.asarray((1 - toes) * by_heel + toes * by_toes - np.diff(foot.ankle, axis=0))


def _going(path: FloatArray, fps: float) -> FloatArray:
    """Return the fraction (F,) of the source's displacement to follow: less while low and slow."""
    speed = np.linalg.norm(velocities(path[:, :2], fps), axis=1)
    slowest = STANCE.resting_speed
    going = np.clip((speed - slowest) / (FEET.gliding_speed - slowest), 0, 1)
    return np.asarray(1 - _low(path) * (1 - going))


def _low(path: FloatArray) -> FloatArray:
    """Return how low (F,) a path (F, 3) of the source is: 1 below ``low_m``, 0 above twice that."""
    return minimum_jerk(np.clip(2 - path[:, 2] / FEET.low_m, 0, 1))


def _standing(foot: TargetFoot, fps: float) -> FloatArray:
    """Return the lift (F,) of the ankle by which the foot stands on the ground.

    Just before and after a rest the foot is as high above the ground as the source's.
    """
    on_ball = _on_ball(foot, fps)
    height = on_ball * foot.ball_path[:, 2] + (1 - on_ball) * foot.heel_path[:, 2]
    free = 1 - _lock(foot.down, fps)
    return np.asarray(free * np.maximum(height, 0.0) - _lowest(foot) - foot.ankle[:, 2])


def _on_ball(foot: TargetFoot, fps: float) -> FloatArray:
    """Return the foot's pivot (F,): heel (0) or toes (1), whichever rests or is lower."""
    lower = foot.ball_path[:, 2] < foot.heel_path[:, 2]
    toes = np.where(foot.down, foot.ball_down, lower)
    return np.asarray(scipy.ndimage.gaussian_filter1d(
        toes.astype(float), FEET.hold_s / 3 * fps, mode="nearest"))


def _halfway(values: FloatArray) -> FloatArray:
    """Return values (F - 1, 1) half-way between the frames of ``values`` (F,)."""
    return np.asarray((values[1:] + values[:-1])[:, None] / 2)


def _near(foot: TargetFoot, fps: float) -> FloatArray:
    """Return how near (F,) frames are to the foot's rests: 1 within them, 0 from ``reach_s`` away.
    """
    return np.asarray(1 - minimum_jerk(np.clip(_seconds_in(~foot.down, fps) / FEET.reach_s, 0, 1)))


def _seconds_in(mask: NDArray[np.bool_], fps: float) -> FloatArray:
    """Return the time (s) from each frame in a mask (F,) to the mask's nearest edge.

    A take's ends are no edges. The time is 0 outside the mask, and infinite if it has no edge.
    """
    if mask.all():
        return np.full(len(mask), np.inf)
    # Padded with the first and last value, so that a rest at the take's start counts as held from
    # its first frame.
    away = scipy.ndimage.distance_transform_edt(np.pad(mask, 1, mode="edge"))
    return np.asarray(away[1:-1] / fps)


def _standing_straight(motion: Motion, feet: list[TargetFoot], hips: int) -> Motion:
    """Return the motion with standing legs as straight as they were before any repair.

    The hips move horizontally with the mean of both feet, go up by the mean of what both legs need,
    and tilt by the difference. Trunk and legs keep their rotations.
    """
    fps, places = motion.fps, motion.global_pose.positions
    # The mean of both feet, so that neither leg has to lean more than the other.
    over = np.mean([foot.ankle - places[:, foot.foot] for foot in feet], axis=0) * LEVEL
    left, right = (_rise(motion, foot, over) for foot in feet)
    apart = places[:, feet[0].thigh] - places[:, feet[1].thigh]
    # A leg that needs more height lifts its side of the pelvis; the small angle is height over
    # width.
    tilt = np.clip((left - right) / lengths(apart), -FEET.most_list, FEET.most_list)
    quiet = _quiet(motion, feet)[:, None]
    goals = np.column_stack([over + ((left + right) / 2)[:, None] * UP, tilt])
    moved = smoothest(quiet * goals, quiet[:, 0] + FEET.unmoved, fps, FEET.hips_hz)
    rotations = motion.global_pose.rotations.copy()
    rotations[:, hips] = quaternions.multiply(quaternions.from_rotation_vectors(
        moved[:, 3:] * unit(np.cross(apart, UP))), rotations[:, hips])
    return Motion.from_global_rotations(motion.skeleton, fps, motion.root_positions + moved[:, :3],
                                        quaternions.without_flips(rotations))


def _quiet(motion: Motion, feet: list[TargetFoot]) -> FloatArray:
    """Return how fully (F,), 0 to 1, the body just stands: both feet flat and both legs straight.
    """
    flat = np.all([foot.heel_down & foot.ball_down for foot in feet], axis=0)
    short = np.max([1 - _extent(motion, foot) / _longest(motion, foot) for foot in feet], axis=0)
    return _lock(flat, motion.fps) * minimum_jerk(np.clip(2 - short / FEET.nearly_straight, 0, 1))


def _rise(motion: Motion, foot: TargetFoot, over: FloatArray) -> FloatArray:
    """Return how far (F,) a hip joint must go up for its leg to bend as before any repair.

    ``over`` (F, 3) is the hip joint's horizontal displacement.
    """
    way = motion.global_pose.positions[:, foot.thigh] + over - foot.ankle
    across = np.sum(way[:, :2] ** 2, axis=1)
    # Pythagoras: the height of the hip above the ankle at that length and horizontal distance.
    height = np.sqrt(np.maximum(_extent(motion, foot) ** 2 - across, 0.0))
    return np.asarray(height - way[:, 2])


def _longest(motion: Motion, foot: TargetFoot) -> float:
    """Return the length (m) of a straight leg."""
    return float(lengths(motion.skeleton.offsets[[foot.shin, foot.foot]]).sum())


def _sinking_hips(motion: Motion, feet: list[TargetFoot]) -> FloatArray:
    """Return how far (F,) the hips must sink for planted legs to reach the ground."""
    needed = np.zeros(motion.frames)
    for foot in feet:
        longest = FEET.longest_leg * _longest(motion, foot)
        over = _sinking(motion, foot, np.maximum(longest, _extent(motion, foot)))
        # The leg that needs most decides; only standing legs count.
        needed = np.maximum(needed, np.where(foot.down, over, 0.0))
    return smooth_cover(np.clip(needed, 0.0, 0.2), motion.fps)


def _extent(motion: Motion, foot: TargetFoot) -> FloatArray:
    """Return the distance (F,) from hip joint to ankle before any repair."""
    places = motion.global_pose.positions
    return np.asarray(np.linalg.norm(places[:, foot.foot] - places[:, foot.thigh], axis=1))


def _sinking(motion: Motion, foot: TargetFoot, lengths: FloatArray) -> FloatArray:
    """Return how far (F,) hips sink to bring the ankle within ``lengths`` (F,) of the hip joint."""
    away = foot.ankle - motion.global_pose.positions[:, foot.thigh]
    height = np.sqrt(np.maximum(lengths**2 - np.sum(away[:, :2] ** 2, axis=1), 0.0))
    return np.asarray(np.where(away[:, 2] < 0, -height - away[:, 2], 0.0))


def _legs_bent(motion: Motion, feet: list[TargetFoot], shift: FloatArray) -> Motion:
    pose = motion.global_pose
    down = shift[:, None] * UP
    rotations = pose.rotations.copy()
    for foot in feet:
        chain = [foot.thigh, foot.shin, foot.foot]
        hinge = quaternions.rotate(pose.rotations[:, foot.thigh], [1.0, 0.0, 0.0])
        # Legs bend before feet are turned, because feet would turn with the shins.
        bent_to(rotations, pose.positions - down[:, None], chain, foot.ankle, hinge)
        rotations[:, foot.foot] = foot.turn
        if foot.toe is not None:
            rotations[:, foot.toe] = foot.toe_turn
    return Motion.from_global_rotations(motion.skeleton, motion.fps, motion.root_positions - down,
                                        quaternions.without_flips(rotations))
