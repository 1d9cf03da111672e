"""Move hands and forearms that lie inside their own body's skin to its surface.

1. Hands move until the palms are outside and the fingers are within reach of bending.
2. Fingers bend out of the body.
3. Hands move by the depth that is left, and fingers bend again.
4. Hands are taken out of each other.

Forearms come out with their hands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.decisions import first_most
from mimegen.base.vectors import lengths
from mimegen.characters.character import Character
from mimegen.characters.followers import with_followers_turned
from mimegen.characters.helpers import with_helpers_turned
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded
from mimegen.readers.names import SIDES
from mimegen.retarget.fingers import FINGER, with_fingers_out
from mimegen.retarget.hand_on_hand import finger_joints, hands_apart
from mimegen.retarget.hands import ARM, has_arms
from mimegen.retarget.obstacles import Depths, HandAndForearm, fingers_of_hands, limbs_of
from mimegen.retarget.pushes import wrists_pushed


@dataclass(frozen=True)
class ClearanceParameters:
    """How hands come out of the body.

    Chosen by trial, and checked on seven bodies by ``benchmarks/hands.py``, which counts hands that
    stay deep (``docs/research/people.md``).
    """

    # How often a hand is moved, and how many of its deepest points decide each move.
    rounds: int = 3
    projections: int = 8
    # Depth (m) that is accepted once fingers are bent, and how often hands move for more than that.
    left_m: float = 0.006
    left_rounds: int = 2
    # Frames a second that are solved; those between are interpolated. Hands settle at a sixth of
    # this rate.
    looked_at_hz: float = 30.0


CLEARANCE = ClearanceParameters()


def with_hands_clear(motion: Motion, character: Character, joints: Mapping[str, int],
                     on_shaft: FloatArray, rounds: int = CLEARANCE.rounds) -> Motion:
    """Return the motion with hands moved out of their own body.

    ``on_shaft`` (F,), 0 to 1, is the confidence that both hands hold one shaft: then they move
    together. ``rounds`` is how often hands move by the depth that fingers cannot bend out of;
    afterwards fingers bend and hands move by the depth that is left.

    Elbows bend, and hands keep their rotation. A hand's own arm and the other hand do not count as
    body; hands are taken out of each other at the end. A character without meshes is left
    unchanged. ``CLEARANCE.looked_at_hz`` frames a second are solved, the others interpolated.
    """
    if not (has_arms(joints) and character.meshes):
        return motion
    numbers = tuple(sorted(joints.items()))
    limbs = limbs_of(character, numbers)
    if not all(len(limb.fingers) and limb.patches for limb in limbs):
        return motion
    every = max(1, round(motion.fps / CLEARANCE.looked_at_hz))
    seen = np.unique([*range(0, motion.frames, every), motion.frames - 1])
    # With the thinned frame rate, so that the cutoffs of low-passes stay in true seconds.
    few = replace(motion.at(seen), fps=motion.fps / every)
    clear = out_of_the_body(few, joints, limbs, on_shaft[seen], rounds)
    clear = hands_apart(clear, character, joints, fingers_of_hands(character, numbers),
                        on_shaft[seen])
    return clear if len(seen) == motion.frames else with_changes(motion, seen, few, clear, joints)


def out_of_the_body(motion: Motion, joints: Mapping[str, int], limbs: Sequence[HandAndForearm],
                    on_shaft: FloatArray, rounds: int) -> Motion:
    """Return the motion with hands out of the body, solved in every frame, see the module."""
    motion = rounded(with_followers_turned(with_helpers_turned(motion)))
    found: Sequence[Depths] = [limb.depths(motion) for limb in limbs]
    for _ in range(rounds):
        pushes = [shift_beyond_fingers(limb, motion.skeleton, depths)
                  for limb, depths in zip(limbs, found, strict=True)]
        motion, found = hands_moved(motion, joints, limbs, found, pushes, on_shaft)
    motion, found = fingers_bent(motion, limbs, found)
    for _ in range(CLEARANCE.left_rounds):
        pushes = [shift_out(np.maximum(depths.deep - CLEARANCE.left_m, 0.0), depths.out)
                  for depths in found]
        motion, found = hands_moved(motion, joints, limbs, found, pushes, on_shaft)
    return rounded(with_fingers_out(motion, limbs, found))


def hands_moved(motion: Motion, joints: Mapping[str, int], limbs: Sequence[HandAndForearm],
                found: Sequence[Depths], pushes: Sequence[FloatArray],
                on_shaft: FloatArray) -> tuple[Motion, Sequence[Depths]]:
    """Return the motion with each hand moved smoothly by ``pushes`` (F, 3), and its new depths."""
    moved = wrists_pushed(motion, joints, shared_on_shaft(np.stack(pushes, axis=1), on_shaft))
    return moved, depths_updated(found, limbs, motion, moved)


def fingers_bent(motion: Motion, limbs: Sequence[HandAndForearm], found: Sequence[Depths]
                 ) -> tuple[Motion, Sequence[Depths]]:
    """Return the motion with fingers bent out by the depths ``found``, and its new depths."""
    bent = rounded(with_fingers_out(motion, limbs, found))
    return bent, depths_updated(found, limbs, motion, bent)


def depths_updated(found: Sequence[Depths], limbs: Sequence[HandAndForearm], before: Motion,
                   after: Motion) -> Sequence[Depths]:
    """Return the depths ``found`` in the motion ``before``, measured again where it changed."""
    frames = np.flatnonzero((after.rotations != before.rotations).any(axis=(1, 2)))
    if not len(frames):
        return found
    part = after.at(frames)
    return [old.with_frames(frames, limb.depths(part))
            for old, limb in zip(found, limbs, strict=True)]


def shared_on_shaft(pushes: FloatArray, on_shaft: FloatArray) -> FloatArray:
    """Return pushes (F, 2, 3) of both hands; hands ``on_shaft`` (F,) get the sum of both."""
    left, right = pushes[:, 0], pushes[:, 1]
    # Only the part of the right push that the left push does not already do is added.
    done = np.sum(left * right, axis=1) / np.maximum(np.sum(right * right, axis=1), 1e-12)
    both = left + np.maximum(1 - done, 0.0)[:, None] * right
    return np.asarray(pushes + on_shaft[:, None, None] * (both[:, None] - pushes))


def with_changes(motion: Motion, seen: NDArray[np.intp], few: Motion, clear: Motion,
                 joints: Mapping[str, int]) -> Motion:
    """Return the motion with the changes from ``few`` to ``clear``, spread over all its frames.

    ``few`` are the motion's frames ``seen`` (S,); ``clear`` the same after arms and fingers moved.
    """
    arms = sorted(joint for side in SIDES for joint in [
        *(joints[f"{side}_{part}"] for part in ("clavicle", *ARM) if f"{side}_{part}" in joints),
        *finger_joints(joints, side)])
    turns = quaternions.to_rotation_vectors(quaternions.multiply(
        clear.rotations[:, arms], quaternions.conjugate(few.rotations[:, arms])))
    # PCHIP does not overshoot, as a cubic spline would.
    turns = scipy.interpolate.PchipInterpolator(seen, turns, axis=0)(np.arange(motion.frames))
    rotations = motion.rotations.copy()
    rotations[:, arms] = quaternions.multiply(quaternions.from_rotation_vectors(turns),
                                              rotations[:, arms])
    return rounded(with_helpers_turned(replace(motion, rotations=rotations)))


def shift_beyond_fingers(limb: HandAndForearm, skeleton: Skeleton, found: Depths) -> FloatArray:
    """Return the shifts (F, 3) of a hand for the depths that its fingers cannot bend out of."""
    heads = skeleton.heads[np.maximum(limb.fingers, 0)]
    # Fingers swing about their first joint: the largest displacement of a point is its distance
    # from that joint times the sine of the largest bend.
    gives = np.sin(FINGER.bend) * lengths(limb.skin.vertices - heads) * (limb.fingers >= 0)
    depths = np.where(found.deep > 0, np.maximum(found.deep + FINGER.clear_m - gives, 0.0), 0.0)
    # A point of the forearm moves less than the wrist.
    return shift_out(2 * depths / (1 + np.minimum(limb.along, 1.0)), found.out)


def shift_out(depths: FloatArray, ways: FloatArray) -> FloatArray:
    """Return the shifts (F, 3) that take points with ``depths`` (F, P) out along ``ways``.

    ``ways`` (F, P, 3) are unit vectors. The deepest point is taken out, then the point that is the
    deepest after that, and so on.
    """
    # Not the sum over all points: neighbouring points would push once each.
    shifts, frames = np.zeros((len(depths), 3)), np.arange(len(depths))
    for _ in range(CLEARANCE.projections):
        left = np.where(depths > 0, depths - np.einsum("fpx,fx->fp", ways, shifts), 0.0)
        worst = first_most(left)
        shifts += np.maximum(left[frames, worst], 0.0)[:, None] * ways[frames, worst]
    return shifts
