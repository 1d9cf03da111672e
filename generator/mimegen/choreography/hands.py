"""What a hand's keys ask for: where its touching point is, how it is turned, its shape."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple, cast

import numpy as np
from scipy.ndimage import gaussian_filter1d

from mimegen.choreography.arms import ArmGoal
from mimegen.choreography.body import Frames, bar_axis, centimetre, hand_axes, hand_point
from mimegen.choreography.hand_shapes import finger_rotations, hand_shapes
from mimegen.choreography.limbs import across, unit
from mimegen.choreography.places import LEFT, Direction, Place, in_body_axes
from mimegen.choreography.score import HandKey
from mimegen.choreography.tracks import TimedKey, track_weights
from mimegen.motion import Skeleton, quaternions, standard_skeleton
from mimegen.motion.quaternions import FloatArray

# The hand turns a little after the wrist has moved, and the fingers after that.
HAND_LAG_S, FINGER_LAG_S = 0.035, 0.02
# How far a free hand trails behind the wrist's movement.
DRAG_RAD_PER_M_S, DRAG_LIMIT_RAD = 0.16, 0.32

HANGING = HandKey(
    to=Place("hip", (12.0, 3.0, 3.0)), touch="wrist", loose=True, shape="relaxed",
)
NO_HINT = Direction(0.35, -0.2, -0.6)


class HandTrack(NamedTuple):
    """One hand's keys and the side it is on."""

    keys: Sequence[TimedKey]
    side: float

    @property
    def hand_keys(self) -> list[HandKey]:
        """The keys themselves."""
        return [cast(HandKey, timed.key) for timed in self.keys]


Resolve = Callable[[str, float], Frames]


def touching_points(track: HandTrack, resolve: Resolve, moments: FloatArray,
                    unit_m: float) -> FloatArray:
    """Return where the touching point shall be (F, 3); ``resolve`` gives landmarks' frames."""
    weights = track_weights(track.keys, moments)
    places = [key.to for key in track.hand_keys if key.to]
    points = {place: _point(place, track.side, resolve, unit_m) for place in dict.fromkeys(places)}
    return np.asarray(np.einsum("fk,kfc->fc", weights, np.stack([points[p] for p in places])))


def _point(place: Place, side: float, resolve: Resolve, unit_m: float) -> FloatArray:
    offset = in_body_axes(np.array(place.offset) * unit_m, side)
    return resolve(place.anchor, side).place(offset)


def hangs(key: HandKey) -> bool:
    """Say whether a hand just hangs beside the hip."""
    return key.loose and key.to is not None and key.to.anchor == "hip"


def hanging(track: HandTrack, moments: FloatArray) -> FloatArray:
    """Return the share (F,) in which a hand just hangs beside the hip, and may swing."""
    free = [1.0 if hangs(key) else 0.0 for key in track.hand_keys]
    return np.asarray(np.clip(track_weights(track.keys, moments) @ np.array(free), 0.0, 1.0))


def arm_goal(
    track: HandTrack, resolve: Resolve, moments: FloatArray, skeleton: Skeleton, drift: FloatArray
) -> ArmGoal:
    """Return what the arm shall do; ``drift`` (F, 3) metres is added to its places."""
    weights = track_weights(track.keys, moments)
    touches = np.stack([hand_point(key.touch or "palm", track.side) for key in track.hand_keys])
    hints = [
        (key.elbow or NO_HINT).in_axes(track.side) for key in track.hand_keys
    ]
    points = touching_points(track, resolve, moments, centimetre(skeleton))
    return ArmGoal(
        points + drift,
        weights @ touches,
        _orienting(track, resolve, moments, points),
        weights @ np.stack(hints),
    )


class _Ask(NamedTuple):
    """How a key wants the hand turned: directions in the frame of a landmark."""

    anchor: str
    palm: Direction | None
    fingers: Direction | None
    bar: Direction | None
    straight: bool


def _orienting(
    track: HandTrack, resolve: Resolve, moments: FloatArray, points: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    weights = track_weights(track.keys, moments, -HAND_LAG_S)
    asks = [_Ask(key.to.anchor, key.palm, key.fingers, key.bar, key.straight)
            for key in track.hand_keys if key.to]
    freedom = weights @ np.array([_freedom(key) for key in track.hand_keys])
    step = moments[1] - moments[0] if len(moments) > 1 else 1.0
    speed = gaussian_filter1d(
        np.gradient(points, step, axis=0) if len(points) > 1 else np.zeros_like(points),
        0.04 / step, axis=0, mode="nearest",
    )

    def orient(relaxed: FloatArray) -> FloatArray:
        wanted = {ask: _asked(ask, track.side, resolve(ask.anchor, track.side).rotations, relaxed)
                  for ask in dict.fromkeys(asks)}
        mixed = _mixed(np.stack([wanted[ask] for ask in asks], axis=1), weights)
        return _trailing(mixed, speed, track.side, np.clip(freedom, 0, 1))

    return orient


def _freedom(key: HandKey) -> float:
    """Return the share of a free hand's trailing that a hand has: none if it is held firm."""
    if key.straight:
        return 0.0
    return 1.0 if key.palm is None and key.fingers is None and key.bar is None else 0.25


def _asked(ask: _Ask, side: float, frame: FloatArray, relaxed: FloatArray) -> FloatArray:
    """Return the rotations (F, 4) that are asked for, given those of a relaxed hand."""
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
        return quaternions.from_frames(now @ rest.T)
    for direction, axis in (
        (ask.bar, bar_axis(side)), (ask.palm, out_of_palm), (ask.fingers, along)
    ):
        if direction is not None:
            wanted = quaternions.rotate(frame, unit(direction.in_axes(side)))
            swing = quaternions.between(quaternions.rotate(relaxed, axis), wanted)
            return quaternions.multiply(swing, relaxed)
    return relaxed


def _mixed(rotations: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted mean (F, 4) of the keys' rotations (F, K, 4), neighbours aligned."""
    signs = np.sign(np.sum(rotations[:, 1:] * rotations[:, :-1], axis=-1))
    signs = np.cumprod(np.where(signs == 0, 1.0, signs), axis=1)
    aligned = rotations.copy()
    aligned[:, 1:] *= signs[..., None]
    return quaternions.normalise(np.einsum("fk,fkc->fc", weights, aligned))


def _trailing(hand: FloatArray, speed: FloatArray, side: float, freedom: FloatArray) -> FloatArray:
    """Let a free hand (F, 4) trail behind the wrist's velocity (F, 3) in metres a second."""
    along = quaternions.rotate(hand, hand_axes(side)[0])
    turn = quaternions.cross(along, -speed) * DRAG_RAD_PER_M_S * freedom[:, None]
    size = np.linalg.norm(turn, axis=-1, keepdims=True)
    turn = turn * DRAG_LIMIT_RAD * np.tanh(size / DRAG_LIMIT_RAD) / np.maximum(size, 1e-9)
    return quaternions.multiply(quaternions.from_rotation_vectors(turn), hand)


@cache
def _shape_pose(name: str) -> FloatArray:
    return finger_rotations(standard_skeleton(), hand_shapes()[name])


def finger_pose(track: HandTrack, moments: FloatArray) -> FloatArray:
    """Return the finger joints' rotations relative to the hand (F, 15, 4)."""
    weights = np.clip(track_weights(track.keys, moments, -FINGER_LAG_S), 0.0, 1.0)
    poses = np.stack([_shape_pose(key.shape or "relaxed") for key in track.hand_keys])
    if track.side != LEFT:
        poses = poses * np.array([1.0, 1.0, -1.0, -1.0])
    # Blended joint by joint: against the hand, the outer joints of a fist turn more than 180.
    bones = poses.reshape(len(poses), 5, 3, 4)
    bends = quaternions.multiply(quaternions.conjugate(bones[:, :, :-1]), bones[:, :, 1:])
    bends = np.concatenate([bones[:, :, :1], bends], axis=2)
    bends = bends * np.where(bends[..., :1] < 0, -1.0, 1.0)
    blended = quaternions.normalise(np.einsum("fk,kjbc->fjbc", weights, bends))
    for bone in (1, 2):
        blended[:, :, bone] = quaternions.multiply(blended[:, :, bone - 1], blended[:, :, bone])
    return np.asarray(blended.reshape(len(moments), 15, 4))
