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
from mimegen.motion.rounding import STILL, rounded
from mimegen.readers.names import SIDES
from mimegen.retarget.fingers import FINGER, with_fingers_out
from mimegen.retarget.hand_on_hand import finger_joints, hands_apart
from mimegen.retarget.hands import arms_bent, has_arms, wrists_of
from mimegen.retarget.obstacles import Depths, HandAndForearm, fingers_of_hands, limbs_of
from mimegen.retarget.pushes import PUSHES, wrists_pushed


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
    # Distance (m) at which a wrist counts as having reached its goal.
    reached_m: float = 0.001


CLEARANCE = ClearanceParameters()


def with_hands_clear(motion: Motion, character: Character, joints: Mapping[str, int],
                     held: FloatArray, rounds: int = CLEARANCE.rounds) -> Motion:
    """Return the motion with hands moved out of their own body.

    ``held`` (F,), 0 to 1, is the confidence that both hands hold one shaft: then they move
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
    if not all(len(limb.fingers) and limb.others for limb in limbs):
        return motion
    every = max(1, round(motion.fps / CLEARANCE.looked_at_hz))
    seen = np.unique([*range(0, motion.frames, every), motion.frames - 1])
    # With the thinned frame rate, so that the cutoffs of low-passes stay in true seconds.
    few = replace(motion.at(seen), fps=motion.fps / every)
    clear = hands_apart(cleared(few, joints, limbs, held[seen], rounds), joints,
                        fingers_of_hands(character, numbers), held[seen])
    return clear if len(seen) == motion.frames else following(motion, seen, few, clear, joints)


def cleared(motion: Motion, joints: Mapping[str, int], limbs: Sequence[HandAndForearm],
            held: FloatArray, rounds: int) -> Motion:
    """Return the motion with hands out of the body, solved in every frame, see the module."""
    motion = rounded(with_followers_turned(with_helpers_turned(motion)))
    found: Sequence[Depths] = [limb.depths(motion) for limb in limbs]
    for _ in range(rounds):
        pushes = [push(limb, motion.skeleton, depths)
                  for limb, depths in zip(limbs, found, strict=True)]
        before = motion
        motion, found = pushed(motion, joints, limbs, found,
                               together(np.stack(pushes, axis=1), held))
        if motion is before:
            break
    if not any((depths.deep > 0).any() for depths in found):
        return motion
    motion, found = bent(motion, limbs, found)
    for _ in range(CLEARANCE.left_rounds):
        left = [pushed_out(np.maximum(depths.deep - CLEARANCE.left_m, 0.0), depths.out)
                for depths in found]
        motion, found = pushed(motion, joints, limbs, found, together(np.stack(left, axis=1), held))
    return rounded(with_fingers_out(motion, limbs, found))


def together(pushes: FloatArray, held: FloatArray) -> FloatArray:
    """Return pushes (F, 2, 3) of both hands; hands ``held`` (F,) together get the sum of both."""
    left, right = pushes[:, 0], pushes[:, 1]
    # Only the part of the right push that the left push does not already do is added.
    done = np.sum(left * right, axis=1) / np.maximum(np.sum(right * right, axis=1), 1e-12)
    both = left + np.maximum(1 - done, 0.0)[:, None] * right
    return np.asarray(pushes + held[:, None, None] * (both[:, None] - pushes))


def pushed(motion: Motion, joints: Mapping[str, int], limbs: Sequence[HandAndForearm],
           found: Sequence[Depths], pushes: FloatArray) -> tuple[Motion, Sequence[Depths]]:
    """Return the motion with hands moved smoothly by ``pushes`` (F, 2, 3), and its new depths.

    Frames in which no hand moves stay identical to the last bit.
    """
    moved, frames = wrists_pushed(motion, joints, pushes)
    return moved, depths_updated(found, limbs, moved, frames)


def bent(motion: Motion, limbs: Sequence[HandAndForearm], found: Sequence[Depths]
         ) -> tuple[Motion, Sequence[Depths]]:
    """Return the motion with fingers bent out by the depths ``found``, and its new depths."""
    moved = rounded(with_fingers_out(motion, limbs, found))
    changed = np.flatnonzero((moved.rotations != motion.rotations).any(axis=(1, 2)))
    return moved, depths_updated(found, limbs, moved, changed)


def depths_updated(found: Sequence[Depths], limbs: Sequence[HandAndForearm], motion: Motion,
                    frames: NDArray[np.intp]) -> Sequence[Depths]:
    """Return the depths ``found``, measured again in some frames (N,) of a motion."""
    if not len(frames):
        return found
    part = motion.at(frames)
    return [old.with_frames(frames, limb.depths(part))
            for old, limb in zip(found, limbs, strict=True)]


def following(motion: Motion, seen: NDArray[np.intp], few: Motion, clear: Motion,
              joints: Mapping[str, int]) -> Motion:
    """Return the motion with the changes from ``few`` to ``clear``, spread over all its frames.

    ``few`` are the motion's frames ``seen`` (S,); ``clear`` the same after hands were moved and
    fingers bent.
    """
    shifts = wrists_of(clear, joints) - wrists_of(few, joints)
    if (lengths(shifts) > STILL).any():
        goals = wrists_of(motion, joints) + spread(shifts, seen, motion.frames)
        motion = rounded(with_helpers_turned(reached(motion, joints, goals)))
    fingers = sorted(joint for side in SIDES for joint in finger_joints(joints, side))
    bends = quaternions.to_rotation_vectors(quaternions.multiply(
        clear.rotations[:, fingers], quaternions.conjugate(few.rotations[:, fingers])))
    rotations = motion.rotations.copy()
    rotations[:, fingers] = quaternions.multiply(
        quaternions.from_rotation_vectors(spread(bends, seen, motion.frames)),
        rotations[:, fingers])
    return rounded(Motion(motion.skeleton, motion.fps, motion.root_positions, rotations))


def reached(motion: Motion, joints: Mapping[str, int], goals: FloatArray) -> Motion:
    """Return the motion with wrists at ``goals`` (F, 2, 3); shoulders help more in each round."""
    for _ in range(CLEARANCE.rounds):
        motion = rounded(arms_bent(motion, joints, goals, PUSHES.girdle))
        if lengths(wrists_of(motion, joints) - goals).max() < CLEARANCE.reached_m:
            break
    return motion


def spread(values: FloatArray, seen: NDArray[np.intp], frames: int) -> FloatArray:
    """Return values (F, ...) for all frames, interpolated from those (S, ...) of frames ``seen``.
    """
    # PCHIP does not overshoot, as a cubic spline would.
    return np.asarray(scipy.interpolate.PchipInterpolator(seen, values, axis=0)(np.arange(frames)))


def push(limb: HandAndForearm, skeleton: Skeleton, found: Depths) -> FloatArray:
    """Return the shifts (F, 3) of a hand for the depths that its fingers cannot bend out of."""
    heads = skeleton.heads[np.maximum(limb.fingers, 0)]
    # Fingers swing about their first joint: the largest displacement of a point is its distance
    # from that joint times the sine of the largest bend.
    gives = np.sin(FINGER.bend) * lengths(limb.hand.vertices - heads) * (limb.fingers >= 0)
    depths = np.where(found.deep > 0, np.maximum(found.deep + FINGER.clear_m - gives, 0.0), 0.0)
    return pushed_out(depths / limb.share, found.out)


def pushed_out(depths: FloatArray, ways: FloatArray) -> FloatArray:
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
