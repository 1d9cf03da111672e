"""Keep contacts of the hands: what they touch in the source, they touch on the target."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mimegen.base.decisions import first_most
from mimegen.base.easing import ramp
from mimegen.base.vectors import lengths, unit
from mimegen.characters.character import Character
from mimegen.motion import Motion, quaternions
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.anatomy import hand_axes, last_bone, leg_length
from mimegen.retarget.flesh import (
    FleshTube,
    NearTube,
    TubeAxes,
    measured_tubes,
    stature,
    tube_axes,
    typical_tubes,
)
from mimegen.retarget.limbs import bent_to
from mimegen.retarget.smoothing import as_lively, smoothest
from mimegen.retarget.solving import solve_pairs
from mimegen.retarget.surface import SkinSample, outer_vertices


@dataclass(frozen=True)
class HandParameters:
    """When hands touch and hold, and how they come to do so on another body.

    Chosen by trial and checked over the library on seven bodies by ``benchmarks/hands.py``: hands
    that should touch are within 2 cm, and grips stay on their shaft (``docs/research/people.md``).
    """

    # Distances (m) from the surface: up to the first a hand touches; from the second on it no
    # longer keeps its position along the surface; from the third on it is free.
    touch_m: float = 0.008
    sticks_m: float = 0.025
    free_m: float = 0.045
    # The distances (m) from thighs and from the other hand from which on a hand is free. Hanging
    # hands pass the thighs closely without touching; hands that approach each other mean to meet.
    free_of_thigh_m: float = 0.025
    free_of_hand_m: float = 0.08
    # Hands hold one shaft if it would continue from one to the other: not at all below the first
    # cosine between the axes of their grips, fully from the second on,
    shaft_none_cosine: float = 0.8
    shaft_full_cosine: float = 0.92
    # and if the grips lie near one line: fully within this distance (m) plus this fraction of the
    # distance between them, and not at all beyond ``beside_most`` times that,
    beside_m: float = 0.02
    beside_share: float = 0.15
    beside_most: float = 2.0
    # and if their distance (m) along it is large enough, from not at all to fully: nearer hands
    # hold one another,
    apart_none_m: float = 0.02
    apart_full_m: float = 0.03
    # and if their distance (m) is small enough, from not at all to fully. Holding changes with a
    # low-pass of this standard deviation (s).
    shaft_none_m: float = 0.45
    shaft_full_m: float = 0.35
    settles_s: float = 0.05
    # The axis of a grip leans from the thumb's direction along the hand by this ratio; a held
    # object lies this far (m) out of the palm.
    leans: float = 0.28
    out_of_palm_m: float = 0.009
    # The palm's middle lies at this fraction of the way from the wrist to the knuckles.
    palm_share: float = 0.7
    # Weight of leaving a hand where the rotations alone put it.
    rest_weight: float = 0.03
    # Half the thickness (m) of a bare hand, at the typical stature.
    half_a_hand_m: float = 0.019
    # How often hands are pushed out of flesh, each time by the deepest point; the weight of not
    # moving in frames without a push; and the depths (m) to which palm, back, knuckle and the tips
    # of index and thumb may lie.
    pushes: int = 3
    free_of_pushes: float = 0.2
    gives_m: tuple[float, ...] = (0.0, 0.0, 0.0, 0.03, 0.03)
    # Cutoff (Hz) of the low-pass of hands' shifts where they touch, see `smoothest`.
    settle_hz: float = 5.0
    # Shoulders follow a wrist by this fraction of small shifts, and never further than this (m).
    girdle: float = 0.6
    girdle_most_m: float = 0.04


HANDS = HandParameters()
ARM = ("upper_arm", "forearm", "hand")


@dataclass(frozen=True)
class Hands:
    """Both hands in all frames: ``wrists`` (F, 2, 3) and ``points`` (F, 2, P, 3) that can touch.

    The points are palm, back, knuckle, and the tips of index and thumb.
    """

    wrists: FloatArray
    points: FloatArray

    def backs(self) -> FloatArray:
        """Return the normals (F, 2, 3) of the hands' backs, zeros for hands without fingers."""
        return unit(self.points[:, :, 1] - self.points[:, :, 0])

    def grips(self) -> tuple[FloatArray, FloatArray]:
        """Return the centres (F, 2, 3) of what hands may hold, and its axes towards the thumbs."""
        palm, _, knuckle = np.moveaxis(self.points[:, :, :3], 2, 0)
        out, along = -self.backs(), unit(knuckle - palm)
        thumb = quaternions.cross(along, out) * np.array([-1.0, 1.0])[:, None]
        return (palm + knuckle) / 2 + HANDS.out_of_palm_m * out, unit(HANDS.leans * along + thumb)


@dataclass(frozen=True)
class Touch:
    """Confidences, 0 to 1, of contacts of the hands in all frames.

    ``firm`` (F, 2): either hand touches something. ``on_shaft`` (F,): both hold one shaft.
    ``hands_near`` (F,): both are near each other.
    """

    firm: FloatArray
    on_shaft: FloatArray
    hands_near: FloatArray


@dataclass(frozen=True)
class MovingBody:
    """A body in all frames: its hands, and the tubes of its flesh with their axes."""

    hands: Hands
    axes: Mapping[str, TubeAxes]
    tubes: Mapping[str, FleshTube]


def with_hands_meeting(motion: Motion, source: Motion, source_joints: Mapping[str, int],
                       character: Character, joints: Mapping[str, int]
                       ) -> tuple[Motion, Touch]:
    """Return the target's motion with hands that touch as the source's do, for any proportions.

    Also return the confidence of each contact.

    Palms, knuckles and finger tips near the source's head, trunk, thighs or other arm are brought
    to the same point of the target's surface. Palms near each other get the source's distance,
    scaled; hands that hold one shaft stay on it. Parts that would go into the body are pushed out.
    Each hand's shift is the least-squares balance between the surfaces near it, the other hand, and
    its own position. Elbows bend to reach it; hands keep their rotation.
    """
    if not (has_arms(source_joints) and has_arms(joints)):
        return motion, Touch(np.zeros((motion.frames, len(SIDES))), *np.zeros((2, motion.frames)))
    target = target_body(motion, character, joints)
    scale = leg_length(motion.skeleton, joints) / leg_length(source.skeleton, source_joints)
    original = source_body(source, source_joints, motion, character, joints, scale)
    shifts, weights = (np.stack(both, axis=1) for both in zip(*(
        to_the_body(original, target, number, side, scale)
        for number, side in enumerate(SIDES)), strict=True))
    # Squared, so that hands that only come near yield to hands that touch.
    near = nearness(gap(original.hands, 0, original.hands, 1), HANDS.free_of_hand_m)**2
    weights = weights**2
    on_shaft = holding(original.hands, motion.fps)
    palms, grips = (offset(original.hands) * scale - offset(target.hands)
                    for offset in (palms_apart, grips_apart))
    # Hands that hold one shaft keep the offset between their grips; others that between their
    # palms.
    share = (on_shaft / np.maximum(on_shaft + near, 1e-9))[:, None]
    both = np.maximum(near, on_shaft)
    shifts = _balance(both, weights, palms + share * (grips - palms), shifts)
    firm = HANDS.rest_weight + both[:, None] + weights
    shifts = smoothed_shifts(shifts, firm, motion.fps)
    for _ in range(HANDS.pushes):
        pushes = _out_of_flesh(target, shifts)
        pushing = np.maximum(lengths(pushes) > 0, HANDS.free_of_pushes)
        shifts = shifts + smoothed_shifts(pushes, pushing, motion.fps)
    goals = target.hands.wrists + shifts
    wrists = wrists_of(source, source_joints) * scale
    # Only the difference from the source's path is smoothed, so that its own quick movements stay.
    goals = as_lively(goals, wrists, motion.fps)
    firm = np.minimum(near[:, None] + weights, 1.0)
    return arms_bent(motion, joints, goals), Touch(firm, on_shaft, near)


def holding(hands: Hands, fps: float) -> FloatArray:
    """Return the confidence (F,), 0 to 1, that both hands hold one shaft."""
    _, axes = hands.grips()
    cosine = np.sum(axes[:, 0] * axes[:, 1], axis=1)
    # A shaft looks the same from both ends: grips with thumbs to opposite ends have opposite axes.
    axis = unit(axes[:, 0] + np.where(cosine < 0, -1.0, 1.0)[:, None] * axes[:, 1])
    apart = grips_apart(hands)
    far = lengths(apart)
    beside = lengths(quaternions.cross(apart, axis)) / (HANDS.beside_m + HANDS.beside_share * far)
    on_shaft = (ramp(np.abs(cosine), HANDS.shaft_none_cosine, HANDS.shaft_full_cosine)
                * ramp(far, HANDS.shaft_none_m, HANDS.shaft_full_m)
                * ramp(beside, HANDS.beside_most, 1.0)
                * ramp(np.abs(np.sum(apart * axis, axis=1)), HANDS.apart_none_m,
                       HANDS.apart_full_m))
    return np.asarray(low_passed(on_shaft[:, None], HANDS.settles_s * fps)[:, 0])


def grips_apart(hands: Hands) -> FloatArray:
    """Return the left grip's position (F, 3) relative to the right one."""
    middles, _ = hands.grips()
    return np.asarray(middles[:, 0] - middles[:, 1])


def has_arms(joints: Mapping[str, int]) -> bool:
    """Return whether both arms have all joints from shoulder to wrist."""
    return all(f"{side}_{part}" in joints for side in SIDES for part in ARM)


def target_body(motion: Motion, character: Character, joints: Mapping[str, int]) -> MovingBody:
    """Return a character's hands and tubes in a motion."""
    pose = motion.global_pose
    size = stature(character.skeleton, joints)
    axes = tube_axes(pose.positions, pose.rotations[:, joints["head"]], joints, size)
    tubes = measured_tubes(character, tuple(sorted(joints.items())))
    return MovingBody(hands_in(motion, character, joints), axes, tubes)


def hands_in(motion: Motion, character: Character, joints: Mapping[str, int],
             half: float | None = None) -> Hands:
    """Return a character's hands in a motion; ``half`` as in `_hand_points`."""
    numbers = tuple(sorted(joints.items()))
    points = [_hand_points(character, numbers, side, half).posed(motion) for side in SIDES]
    return Hands(wrists_of(motion, joints), np.stack(points, axis=1))


def wrists_of(motion: Motion, joints: Mapping[str, int]) -> FloatArray:
    """Return the positions (F, 2, 3) of both wrists."""
    return motion.global_pose.positions[:, [joints[f"{side}_hand"] for side in SIDES]]


def source_body(source: Motion, joints: Mapping[str, int], motion: Motion, character: Character,
                goal: Mapping[str, int], scale: float) -> MovingBody:
    """Return the source's body: bare flesh around its bones, and the character's hands at its size.
    """
    half = HANDS.half_a_hand_m * stature(character.skeleton, goal)
    own, wrists = hands_in(motion, character, goal, half), wrists_of(source, joints)
    # The source has no flesh, so it gets the character's hands, scaled to its size and turned as
    # they are.
    points = wrists[:, :, None] + (own.points - own.wrists[:, :, None]) / scale
    size = stature(source.skeleton, joints)
    head = motion.global_pose.rotations[:, goal["head"]]
    axes = tube_axes(source.global_pose.positions, head, joints, size)
    return MovingBody(Hands(wrists, points), axes, typical_tubes(size))


@lru_cache(maxsize=16)
def _hand_points(character: Character, numbers: tuple[tuple[str, int], ...], side: str,
                 half: float | None) -> SkinSample:
    """Return palm, back, knuckle and two finger tips of a hand, or five times the wrist bone's end.

    The latter is for hands without finger joints. ``numbers`` are pairs of role and joint; ``half``
    is half the hand's thickness (m), None for the character's own.
    """
    skeleton, joints = character.skeleton, dict(numbers)
    wrist = joints[f"{side}_hand"]
    axes = hand_axes(skeleton.heads, joints, side)
    if axes is None or f"{side}_middle1" not in joints:
        points, follow = skeleton.tails[[wrist]], [wrist]
        return SkinSample(np.repeat(points, 5, axis=0), np.array(follow * 5)[:, None],
                          np.ones((5, 1)))
    knuckle = skeleton.heads[joints[f"{side}_middle1"]]
    middle = skeleton.heads[wrist] + HANDS.palm_share * (knuckle - skeleton.heads[wrist])
    if half is None:
        half = half_a_hand(character, wrist, middle, axes[1])
    lasts = [last_bone(joints, side, finger) for finger in ("index", "thumb")]
    tips = [wrist if last is None else last for last in lasts]
    points = np.array([middle - axes[1] * half, middle + axes[1] * half, knuckle - axes[1] * half,
                       *skeleton.tails[tips]])
    return SkinSample(points, np.array([wrist, wrist, wrist, *tips])[:, None], np.ones((5, 1)))


def half_a_hand(character: Character, wrist: int, middle: FloatArray,
                 back: FloatArray) -> float:
    """Return the distance (m) of the palm's skin from the hand's middle."""
    away = outer_vertices(character, {wrist}) - middle
    depth = np.sum(away * -back, axis=1)
    beside = np.linalg.norm(away + depth[:, None] * back, axis=1)
    # Skin straight below the palm's middle, within 2 cm of it sideways, and on the palm's side.
    near = depth[(beside < 0.02) & (depth > 0)]
    bare = HANDS.half_a_hand_m * np.linalg.norm(middle - character.skeleton.heads[wrist]) / 0.073
    return float(np.median(near)) if len(near) > 3 else float(bare)


def nearness(distances: FloatArray, free: float = HANDS.free_m) -> FloatArray:
    """Return weights that fall smoothly from 1 at a touch to 0 at the distance ``free`` (m)."""
    return ramp(distances, free, HANDS.touch_m)


def _flesh_for(side: str, tubes: Mapping[str, FleshTube]) -> list[str]:
    return [name for name in tubes if not (side and name.startswith(side) and "arm" in name)]


def to_the_body(source: MovingBody, target: MovingBody, number: int, side: str,
                scale: float) -> tuple[FloatArray, FloatArray]:
    """Return the shift (F, 3) that brings a hand where the source's touches, and its weight (F,).

    The arm of ``side`` is left out, as the hand belongs to it.
    """
    total = np.zeros_like(source.hands.wrists[:, number])
    weights, most = np.zeros(len(total)), np.zeros(len(total))
    for name in _flesh_for(side, target.tubes):
        place = source.tubes[name].found(source.hands.points[:, number], source.axes[name])
        free = HANDS.free_of_thigh_m if name.endswith("thigh") else HANDS.free_m
        near = nearness(place.off, free)
        if name == "trunk":
            # A hand below the hip joints is no longer at the trunk.
            near = near * np.clip(place.along / 0.1, 0.0, 1.0)
        # A source's hand inside its flesh, because its bones are given too long, counts as
        # touching: it is not pulled into the target's flesh.
        off = np.clip(place.off, 0.0, HANDS.free_m) * scale
        goal, way = target.tubes[name].point(NearTube(place.along, place.way, off),
                                             target.axes[name])
        shift = goal - target.hands.points[:, number]
        # Only touching points keep their position along the surface (and none on the thighs); near
        # points keep just their distance.
        upright = way * np.sum(shift * way, axis=-1, keepdims=True)
        sticks = 0.0 if name.endswith("thigh") else nearness(place.off, HANDS.sticks_m)[..., None]
        shift = upright + sticks * (shift - upright)
        # By the fourth power the nearest point dominates, and yet the choice between points is
        # smooth.
        share = near**4
        total += np.sum(share[..., None] * shift, axis=1)
        weights += np.sum(share, axis=1)
        most = np.maximum(most, near.max(axis=1))
    return total / np.maximum(weights, 1e-9)[:, None], most


def palms_apart(hands: Hands) -> FloatArray:
    """Return the left palm's position (F, 3) relative to the right one."""
    return hands.points[:, 0, 0] - hands.points[:, 1, 0]


def gap(one: Hands, number: int, other: Hands, against: int) -> FloatArray:
    """Return the least distance (F,) between the points of two hands, given by their numbers."""
    away = one.points[:, number, :, None] - other.points[:, against, None]
    return np.asarray(lengths(away).min(axis=(1, 2)))


def _balance(hands: FloatArray, body: FloatArray, across: FloatArray,
             to_body: FloatArray) -> FloatArray:
    """Solve the 2x2 normal equations of all frames at once for the wrists' shifts (F, 2, 3)."""
    matrix = np.zeros((len(hands), 2, 2))
    matrix[:, 0, 0] = HANDS.rest_weight + hands + body[:, 0]
    matrix[:, 1, 1] = HANDS.rest_weight + hands + body[:, 1]
    # Moving both hands alike does not change their offset: only their difference is pulled.
    matrix[:, 0, 1] = matrix[:, 1, 0] = -hands
    pull = hands[:, None] * across
    right_side = np.stack([pull + body[:, :1] * to_body[:, 0], body[:, 1:] * to_body[:, 1] - pull],
                          axis=1)
    return solve_pairs(matrix, right_side)


def smoothed_shifts(shifts: FloatArray, weights: FloatArray, fps: float,
                    cutoff: float = HANDS.settle_hz) -> FloatArray:
    """Return both hands' shifts (F, 2, 3) smoothed, least in frames with high weights (F, 2)."""
    found = np.zeros_like(shifts)
    for number in range(len(SIDES)):
        if shifts[:, number].any():
            found[:, number] = smoothest(shifts[:, number], weights[:, number], fps, cutoff)
    return found


def _out_of_flesh(body: MovingBody, shifts: FloatArray) -> FloatArray:
    """Return additional shifts (F, 2, 3) that take hands, moved by ``shifts``, out of flesh.

    Finger tips may lie a little deeper than palms, because they bend. What of hands still lies in
    the skin comes out of it later, see `clearance`.
    """
    found, frames = np.zeros_like(shifts), np.arange(len(shifts))
    for number, side in enumerate(SIDES):
        points = body.hands.points[:, number] + shifts[:, number, None]
        off, ways = [], []
        for name in _flesh_for(side, body.tubes):
            place = body.tubes[name].found(points, body.axes[name])
            off.append(place.off + HANDS.gives_m)
            ways.append(body.tubes[name].point(place, body.axes[name])[1])
        depths = np.maximum(-np.concatenate(off, axis=1), 0.0)
        worst = first_most(depths)
        found[:, number] = (depths[frames, worst, None]
                            * np.concatenate(ways, axis=1)[frames, worst])
    return found


def arms_bent(motion: Motion, joints: Mapping[str, int], goals: FloatArray,
              girdle: float = HANDS.girdle) -> Motion:
    """Return the motion with left and right wrist at ``goals`` (F, 2, 3).

    Shoulders follow by the fraction ``girdle``; elbows bend for the rest.
    """
    pose = motion.global_pose
    rotations = pose.rotations.copy()
    for number, side in enumerate(SIDES):
        chain = [joints[f"{side}_{part}"] for part in ARM]
        positions, clavicle = pose.positions, joints.get(f"{side}_clavicle")
        if clavicle is not None:
            places = positions[:, [clavicle, chain[0], chain[2]]]
            turn, moved = _shoulder_turned(places, goals[:, number] - places[:, 2], girdle)
            rotations[:, clavicle] = quaternions.multiply(turn, rotations[:, clavicle])
            positions = positions + moved[:, None]
        inward = np.array([0.0, 0.0, -1.0 if side == "left" else 1.0])
        hinges = quaternions.rotate(pose.rotations[:, chain[0]], inward)
        bent_to(rotations, positions, chain, goals[:, number], hinges)
    return Motion.from_global_rotations(motion.skeleton, motion.fps, motion.root_positions,
                                        quaternions.without_flips(rotations))


def _shoulder_turned(places: FloatArray, shift: FloatArray,
                     girdle: float) -> tuple[FloatArray, FloatArray]:
    """Return a collar bone's rotation (F, 4) for the wrist's ``shift``, and the shoulder's shift.
    """
    bone, way = places[:, 1] - places[:, 0], girdle * shift
    # Dividing by hypot leaves small shifts as they are and bounds large ones by the maximum.
    far = lengths(way)[:, None] / HANDS.girdle_most_m
    turn = quaternions.between(bone, bone + way / np.hypot(1, far))
    return turn, np.asarray(quaternions.rotate(turn, bone) - bone)
