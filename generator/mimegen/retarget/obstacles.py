"""One hand of a character and what it may not lie in: all else but its own arm and the other hand.

Of the other hand what is worn about its wrist stops a hand; its palm stops none, but what is nearer
to it than to a forearm's open end is not in the forearm.

A body's surface is patches of its outer layer, each of which goes as a whole with the joints that
its points follow, helpers included: most with one, those of creases and skirts with more. How deep
a point of a hand lies is told by the planes of the nearest points of the nearest patch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from mimegen.base.decisions import first_most
from mimegen.base.vectors import lengths, product, unit
from mimegen.characters.character import Character
from mimegen.characters.followers import SKIRT
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
BODY_CELL, HAND_CELL = 0.015, 0.012
# Edges (m) of cells whose points of a hand are looked at together, before each alone.
LUMP_CELL = 0.04
# Where so many points follow a second joint by more than this share, they are a patch of the two.
SHARED, ENOUGH = 0.25, 25
# A patch goes with so many joints at most.
FOLLOWED = 3
# The way out of who is inside is nearly the way to the surface's nearest points: by this cosine.
STRAIGHT, NEAREST = 0.5, 4
# From which share of the way from the wrist to the knuckles on it is the hand: before are cuffs.
CUFF = 0.3
# Another hand's cuff stops a hand from this share on.
WRIST = 0.0


@dataclass(frozen=True)
class Patch:
    """Points (N, 3) of a surface that go together, relative to their middle, and the ways out.

    The middle follows joints as a vertex does. All points lie within ``size`` (m) of it; some of
    them stop (N,) a hand.
    """

    middle: SkinSample
    places: FloatArray
    tree: cKDTree
    ways: FloatArray
    size: float
    stops: NDArray[np.bool_]

    @staticmethod
    def of(surface: Surface, stops: NDArray[np.bool_]) -> "Patch":
        """Return the patch that a whole surface is."""
        middle = middle_of(surface.skin)
        places = surface.skin.vertices - middle.vertices
        return Patch(middle, places, cKDTree(places), surface.ways, float(lengths(places).max()),
                     stops)

    def distances(self, points: FloatArray) -> FloatArray:
        """Return how far (N,) points (N, 3), relative to the middle, are from the nearest of it.
        """
        return np.asarray(self.tree.query(points, distance_upper_bound=DEEPEST)[0])

    def beside(self, points: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return how far (N,) points (N, 3) are from the nearest of it, and who is well outside."""
        away, near = self.tree.query(points)
        ahead = np.einsum("nx,nx->n", points - self.places[near], self.ways[near])
        return away, ahead > STRAIGHT * away

    def depths(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how deep (N,) points (N, 3), relative to the middle, lie below the surface.

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
        inside = there[:, 0] & self.stops[near[:, 0]] & (depth > STRAIGHT * lengths(inwards))
        return np.where(inside, depth, 0.0), ways


class Depths(NamedTuple):
    """Where a hand's points (F, P, 3) are, how ``deep`` (F, P), and the ways (F, P, 3) ``out``."""

    points: FloatArray
    deep: FloatArray
    out: FloatArray

    def with_frames(self, frames: NDArray[np.intp], others: "Depths") -> "Depths":
        """Return the same with some frames (N,) as they are in others."""
        whole = [values.copy() for values in self]
        for values, new in zip(whole, others, strict=True):
            values[frames] = new
        return Depths(*whole)


class _Posed(NamedTuple):
    """A hand's points (F, P, 3), the patches' middles (F, N, 3) and their turns (F, N, 3, 3)."""

    points: FloatArray
    middles: FloatArray
    turns: FloatArray

    def against(self, patch: int, frames: NDArray[np.intp], places: FloatArray) -> FloatArray:
        """Return places (M, 3), each of a frame (M,), relative to a patch's middle."""
        return np.asarray(np.einsum("nx,nxy->ny", places - self.middles[frames, patch],
                                    self.turns[frames, patch]))


@dataclass(frozen=True)
class Limb:
    """One hand's points (P,), and the surface of what it may not lie in.

    ``fingers`` (P,) number each point's finger's first joint, -1 for the palm's; ``lumps`` (P,)
    number, from 0 on, which points lie near one another.
    """

    hand: SkinSample
    fingers: NDArray[np.intp]
    lumps: NDArray[np.intp]
    others: Sequence[Patch]

    def depths(self, motion: Motion) -> Depths:
        """Return where the points are in a motion, and how deep."""
        posed = self._posed(motion)
        deep, out = np.zeros(posed.points.shape[:2]), np.zeros(posed.points.shape)
        nearest = self._nearest(posed)
        for number in np.unique(nearest[nearest >= 0]):
            frames, which = np.nonzero(nearest == number)
            depth, ways = self.others[number].depths(
                posed.against(number, frames, posed.points[frames, which]))
            deep[frames, which] = depth
            out[frames, which] = np.einsum("nxy,ny->nx", posed.turns[frames, number], ways)
        return Depths(posed.points, deep, out)

    def _posed(self, motion: Motion) -> _Posed:
        return _Posed(self.hand.posed(motion), *posed_with_turns(self.middles, motion))

    @cached_property
    def middles(self) -> SkinSample:
        """The middles of all patches."""
        parts = [patch.middle for patch in self.others]
        return SkinSample(*(np.concatenate([getattr(part, name) for part in parts])
                            for name in ("vertices", "joints", "weights")))

    def _nearest(self, posed: _Posed) -> NDArray[np.intp]:
        """Return the number (F, P) of the patch that is nearest to each point.

        It is -1 far from all, and where points are surely outside.
        """
        at_lumps = self._at_lumps(posed)
        alone = at_lumps.sum(axis=2) == 1
        nearest = np.where(alone, at_lumps.argmax(axis=2), -1)[:, self.lumps]
        least = np.full(nearest.shape, np.inf)
        for number in np.flatnonzero((at_lumps & ~alone[..., None]).any(axis=(0, 1))):
            frames, which = np.nonzero((at_lumps[..., number] & ~alone)[:, self.lumps])
            away = self.others[number].distances(
                posed.against(int(number), frames, posed.points[frames, which]))
            nearer = away < least[frames, which]
            least[frames[nearer], which[nearer]] = away[nearer]
            nearest[frames[nearer], which[nearer]] = number
        return nearest

    def _at_lumps(self, posed: _Posed) -> NDArray[np.bool_]:
        """Return which patches (F, L, N) may be the nearest to points of each lump.

        Where a lump's middle is well outside, and farther from the body than its points are from
        it, they are outside too, and none is.
        """
        middles, sizes = self._lumped(posed.points)
        away = np.full((*sizes.shape, len(self.others)), np.inf)
        outside = np.zeros(away.shape, bool)
        for number, patch in enumerate(self.others):
            off = lengths(middles - posed.middles[:, [number]])
            within = off < patch.size + DEEPEST + sizes
            frames, which = np.nonzero(within)
            places = posed.against(number, frames, middles[frames, which])
            away[frames, which, number], outside[frames, which, number] = patch.beside(places)
        least = away.min(axis=2)
        clear = np.take_along_axis(outside, away.argmin(axis=2)[..., None], axis=2)[..., 0]
        free = clear & (least > sizes + BODY_CELL)
        nearest = away <= np.minimum(least + 2 * sizes, DEEPEST + sizes)[..., None]
        return np.asarray(nearest & ~free[..., None])

    def _lumped(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the middles (F, L, 3) of lumps of points (F, P, 3), and how far they go (F, L)."""
        found = [points[:, self.lumps == number] for number in range(self.lumps.max() + 1)]
        middles = np.stack([lump.mean(axis=1) for lump in found], axis=1)
        sizes = [lengths(lump - middles[:, [number]]).max(axis=1)
                 for number, lump in enumerate(found)]
        return middles, np.stack(sizes, axis=1)


@lru_cache(maxsize=4)
def limbs_of(character: Character, numbers: tuple[tuple[str, int], ...]) -> list[Limb]:
    """Return the left and the right hand; ``numbers`` are the joints' by their roles."""
    joints = dict(numbers)
    outer = outer_surface(character)
    lower = below_hips(character, joints)
    fine, body = thinned(outer, HAND_CELL), thinned(outer, BODY_CELL)
    limbs = []
    for side, other in permutations(SIDES):
        others = body.part(~np.isin(body.of, [*below(character, joints[f"{side}_upper_arm"]),
                                              *fingers_below(character, joints, other)]))
        stops = ~in_hand(others, character, joints, other, WRIST)
        patch = patches_of(others.skin, lower)
        patches = [Patch.of(others.part(patch == number), stops[patch == number])
                   for number in range(patch.max() + 1)]
        own = hand_of(fine, character, joints, side)
        limbs.append(Limb(own.skin, fingers_of(own, character, joints, side),
                          lumps_of(own.skin.vertices), patches))
    return limbs


def below_hips(character: Character, joints: Mapping[str, int]) -> list[int]:
    """Return the numbers of the joints of legs and skirt."""
    index = character.skeleton.index
    return [*(index[name] for name in SKIRT if name in index),
            *(joint for side in SIDES for joint in below(character, joints[f"{side}_thigh"]))]


def patches_of(skin: SkinSample, shared: Sequence[int]) -> NDArray[np.intp]:
    """Return the number (N,) of the patch, from 0 on, that each point of a surface is of.

    That goes by which joint a point follows most, and, where one of both is ``shared``, by which
    second it follows enough.
    """
    rows, shares = np.arange(len(skin.joints)), skin.weights.copy()
    first = first_most(shares)
    shares[rows, first] = 0.0
    second = first_most(shares)
    two = np.stack([skin.joints[rows, first], skin.joints[rows, second]], axis=1)
    two[(shares[rows, second] <= SHARED) | ~np.isin(two, shared).any(axis=1), 1] = -1
    _, kinds, counts = np.unique(two, axis=0, return_inverse=True, return_counts=True)
    two[counts[kinds.reshape(-1)] < ENOUGH, 1] = -1
    return np.asarray(np.unique(two, axis=0, return_inverse=True)[1].reshape(-1), np.intp)


def middle_of(skin: SkinSample) -> SkinSample:
    """Return the middle of points as one point that follows the joints that they follow most."""
    joints, at = np.unique(skin.joints, return_inverse=True)
    shares = np.bincount(at.reshape(-1), skin.weights.reshape(-1))
    most = np.argsort(-np.round(shares, 6), kind="stable")[:FOLLOWED]
    own = np.zeros((2, 1, FOLLOWED))
    own[0, 0, : len(most)], own[1, 0, : len(most)] = joints[most], shares[most]
    return SkinSample(skin.vertices.mean(axis=0, keepdims=True), own[0].astype(np.int32),
                      own[1] / own[1].sum())


def posed_with_turns(middles: SkinSample, motion: Motion) -> tuple[FloatArray, FloatArray]:
    """Return where the middles (F, N, 3) of patches are, and how they have turned (F, N, 3, 3)."""
    pose, joints, shares = motion.global_pose, middles.joints, middles.weights[..., None]
    turns = pose.rotations[:, joints]
    away = middles.vertices[:, None] - motion.skeleton.heads[joints]
    places = np.sum(shares * (pose.positions[:, joints] + quaternions.rotate(turns, away)), axis=2)
    alike = np.where(np.sum(turns * turns[:, :, :1], axis=3, keepdims=True) < 0, -1.0, 1.0)
    mean = quaternions.normalise(np.sum(alike * shares * turns, axis=2))
    return places, quaternions.to_matrices(mean)


def hand_of(surface: Surface, character: Character, joints: Mapping[str, int],
            side: str) -> Surface:
    """Return a hand's part of a surface, but for the wrist and what is worn about it."""
    return surface.part(in_hand(surface, character, joints, side))


def in_hand(surface: Surface, character: Character, joints: Mapping[str, int], side: str,
            beyond: float = CUFF) -> NDArray[np.bool_]:
    """Return which (N,) points are of a hand, but for the wrist and what is worn about it.

    They are ``beyond`` this share of the way from the wrist to the knuckles.
    """
    wrist, knuckle = joints[f"{side}_hand"], joints.get(f"{side}_middle1")
    heads = character.skeleton.heads
    way = (heads[knuckle] if knuckle else character.skeleton.tails[wrist]) - heads[wrist]
    along = product(surface.skin.vertices - heads[wrist], way)
    own = np.isin(surface.of, below(character, wrist))
    return np.asarray(own & (along > beyond * np.sum(way * way)))


def fingers_of(hand: Surface, character: Character, joints: Mapping[str, int],
               side: str) -> NDArray[np.intp]:
    """Return the first joint (P,) of the finger that each point is of, -1 for none."""
    found = np.full(len(hand.of), -1, np.intp)
    for finger in FINGERS:
        if (first := joints.get(f"{side}_{finger}1")) is not None:
            found[np.isin(hand.of, below(character, first))] = first
    return found


def fingers_below(character: Character, joints: Mapping[str, int], side: str) -> list[int]:
    """Return the numbers of a hand's fingers' joints."""
    return [joint for finger in FINGERS if (first := joints.get(f"{side}_{finger}1")) is not None
            for joint in below(character, first)]


def lumps_of(places: FloatArray) -> NDArray[np.intp]:
    """Return the number (P,) of the lump that each place (P, 3) is in."""
    cells = np.round(places / LUMP_CELL).astype(int)
    return np.asarray(np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1), np.intp)


def below(character: Character, joint: int) -> list[int]:
    """Return the numbers of a joint, of all below it and of what helps them."""
    skeleton, found = character.skeleton, {joint}
    for child, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
        if int(parent) in found or skeleton.index[helped_joint(name)] in found:
            found.add(child)
    return sorted(found)
