"""Legs to stand on, for trials whose markers show the upper body alone.

Nothing tells what such legs did. They get markers of their own, where those of somebody would be
who stands below that trunk, so that the whole body is solved as any other.
"""

from collections.abc import Sequence

import numpy as np
import scipy

from mimegen.markers.rig import body_scale
from mimegen.markers.sets import Landmark, body_landmarks
from mimegen.markers.start import bridged, filled, rigid
from mimegen.motion import quaternions, standard_skeleton
from mimegen.motion.quaternions import FloatArray

LEGS = tuple(side + part for side in ("Left", "Right")
             for part in ("UpLeg", "Leg", "Foot", "ToeBase"))
TRUNK = ("Spine2", "LeftShoulder", "RightShoulder")
PELVIS = ("left_asis", "right_asis", "left_psis", "right_psis")
FEET = tuple(f"{side}_{part}" for side in ("left", "right") for part in (
    "lateral_ankle", "medial_ankle", "heel", "first_toe_joint", "fifth_toe_joint"))
LEAST_ON_TRUNK = 3
LEAST_ON_PELVIS = 3
# The share of the trunk's lean that the pelvis takes.
LEAN = 0.5
# Who keeps within this (m) stands in one place; the feet of others glide along, eased (s).
ONE_PLACE = 0.35
EASE_S = 0.5


def shows_upper_body_alone(landmarks: Sequence[Landmark]) -> bool:
    """Whether markers are on the trunk and none on the legs."""
    return not {mark.joint for mark in landmarks} & {*LEGS} and shows_trunk(landmarks)


def shows_trunk(landmarks: Sequence[Landmark]) -> bool:
    """Whether enough markers are on the trunk to tell how it moves."""
    return sum(mark.joint in TRUNK for mark in landmarks) >= LEAST_ON_TRUNK


def shows_pelvis(landmarks: Sequence[Landmark]) -> bool:
    """Whether enough markers are on the pelvis to tell how it moves."""
    return sum(mark.joint == "Hips" for mark in landmarks) >= LEAST_ON_PELVIS


def trunk_up(landmarks: Sequence[Landmark], seen: FloatArray) -> FloatArray:
    """Return the mean direction (3,) from a trunk's lower to its upper end.

    ``seen`` (F, M, 3) are the landmarks' markers, in metres, NaN at gaps.
    """
    turn, _ = _followed(landmarks, seen, TRUNK)
    return np.asarray(quaternions.rotate(turn, [0.0, 0.0, 1.0]).mean(axis=0))


def with_standing_legs(landmarks: Sequence[Landmark], seen: FloatArray,
                       fps: float) -> tuple[list[Landmark], FloatArray]:
    """Return landmarks and markers (F, M, 3) with those of standing legs behind them.

    A pelvis that nothing shows is put below the trunk. The feet stand where the pelvis is most of
    the time, as far below it as legs are long; they glide along with one who goes elsewhere.
    """
    turn, hips = _pelvis(landmarks, seen)
    added = [] if shows_pelvis(landmarks) else [body_landmarks()[name] for name in PELVIS]
    scale = body_scale(landmarks, seen)
    own = [_placed(mark, turn, hips, scale) for mark in added]
    heading, place = _footing(turn, hips, fps)
    place[:, 2] = np.percentile(hips[:, 2], 95)
    feet = [body_landmarks()[name] for name in FEET]
    own += [_placed(mark, heading, place, scale) for mark in feet]
    return [*landmarks, *added, *feet], np.concatenate([seen, np.stack(own, axis=1)], axis=1)


def _placed(mark: Landmark, turn: FloatArray, hips: FloatArray, scale: float) -> FloatArray:
    """Return where (F, 3) a landmark is on a body whose hips are turned (F, 4) and at (F, 3)."""
    away = scale * (mark.place - standard_skeleton().heads[0])
    return np.asarray(hips + quaternions.rotate(turn, away))


def _followed(landmarks: Sequence[Landmark], seen: FloatArray,
              joints: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Return the turns (F, 4) and shifts (F, 3) of the standard body that a segment's markers show.

    ``joints`` are those that carry them; frames that show too little are filled in.
    """
    members = [n for n, mark in enumerate(landmarks) if mark.joint in joints]
    rest = body_scale(landmarks, seen) * np.array([landmarks[n].place for n in members])
    turn, shift = rigid(rest, seen[:, members])
    turns = filled(turn)
    if turns is None:
        return np.tile(quaternions.IDENTITY, (len(seen), 1)), bridged(shift)
    return turns, bridged(shift)


def _pelvis(landmarks: Sequence[Landmark], seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how the pelvis is turned (F, 4) and where the hips are (F, 3)."""
    skeleton, scale = standard_skeleton(), body_scale(landmarks, seen)
    hips, chest = (scale * skeleton.heads[skeleton.index[name]] for name in ("Hips", "Spine2"))
    if shows_pelvis(landmarks):
        turn, shift = _followed(landmarks, seen, ("Hips",))
        return turn, quaternions.rotate(turn, hips) + shift
    trunk, shift = _followed(landmarks, seen, TRUNK)
    level = _about_z(_headings(trunk))
    lean = quaternions.multiply(trunk, quaternions.conjugate(level))
    turn = quaternions.multiply(quaternions.scale(lean, np.array(LEAN)), level)
    return turn, quaternions.rotate(trunk, chest) + shift - quaternions.rotate(turn, chest - hips)


def _footing(turn: FloatArray, hips: FloatArray, fps: float) -> tuple[FloatArray, FloatArray]:
    """Return the turn (F, 4) and the level place (F, 3) of the body that stands on the feet."""
    path = np.column_stack([hips[:, :2], _headings(turn)])
    usual = np.median(path, axis=0)
    away = np.linalg.norm(path[:, :2] - usual[:2], axis=1)
    if away.max() <= ONE_PLACE:
        path = np.broadcast_to(usual, path.shape)
    else:
        path = scipy.ndimage.gaussian_filter1d(path, EASE_S * fps, axis=0, mode="nearest")
    return _about_z(path[:, 2]), np.column_stack([path[:, :2], np.zeros(len(path))])


def _headings(turn: FloatArray) -> FloatArray:
    """Return the angles (F,) in radians about Z by which turns (F, 4) bring the front there."""
    front = quaternions.rotate(turn, [0.0, -1.0, 0.0])
    return np.asarray(np.unwrap(np.arctan2(front[:, 0], -front[:, 1])))


def _about_z(angles: FloatArray) -> FloatArray:
    return quaternions.from_rotation_vectors(angles[:, None] * np.array([0.0, 0.0, 1.0]))
