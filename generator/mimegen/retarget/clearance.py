"""Hands rest on the surface of their own body as it is skinned: what lies inside it comes out.

Hands are moved so far that their palms are out, and that fingers need to bend by no more than they
can; then fingers bend. What that did not get out moves the hand after all, and fingers bend again.
At last fingers bend out of the other hand.
Forearms come out with their hands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.ndimage import maximum_filter1d

from mimegen.base.decisions import first_most
from mimegen.base.vectors import lengths, unit
from mimegen.characters.character import Character
from mimegen.characters.followers import with_followers_turned
from mimegen.characters.helpers import with_helpers_turned
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.contacts import velocities
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import STILL, rounded
from mimegen.readers.names import SIDES
from mimegen.retarget.anatomy import FINGERS
from mimegen.retarget.hands import arms_bent, has_arms, settled
from mimegen.retarget.obstacles import Depths, Limb, fingers_of_hands, limbs_of

# How far (m) out points are taken, and how far (radians) fingers and thumbs bend for it.
CLEAR, BEND = 0.003, np.radians(30.0)
PROJECTIONS, ROUNDS = 8, 3
# What lies less deep (m) once fingers are bent moves no hand; nor do smaller shifts than this (m).
LEFT, LEFT_ROUNDS, FAINT = 0.006, 2, 2e-4
# How often fingers bend out of the other hand, and how far (radians) each time.
HAND_ROUNDS = 4
BY_TURNS = BEND / HAND_ROUNDS
# So deep (m) fingers lie in the other hand before they bend out of it.
SHALLOW = 0.003
# What is further (m) below a hand's surface is past it: a hand is open where its wrist begins.
PAST = 0.025
# Hands whose joints are farther (m) apart are in nothing of each other.
BY_HAND = 0.04
# Hands settle at HANDS_HZ: so many frames a second tell where they are pushed.
LOOKED_AT_HZ = 30.0
# Wrists that are so near (m) to where they should be are there.
REACHED = 0.001
# A finger that points along its way out bends as if it pointed across by this share.
SLANTING = 0.4
# The weight of staying where nothing pushes, against that of a push; how slowly (s) fingers bend.
FREE_OF_PUSHES, SLOWLY = 0.2, 0.03
# Hands that go so fast (m/s) about the hips, now or so shortly (s) before or after, settle as
# quickly as pushes ask, slower ones less quickly, down to this share: they would tremble.
QUICK, AROUND_S, LEAST_QUICK = 0.4, 0.2, 0.4


def with_hands_clear(motion: Motion, character: Character, joints: Mapping[str, int],
                     held: FloatArray) -> Motion:
    """Return the motion with hands moved out of what of their own body they lie in.

    Where both surely hold one shaft, 0 to 1 ``held`` (F,), they go together.

    The hand's rotation stays, the elbow bends. Its own arm and the other hand stop no hand. Bodies
    without a surface stay as they are. Some frames a second are looked at; those between follow.
    """
    if not (has_arms(joints) and character.meshes):
        return motion
    numbers = tuple(sorted(joints.items()))
    limbs = limbs_of(character, numbers)
    if not all(len(limb.fingers) and limb.others for limb in limbs):
        return motion
    every = max(1, round(motion.fps / LOOKED_AT_HZ))
    seen = np.unique([*range(0, motion.frames, every), motion.frames - 1])
    few = replace(motion.at(seen), fps=motion.fps / every)
    clear = fingers_apart(cleared(few, joints, limbs, held[seen]), joints,
                          fingers_of_hands(character, numbers), held[seen])
    return clear if len(seen) == motion.frames else following(motion, seen, few, clear, joints)


def cleared(motion: Motion, joints: Mapping[str, int], limbs: Sequence[Limb],
            held: FloatArray) -> Motion:
    """Return the motion with hands out of the body in every frame."""
    motion = rounded(with_followers_turned(with_helpers_turned(motion)))
    found: Sequence[Depths] = [limb.depths(motion) for limb in limbs]
    for _ in range(ROUNDS):
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
    for _ in range(LEFT_ROUNDS):
        left = [pushed_out(np.maximum(depths.deep - LEFT, 0.0), depths.out) for depths in found]
        motion, found = pushed(motion, joints, limbs, found, together(np.stack(left, axis=1), held))
    return rounded(with_fingers_out(motion, limbs, found))


def fingers_apart(motion: Motion, joints: Mapping[str, int], fingers: Sequence[Limb],
                  held: FloatArray) -> Motion:
    """Return the motion with fingers bent out of the other hand, but where both hold one shaft."""
    near = np.flatnonzero(between_hands(motion, joints) < BY_HAND)
    if not (len(near) and all(len(hand.fingers) and hand.others for hand in fingers)):
        return motion
    for _ in range(HAND_ROUNDS):
        found = in_hands(motion, fingers, held, near)
        if not any(depths.deep.any() for depths in found):
            break
        motion = rounded(with_fingers_out(motion, fingers, found, BY_TURNS))
    return motion


def between_hands(motion: Motion, joints: Mapping[str, int]) -> FloatArray:
    """Return how far (F,) the nearest joints of both hands, or middles of palms, are apart."""
    hands = []
    for side in SIDES:
        own = [joints[name] for finger in FINGERS for bone in (1, 2, 3)
               if (name := f"{side}_{finger}{bone}") in joints]
        places = motion.global_pose.positions[:, [joints[f"{side}_hand"], *own]]
        hands.append(np.concatenate([places, (places[:, :1] + places[:, 1::3]) / 2], axis=1))
    left, right = hands
    return np.asarray(lengths(left[:, :, None] - right[:, None]).min(axis=(1, 2)))


def in_hands(motion: Motion, fingers: Sequence[Limb], held: FloatArray,
             near: NDArray[np.intp]) -> Sequence[Depths]:
    """Return how much too deep fingers lie in the other hand, in frames (N,) where hands are near.
    """
    part, loose = motion.at(near), (1 - held[near])[:, None]
    found = []
    for hand in fingers:
        points, deep, out = hand.depths(part)
        too_deep = np.where(deep < PAST, np.maximum(deep - SHALLOW, 0.0), 0.0)
        none = np.zeros((motion.frames, *deep.shape[1:], 3))
        found.append(Depths(none, none[..., 0], none).with_frames(
            near, Depths(points, loose * too_deep, out)))
    return found


def together(pushes: FloatArray, held: FloatArray) -> FloatArray:
    """Return pushes (F, 2, 3) of hands of which those that are ``held`` (F,) together share both.
    """
    left, right = pushes[:, 0], pushes[:, 1]
    done = np.sum(left * right, axis=1) / np.maximum(np.sum(right * right, axis=1), 1e-12)
    both = left + np.maximum(1 - done, 0.0)[:, None] * right
    return np.asarray(pushes + held[:, None, None] * (both[:, None] - pushes))


def pushed(motion: Motion, joints: Mapping[str, int], limbs: Sequence[Limb],
           found: Sequence[Depths], pushes: FloatArray) -> tuple[Motion, Sequence[Depths]]:
    """Return the motion with hands ``pushes`` (F, 2, 3) further, smoothly, and what is found in it.

    Frames in which that moves no hand stay as they are, to the bit.
    """
    pushing = lengths(pushes) > 0
    if not pushing.any():
        return motion, found
    weights = np.maximum(pushing, FREE_OF_PUSHES) * quickness(motion, joints) ** 6
    shifts = settled(pushes, weights, motion.fps)
    far = lengths(shifts)[..., None]
    shifts = np.where(far > FAINT, (1 - FAINT / np.maximum(far, FAINT)) * shifts, 0.0)
    frames = np.flatnonzero(shifts.any(axis=(1, 2)))
    if not len(frames):
        return motion, found
    part = motion.at(frames)
    part = rounded(arms_bent(part, joints, wrists_of(part, joints) + shifts[frames]))
    rotations = motion.rotations.copy()
    rotations[frames] = rounded(with_helpers_turned(part)).rotations
    moved = replace(motion, rotations=quaternions.without_flips(rotations))
    return moved, looked_at_again(found, limbs, moved, frames)


def quickness(motion: Motion, joints: Mapping[str, int]) -> FloatArray:
    """Return how quickly (F, 2) hands settle, as a share of how quickly they can.

    A push that comes and goes by turns, as of a hand that just touches, is none of a slow hand's.
    """
    hips = motion.global_pose.positions[:, [joints["hips"]]]
    speeds = lengths(velocities(wrists_of(motion, joints) - hips, motion.fps))
    around = maximum_filter1d(speeds, 2 * round(AROUND_S * motion.fps) + 1, axis=0, mode="nearest")
    return np.asarray(np.clip(around / QUICK, LEAST_QUICK, 1.0))


def bent(motion: Motion, limbs: Sequence[Limb], found: Sequence[Depths]
         ) -> tuple[Motion, Sequence[Depths]]:
    """Return the motion with fingers bent out of what was ``found``, and what is found in it."""
    moved = rounded(with_fingers_out(motion, limbs, found))
    changed = np.flatnonzero((moved.rotations != motion.rotations).any(axis=(1, 2)))
    return moved, looked_at_again(found, limbs, moved, changed)


def looked_at_again(found: Sequence[Depths], limbs: Sequence[Limb], motion: Motion,
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
    fingers = sorted(joints[name] for side in SIDES for finger in FINGERS
                     if (name := f"{side}_{finger}1") in joints)
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
    for _ in range(ROUNDS):
        motion = rounded(arms_bent(motion, joints, goals))
        if lengths(wrists_of(motion, joints) - goals).max() < REACHED:
            break
    return motion


def wrists_of(motion: Motion, joints: Mapping[str, int]) -> FloatArray:
    """Return both wrists (F, 2, 3)."""
    return motion.global_pose.positions[:, [joints[f"{side}_hand"] for side in SIDES]]


def spread(values: FloatArray, seen: NDArray[np.intp], frames: int) -> FloatArray:
    """Return values (F, ...) for all frames that go through those of the ``seen`` (S, ...)."""
    return np.asarray(PchipInterpolator(seen, values, axis=0)(np.arange(frames)))


def push(limb: Limb, skeleton: Skeleton, found: Depths) -> FloatArray:
    """Return the shifts (F, 3) that take a hand out of what its fingers cannot bend out of."""
    heads = skeleton.heads[np.maximum(limb.fingers, 0)]
    gives = np.sin(BEND) * lengths(limb.hand.vertices - heads) * (limb.fingers >= 0)
    depths = np.where(found.deep > 0, np.maximum(found.deep + CLEAR - gives, 0.0), 0.0)
    return pushed_out(depths / limb.share, found.out)


def pushed_out(depths: FloatArray, ways: FloatArray) -> FloatArray:
    """Return the shifts (F, 3) that take points (F, P) so deep out along ``ways`` (F, P, 3).

    The deepest is taken out, then the one that is now the deepest, and so on.
    """
    shifts, frames = np.zeros((len(depths), 3)), np.arange(len(depths))
    for _ in range(PROJECTIONS):
        left = np.where(depths > 0, depths - np.einsum("fpx,fx->fp", ways, shifts), 0.0)
        worst = first_most(left)
        shifts += np.maximum(left[frames, worst], 0.0)[:, None] * ways[frames, worst]
    return shifts


def with_fingers_out(motion: Motion, limbs: Sequence[Limb], found: Sequence[Depths],
                     most: float = BEND) -> Motion:
    """Return the motion with fingers bent, at their first joints, out of what they lie in.

    They bend by ``most`` (radians) at most.
    """
    pose = motion.global_pose
    rotations = motion.rotations.copy()
    for limb, (points, deep, out) in zip(limbs, found, strict=True):
        for joint in np.unique(limb.fingers[(deep > 0).any(axis=0) & (limb.fingers >= 0)]):
            own = limb.fingers == joint
            turns = bent_out(points[:, own] - pose.positions[:, [joint]], deep[:, own],
                             out[:, own], most)
            above = pose.rotations[:, motion.skeleton.parents[joint]]
            turns = quaternions.rotate(quaternions.conjugate(above),
                                       low_passed(turns, SLOWLY * motion.fps))
            rotations[:, joint] = quaternions.multiply(
                quaternions.from_rotation_vectors(turns), rotations[:, joint])
    return Motion(motion.skeleton, motion.fps, motion.root_positions, rotations)


def bent_out(arms: FloatArray, depths: FloatArray, ways: FloatArray, most: float) -> FloatArray:
    """Return rotation vectors (F, 3) that take points at ``arms`` (F, P, 3) from a joint out.

    None is longer than ``most``.
    """
    across = lengths(np.cross(arms, ways))
    slanting = np.maximum(across, np.maximum(SLANTING * lengths(arms), 0.01))
    needed = np.where(depths > 0, (depths + CLEAR) / slanting, 0.0)
    worst, frames = first_most(needed), np.arange(len(arms))
    axes = unit(np.cross(arms[frames, worst], ways[frames, worst]))
    return np.asarray(np.minimum(needed[frames, worst], most)[:, None] * axes)
