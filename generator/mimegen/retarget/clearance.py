"""Hands rest on the surface of their own body as it is skinned: what lies inside it comes out.

Hands are moved so far that their palms are out, and that fingers need to bend by no more than they
can; then fingers bend. What that did not get out moves the hand after all, and fingers bend again.
At last hands come out of each other.
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
    """How hands come out of the body. Chosen by trial, and checked on seven bodies by
    ``benchmarks/hands.py``, which counts hands that stay deep (``docs/research/people.md``).
    """

    # How often a hand is moved, and how many of its deepest points decide each move.
    rounds: int = 3
    projections: int = 8
    # What lies less deep (m) once fingers are bent moves no hand; how often the rest does.
    left_m: float = 0.006
    left_rounds: int = 2
    # So many frames a second are looked at: hands settle at a sixth of it.
    looked_at_hz: float = 30.0
    # Wrists that are so near (m) to where they should be are there.
    reached_m: float = 0.001


CLEARANCE = ClearanceParameters()


def with_hands_clear(motion: Motion, character: Character, joints: Mapping[str, int],
                     held: FloatArray, rounds: int = CLEARANCE.rounds) -> Motion:
    """Return the motion with hands moved out of what of their own body they lie in.

    Where both surely hold one shaft, 0 to 1 ``held`` (F,), they go together. In ``rounds`` they are
    moved by all that fingers cannot bend out of; then, where these bend, by what that leaves.

    The hand's rotation stays, the elbow bends. Its own arm and the other hand stop no hand. Bodies
    without a surface stay as they are. Some frames a second are looked at; those between follow.
    """
    if not (has_arms(joints) and character.meshes):
        return motion
    numbers = tuple(sorted(joints.items()))
    limbs = limbs_of(character, numbers)
    if not all(len(limb.fingers) and limb.others for limb in limbs):
        return motion
    every = max(1, round(motion.fps / CLEARANCE.looked_at_hz))
    seen = np.unique([*range(0, motion.frames, every), motion.frames - 1])
    # At its own rate, so that low-passes mean the same seconds.
    few = replace(motion.at(seen), fps=motion.fps / every)
    clear = hands_apart(cleared(few, joints, limbs, held[seen], rounds), joints,
                        fingers_of_hands(character, numbers), held[seen])
    return clear if len(seen) == motion.frames else following(motion, seen, few, clear, joints)


def cleared(motion: Motion, joints: Mapping[str, int], limbs: Sequence[HandAndForearm],
            held: FloatArray, rounds: int) -> Motion:
    """Return the motion with hands out of the body in every frame."""
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
    """Return pushes (F, 2, 3) of hands of which those that are ``held`` (F,) together share both.
    """
    left, right = pushes[:, 0], pushes[:, 1]
    # What the left push does of the right one's is not done twice.
    done = np.sum(left * right, axis=1) / np.maximum(np.sum(right * right, axis=1), 1e-12)
    both = left + np.maximum(1 - done, 0.0)[:, None] * right
    return np.asarray(pushes + held[:, None, None] * (both[:, None] - pushes))


def pushed(motion: Motion, joints: Mapping[str, int], limbs: Sequence[HandAndForearm],
           found: Sequence[Depths], pushes: FloatArray) -> tuple[Motion, Sequence[Depths]]:
    """Return the motion with hands ``pushes`` (F, 2, 3) further, smoothly, and what is found in it.

    Frames in which that moves no hand stay as they are, to the bit.
    """
    moved, frames = wrists_pushed(motion, joints, pushes)
    return moved, depths_updated(found, limbs, moved, frames)


def bent(motion: Motion, limbs: Sequence[HandAndForearm], found: Sequence[Depths]
         ) -> tuple[Motion, Sequence[Depths]]:
    """Return the motion with fingers bent out of what was ``found``, and what is found in it."""
    moved = rounded(with_fingers_out(motion, limbs, found))
    changed = np.flatnonzero((moved.rotations != motion.rotations).any(axis=(1, 2)))
    return moved, depths_updated(found, limbs, moved, changed)


def depths_updated(found: Sequence[Depths], limbs: Sequence[HandAndForearm], motion: Motion,
                    frames: NDArray[np.intp]) -> Sequence[Depths]:
    """Return what was ``found``, some frames (N,) as they are in the motion."""
    if not len(frames):
        return found
    part = motion.at(frames)
    return [old.with_frames(frames, limb.depths(part))
            for old, limb in zip(found, limbs, strict=True)]


def following(motion: Motion, seen: NDArray[np.intp], few: Motion, clear: Motion,
              joints: Mapping[str, int]) -> Motion:
    """Return the motion with hands and fingers moved as ``few``, its frames ``seen``, became."""
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
    """Return the motion with wrists at ``goals`` (F, 2, 3), shoulders going along round by round.
    """
    for _ in range(CLEARANCE.rounds):
        motion = rounded(arms_bent(motion, joints, goals, PUSHES.girdle))
        if lengths(wrists_of(motion, joints) - goals).max() < CLEARANCE.reached_m:
            break
    return motion


def spread(values: FloatArray, seen: NDArray[np.intp], frames: int) -> FloatArray:
    """Return values (F, ...) for all frames that go through those of the ``seen`` (S, ...)."""
    # PCHIP does not swing past its points, as a cubic spline would.
    return np.asarray(scipy.interpolate.PchipInterpolator(seen, values, axis=0)(np.arange(frames)))


def push(limb: HandAndForearm, skeleton: Skeleton, found: Depths) -> FloatArray:
    """Return the shifts (F, 3) that take a hand out of what its fingers cannot bend out of."""
    heads = skeleton.heads[np.maximum(limb.fingers, 0)]
    # Fingers swing about their first joint: a point as far from it gives way by the sine of that.
    gives = np.sin(FINGER.bend) * lengths(limb.hand.vertices - heads) * (limb.fingers >= 0)
    depths = np.where(found.deep > 0, np.maximum(found.deep + FINGER.clear_m - gives, 0.0), 0.0)
    return pushed_out(depths / limb.share, found.out)


def pushed_out(depths: FloatArray, ways: FloatArray) -> FloatArray:
    """Return the shifts (F, 3) that take points (F, P) so deep out along ``ways`` (F, P, 3).

    The deepest is taken out, then the one that is now the deepest, and so on.
    """
    # Not the sum of all ways out: points that lie side by side would push as often as they are.
    shifts, frames = np.zeros((len(depths), 3)), np.arange(len(depths))
    for _ in range(CLEARANCE.projections):
        left = np.where(depths > 0, depths - np.einsum("fpx,fx->fp", ways, shifts), 0.0)
        worst = first_most(left)
        shifts += np.maximum(left[frames, worst], 0.0)[:, None] * ways[frames, worst]
    return shifts
