"""Add standing legs to trials in which only the upper body carries markers.

The recording does not show what those legs did. They get virtual markers, placed as on a person who
stands below that trunk, so that the whole body is solved as usual.
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
MIN_ON_TRUNK = 3
MIN_ON_PELVIS = 3
# Fraction of the trunk's lean that the pelvis takes.
LEAN = 0.5
# A person who stays within this distance (m) stands in one place; else the feet glide along a path
# smoothed with this standard deviation (s).
MAX_SPREAD_M = 0.35
EASE_S = 0.5


def shows_only_upper_body(landmarks: Sequence[Landmark]) -> bool:
    """Return whether markers are on the trunk and none on the legs."""
    return not {mark.joint for mark in landmarks} & {*LEGS} and shows_trunk(landmarks)


def shows_trunk(landmarks: Sequence[Landmark]) -> bool:
    """Return whether enough markers are on the trunk to find its motion."""
    return sum(mark.joint in TRUNK for mark in landmarks) >= MIN_ON_TRUNK


def shows_pelvis(landmarks: Sequence[Landmark]) -> bool:
    """Return whether enough markers are on the pelvis to find its motion."""
    return sum(mark.joint == "Hips" for mark in landmarks) >= MIN_ON_PELVIS


def trunk_up(landmarks: Sequence[Landmark], seen: FloatArray) -> FloatArray:
    """Return the mean direction (3,) from a trunk's lower to its upper end.

    ``seen`` (F, M, 3) are the landmarks' markers, in metres, NaN at gaps.
    """
    turn, _ = _followed(landmarks, seen, TRUNK)
    return np.asarray(quaternions.rotate(turn, [0.0, 0.0, 1.0]).mean(axis=0))


def with_standing_legs(landmarks: Sequence[Landmark], seen: FloatArray,
                       fps: float) -> tuple[list[Landmark], FloatArray]:
    """Return landmarks and markers (F, M, 3) followed by those of standing legs.

    If no marker shows the pelvis, it is put below the trunk. The feet stand where the pelvis is
    most of the time, as far below it as legs are long; if the person walks about, they glide along.
    """
    turn, hips = _pelvis(landmarks, seen)
    added = [] if shows_pelvis(landmarks) else [body_landmarks()[name] for name in PELVIS]
    scale = body_scale(landmarks, seen)
    own = [_landmark_positions(mark, turn, hips, scale) for mark in added]
    heading, place = _footing(turn, hips, fps)
    place[:, 2] = np.percentile(hips[:, 2], 95)
    feet = [body_landmarks()[name] for name in FEET]
    own += [_landmark_positions(mark, heading, place, scale) for mark in feet]
    return [*landmarks, *added, *feet], np.concatenate([seen, np.stack(own, axis=1)], axis=1)


def _landmark_positions(mark: Landmark, turn: FloatArray, hips: FloatArray,
                        scale: float) -> FloatArray:
    """Return positions (F, 3) of a landmark on a body with rotations (F, 4) and hips (F, 3)."""
    away = scale * (mark.place - standard_skeleton().heads[0])
    return np.asarray(hips + quaternions.rotate(turn, away))


def _followed(landmarks: Sequence[Landmark], seen: FloatArray,
              joints: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Return rotations (F, 4) and shifts (F, 3) of the standard body, from one segment's markers.

    ``joints`` are those that carry the markers. Frames with too few markers are interpolated.
    """
    members = [n for n, mark in enumerate(landmarks) if mark.joint in joints]
    rest = body_scale(landmarks, seen) * np.array([landmarks[n].place for n in members])
    turn, shift = rigid(rest, seen[:, members])
    turns = filled(turn)
    if turns is None:
        return np.tile(quaternions.IDENTITY, (len(seen), 1)), bridged(shift)
    return turns, bridged(shift)


def _pelvis(landmarks: Sequence[Landmark], seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the pelvis' rotations (F, 4) and the positions (F, 3) of the hips."""
    skeleton, scale = standard_skeleton(), body_scale(landmarks, seen)
    hips, chest = (scale * skeleton.heads[skeleton.index[name]] for name in ("Hips", "Spine2"))
    if shows_pelvis(landmarks):
        turn, shift = _followed(landmarks, seen, ("Hips",))
        return turn, quaternions.rotate(turn, hips) + shift
    trunk, shift = _followed(landmarks, seen, TRUNK)
    level = _z_rotations(_headings(trunk))
    lean = quaternions.multiply(trunk, quaternions.conjugate(level))
    turn = quaternions.multiply(quaternions.scale(lean, np.array(LEAN)), level)
    return turn, quaternions.rotate(trunk, chest) + shift - quaternions.rotate(turn, chest - hips)


def _footing(turn: FloatArray, hips: FloatArray, fps: float) -> tuple[FloatArray, FloatArray]:
    """Return the rotation (F, 4) and horizontal position (F, 3) of the body above the feet."""
    path = np.column_stack([hips[:, :2], _headings(turn)])
    usual = np.median(path, axis=0)
    away = np.linalg.norm(path[:, :2] - usual[:2], axis=1)
    if away.max() <= MAX_SPREAD_M:
        path = np.broadcast_to(usual, path.shape)
    else:
        path = scipy.ndimage.gaussian_filter1d(path, EASE_S * fps, axis=0, mode="nearest")
    return _z_rotations(path[:, 2]), np.column_stack([path[:, :2], np.zeros(len(path))])


def _headings(turn: FloatArray) -> FloatArray:
    """Return the headings (F,) of rotations (F, 4): angles about Z in radians, unwrapped."""
    front = quaternions.rotate(turn, [0.0, -1.0, 0.0])
    return np.asarray(np.unwrap(np.arctan2(front[:, 0], -front[:, 1])))


def _z_rotations(angles: FloatArray) -> FloatArray:
    return quaternions.from_rotation_vectors(angles[:, None] * np.array([0.0, 0.0, 1.0]))
