"""All performers of a score solved: from keys to motions on the standard skeleton, in one world."""

from collections.abc import Sequence

import numpy as np

from mimegen.choreography import hands
from mimegen.choreography.anchors import SIDES, Anchors, Context
from mimegen.choreography.body import centimetre
from mimegen.choreography.freedom import FREE, play
from mimegen.choreography.life import ALL_VARIATION, KeptVariation, life_of
from mimegen.choreography.performer import performed
from mimegen.choreography.places import in_body_axes
from mimegen.choreography.score import Score
from mimegen.choreography.timing import frame_times
from mimegen.choreography.variation import Rendition, is_written, vary
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.editing import mirrored
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded

# Two performers look at and reach for each other, so each is solved in turn, SCENE_ROUNDS times.
SCENE_ROUNDS = 2
# The misses of a hand with full play count less by this fraction than those of one that touches.
FREE_SHARE = 0.6
# A hand has arrived at a key from this weight of the key on.
THERE = 0.9


def solved_scene(
    score: Score, seed: int, fps: float, style: str | None,
    variation: KeptVariation = ALL_VARIATION,
) -> tuple[Motion, ...]:
    """Return one motion per performer, in one world, with a part of the seed's variation.

    Raises RequestError if a hand cannot reach its target in the score as written.
    """
    renditions, small = vary(score, seed, style, variation), variation.small_movements(seed)
    parts = score.parts()
    moments = frame_times(renditions[0].line.duration, fps)
    skeleton = standard_skeleton()
    alone = tuple(
        Context(skeleton, rendition.line, moments, fps,
                life_of(part.name, small, rendition.line), None)
        for part, rendition in zip(parts, renditions, strict=True)
    )
    exact = is_written(seed, style) and not score.compiled
    if len(parts) == 1:
        motions = [performed(parts[0], alone[0], exact)]
    else:
        still = _standing(skeleton, len(moments), fps)
        motions = [still, still]
        for number in range(SCENE_ROUNDS):
            for own in (1, 0):
                partner = _seen_by(score, own, motions[1 - own])
                context = alone[own]._replace(partner=partner.global_pose)
                exact_now = exact and number == SCENE_ROUNDS - 1
                motions[own] = performed(parts[own], context, exact_now)
    return tuple(rounded(_as_seen(_moved_to(motion, *_spot(score, own)), renditions[0]))
                 for own, motion in enumerate(motions))


def finished_anchors(
    motions: Sequence[Motion], score: Score, seed: int, style: str | None,
    variation: KeptVariation,
) -> tuple[Anchors, ...]:
    """Return the anchors of each performer, in that performer's own world.

    They are computed from the finished motions, which ``solved_scene`` made with the same score,
    seed, style and variation.
    """
    renditions, parts = vary(score, seed, style, variation), score.parts()
    small = variation.small_movements(seed)
    moments = np.arange(motions[0].frames) / motions[0].fps
    bare = [_moved_back(_as_solved(motion, renditions[0]), *_spot(score, own))
            for own, motion in enumerate(motions)]
    found = []
    for own, (motion, part) in enumerate(zip(bare, parts, strict=True)):
        partner = _seen_by(score, own, bare[1 - own]).global_pose if len(bare) == 2 else None
        context = Context(motion.skeleton, renditions[own].line, moments, motion.fps,
                          life_of(part.name, small, renditions[own].line), partner)
        found.append(Anchors(part, context, motion.global_pose))
    return tuple(found)


def touch_errors(anchors: Anchors, exact: bool, on_the_way: bool = True) -> dict[str, FloatArray]:
    """Return by side how far (F,), in metres, hands are from their targets.

    Targets in free space count only if ``exact`` (for the score as written). Frames between two
    keys count only if ``on_the_way``.
    """
    return {side: _misses(anchors, side, exact, on_the_way) for side in SIDES}


def _misses(anchors: Anchors, side: str, exact: bool, on_the_way: bool) -> FloatArray:
    skeleton = anchors.context.skeleton
    track = anchors.hand_track(side)
    goal = hands.arm_goal(track, anchors.resolve, skeleton, hands.finger_pose(track))
    hand = skeleton.index[f"{side}Hand"]
    touching = anchors.pose.positions[:, hand] + quaternions.rotate(
        anchors.pose.rotations[:, hand], goal.touch
    )
    share = _single_anchor_share(track) * track.weighted_mean(
        lambda key: 0.0 if hands.hangs(key) or (not exact and key.to and key.to.anchor in FREE)
        else 1.0 - FREE_SHARE * play(key))
    if not on_the_way:
        share = share * (track.weights().max(axis=1) > THERE)
    return np.asarray(share * np.linalg.norm(touching - goal.point, axis=-1))


def _single_anchor_share(track: hands.HandTrack) -> FloatArray:
    """Return how far (F,), from 0 to 1, a hand is at one single anchor.

    Between two keys with the same anchor it stays 1; on the way from one anchor to another it
    falls, because the hand is at neither.
    """
    things = [key.to.anchor if key.to else None for key in track.hand_keys]
    weights = np.abs(track.weights())
    elsewhere = [weights[:, [other != thing for other in things]].sum(axis=1) for thing in things]
    return np.asarray(np.clip(1.0 - np.min(elsewhere, axis=0), 0.0, 1.0))


def _standing(skeleton: Skeleton, frames: int, fps: float) -> Motion:
    """Return a motion in the rest pose: the partner's, before it has been solved."""
    rotations = np.tile(quaternions.IDENTITY, (frames, len(skeleton.names), 1))
    return Motion(skeleton, fps, np.tile(skeleton.heads[0], (frames, 1)), rotations)


def _spot(score: Score, performer: int) -> tuple[FloatArray, float]:
    """Return the position (3,) of a performer's own world in the scene, and its turn in degrees.

    The scene's origin is midway between the two performers.
    """
    if score.partner is None:
        return np.zeros(3), 0.0
    stands = score.partner.stands
    apart = in_body_axes(np.array([stands.left, stands.forward, 0.0]))
    apart = apart * centimetre(standard_skeleton())
    return (apart / 2, stands.turn) if performer else (-apart / 2, 0.0)


def _seen_by(score: Score, own: int, other: Motion) -> Motion:
    """Return the other performer's motion in the world of performer ``own``."""
    return _moved_back(_moved_to(other, *_spot(score, 1 - own)), *_spot(score, own))


def _moved_to(motion: Motion, spot: FloatArray, degrees: float) -> Motion:
    turned = _turned(motion, degrees)
    return Motion(motion.skeleton, motion.fps, turned.root_positions + spot, turned.rotations)


def _moved_back(motion: Motion, spot: FloatArray, degrees: float) -> Motion:
    return _turned(Motion(motion.skeleton, motion.fps, motion.root_positions - spot,
                          motion.rotations), -degrees)


def _as_seen(motion: Motion, rendition: Rendition) -> Motion:
    return _turned(mirrored(motion) if rendition.mirror else motion, rendition.turn_deg)


def _as_solved(motion: Motion, rendition: Rendition) -> Motion:
    bare = _turned(motion, -rendition.turn_deg)
    return mirrored(bare) if rendition.mirror else bare


def _turned(motion: Motion, degrees: float) -> Motion:
    turn = quaternions.from_rotation_vectors(np.array([0, 0, np.deg2rad(degrees)]))
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.multiply(turn, rotations[:, 0])
    rotations = quaternions.without_flips(quaternions.normalise(rotations))
    places = quaternions.rotate(turn, motion.root_positions)
    return Motion(motion.skeleton, motion.fps, places, rotations)
