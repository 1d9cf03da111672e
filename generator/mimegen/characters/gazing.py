"""Somebody who looks at something throughout: the head goes most of the way, the eyes the rest."""

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

# The camera is so far away that all look the same way at it.
FAR_M = 50.0
# The head begins so late, and is there so much later; it follows smoothly.
BEGINS_S = 0.15
THERE_S = 0.5
SMOOTH_S = 0.1
# Of the way to the side and up: the head's share, and how far head and eyes go at most, in degrees
# (Freedman 2008: eyes stay within some 20 degrees, heads go nearly all of a long way).
HEAD_SHARE = np.array([0.75, 0.6])
HEAD_MOST = np.array([55.0, 28.0])
EYES_MOST = np.array([28.0, 22.0])
# Where eyes are from the joint of the head, of a person of so many metres, where nobody knows.
EYES_M = np.array([0.0, -0.08, 0.1])
STANDARD_M = 1.73


def gazed_at(gaze: str, scene: Sequence[Performance], front_deg: float) -> FloatArray:
    """Return where (F, 3) the first performer of a scene looks.

    ``front_deg`` is the azimuth that they face at the start; points are seen from there.
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
    """Return the level direction (3,) of an azimuth: 0 is -Y, 90 is +X."""
    angle = np.radians(azimuth_deg)
    return np.array([np.sin(angle), -np.cos(angle), 0.0])


def eyes_at(performance: Performance) -> FloatArray:
    """Return the place (F, 3) between the eyes."""
    skeleton, pose = performance.motion.skeleton, performance.motion.global_pose
    head = head_of(skeleton)
    aside = _eyes(performance.character) - skeleton.heads[head]
    return np.asarray(pose.positions[:, head] + quaternions.rotate(
        pose.rotations[:, head], np.tile(aside, (performance.motion.frames, 1))))


def _eyes(character: Character) -> FloatArray:
    """Return the place (3,) between a character's eyes at rest."""
    skeleton = with_face(character).skeleton
    head = skeleton.heads[head_of(skeleton)]
    numbers = [skeleton.index[name] for name in ("LeftEye", "RightEye") if name in skeleton.index]
    eyes = skeleton.heads[numbers].mean(axis=0) if numbers else head
    guess = head + EYES_M * character.height / STANDARD_M
    return np.asarray(guess if np.allclose(eyes, head) else eyes)


def head_towards(performance: Performance, places: FloatArray) -> FloatArray:
    """Return how far the head turns (F, 3) in degrees left, up and tilted to look at places (F, 3).
    """
    fps = performance.motion.fps
    moments = np.arange(performance.motion.frames) / fps
    wanted = _limited(HEAD_SHARE * _way(performance, places), HEAD_MOST)
    wanted = scipy.ndimage.gaussian_filter1d(wanted, SMOOTH_S * fps, axis=0, mode="nearest")
    turned = wanted * ramp(moments, BEGINS_S, BEGINS_S + THERE_S)[:, None]
    return np.pad(turned, ((0, 0), (0, 1)))


def eyes_towards(performance: Performance, places: FloatArray) -> FloatArray:
    """Return how far the eyes look (F, 2) in degrees left and up to meet places (F, 3).

    They are there before the head is.
    """
    moments = np.arange(performance.motion.frames) / performance.motion.fps
    there = ramp(moments, 0.0, BEGINS_S + THERE_S / 4)
    return np.asarray(_limited(_way(performance, places), EYES_MOST) * there[:, None])


def _way(performance: Performance, places: FloatArray) -> FloatArray:
    """Return how far (F, 2) to the left and up of where the head points places (F, 3) are."""
    head = performance.motion.global_pose.rotations[:, head_of(performance.motion.skeleton)]
    ways = places - eyes_at(performance)
    x, y, z = quaternions.rotate(quaternions.conjugate(head), ways).T
    return np.asarray(np.degrees(np.stack(
        [np.arctan2(x, -y), np.arctan2(z, np.hypot(x, y))], axis=1)))


def _limited(angles: FloatArray, most: FloatArray) -> FloatArray:
    """Return angles (F, 2) that go to their limits softly, small ones as they are."""
    knee = 0.8 * most
    over = np.maximum(np.abs(angles) - knee, 0.0)
    room = most - knee
    return np.asarray(np.sign(angles) * (np.minimum(np.abs(angles), knee)
                                         + room * np.tanh(over / room)))
