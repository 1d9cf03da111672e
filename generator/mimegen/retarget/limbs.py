"""Two-bone inverse kinematics over all frames at once."""

from dataclasses import dataclass

import numpy as np

from mimegen.base.easing import soft_excess
from mimegen.base.vectors import unit
from mimegen.motion import quaternions
from mimegen.motion.limbs import middle_joint
from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True)
class LimbParameters:
    """How limbs approach their full length; all values are fractions.

    Chosen so that knees and elbows do not pop, which ``tests/retarget/test_retarget.py`` checks.
    """

    # Fractions of the full length: from the first on a limb is extended softly, up to the second at
    # most, because a limb that locks snaps out of it.
    soft: float = 0.994
    most: float = 0.9998
    # Least distance of knee or elbow from the limb's line, as a fraction of the upper bone.
    least_side: float = 0.03


LIMB = LimbParameters()


def reach(places: FloatArray, goals: FloatArray, hinges: FloatArray) -> FloatArray:
    """Bend limbs so that their ends reach ``goals``.

    ``places`` (F, 3, 3) are upper joint, middle joint and end; ``goals`` (F, 3) the wanted ends;
    ``hinges`` (F, 3) the axes to bend about if a limb is straight. Returns the new middle joint and
    end (F, 2, 3). Limbs that would be straighter than before approach their full length softly, and
    nearly straight ones bend to the front, so that knees and elbows do not pop.
    """
    start, middle, end = places[:, 0], places[:, 1], places[:, 2]
    upper = np.linalg.norm(middle - start, axis=1)
    lower = np.linalg.norm(end - middle, axis=1)
    way = unit(goals - start)
    now = np.linalg.norm(end - start, axis=1)
    length = _softly(np.linalg.norm(goals - start, axis=1), now, upper, lower)
    # The line from upper joint to end is turned the shortest way, together with the side on which
    # the middle joint lies.
    swing = quaternions.between(end - start, way)
    side = quaternions.rotate(swing, middle - start)
    front = unit(np.cross(way, quaternions.rotate(swing, hinges)))
    side = _to_the_front(side - way * _along(side, way), front, upper[:, None])
    along, aside = middle_joint(upper, lower, length)
    bent = start + way * along[:, None] + unit(side) * aside[:, None]
    return np.stack([bent, start + way * length[:, None]], axis=1)


def _along(vectors: FloatArray, way: FloatArray) -> FloatArray:
    return np.asarray(np.sum(vectors * way, axis=1, keepdims=True))


def _to_the_front(side: FloatArray, front: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the direction (F, 3) in which the middle joint points away from the limb's line.

    Nearly straight limbs, and those bent slightly backward, bend to the ``front``.
    """
    least = LIMB.least_side * upper
    short = least - _along(side, front)
    # 1 up to four times the least bend, 0 from six times on.
    straight = np.clip(3 - np.linalg.norm(side, axis=1, keepdims=True) / least / 2, 0.0, 1.0)
    return np.asarray(side + straight * (short + np.hypot(short, least / 4)) / 2 * front)


def bent_to(rotations: FloatArray, positions: FloatArray, chain: list[int], goals: FloatArray,
            hinges: FloatArray) -> None:
    """Turn a limb's two bones in global ``rotations`` (F, J, 4) so that its end reaches ``goals``.

    ``rotations`` are changed in place. ``chain`` are the indices of its three joints; ``positions``
    (F, J, 3) are the current positions of all joints.
    """
    places = positions[:, chain]
    bent = np.concatenate([places[:, :1], reach(places, goals, hinges)], axis=1)
    swings = quaternions.between(np.diff(places, axis=1), np.diff(bent, axis=1))
    rotations[:, chain[:2]] = quaternions.multiply(swings, rotations[:, chain[:2]])


def _softly(lengths: FloatArray, now: FloatArray, upper: FloatArray,
            lower: FloatArray) -> FloatArray:
    # A limb that is already straighter may stay so: only the extension that is added is softened.
    soft = np.maximum(LIMB.soft * (upper + lower), now)
    most = np.maximum(LIMB.most * (upper + lower), soft + 1e-6)
    over = np.maximum(lengths - soft, 0.0)
    longest = np.minimum(lengths, soft) + soft_excess(over, most - soft)
    # No limb can be shorter than the difference of its bones.
    return np.asarray(np.maximum(longest, 1.02 * np.abs(upper - lower) + 1e-3))
