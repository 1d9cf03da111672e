"""Hands: the position of the touching point, the rotation and the shape that keys ask for."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np
import scipy

from mimegen.base.easing import softly_limited
from mimegen.base.vectors import lengths, product, unit
from mimegen.choreography.arms import ArmGoal
from mimegen.choreography.body import (
    STANDARD_ARM_M,
    MovingFrame,
    bar_axis,
    centimetre,
    hand_axes,
    hand_point,
)
from mimegen.choreography.freedom import play
from mimegen.choreography.life import life_values
from mimegen.choreography.places import LEFT, Direction, Place, in_body_axes
from mimegen.choreography.score import HandKey
from mimegen.choreography.timing import widened
from mimegen.choreography.tracks import Clock, TimedKey, eased_weights, track_weights
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.hand_shapes import FINGERS, finger_bends, hand_shapes, side_pose
from mimegen.motion.limbs import across
from mimegen.motion.quaternions import FloatArray

# The hand turns this long after the wrist moves. Fingers follow one after the other, the thumb and
# the index finger first.
HAND_LAG_S = 0.035
FINGER_LAGS_S = (0.0, 0.01, 0.03, 0.045, 0.065)
# From IMPACT_S before a hit until as long after it, a hand has only this fraction of its play.
IMPACT_PLAY = 0.3
IMPACT_S = 0.12
# A hand strays in proportion to its speed, smoothed over SPEED_EASE_S and limited to FASTEST_M_S.
SPEED_EASE_S = 0.06
FASTEST_M_S = 4.0
# Hands nearer to the body's vertical axis than the first distance do not deviate towards it; beyond
# the second they may do so fully.
NEAR_M = 0.25, 0.4
# Even a free hand goes hardly farther from the shoulder than in the score, or than EASY_REACH of
# the arm's length: by OVERREACH_M at most. If the score's position is beyond FULL_REACH of the arm,
# because the trunk has swayed away, the hand stops short of it by up to MAX_SHORTFALL_M. The first
# value is for straight down, the second for shoulder height and above, where the shoulder helps.
EASY_REACH = 0.85
FULL_REACH = (0.98, 1.1)
OVERREACH_M = 0.004
MAX_SHORTFALL_M = 0.05
# How far a free hand bends back against the wrist's movement, and its soft limit.
DRAG_RAD_PER_M_S = 0.16
DRAG_LIMIT_RAD = 0.32

# The key of a hand that hangs beside the hip.
HANGING = HandKey(
    to=Place("hip", (14.0, 3.0, 3.0)), touch="wrist", loose=True, shape="relaxed",
)
# Directions of the elbow if a key gives none: of a hand in use, and of a hanging one.
NO_HINT = Direction(0.35, -0.2, -0.6)
BACK = Direction(0.15, -0.6, -0.4)


class HandTrack(NamedTuple):
    """One hand's keys, its side, its clock, and its deviations from the keys.

    Free hands deviate by ``drift`` (F, 3), in metres, and by ``stray`` (F, 3), in seconds, times
    their speed. ``ease`` (F, 5) is the fraction by which each finger's shape is relaxed.
    """

    keys: Sequence[TimedKey]
    side: float
    clock: Clock
    drift: FloatArray
    stray: FloatArray
    ease: FloatArray

    @property
    def hand_keys(self) -> list[HandKey]:
        """The keys without their times."""
        return [cast(HandKey, timed.key) for timed in self.keys]

    def weights(self, lag: float = 0.0) -> FloatArray:
        """Return the weights (F, K) of the keys, ``lag`` seconds late."""
        return track_weights(self.keys, self.clock.now, -lag)

    def weighted_mean(self, of: Callable[[HandKey], float]) -> FloatArray:
        """Return the mean (F,) of ``of(key)`` over the keys by their weights, within 0 to 1."""
        counts = np.array([of(key) for key in self.hand_keys])
        return np.asarray(np.clip(product(self.weights(), counts), 0.0, 1.0))


Resolve = Callable[[str, float], MovingFrame]


def touching_points(track: HandTrack, resolve: Resolve, unit_m: float) -> FloatArray:
    """Return the target positions (F, 3) of the touching point, in metres.

    ``resolve`` returns the frame of an anchor; ``unit_m`` is a score's centimetre in metres. Free
    hands overshoot and settle, drift, and stray more the faster they move.
    """
    places = [key.to for key in track.hand_keys if key.to]
    known = {place: _point(place, track.side, resolve, unit_m) for place in dict.fromkeys(places)}
    points = np.stack([known[place] for place in places])
    exact = np.einsum("fk,kfc->fc", track.weights(), points)
    eased = np.einsum("fk,kfc->fc", eased_weights(
        track.keys, track.clock, life_values().follow["hand"]), points)
    path = exact + (track.weighted_mean(play) * play_share(track))[:, None] * (eased - exact)
    body = resolve("chest", LEFT).positions
    speed = lengths(velocity(path - body, track.clock.moments, SPEED_EASE_S))
    strayed = np.minimum(speed, FASTEST_M_S)[:, None] * track.stray
    free = track.weighted_mean(play)
    path = path + free[:, None] * (track.drift + strayed)
    path = exact + _not_inward(path - exact, body - exact)
    shoulder = resolve("shoulder", track.side).positions
    meant = lengths(exact - shoulder)
    raised = np.clip(1 + (exact - shoulder)[:, 2] / np.maximum(meant, 1e-9), 0.0, 1.0)
    full = FULL_REACH[0] + (FULL_REACH[1] - FULL_REACH[0]) * raised
    given_up = free * np.clip(meant - full * STANDARD_ARM_M, 0.0, MAX_SHORTFALL_M)
    far = np.maximum(meant - given_up, EASY_REACH * STANDARD_ARM_M)
    return shoulder + _no_farther(path - shoulder, far)


def play_share(track: HandTrack) -> FloatArray:
    """Return the fraction (F,) of its play that a hand has: IMPACT_PLAY around hits, else 1."""
    moments = track.clock.moments
    hitting = track.weighted_mean(lambda key: 1.0 if key.how == "impact" else 0.0)
    if len(moments) < 2 or not hitting.any():
        return np.ones(len(moments))
    near = widened(hitting, IMPACT_S, 0.4 * IMPACT_S, 1 / float(moments[1] - moments[0]))
    return 1 - (1 - IMPACT_PLAY) * near


def _not_inward(aside: FloatArray, body: FloatArray) -> FloatArray:
    """Return a hand's deviations (F, 3) without their part towards the body, if it is near.

    ``body`` (F, 3) leads from the hand to the chest.
    """
    level = body * [1.0, 1.0, 0.0]
    inward = unit(level)
    near = np.clip((NEAR_M[1] - lengths(level)) / (NEAR_M[1] - NEAR_M[0]), 0.0, 1.0)
    into = np.maximum(np.sum(aside * inward, axis=-1), 0.0)
    return np.asarray(aside - (near * into)[:, None] * inward)


def _no_farther(vectors: FloatArray, limit: FloatArray) -> FloatArray:
    """Shorten vectors (F, 3) softly to ``limit`` (F,), which they exceed by OVERREACH_M at most."""
    size = lengths(vectors)
    over = np.maximum(size - limit, 0.0)
    eased = np.minimum(size, limit) + OVERREACH_M * np.tanh(over / OVERREACH_M)
    return np.asarray(vectors * (eased / np.maximum(size, 1e-9))[:, None])


def velocity(points: FloatArray, moments: FloatArray, ease_s: float) -> FloatArray:
    """Return the velocities (F, 3) of points (F, 3), smoothed by a Gaussian of ``ease_s``."""
    if len(points) < 2:
        return np.zeros_like(points)
    step = float(moments[1] - moments[0])
    return np.asarray(scipy.ndimage.gaussian_filter1d(
        np.gradient(points, step, axis=0), ease_s / step, axis=0, mode="nearest"))


def _point(place: Place, side: float, resolve: Resolve, unit_m: float) -> FloatArray:
    offset = in_body_axes(np.array(place.offset) * unit_m, side)
    return resolve(place.anchor, side).place(offset)


def hangs(key: HandKey) -> bool:
    """Return whether a key only lets the hand hang beside the hip."""
    return key.loose and key.to is not None and key.to.anchor == "hip"


def hanging(track: HandTrack) -> FloatArray:
    """Return how far (F,), from 0 to 1, a hand only hangs beside the hip, so that it may swing."""
    return track.weighted_mean(lambda key: 1.0 if hangs(key) else 0.0)


def arm_goal(track: HandTrack, resolve: Resolve, skeleton: Skeleton,
             fingers: FloatArray) -> ArmGoal:
    """Return the goal of an arm; ``fingers`` (F, 15, 4) are those of ``finger_pose``."""
    weights = track.weights()
    touches = np.stack([hand_point(key.touch or "palm", track.side) for key in track.hand_keys])
    hints = [(key.elbow or (BACK if hangs(key) else NO_HINT)).in_axes(track.side)
             for key in track.hand_keys]
    points = touching_points(track, resolve, centimetre(skeleton))
    return ArmGoal(
        points,
        product(weights, touches),
        fingertips(skeleton, track.side, fingers),
        _orienting(track, resolve, points),
        product(weights, np.stack(hints)),
    )


class _Ask(NamedTuple):
    """The rotation of the hand that a key asks for: directions in the frame of an anchor."""

    anchor: str
    palm: Direction | None
    fingers: Direction | None
    bar: Direction | None
    straight: bool


def _orienting(
    track: HandTrack, resolve: Resolve, points: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    weights = track.weights(HAND_LAG_S)
    asks = [_Ask(key.to.anchor, key.palm, key.fingers, key.bar, key.straight)
            for key in track.hand_keys if key.to]
    freedom = product(weights, [_freedom(key) for key in track.hand_keys])
    speed = velocity(points, track.clock.moments, 0.04)

    def orient(relaxed: FloatArray) -> FloatArray:
        wanted = {ask: _asked(ask, track.side, resolve(ask.anchor, track.side).rotations, relaxed)
                  for ask in dict.fromkeys(asks)}
        mixed = _mixed(np.stack([wanted[ask] for ask in asks], axis=1), weights)
        return _trailing(mixed, speed, track.side, np.clip(freedom, 0, 1))

    return orient


def _freedom(key: HandKey) -> float:
    """Return how much of a free hand's trailing a key allows: none if the hand is held straight."""
    if key.straight:
        return 0.0
    return 1.0 if key.palm is None and key.fingers is None and key.bar is None else 0.25


def _asked(ask: _Ask, side: float, frame: FloatArray, relaxed: FloatArray) -> FloatArray:
    """Return the rotations (F, 4) that a key asks for, given those of a relaxed hand."""
    along, out_of_palm, _ = hand_axes(side)
    if ask.palm is not None and (ask.straight or ask.fingers is not None):
        palm = quaternions.rotate(frame, unit(ask.palm.in_axes(side)))
        if ask.fingers is None:
            fingers = quaternions.rotate(relaxed, along)
            palm = across(palm, fingers)
        else:
            fingers = quaternions.rotate(frame, unit(ask.fingers.in_axes(side)))
            fingers = across(fingers, palm)
        rest = np.stack([along, out_of_palm, quaternions.cross(along, out_of_palm)], axis=-1)
        now = np.stack([fingers, palm, quaternions.cross(fingers, palm)], axis=-1)
        return quaternions.from_frames(product(now, rest.T))
    for direction, axis in (
        (ask.bar, bar_axis(side)), (ask.palm, out_of_palm), (ask.fingers, along)
    ):
        if direction is not None:
            wanted = quaternions.rotate(frame, unit(direction.in_axes(side)))
            swing = quaternions.between(quaternions.rotate(relaxed, axis), wanted)
            return quaternions.multiply(swing, relaxed)
    return relaxed


def _mixed(rotations: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted mean (F, 4) of the keys' rotations (F, K, 4).

    Signs are first aligned between neighbouring keys.
    """
    signs = np.sign(np.sum(rotations[:, 1:] * rotations[:, :-1], axis=-1))
    signs = np.cumprod(np.where(signs == 0, 1.0, signs), axis=1)
    aligned = rotations.copy()
    aligned[:, 1:] *= signs[..., None]
    return quaternions.normalise(np.einsum("fk,fkc->fc", weights, aligned))


def _trailing(hand: FloatArray, speed: FloatArray, side: float, freedom: FloatArray) -> FloatArray:
    """Bend free hands (F, 4) back against the wrist's velocity (F, 3), in metres per second."""
    along = quaternions.rotate(hand, hand_axes(side)[0])
    turn = quaternions.cross(along, -speed) * DRAG_RAD_PER_M_S * freedom[:, None]
    turn = softly_limited(turn, DRAG_LIMIT_RAD)
    return quaternions.multiply(quaternions.from_rotation_vectors(turn), hand)


def fingertips(skeleton: Skeleton, side: float, fingers: FloatArray) -> FloatArray:
    """Return the middle finger's last joint (F, 3), relative to the wrist, in the hand's frame."""
    name = "Left" if side == LEFT else "Right"
    first, second, last = (skeleton.offsets[skeleton.index[f"{name}HandMiddle{bone}"]]
                           for bone in (1, 2, 3))
    middle = 3 * (1 + FINGERS.index("Middle"))
    return np.asarray(first + quaternions.rotate(fingers[:, middle], second)
                      + quaternions.rotate(fingers[:, middle + 1], last))


def _slackness(track: HandTrack) -> FloatArray:
    """Return the fraction (F, 5) by which each finger's shape is relaxed.

    It is 0 for shapes in which the thumb touches a fingertip, so that they keep touching.
    """
    if not any(_touches(key) for key in track.hand_keys):
        return track.ease
    return np.asarray(track.ease * (1 - track.weighted_mean(_touches))[:, None])


def _touches(key: HandKey) -> float:
    """Return 1 for a key in whose shape the thumb touches a fingertip, else 0."""
    shape = hand_shapes().get(key.shape or "")
    return 0.0 if shape is None or shape.touches is None else 1.0


def finger_pose(track: HandTrack) -> FloatArray:
    """Return the finger joints' rotations relative to the hand (F, 15, 4)."""
    moments = track.clock.moments
    at = np.concatenate([moments - lag for lag in FINGER_LAGS_S])
    weights = np.clip(eased_weights(track.keys, track.clock, life_values().follow["fingers"], at),
                      0.0, 1.0).reshape(len(FINGER_LAGS_S), len(moments), -1)
    bends = np.stack([finger_bends(side_pose(key.shape or "relaxed", track.side))
                      for key in track.hand_keys])
    blended = quaternions.normalise(np.einsum("jfk,kjbc->fjbc", weights, bends))
    relaxed = finger_bends(side_pose("relaxed", track.side))
    share = _slackness(track)[..., None, None]
    blended = quaternions.normalise((1 - share) * blended + share * relaxed)
    for bone in (1, 2):
        blended[:, :, bone] = quaternions.multiply(blended[:, :, bone - 1], blended[:, :, bone])
    return np.asarray(blended.reshape(len(moments), 15, 4))
