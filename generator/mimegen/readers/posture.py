"""Measure how the limbs of a body lie relative to each other, in any unit and axes.

The front is ``left x up``: left is the direction from right to left joints by their roles, up the
direction from hips to shoulders. In a mirrored file it is the back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from mimegen.base.vectors import lengths, unit
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES

# Believable heights in metres, from children to giants. A file's unit that gives another height is
# not believed.
BELIEVABLE_HEIGHTS = (0.9, 2.3)
# Frames examined at most; more would not change the result.
MAX_FRAMES = 100


@dataclass(frozen=True, eq=False)
class Posture:
    """Positions (F, 3) by role, and the ends (F, 3) of both feet's bones by side.

    Two postures are equal only if they are the same object, so that the functions below can cache
    their results.
    """

    positions: Mapping[str, FloatArray]
    foot_ends: Mapping[str, FloatArray]

    def __getitem__(self, role: str) -> FloatArray:
        return self.positions[role]

    def middle(self, part: str) -> FloatArray:
        """Return the midpoint (F, 3) of a part's left and right joints."""
        return np.asarray((self[f"left_{part}"] + self[f"right_{part}"]) / 2)


def posture_of(motion: Motion, roles: Mapping[str, str]) -> Posture:
    """Return a motion's joint positions by role, in at most ``MAX_FRAMES`` evenly spaced frames.
    """
    step = -(-motion.frames // MAX_FRAMES)
    pose = motion.known_pose
    positions, rotations = motion.at(np.arange(0, motion.frames,
                                               step)).global_pose if pose is None \
        else (values[::step] for values in pose)
    index, skeleton = motion.skeleton.index, motion.skeleton
    ends = {}
    for side in SIDES:
        foot = index[roles[f"{side}_foot"]]
        bone = skeleton.tails[foot] - skeleton.heads[foot]
        ends[side] = positions[:, foot] + quaternions.rotate(rotations[:, foot], bone)
    found = {role: positions[:, index[joint]] for role, joint in roles.items()}
    return Posture(_with_hands(found), ends)


def posture_at_rest(skeleton: Skeleton, roles: Mapping[str, str]) -> Posture:
    """Return a skeleton's joint positions by role in its rest pose, as a single frame."""
    positions = {role: skeleton.heads[None, skeleton.index[joint]] for role, joint in roles.items()}
    ends = {side: skeleton.tails[None, skeleton.index[roles[f"{side}_foot"]]] for side in SIDES}
    return Posture(_with_hands(positions), ends)


def _with_hands(positions: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Add missing hands at the position of the forearm's joint, so that the elbow has no bend."""
    return {f"{side}_hand": positions[f"{side}_forearm"] for side in SIDES} | positions


@lru_cache(maxsize=8)
def across(body: Posture, part: str) -> FloatArray:
    """Return the unit vectors (F, 3) from the right to the left of a pair of joints."""
    return unit(body[f"left_{part}"] - body[f"right_{part}"])


@lru_cache(maxsize=4)
def trunk(body: Posture) -> FloatArray:
    """Return the vectors (F, 3) from the middle of the hips to the middle of the shoulders."""
    return np.asarray(body.middle("upper_arm") - body.middle("thigh"))


@lru_cache(maxsize=4)
def twists_deg(body: Posture) -> FloatArray:
    """Return the angles (F,) between the lines of hips and shoulders about the trunk, 0 to 180."""
    up = unit(trunk(body))
    lines = [across(body, part) for part in ("thigh", "upper_arm")]
    flat = [unit(line - up * _along(line, up)[:, None]) for line in lines]
    return np.asarray(np.degrees(np.arccos(np.clip(_along(*flat), -1.0, 1.0))))


@lru_cache(maxsize=4)
def knee_bends(body: Posture) -> FloatArray:
    """Return the sine of each knee's bend (F, 2), positive if the shank points behind the thigh.

    It is negative if the shank points forward, which is impossible for a person.
    """
    left = across(body, "thigh")
    return np.stack([_bend(body, side, left) for side in SIDES], axis=1)


def _bend(body: Posture, side: str, left: FloatArray) -> FloatArray:
    """Return the sine (F,) of a knee's bend."""
    hip, knee, ankle = (body[f"{side}_{part}"] for part in ("thigh", "shin", "foot"))
    front = unit(np.cross(left, unit(hip - knee)))
    return -_along(unit(ankle - knee), front)


@lru_cache(maxsize=4)
def foot_cosines(body: Posture) -> FloatArray:
    """Return the cosine (F, 2) between each foot and the front of its shank, -1 to 1.

    It is near 0 if the file does not show where a foot points.
    """
    left = across(body, "thigh")
    cosines = []
    for side in SIDES:
        ankle = body[f"{side}_foot"]
        front = unit(np.cross(left, unit(body[f"{side}_shin"] - ankle)))
        tip = body.positions.get(f"{side}_toe", body.foot_ends[side])
        cosines.append(_along(unit(tip - ankle), front))
    return np.stack(cosines, axis=1)


def elbow_bends(body: Posture) -> FloatArray:
    """Return how far (F, 2) each elbow lies behind the line from shoulder to hand, in arm lengths.

    Elbows mostly lie behind or below that line, but in front of it if fists are raised: only the
    average over a motion is meaningful.
    """
    front = unit(np.cross(across(body, "upper_arm"), unit(trunk(body))))
    return np.stack([_behind(body, side, front) for side in SIDES], axis=1)


def _behind(body: Posture, side: str, front: FloatArray) -> FloatArray:
    """Return how far (F,) an elbow is behind the line from shoulder to hand, in arm lengths."""
    shoulder, elbow, hand = (body[f"{side}_{part}"] for part in ("upper_arm", "forearm", "hand"))
    upper, lower = lengths(elbow - shoulder), lengths(hand - elbow)
    whole = np.maximum(upper + lower, 1e-12)
    aside = elbow - shoulder - (hand - shoulder) * (upper / whole)[:, None]
    return np.asarray(-_along(aside, front) / whole)


def limb_lengths(body: Posture, *parts: str) -> FloatArray:
    """Return the lengths (2,), left and right, of a limb along its joints: sums of medians."""
    return np.array([sum(_usual(body[f"{side}_{end}"] - body[f"{side}_{start}"])
                         for start, end in pairwise(parts)) for side in SIDES])


def _usual(bone: FloatArray) -> float:
    """Return the median length of vectors (F, 3)."""
    return float(np.median(lengths(bone)))


def on_all_fours(body: Posture) -> FloatArray:
    """Return a mask (F,) of the frames in which a body stands on hands and feet, trunk level.

    The knees must be off the ground: an animal's are, a crawling person's are not.
    """
    up = unit(trunk(body))
    legs = body.middle("foot") - body.middle("thigh")
    arms = body.middle("hand") - body.middle("upper_arm")
    down = unit(legs)
    deep = _along(legs, down)
    knees = np.maximum(*(_along(body[f"{side}_shin"] - body.middle("thigh"), down)
                         for side in SIDES))
    hands = _along(body.middle("hand") - body.middle("thigh"), down)
    return np.asarray((np.abs(_along(up, down)) < 0.6) & (np.abs(_along(up, unit(arms))) < 0.7)
                      & (_along(unit(arms), down) > 0.5) & (knees < 0.85 * deep)
                      & (np.abs(hands - deep) < 0.35 * deep))


def upright(body: Posture) -> FloatArray:
    """Return a mask (F,) of the frames in which legs and trunk are in line: standing or lying."""
    legs = unit(body.middle("foot") - body.middle("thigh"))
    return np.asarray(_along(legs, unit(trunk(body))) < -0.8)


def _along(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the dot products (...,) of vectors (..., 3)."""
    return np.asarray(np.einsum("...i,...i", first, second))
