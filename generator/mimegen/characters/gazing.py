"""Hold a performer's gaze on a target: the head turns most of the way, the eyes the rest."""

from collections.abc import Sequence

import numpy as np
import scipy

from mimegen.base.easing import ramp
from mimegen.characters.arkit_joints import head_of
from mimegen.characters.character import Character, Performance
from mimegen.characters.expression import with_face
from mimegen.faces.gaze import CAMERA, HANDS, PARTNER, direction_of, point_of
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.roles import find_roles

# Distance of the camera in metres: so far that everyone looks at it in the same direction.
FAR_M = 50.0
# When the head begins to turn, how long it takes to arrive, and the time over which it is smoothed,
# in seconds.
BEGINS_S = 0.15
GAZE_SETTLE_S = 0.5
SMOOTH_S = 0.1
# The head's fraction of the angle, to the side and up, and the largest angles of head and eyes, in
# degrees (Freedman 2008: eyes stay within some 20 degrees, heads go nearly all of a long way).
HEAD_SHARE = np.array([0.75, 0.6])
MAX_HEAD_DEG = np.array([55.0, 28.0])
MAX_EYES_DEG = np.array([28.0, 22.0])
# Position of the eyes relative to the head's joint on a person of STANDARD_M, in metres; used for
# characters without eyes.
EYES_M = np.array([0.0, -0.08, 0.1])
STANDARD_M = 1.73


def gazed_at(gaze: str, scene: Sequence[Performance], front_deg: float) -> FloatArray:
    """Return the position (F, 3) at which the first performer of a scene looks.

    ``front_deg`` is the azimuth that they face at the start; points are given relative to it.
    """
    first = scene[0]
    if gaze.startswith(CAMERA):
        azimuth, elevation = direction_of(gaze)
        up = np.array([0.0, 0.0, np.tan(np.radians(elevation))])
        return np.asarray(eyes_at(first) + FAR_M * (_level(azimuth) + up))
    if gaze == PARTNER:
        return eyes_at(scene[1])
    pose = first.motion.global_pose
    if gaze in HANDS:
        name = find_roles(first.character.skeleton).joints[gaze]
        return np.asarray(pose.positions[:, first.character.skeleton.index[name]])
    point = point_of(gaze)
    ground = pose.positions[0, 0] * [1.0, 1.0, 0.0]
    place = (ground + point.forward * _level(front_deg) + point.left * _level(front_deg + 90)
             + [0.0, 0.0, point.up])
    return np.tile(place, (first.motion.frames, 1))


def _level(azimuth_deg: float) -> FloatArray:
    """Return the horizontal unit vector (3,) of an azimuth: 0 is -Y, 90 is +X."""
    angle = np.radians(azimuth_deg)
    return np.array([np.sin(angle), -np.cos(angle), 0.0])


def eyes_at(performance: Performance) -> FloatArray:
    """Return the position (F, 3) between the eyes."""
    skeleton, pose = performance.motion.skeleton, performance.motion.global_pose
    head = head_of(skeleton)
    aside = _eyes(performance.character) - skeleton.heads[head]
    return np.asarray(pose.positions[:, head] + quaternions.rotate(
        pose.rotations[:, head], np.tile(aside, (performance.motion.frames, 1))))


def _eyes(character: Character) -> FloatArray:
    """Return the position (3,) between a character's eyes at rest."""
    skeleton = with_face(character).skeleton
    head = skeleton.heads[head_of(skeleton)]
    numbers = [skeleton.index[name] for name in ("LeftEye", "RightEye") if name in skeleton.index]
    eyes = skeleton.heads[numbers].mean(axis=0) if numbers else head
    guess = head + EYES_M * character.height / STANDARD_M
    return np.asarray(guess if np.allclose(eyes, head) else eyes)


def head_towards(performance: Performance, places: FloatArray) -> FloatArray:
    """Return how far the head turns to look at ``places`` (F, 3).

    The angles (F, 3) are in degrees left, up and tilted.
    """
    fps = performance.motion.fps
    moments = np.arange(performance.motion.frames) / fps
    wanted = _limited(HEAD_SHARE * _gaze_angles(performance, places), MAX_HEAD_DEG)
    wanted = scipy.ndimage.gaussian_filter1d(wanted, SMOOTH_S * fps, axis=0, mode="nearest")
    turned = wanted * ramp(moments, BEGINS_S, BEGINS_S + GAZE_SETTLE_S)[:, None]
    return np.pad(turned, ((0, 0), (0, 1)))


def eyes_towards(performance: Performance, places: FloatArray) -> FloatArray:
    """Return how far the eyes look left and up (F, 2), in degrees, to meet ``places`` (F, 3).

    They arrive before the head.
    """
    moments = np.arange(performance.motion.frames) / performance.motion.fps
    there = ramp(moments, 0.0, BEGINS_S + GAZE_SETTLE_S / 4)
    return np.asarray(_limited(_gaze_angles(performance, places), MAX_EYES_DEG) * there[:, None])


def _gaze_angles(performance: Performance, places: FloatArray) -> FloatArray:
    """Return the angles (F, 2), left and up in degrees, from the head's direction to ``places``."""
    head = performance.motion.global_pose.rotations[:, head_of(performance.motion.skeleton)]
    ways = places - eyes_at(performance)
    x, y, z = quaternions.rotate(quaternions.conjugate(head), ways).T
    return np.asarray(np.degrees(np.stack(
        [np.arctan2(x, -y), np.arctan2(z, np.hypot(x, y))], axis=1)))


def _limited(angles: FloatArray, most: FloatArray) -> FloatArray:
    """Return angles (F, 2) with a smooth limit ``most``; small angles are unchanged."""
    knee = 0.8 * most
    over = np.maximum(np.abs(angles) - knee, 0.0)
    room = most - knee
    return np.asarray(np.sign(angles) * (np.minimum(np.abs(angles), knee)
                                         + room * np.tanh(over / room)))
