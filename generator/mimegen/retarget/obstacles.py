"""One hand of a character and what it may not lie in: all else but its own arm and the other hand.

A body's surface is patches of its outer layer, each of which goes with the joint that its points
follow most, helpers included. How deep a point of a hand lies is told by the planes of the nearest
points of the nearest patch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from mimegen.base.vectors import lengths, product, unit
from mimegen.characters.character import Character
from mimegen.characters.helpers import helped_joint
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.anatomy import FINGERS
from mimegen.retarget.outer import Surface, outer_surface, thinned
from mimegen.retarget.surface import SkinSample

# Within what (m) of the surface points count as inside.
DEEPEST = 0.12
# Edges (m) of the cells of which each gives a point of the body, and one of the hands.
BODY_CELL, HAND_CELL = 0.025, 0.014
# The way out of who is inside is nearly the way to the surface's nearest points: by this cosine.
STRAIGHT, NEAREST = 0.5, 4
# From which share of the way from the wrist to the knuckles on it is the hand: before are cuffs.
CUFF = 0.3


@dataclass(frozen=True)
class Patch:
    """Points (N, 3) of a surface that go with a joint, relative to it, and the ways out of it.

    All of them lie within ``size`` (m) of the ``middle`` (3,).
    """

    joint: int
    places: FloatArray
    tree: cKDTree
    ways: FloatArray
    middle: FloatArray
    size: float

    @staticmethod
    def of(surface: Surface, joint: int, head: FloatArray) -> "Patch":
        """Return the patch of a joint that is at ``head`` (3,) at rest."""
        own = surface.of == joint
        places = surface.skin.vertices[own] - head
        middle = places.mean(axis=0)
        return Patch(joint, places, cKDTree(places), surface.ways[own], middle,
                     float(lengths(places - middle).max()))

    def near(self, motion: Motion, points: FloatArray) -> NDArray[np.bool_]:
        """Return which points (F, P, 3) may be within ``DEEPEST`` of it."""
        pose = motion.global_pose
        middle = quaternions.rotate(pose.rotations[:, self.joint], self.middle)
        away = points - (pose.positions[:, self.joint] + middle)[:, None]
        return np.asarray(np.einsum("fpx,fpx->fp", away, away) < (self.size + DEEPEST) ** 2)

    def distances(self, points: FloatArray) -> FloatArray:
        """Return how far (N,) points (N, 3), relative to the joint, are from the nearest of it."""
        return np.asarray(self.tree.query(points, distance_upper_bound=DEEPEST)[0])

    def depths(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how deep (N,) points (N, 3), relative to the joint, lie below the surface.

        That is the mean plane of the nearest few of it; outside it is 0. Also the ways (N, 3) out.
        """
        away, near = self.tree.query(points, k=range(1, NEAREST + 1),
                                     distance_upper_bound=DEEPEST)
        there = np.isfinite(away)
        shares = np.where(there, 1 / np.maximum(away, 1e-4), 0.0)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
        near = np.where(there, near, 0)
        ways = unit(np.einsum("nk,nkx->nx", shares, self.ways[near]))
        inwards = np.einsum("nk,nkx->nx", shares, self.places[near]) - points
        depth = np.einsum("nx,nx->n", inwards, ways)
        inside = there[:, 0] & (depth > STRAIGHT * lengths(inwards))
        return np.where(inside, depth, 0.0), ways


@dataclass(frozen=True)
class Limb:
    """One hand's points (P,), and the surface of what it may not lie in.

    ``fingers`` (P,) number each point's finger's first joint, -1 for the palm's.
    """

    hand: SkinSample
    fingers: NDArray[np.intp]
    others: Sequence[Patch]

    def depths(self, motion: Motion) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return where the points (F, P, 3) are, how deep (F, P), and the ways (F, P, 3) out."""
        points, pose = self.hand.posed(motion), motion.global_pose
        deep, out = np.zeros(points.shape[:2]), np.zeros(points.shape)
        nearest = self._nearest(motion, points)
        for number, patch in enumerate(self.others):
            frames, which = np.nonzero(nearest == number)
            turns = quaternions.to_matrices(pose.rotations[:, patch.joint])[frames]
            local = points[frames, which] - pose.positions[frames, patch.joint]
            depth, ways = patch.depths(np.einsum("nx,nxy->ny", local, turns))
            deep[frames, which] = depth
            out[frames, which] = np.einsum("nxy,ny->nx", turns, ways)
        return points, deep, out

    def _nearest(self, motion: Motion, points: FloatArray) -> NDArray[np.intp]:
        """Return the number (F, P) of the patch that is nearest to each point, -1 far from all."""
        pose = motion.global_pose
        least, nearest = np.full(points.shape[:2], np.inf), np.full(points.shape[:2], -1, np.intp)
        for number, patch in enumerate(self.others):
            frames, which = np.nonzero(patch.near(motion, points))
            turns = quaternions.to_matrices(pose.rotations[:, patch.joint])[frames]
            local = points[frames, which] - pose.positions[frames, patch.joint]
            away = patch.distances(np.einsum("nx,nxy->ny", local, turns))
            nearer = away < least[frames, which]
            least[frames[nearer], which[nearer]] = away[nearer]
            nearest[frames[nearer], which[nearer]] = number
        return nearest


@lru_cache(maxsize=4)
def limbs_of(character: Character, numbers: tuple[tuple[str, int], ...]) -> list[Limb]:
    """Return the left and the right hand; ``numbers`` are the joints' by their roles."""
    joints = dict(numbers)
    outer, heads = outer_surface(character), character.skeleton.heads
    fine, body = thinned(outer, HAND_CELL), thinned(outer, BODY_CELL)
    hands = [below(character, joints[f"{side}_hand"]) for side in SIDES]
    limbs = []
    for side in SIDES:
        arm = below(character, joints[f"{side}_upper_arm"])
        others = body.part(~np.isin(body.of, [*arm, *hands[0], *hands[1]]))
        patches = [Patch.of(others, int(joint), heads[joint]) for joint in np.unique(others.of)]
        own = hand_of(fine, character, joints, side)
        limbs.append(Limb(own.skin, fingers_of(own, character, joints, side), patches))
    return limbs


def hand_of(surface: Surface, character: Character, joints: Mapping[str, int],
            side: str) -> Surface:
    """Return a hand's part of a surface, but for the wrist and what is worn about it."""
    hand = surface.part(np.isin(surface.of, below(character, joints[f"{side}_hand"])))
    wrist, knuckle = joints[f"{side}_hand"], joints.get(f"{side}_middle1")
    heads = character.skeleton.heads
    way = (heads[knuckle] if knuckle else character.skeleton.tails[wrist]) - heads[wrist]
    along = product(hand.skin.vertices - heads[wrist], way)
    return hand.part(along > CUFF * np.sum(way * way))


def fingers_of(hand: Surface, character: Character, joints: Mapping[str, int],
               side: str) -> NDArray[np.intp]:
    """Return the first joint (P,) of the finger that each point is of, -1 for none."""
    found = np.full(len(hand.of), -1, np.intp)
    for finger in FINGERS:
        if (first := joints.get(f"{side}_{finger}1")) is not None:
            found[np.isin(hand.of, below(character, first))] = first
    return found


def below(character: Character, joint: int) -> list[int]:
    """Return the numbers of a joint, of all below it and of what helps them."""
    skeleton, found = character.skeleton, {joint}
    for child, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
        if int(parent) in found or skeleton.index[helped_joint(name)] in found:
            found.add(child)
    return sorted(found)
