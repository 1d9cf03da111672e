"""Measure how deep a hand and its forearm lie in the rest of their body.

A hand is checked against everything but its own arm and the other hand. Of the other hand, clothes
about the wrist count, the palm does not; but points nearer to it than to the open end of its
forearm do not lie in the forearm. The soft part of the hand's own forearm may lie in the body as
deep as flesh yields.

The body's surface is divided into patches of its outer layer, each rigidly attached to the joint
that its points follow most, helper joints included. A skirt, whose points follow several joints, is
one patch that is skinned in each frame. The depth of a point is measured from the planes of the
nearest points of the nearest patch.
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
    """How hands and forearms are checked against the body's surface.

    Chosen by trial, and checked by ``benchmarks/hands.py`` (``docs/research/people.md``).
    """

    # Largest distance (m) from the surface at which points can count as inside.
    deepest_m: float = 0.12
    # Edges (m) of the cells that points are thinned to, one for each cell: of the body, of a skirt,
    # of hands, and of hands that are checked against each other.
    body_cell_m: float = 0.015
    skirt_cell_m: float = 0.025
    hand_cell_m: float = 0.012
    finger_cell_m: float = 0.009
    # Offset (m) between the frames of a skirt in a fourth coordinate, so that no point finds
    # neighbours in another frame.
    frames_apart_m: float = 10.0
    # Edges (m) of cells whose points, of a hand and of a forearm, are tested as one lump before
    # they are tested one by one.
    lump_cell_m: float = 0.04
    arm_lump_m: float = 0.09
    # A point counts as inside only if the way out is nearly the way to its nearest surface points:
    # by this cosine, and by this many points.
    straight: float = 0.5
    nearest: int = 4
    # Fractions of the way from the wrist to the knuckles: a hand begins at ``cuff`` (before are
    # cuffs); the other hand's cuff is an obstacle before ``wrist``.
    cuff: float = 0.3
    wrist: float = 0.0
    # Forearms are checked against legs from this fraction of their length on. Against all else but
    # skirts, which are loose, they are checked from the second on, because near elbows the way out
    # of the trunk may lead back into it. Their points are thinned to cells of this edge (m).
    at_legs: float = 0.1
    at_body: float = 0.5
    arm_cell_m: float = 0.03
    # Depth (m) to which forearms may lie in flesh, which yields, and the largest depth (m) that is
    # corrected at once. Deeper than the third (m), the arm is through, and the way out is unknown.
    yields_m: float = 0.005
    at_once_m: float = 0.02
    through_m: float = 0.05


OBSTACLES = ObstacleParameters()


@dataclass(frozen=True)
class Patch:
    """Points (N, 3) of a surface that follow one joint, relative to it, and outward directions.

    All of them lie within ``size`` (m) of the ``middle`` (3,). ``stops`` (N,) marks points that are
    obstacles to a hand. For a forearm they are obstacles from the fraction ``beyond`` of its length
    on.
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
        """Return the patch of a joint whose position at rest is ``head`` (3,)."""
        own = surface.of == joint
        places = surface.skin.vertices[own] - head
        middle = places.mean(axis=0)
        return Patch(joint, places, scipy.spatial.cKDTree(places), surface.ways[own], middle,
                     float(lengths(places - middle).max()), stops[own],
                     beyond)

    def distances(self, points: FloatArray) -> FloatArray:
        """Return the distances (N,) of points (N, 3), relative to the joint, from the patch.

        They are infinite beyond ``OBSTACLES.deepest_m``.
        """
        return np.asarray(self.tree.query(points, distance_upper_bound=OBSTACLES.deepest_m)[0])

    def beside(self, points: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return the distances (N,) of points (N, 3) from the patch, and which are clearly outside.
        """
        away, near = self.tree.query(points)
        ahead = np.einsum("nx,nx->n", points - self.places[near], self.ways[near])
        return away, ahead > OBSTACLES.straight * away

    def depths(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how deep (N,) points (N, 3), relative to the joint, lie below the surface.

        The surface is the mean plane of the nearest points; outside it the depth is 0. Also return
        the directions (N, 3) out.
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
    """A skirt's surface: like a `Patch`, but its points follow several joints."""

    surface: OuterLayer
    beyond: float = np.inf

    def skinned(self, motion: Motion, points: FloatArray) -> tuple[Patch, FloatArray]:
        """Return the skirt near points (F, P, 3) of a motion as one patch, and its middle (F, 3).

        The patch's positions and directions are (N, 4): the fourth coordinate separates frames.
        Positions are relative to the middle.
        """
        skin = self.surface.skin
        places = skin.posed(motion)
        tips = replace(skin, vertices=skin.vertices + self.surface.ways).posed(motion)
        about = OBSTACLES.deepest_m
        low, high = points.min(axis=1) - about, points.max(axis=1) + about
        near = ((places > low[:, None]) & (places < high[:, None])).all(axis=2)
        near[0, 0] = True  # A tree needs at least one point.
        middle = places.mean(axis=1)
        size = float(lengths(places - middle[:, None]).max())
        frames, _ = np.nonzero(near)
        own = in_frames((places - middle[:, None])[near], frames)
        outwards = in_frames(unit(tips - places)[near], 0 * frames)
        return Patch(-1, own, scipy.spatial.cKDTree(own), outwards,
                     np.zeros(3), size, np.ones(len(own), bool), self.beyond), middle


def in_frames(places: FloatArray, frames: NDArray[np.intp]) -> FloatArray:
    """Return positions (N, 4), with a fourth coordinate that keeps the frames far apart."""
    return np.concatenate([places, OBSTACLES.frames_apart_m * frames[:, None]], axis=1)


class Depths(NamedTuple):
    """A hand's points (F, P, 3), how ``deep`` (F, P) they lie, and the directions ``out``."""

    points: FloatArray
    deep: FloatArray
    out: FloatArray

    def with_frames(self, frames: NDArray[np.intp], others: "Depths") -> "Depths":
        """Return these depths with some frames (N,) replaced by ``others``."""
        whole = [values.copy() for values in self]
        for values, new in zip(whole, others, strict=True):
            values[frames] = new
        return Depths(*whole)


class _Posed(NamedTuple):
    """A hand's points (F, P, 3) and the patches around it, posed in all frames.

    ``heads`` (F, N, 3) and ``turns`` (F, N, 3, 3) are the positions and rotations of the patches'
    joints. ``hanging`` is the index of a skirt's patch, which is the last, or -1.
    """

    points: FloatArray
    patches: Sequence[Patch]
    heads: FloatArray
    turns: FloatArray
    hanging: int

    def against(self, patch: int, frames: NDArray[np.intp], places: FloatArray) -> FloatArray:
        """Return world positions (M, 3), each of a frame (M,), relative to a patch's joint.

        For a skirt they are (M, 4), see `in_frames`.
        """
        found = np.asarray(np.einsum("nx,nxy->ny", places - self.heads[frames, patch],
                                     self.turns[frames, patch]))
        return in_frames(found, frames) if patch == self.hanging else found


@dataclass(frozen=True)
class HandAndForearm:
    """Points (P,) of one hand and its forearm, and the surface that they must not lie in.

    ``fingers`` (P,) is the first joint of each point's finger, -1 for points of no finger;
    ``lumps`` (P,) the index of the group of neighbouring points. A point may lie ``yields`` (P,)
    metres deep, and follows the wrist by the fraction ``share`` (P,).
    """

    hand: SkinSample
    fingers: NDArray[np.intp]
    lumps: NDArray[np.intp]
    yields: FloatArray
    share: FloatArray
    others: Sequence[Patch]
    skirt: Hanging | None = None

    def depths(self, motion: Motion) -> Depths:
        """Return the points in a motion, and their depths."""
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
        """Return a mask (P,) of the points to which a patch is an obstacle."""
        return np.asarray((self.yields == 0) | (self.share >= (1 + patch.beyond) / 2))

    def _counting(self, which: NDArray[np.intp], depths: FloatArray) -> FloatArray:
        """Return the part (N,) of the depths (N,) of some points that must be corrected."""
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
        """Return the index (F, P) of the patch that is nearest to each point.

        It is -1 for points far from all patches, and for points that are certainly outside.
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
        """Return a mask (F, L, N) of the patches that may be nearest to points of each lump.

        It is False for all patches if the lump is certainly outside: if its middle is clearly
        outside, and farther from the body than from its own points.
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
        """Return the middles (F, L, 3) and radii (F, L) of lumps of points (F, P, 3)."""
        found = [points[:, self.lumps == number] for number in range(self.lumps.max() + 1)]
        middles = np.stack([lump.mean(axis=1) for lump in found], axis=1)
        sizes = [lengths(lump - middles[:, [number]]).max(axis=1)
                 for number, lump in enumerate(found)]
        return middles, np.stack(sizes, axis=1)


@lru_cache(maxsize=4)
def limbs_of(character: Character, numbers: tuple[tuple[str, int], ...]) -> list[HandAndForearm]:
    """Return both hands with their forearms; ``numbers`` are pairs of role and joint."""
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
    """Return both hands' fingers, to be checked against the other hand and its forearm.

    ``numbers`` are pairs of role and joint.
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
    """Return a mask (N,) of the points of a surface that follow a skirt's joints, even in part."""
    joints = [character.skeleton.index[name] for name in SKIRT if name in character.skeleton.index]
    return np.asarray((np.isin(surface.skin.joints, joints)
                       & (surface.skin.weights > 0)).any(axis=1))


def stops_beyond(character: Character, joints: Mapping[str, int], joint: int) -> float:
    """Return the fraction of a forearm's length from which on a joint's patch is an obstacle to it.
    """
    legs = [below(character, joints[f"{side}_thigh"]) for side in SIDES]
    return OBSTACLES.at_legs if joint in np.concatenate(legs) else OBSTACLES.at_body


def limb_of(hand: OuterLayer, forearm: OuterLayer, character: Character, joints: Mapping[str, int],
            side: str, others: Sequence[Patch], skirt: Hanging | None = None) -> HandAndForearm:
    """Return a hand and its forearm; all of the forearm follows the elbow, as that is cheaper."""
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
    """Return the soft part of a forearm's surface, up to the hand."""
    own = np.isin(surface.of, below(character, joints[f"{side}_forearm"]))
    hand = in_hand(surface, character, joints, side)
    share = along_forearm(surface.skin.vertices, character.skeleton.heads, joints, side)
    arm = surface.part(own & ~hand & surface.soft & (share > OBSTACLES.at_legs))
    return thinned(arm, OBSTACLES.arm_cell_m)


def along_forearm(places: FloatArray, heads: FloatArray, joints: Mapping[str, int],
                  side: str) -> FloatArray:
    """Return how far (N,) along the forearm points (N, 3) at rest lie: 0 at elbow, 1 at wrist."""
    elbow, wrist = (heads[joints[f"{side}_{part}"]] for part in ("forearm", "hand"))
    return np.asarray(product(places - elbow, wrist - elbow) / np.sum((wrist - elbow) ** 2))


def hand_of(surface: OuterLayer, character: Character, joints: Mapping[str, int],
            side: str) -> OuterLayer:
    """Return the points of a surface that belong to a hand, without the wrist and its clothes."""
    return surface.part(in_hand(surface, character, joints, side))


def in_hand(surface: OuterLayer, character: Character, joints: Mapping[str, int], side: str,
            beyond: float = OBSTACLES.cuff) -> NDArray[np.bool_]:
    """Return a mask (N,) of the points of a hand, without the wrist and its clothes.

    They lie beyond the fraction ``beyond`` of the way from the wrist to the knuckles.
    """
    wrist, knuckle = joints[f"{side}_hand"], joints.get(f"{side}_middle1")
    heads = character.skeleton.heads
    way = (heads[knuckle] if knuckle else character.skeleton.tails[wrist]) - heads[wrist]
    along = product(surface.skin.vertices - heads[wrist], way)
    own = np.isin(surface.of, below(character, wrist))
    return np.asarray(own & (along > beyond * np.sum(way * way)))


def fingers_of(hand: OuterLayer, character: Character, joints: Mapping[str, int],
               side: str) -> NDArray[np.intp]:
    """Return the first joint (P,) of the finger that each point belongs to, -1 for none."""
    found = np.full(len(hand.of), -1, np.intp)
    for finger in FINGERS:
        if (first := joints.get(f"{side}_{finger}1")) is not None:
            found[np.isin(hand.of, below(character, first))] = first
    return found


def fingers_below(character: Character, joints: Mapping[str, int], side: str) -> list[int]:
    """Return the indices of all joints of a hand's fingers, helper joints included."""
    return [joint for finger in FINGERS if (first := joints.get(f"{side}_{finger}1")) is not None
            for joint in below(character, first)]


def lumps_of(places: FloatArray, cell: float) -> NDArray[np.intp]:
    """Return the index (P,) of the lump that each point (P, 3) is in, by cells of this edge (m)."""
    cells = np.round(places / cell).astype(int)
    return np.asarray(np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1), np.intp)


def below(character: Character, joint: int) -> list[int]:
    """Return the sorted indices of a joint, of its descendants, and of their helper joints."""
    skeleton, found = character.skeleton, {joint}
    for child, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
        if int(parent) in found or skeleton.index[helped_joint(name)] in found:
            found.add(child)
    return sorted(found)
