"""Left and right that cannot be: mirrored files, and limbs with the names of the other side.

A file written with left-handed axes holds the mirror image of what was recorded: its knees, feet
and elbows point backward, for left and right tell where the front is.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mimegen.motion import Motion, Skeleton
from mimegen.readers.names import SIDES
from mimegen.readers.posture import (
    Posture,
    elbow_bends,
    knee_bends,
    toe_turns,
    twists_deg,
)

ARMS = ("clavicle", "upper_arm", "forearm", "hand", "thumb", "index", "middle", "ring", "pinky")
# Degrees: a body that twists further has wrong sides, or a pelvis that has drifted.
FURTHEST_TWIST = 75.0
OPPOSITE_TWIST = 135.0
# A foot that points (cosine) less far says nothing; a wrong one is so in that share of frames.
TOES_TELL = 0.4
WRONG_SHARE = 0.9
# Sines of bends: on average over both knees, and of a knee that is surely bent.
KNEES_TELL = 0.05
SURELY_BENT = 0.3
KNEES_ALONE = 0.25
ELBOWS_TELL = 0.03


class Pointing(NamedTuple):
    """Where knees and feet point by the names of their sides: 1 forward, -1 backward, 0 unclear."""

    knees: int
    feet: int


def pointing(body: Posture) -> Pointing:
    """Return where knees and feet point, on the whole, by the sides that roles say."""
    knees, toes = knee_bends(body), toe_turns(body)
    bent = np.abs(knees) > SURELY_BENT
    way = _sign(float(knees.mean()), KNEES_TELL)
    if bent.any() and np.mean(np.sign(knees[bent]) == way) < 1 - 2 * (1 - WRONG_SHARE):
        way = 0
    ahead = _sign(float(toes.mean()), TOES_TELL)
    if (np.sign(toes) == ahead).mean(axis=0).min() < WRONG_SHARE:
        ahead = 0
    return Pointing(way, ahead)


def _sign(value: float, least: float) -> int:
    return 0 if abs(value) < least else 1 if value > 0 else -1


def is_mirrored(body: Posture) -> bool:
    """Say whether a body can only be the mirror image of one: all of it points backward."""
    if np.median(twists_deg(body)) > FURTHEST_TWIST:
        return False
    found = pointing(body)
    if found.feet:
        return found.feet < 0 and found.knees < 0
    return (found.knees < 0 and float(knee_bends(body).mean()) < -KNEES_ALONE
            and float(elbow_bends(body).mean()) <= -ELBOWS_TELL)


def reflected(motion: Motion) -> Motion:
    """Return the mirror image of a motion, skeleton and all: X becomes -X."""
    flip, turn = np.array([-1.0, 1.0, 1.0]), np.array([1.0, 1.0, -1.0, -1.0])
    skeleton = motion.skeleton
    return Motion(Skeleton(skeleton.names, skeleton.parents, skeleton.heads * flip,
                           skeleton.tails * flip), motion.fps,
                  motion.root_positions * flip, motion.rotations * turn)


def unmirrored(motion: Motion, body: Posture) -> tuple[Motion, tuple[str, ...]]:
    """Mirror the motion of a ``body`` back that is surely mirrored, and say so."""
    if not is_mirrored(body):
        return motion, ()
    wrong = f"{np.mean(knee_bends(body) < 0):.0%}"
    return reflected(motion), (
        f"the file is mirrored: knees bend backward ({wrong} of the frames) and feet point"
        " backward, as where axes are left-handed; the motion is mirrored back. If the file's left"
        " and right are only named the wrong way round, mirror the result again",)


def exchanged(roles: Mapping[str, str], body: Posture
              ) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Give a body's arms or legs their right sides where only they are named the wrong way round.
    """
    if np.median(twists_deg(body)) < OPPOSITE_TWIST:
        return roles, ()
    feet = pointing(body)
    if not feet.feet or feet.feet != feet.knees:
        return roles, ()
    arms = feet.feet > 0
    limbs = "arms" if arms else "legs"
    return _with_other_sides(roles, arms), (
        f"the {limbs}' left and right are swapped in the names of bones, as knees and feet show:"
        " they are exchanged",)


def _with_other_sides(roles: Mapping[str, str], arms: bool) -> dict[str, str]:
    swapped = {}
    for role, joint in roles.items():
        side, _, part = role.partition("_")
        if side in SIDES and part.startswith(ARMS) == arms:
            role = f"{SIDES[1 - SIDES.index(side)]}_{part}"
        swapped[role] = joint
    return swapped
