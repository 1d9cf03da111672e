"""One hand of a character and what it may not lie in: all else but its own arm and the other hand.

Of the other hand what is worn about its wrist stops a hand; its palm stops none, but what is nearer
to it than to a forearm's open end is not in the forearm. The soft part of the hand's own forearm
may lie no deeper in anything than it yields.

A body's surface is patches of its outer layer, each of which goes with the joint that its points
follow most, helpers included; a skirt, whose points go with several, is one patch, as it is skinned
in each frame. How deep a point of a hand lies is told by the planes of the nearest points of the
nearest patch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.vectors import lengths, product, unit
from mimegen.characters.character import Character
from mimegen.characters.followers import SKIRT
from mimegen.characters.helpers import helped_joint
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.anatomy import FINGERS
from mimegen.retarget.outer import OuterLayer, outer_surface, thinned
from mimegen.retarget.surface import SkinSample


@dataclass(frozen=True)
class ObstacleParameters:
    """How hands and forearms are held against the body's surface.

    Chosen by trial, and checked by ``benchmarks/hands.py`` (``docs/research/people.md``).
    """

    # Within what (m) of the surface points count as inside.
    deepest_m: float = 0.12
    # Edges (m) of the cells of which each gives a point of the body, of a skirt, of hands, and of
    # these where they lie in each other.
    body_cell_m: float = 0.015
    skirt_cell_m: float = 0.025
    hand_cell_m: float = 0.012
    finger_cell_m: float = 0.009
    # So far (m) apart frames of a skirt lie: no point is near to what is of another frame.
    frames_apart_m: float = 10.0
    # Edges (m) of cells whose points of a hand, and of a forearm, are looked at together, before
    # each alone.
    lump_cell_m: float = 0.04
    arm_lump_m: float = 0.09
    # The way out of who is inside is nearly the way to the surface's nearest points: by this
    # cosine, of so many of them.
    straight: float = 0.5
    nearest: int = 4
    # From which share of the way from the wrist to the knuckles on it is the hand: before are
    # cuffs. Another hand's cuff stops a hand from the second share on.
    cuff: float = 0.3
    wrist: float = 0.0
    # Forearms are held against legs from this share of their length on, against the rest but
    # skirts, which are loose, from the second on (near elbows the way out of a trunk may lead back
    # into it), by points of cells of this edge (m).
    at_legs: float = 0.1
    at_body: float = 0.5
    arm_cell_m: float = 0.03
    # They may lie so deep (m) in flesh, which gives way, and come so far (m) out at once; what is
    # deeper (m) is through it, and no way tells where out is.
    yields_m: float = 0.005
    at_once_m: float = 0.02
    through_m: float = 0.05


OBSTACLES = ObstacleParameters()


@dataclass(frozen=True)
class Patch:
    """Points (N, 3) of a surface that go with a joint, relative to it, and the ways out of it.

    All of them lie within ``size`` (m) of the ``middle`` (3,); some of them stop (N,) a hand. A
    forearm they stop from ``beyond`` this share of its length on.
    """

    joint: int
    places: FloatArray
    tree: "scipy.spatial.cKDTree"
    ways: FloatArray
    middle: FloatArray
    size: float
    stops: NDArray[np.bool_]
    beyond: float

    @staticmethod
    def of(surface: OuterLayer, stops: NDArray[np.bool_], joint: int, head: FloatArray,
           beyond: float) -> "Patch":
        """Return the patch of a joint that is at ``head`` (3,) at rest."""
        own = surface.of == joint
        places = surface.skin.vertices[own] - head
        middle = places.mean(axis=0)
        return Patch(joint, places, scipy.spatial.cKDTree(places), surface.ways[own], middle,
                     float(lengths(places - middle).max()), stops[own],
                     beyond)

    def distances(self, points: FloatArray) -> FloatArray:
        """Return how far (N,) points (N, 3), relative to the joint, are from the nearest of it."""
        return np.asarray(self.tree.query(points, distance_upper_bound=OBSTACLES.deepest_m)[0])

    def beside(self, points: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return how far (N,) points (N, 3) are from the nearest of it, and who is well outside."""
        away, near = self.tree.query(points)
        ahead = np.einsum("nx,nx->n", points - self.places[near], self.ways[near])
        return away, ahead > OBSTACLES.straight * away

    def depths(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how deep (N,) points (N, 3), relative to the joint, lie below the surface.

        That is the mean plane of the nearest few of it; outside it is 0. Also the ways (N, 3) out.
        """
        away, near = self.tree.query(points, k=range(1, OBSTACLES.nearest + 1),
                                     distance_upper_bound=OBSTACLES.deepest_m)
        there = np.isfinite(away)
        shares = np.where(there, 1 / np.maximum(away, 1e-4), 0.0)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
        near = np.where(there, near, 0)
        ways = unit(np.einsum("nk,nkx->nx", shares, self.ways[near]))
        inwards = np.einsum("nk,nkx->nx", shares, self.places[near]) - points
        depth = np.einsum("nx,nx->n", inwards, ways)
        inwards = OBSTACLES.straight * lengths(inwards)
        inside = there[:, 0] & self.stops[near[:, 0]] & (depth > inwards)
        return np.where(inside, depth, 0.0), ways


@dataclass(frozen=True)
class Hanging:
    """A skirt's surface: as `Patch`, but its points go with several joints."""

    surface: OuterLayer
    beyond: float = np.inf

    def skinned(self, motion: Motion, points: FloatArray) -> tuple[Patch, FloatArray]:
        """Return what of it is near points (F, P, 3) in a motion as one patch, and its middle.

        Places and ways are (N, 4): the fourth number tells the frame. Places are relative to the
        middle (F, 3).
        """
        skin = self.surface.skin
        places = skin.posed(motion)
        tips = replace(skin, vertices=skin.vertices + self.surface.ways).posed(motion)
        about = OBSTACLES.deepest_m
        low, high = points.min(axis=1) - about, points.max(axis=1) + about
        near = ((places > low[:, None]) & (places < high[:, None])).all(axis=2)
        near[0, 0] = True  # A tree has a point.
        middle = places.mean(axis=1)
        size = float(lengths(places - middle[:, None]).max())
        frames, _ = np.nonzero(near)
        own = in_frames((places - middle[:, None])[near], frames)
        outwards = in_frames(unit(tips - places)[near], 0 * frames)
        return Patch(-1, own, scipy.spatial.cKDTree(own), outwards,
                     np.zeros(3), size, np.ones(len(own), bool), self.beyond), middle


def in_frames(places: FloatArray, frames: NDArray[np.intp]) -> FloatArray:
    """Return places (N, 4) that are far from those of other frames."""
    return np.concatenate([places, OBSTACLES.frames_apart_m * frames[:, None]], axis=1)


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
    """A hand's points (F, P, 3), patches, their joints (F, N, 3) and their turns (F, N, 3, 3).

    The last patch may be a skirt's, the number of which is ``hanging``, else -1.
    """

    points: FloatArray
    patches: Sequence[Patch]
    heads: FloatArray
    turns: FloatArray
    hanging: int

    def against(self, patch: int, frames: NDArray[np.intp], places: FloatArray) -> FloatArray:
        """Return places (M, 3), each of a frame (M,), relative to a patch's joint.

        Against a skirt they are (M, 4).
        """
        found = np.asarray(np.einsum("nx,nxy->ny", places - self.heads[frames, patch],
                                     self.turns[frames, patch]))
        return in_frames(found, frames) if patch == self.hanging else found


@dataclass(frozen=True)
class HandAndForearm:
    """Points (P,) of one hand and its forearm, and the surface of what they may not lie in.

    ``fingers`` (P,) number each point's finger's first joint, -1 for the others; ``lumps`` (P,)
    number, from 0 on, which points lie near one another. Points may lie so deep (P,) as they
    ``yields``, and go as far as the wrist by a ``share`` (P,).
    """

    hand: SkinSample
    fingers: NDArray[np.intp]
    lumps: NDArray[np.intp]
    yields: FloatArray
    share: FloatArray
    others: Sequence[Patch]
    skirt: Hanging | None = None

    def depths(self, motion: Motion) -> Depths:
        """Return where the points are in a motion, and how deep."""
        posed = self._posed(motion)
        deep, out = np.zeros(posed.points.shape[:2]), np.zeros(posed.points.shape)
        nearest = self._nearest(posed)
        for number in np.unique(nearest[nearest >= 0]):
            patch = posed.patches[number]
            frames, which = np.nonzero((nearest == number) & self._held(patch))
            depth, ways = patch.depths(posed.against(number, frames, posed.points[frames, which]))
            deep[frames, which] = self._counting(which, depth)
            out[frames, which] = np.einsum("nxy,ny->nx", posed.turns[frames, number],
                                           ways[:, :3])
        return Depths(posed.points, deep, out)

    def _held(self, patch: Patch) -> NDArray[np.bool_]:
        """Return which points (P,) a patch may stop."""
        return np.asarray((self.yields == 0) | (self.share >= (1 + patch.beyond) / 2))

    def _counting(self, which: NDArray[np.intp], depths: FloatArray) -> FloatArray:
        """Return what counts (N,) of the depths (N,) of some points."""
        arm = self.yields[which] > 0
        return np.where(arm & (depths > OBSTACLES.through_m), 0.0, np.clip(
            depths - self.yields[which], 0.0,
            np.where(arm, OBSTACLES.at_once_m, OBSTACLES.deepest_m)))

    def _posed(self, motion: Motion) -> _Posed:
        pose = motion.global_pose
        joints = np.array([patch.joint for patch in self.others], np.intp)
        points, heads = self.hand.posed(motion), pose.positions[:, joints]
        turns = quaternions.to_matrices(pose.rotations[:, joints])
        if self.skirt is None:
            return _Posed(points, self.others, heads, turns, -1)
        patch, middle = self.skirt.skinned(motion, points)
        still = np.broadcast_to(np.eye(3), (motion.frames, 1, 3, 3))
        return _Posed(points, [*self.others, patch],
                      np.concatenate([heads, middle[:, None]], axis=1),
                      np.concatenate([turns, still], axis=1), len(joints))

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
            away = posed.patches[number].distances(
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
        away = np.full((*sizes.shape, len(posed.patches)), np.inf)
        outside = np.zeros(away.shape, bool)
        for number, patch in enumerate(posed.patches):
            centre = posed.heads[:, number] + np.einsum(
                "fxy,y->fx", posed.turns[:, number], patch.middle)
            within = lengths(middles - centre[:, None]) < patch.size + OBSTACLES.deepest_m + sizes
            frames, which = np.nonzero(within)
            places = posed.against(number, frames, middles[frames, which])
            away[frames, which, number], outside[frames, which, number] = patch.beside(places)
        least = away.min(axis=2)
        off = np.take_along_axis(outside, away.argmin(axis=2)[..., None], axis=2)[..., 0]
        free = off & (least > sizes + OBSTACLES.body_cell_m)
        nearest = away <= np.minimum(least + 2 * sizes, OBSTACLES.deepest_m + sizes)[..., None]
        return np.asarray(nearest & ~free[..., None])

    def _lumped(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the middles (F, L, 3) of lumps of points (F, P, 3), and how far they go (F, L)."""
        found = [points[:, self.lumps == number] for number in range(self.lumps.max() + 1)]
        middles = np.stack([lump.mean(axis=1) for lump in found], axis=1)
        sizes = [lengths(lump - middles[:, [number]]).max(axis=1)
                 for number, lump in enumerate(found)]
        return middles, np.stack(sizes, axis=1)


@lru_cache(maxsize=4)
def limbs_of(character: Character, numbers: tuple[tuple[str, int], ...]) -> list[HandAndForearm]:
    """Return the left and the right hand; ``numbers`` are the joints' by their roles."""
    joints = dict(numbers)
    outer, heads = outer_surface(character), character.skeleton.heads
    fine, body = thinned(outer, OBSTACLES.hand_cell_m), thinned(outer, OBSTACLES.body_cell_m)
    limbs = []
    for side, other in permutations(SIDES):
        whole = body.part(~np.isin(body.of, [*below(character, joints[f"{side}_upper_arm"]),
                                             *fingers_below(character, joints, other)]))
        hangs = in_skirt(whole, character)
        skirt = Hanging(thinned(whole.part(hangs), OBSTACLES.skirt_cell_m)) if hangs.any() else None
        others = whole.part(~hangs)
        stops = ~in_hand(others, character, joints, other, OBSTACLES.wrist)
        patches = [Patch.of(others, stops, int(joint), heads[joint],
                            stops_beyond(character, joints, int(joint)))
                   for joint in np.unique(others.of)]
        limbs.append(limb_of(hand_of(fine, character, joints, side),
                             forearm_of(outer, character, joints, side), character, joints, side,
                             patches, skirt))
    return limbs


@lru_cache(maxsize=4)
def fingers_of_hands(character: Character, numbers: tuple[tuple[str, int], ...]
                    ) -> list[HandAndForearm]:
    """Return the left and the right hand's fingers, as `limbs_of`.

    What stops them is the other hand and its forearm.
    """
    joints = dict(numbers)
    outer, heads = outer_surface(character), character.skeleton.heads
    fine = thinned(outer, OBSTACLES.finger_cell_m)
    arms = {side: fine.part(np.isin(fine.of, below(character, joints[f"{side}_forearm"])))
            for side in SIDES}
    found = []
    for side, other in permutations(SIDES):
        numbers_of = fingers_of(arms[side], character, joints, side)
        own = arms[side].part(numbers_of >= 0)
        stops = np.ones(len(arms[other].of), bool)
        patches = [Patch.of(arms[other], stops, int(joint), heads[joint], 0.0)
                   for joint in np.unique(arms[other].of)]
        count = len(own.of)
        found.append(HandAndForearm(own.skin, numbers_of[numbers_of >= 0],
                                    lumps_of(own.skin.vertices, OBSTACLES.lump_cell_m),
                                    np.zeros(count), np.ones(count), patches))
    return found


def in_skirt(surface: OuterLayer, character: Character) -> NDArray[np.bool_]:
    """Return which (N,) points of a surface go, if only in part, with a skirt's joints."""
    joints = [character.skeleton.index[name] for name in SKIRT if name in character.skeleton.index]
    return np.asarray((np.isin(surface.skin.joints, joints)
                       & (surface.skin.weights > 0)).any(axis=1))


def stops_beyond(character: Character, joints: Mapping[str, int], joint: int) -> float:
    """Return from which share of its length on a forearm is stopped by what goes with a joint."""
    legs = [below(character, joints[f"{side}_thigh"]) for side in SIDES]
    return OBSTACLES.at_legs if joint in np.concatenate(legs) else OBSTACLES.at_body


def limb_of(hand: OuterLayer, forearm: OuterLayer, character: Character, joints: Mapping[str, int],
            side: str, others: Sequence[Patch], skirt: Hanging | None = None) -> HandAndForearm:
    """Return a hand and its forearm, all of which goes with the elbow, as that is cheaper."""
    elbow = np.full((len(forearm.of), 1), joints[f"{side}_forearm"], np.int32)
    arm = SkinSample(forearm.skin.vertices, elbow, np.ones(elbow.shape))
    skin = hand.skin.joined(arm)
    more, lumps = len(forearm.of), lumps_of(hand.skin.vertices, OBSTACLES.lump_cell_m)
    share = along_forearm(forearm.skin.vertices, character.skeleton.heads, joints, side)
    arm_lumps = lumps_of(arm.vertices, OBSTACLES.arm_lump_m)
    return HandAndForearm(skin, np.append(fingers_of(hand, character, joints, side),
                                          np.full(more, -1)),
                          np.append(lumps, lumps.max(initial=-1) + 1 + arm_lumps),
                          np.append(np.zeros(len(hand.of)), np.full(more, OBSTACLES.yields_m)),
                          np.append(np.ones(len(hand.of)), 0.5 + 0.5 * np.minimum(share, 1.0)),
                          others,
                          skirt)


def forearm_of(surface: OuterLayer, character: Character, joints: Mapping[str, int],
               side: str) -> OuterLayer:
    """Return the soft part of a surface from a forearm's middle to the hand."""
    own = np.isin(surface.of, below(character, joints[f"{side}_forearm"]))
    hand = in_hand(surface, character, joints, side)
    share = along_forearm(surface.skin.vertices, character.skeleton.heads, joints, side)
    arm = surface.part(own & ~hand & surface.soft & (share > OBSTACLES.at_legs))
    return thinned(arm, OBSTACLES.arm_cell_m)


def along_forearm(places: FloatArray, heads: FloatArray, joints: Mapping[str, int],
                  side: str) -> FloatArray:
    """Return how far (N,) places (N, 3) at rest are from elbow to wrist, 0 to 1."""
    elbow, wrist = (heads[joints[f"{side}_{part}"]] for part in ("forearm", "hand"))
    return np.asarray(product(places - elbow, wrist - elbow) / np.sum((wrist - elbow) ** 2))


def hand_of(surface: OuterLayer, character: Character, joints: Mapping[str, int],
            side: str) -> OuterLayer:
    """Return a hand's part of a surface, but for the wrist and what is worn about it."""
    return surface.part(in_hand(surface, character, joints, side))


def in_hand(surface: OuterLayer, character: Character, joints: Mapping[str, int], side: str,
            beyond: float = OBSTACLES.cuff) -> NDArray[np.bool_]:
    """Return which (N,) points are of a hand, but for the wrist and what is worn about it.

    They are ``beyond`` this share of the way from the wrist to the knuckles.
    """
    wrist, knuckle = joints[f"{side}_hand"], joints.get(f"{side}_middle1")
    heads = character.skeleton.heads
    way = (heads[knuckle] if knuckle else character.skeleton.tails[wrist]) - heads[wrist]
    along = product(surface.skin.vertices - heads[wrist], way)
    own = np.isin(surface.of, below(character, wrist))
    return np.asarray(own & (along > beyond * np.sum(way * way)))


def fingers_of(hand: OuterLayer, character: Character, joints: Mapping[str, int],
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


def lumps_of(places: FloatArray, cell: float) -> NDArray[np.intp]:
    """Return the number (P,) of the lump that each place (P, 3) is in, by cells of an edge (m)."""
    cells = np.round(places / cell).astype(int)
    return np.asarray(np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1), np.intp)


def below(character: Character, joint: int) -> list[int]:
    """Return the numbers of a joint, of all below it and of what helps them."""
    skeleton, found = character.skeleton, {joint}
    for child, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
        if int(parent) in found or skeleton.index[helped_joint(name)] in found:
            found.add(child)
    return sorted(found)
