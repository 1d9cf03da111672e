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
from functools import cached_property, lru_cache
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
from mimegen.retarget.outer import OuterLayer, one_a_cell, outer_surface, thinned
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

    ``blocks_hands`` (N,) marks points that are obstacles to a hand. For a forearm they are
    obstacles from the fraction ``blocks_from`` of its length on. A patch without a ``joint`` (None)
    is posed already: positions are (N, 4), and the fourth coordinate separates frames.
    """

    joint: int | None
    places: FloatArray
    ways: FloatArray
    blocks_hands: NDArray[np.bool_]
    blocks_from: float

    @cached_property
    def tree(self) -> "scipy.spatial.cKDTree":
        """The points, for fast searches."""
        return scipy.spatial.cKDTree(self.places)

    def relative(self, motion: Motion, frames: NDArray[np.intp],
                 points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return points (N, 3) of some frames (N,) relative to the joint, and its rotations.

        The latter are matrices (N, 3, 3).
        """
        if self.joint is None:
            return in_frames(points, frames), np.broadcast_to(np.eye(3), (len(frames), 3, 3))
        turns = quaternions.to_matrices(motion.global_pose.rotations[:, self.joint])[frames]
        away = points - motion.global_pose.positions[frames, self.joint]
        return np.einsum("nx,nxy->ny", away, turns), turns

    def beside(self, motion: Motion, points: FloatArray,
               most: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return the distances (F, L) of points (F, L, 3) from the patch, and which are outside.

        The latter are those that clearly are. Distances above ``most`` (F, L), in metres, may be
        infinite.
        """
        away, outside = np.full(most.shape, np.inf), np.zeros(most.shape, bool)
        low, high = self.tree.mins[:3], self.tree.maxes[:3]
        centre = (low + high) / 2
        if self.joint is not None:
            centre = motion.global_pose.positions[:, [self.joint]] + quaternions.rotate(
                motion.global_pose.rotations[:, [self.joint]], centre)
        near = np.nonzero(lengths(points - centre) < lengths(high - low) / 2 + most)
        if len(near[0]):
            places, _ = self.relative(motion, near[0], points[near])
            away[near], nearest = self.tree.query(places)
            ahead = np.einsum("nx,nx->n", (places - self.places[nearest])[:, :3],
                              self.ways[nearest])
            outside[near] = ahead > OBSTACLES.straight * away[near]
        return away, outside

    def depths(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return how deep (N,) points (N, 3), relative to the joint, lie below the surface.

        The surface is the mean plane of the nearest points; outside it the depth is 0. Also return
        the directions (N, 3) out, and the distances (N,) from the nearest point.
        """
        away, near = self.tree.query(points, k=range(1, OBSTACLES.nearest + 1),
                                     distance_upper_bound=OBSTACLES.deepest_m)
        there = np.isfinite(away)
        shares = np.where(there, 1 / np.maximum(away, 1e-4), 0.0)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
        near = np.where(there, near, 0)
        ways = unit(np.einsum("nk,nkx->nx", shares, self.ways[near]))
        inwards = np.einsum("nk,nkx->nx", shares, self.places[near, :3]) - points[:, :3]
        depth = np.einsum("nx,nx->n", inwards, ways)
        inside = there[:, 0] & self.blocks_hands[near[:, 0]] & (
            depth > OBSTACLES.straight * lengths(inwards))
        return np.where(inside, depth, 0.0), ways, away[:, 0]


@dataclass(frozen=True)
class Skirt:
    """A skirt's surface, whose points follow several joints."""

    surface: OuterLayer

    def posed(self, motion: Motion, points: FloatArray) -> Patch:
        """Return the skirt near points (F, P, 3) of a motion as one patch."""
        skin = self.surface.skin
        places = skin.posed(motion)
        tips = replace(skin, vertices=skin.vertices + self.surface.ways).posed(motion)
        low, high = (end[:, None] for end in (points.min(axis=1) - OBSTACLES.deepest_m,
                                              points.max(axis=1) + OBSTACLES.deepest_m))
        near = ((places > low) & (places < high)).all(axis=2)
        near[0, 0] = True  # A tree needs at least one point.
        own = in_frames(places[near], np.nonzero(near)[0])
        return Patch(None, own, unit(tips - places)[near], np.ones(len(own), bool), np.inf)


def in_frames(places: FloatArray, frames: NDArray[np.intp]) -> FloatArray:
    """Return positions (N, 4), with a fourth coordinate that keeps the frames far apart."""
    return np.column_stack([places, OBSTACLES.frames_apart_m * frames])


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


@dataclass(frozen=True)
class HandAndForearm:
    """Points (P,) of one hand and its forearm, and the surface that they must not lie in.

    ``fingers`` (P,) is the first joint of each point's finger, -1 for points of no finger.
    ``along`` (P,) is how far along the forearm a point lies, from 0 at the elbow to 1 at the wrist,
    and infinite for points of the hand.
    """

    skin: SkinSample
    fingers: NDArray[np.intp]
    along: FloatArray
    patches: Sequence[Patch]
    skirt: Skirt | None = None

    @cached_property
    def lumps(self) -> NDArray[np.intp]:
        """The lump (P,) of each point: neighbours are tested as one before each is tested."""
        of_arm = np.isfinite(self.along)
        edges = np.where(of_arm, OBSTACLES.arm_lump_m, OBSTACLES.lump_cell_m)
        cells = np.column_stack([np.round(self.skin.vertices / edges[:, None]), of_arm])
        return np.asarray(np.unique(cells, axis=0, return_inverse=True)[1].reshape(-1), np.intp)

    def depths(self, motion: Motion) -> Depths:
        """Return the points in a motion, and their depths below the nearest patch."""
        points = self.skin.posed(motion)
        found = Depths(points, np.zeros(points.shape[:2]), np.zeros(points.shape))
        least = np.full(points.shape[:2], np.inf)
        skirts = [] if self.skirt is None else [self.skirt.posed(motion, points)]
        patches = [*self.patches, *skirts]
        for patch, near in zip(patches, self._near(motion, points, patches), strict=True):
            frames, which = np.nonzero(near)
            if not len(frames):
                continue
            places, turns = patch.relative(motion, frames, points[frames, which])
            deep, ways, away = patch.depths(places)
            nearer = away < least[frames, which]
            own = frames[nearer], which[nearer]
            least[own] = away[nearer]
            found.deep[own] = self._counted(own[1], deep[nearer], patch)
            found.out[own] = np.einsum("nxy,ny->nx", turns[nearer], ways[nearer])
        return found

    def _near(self, motion: Motion, points: FloatArray,
              patches: Sequence[Patch]) -> NDArray[np.bool_]:
        """Return a mask (N, F, P) of the patches that may be nearest to each point.

        It is False if the point's lump is certainly outside: if its middle is clearly outside, and
        farther from the body than from its own points.
        """
        lumps = [points[:, self.lumps == number] for number in range(self.lumps.max() + 1)]
        middles = np.stack([lump.mean(axis=1) for lump in lumps], axis=1)
        sizes = np.stack([lengths(lump - middles[:, [number]]).max(axis=1)
                          for number, lump in enumerate(lumps)], axis=1)
        most = OBSTACLES.deepest_m + sizes
        away, outside = map(np.array, zip(*(patch.beside(motion, middles, most)
                                            for patch in patches), strict=True))
        least = away.min(axis=0)
        off = np.take_along_axis(outside, away.argmin(axis=0)[None], axis=0)[0]
        free = off & (least > sizes + OBSTACLES.body_cell_m)
        near = (away <= np.minimum(least + 2 * sizes, most)) & ~free
        return np.asarray(near[:, :, self.lumps])

    def _counted(self, which: NDArray[np.intp], depths: FloatArray, patch: Patch) -> FloatArray:
        """Return the part (N,) of the depths (N,) of some points that must be corrected."""
        along = self.along[which]
        of_arm = np.clip(depths - OBSTACLES.yields_m, 0.0, OBSTACLES.at_once_m)
        of_arm[(depths > OBSTACLES.through_m) | (along < patch.blocks_from)] = 0.0
        return np.where(np.isinf(along), depths, of_arm)


@lru_cache(maxsize=4)
def limbs_of(character: Character, numbers: tuple[tuple[str, int], ...]) -> list[HandAndForearm]:
    """Return both hands with their forearms; ``numbers`` are pairs of role and joint."""
    joints, outer = dict(numbers), outer_surface(character)
    fine, body = thinned(outer, OBSTACLES.hand_cell_m), thinned(outer, OBSTACLES.body_cell_m)
    limbs = []
    for side, other in permutations(SIDES):
        own_arm = np.isin(body.of, below(character, joints[f"{side}_upper_arm"]))
        rest = body.part(~own_arm & (fingers_of(body, character, joints, other) < 0))
        hangs = in_skirt(rest, character)
        skirt = Skirt(thinned(rest.part(hangs), OBSTACLES.skirt_cell_m)) if hangs.any() else None
        rest = rest.part(~hangs)
        blocks_hands = ~in_hand(rest, character, joints, other, OBSTACLES.wrist)
        along = along_limb(fine, character, joints, side)
        limb, along = fine.part(along >= 0), along[along >= 0]
        # All of the forearm follows the elbow, as that is cheaper.
        skin = replace(limb.skin, joints=np.where(
            np.isfinite(along)[:, None], joints[f"{side}_forearm"], limb.skin.joints))
        limbs.append(HandAndForearm(skin, fingers_of(limb, character, joints, side), along,
                                    patches_of(rest, blocks_hands, character, joints), skirt))
    return limbs


@lru_cache(maxsize=4)
def fingers_of_hands(character: Character, numbers: tuple[tuple[str, int], ...]
                    ) -> list[HandAndForearm]:
    """Return both hands' fingers, to be checked against the other hand and its forearm.

    ``numbers`` are pairs of role and joint.
    """
    joints = dict(numbers)
    fine = thinned(outer_surface(character), OBSTACLES.finger_cell_m)
    found = []
    for side, other in permutations(SIDES):
        fingers = fingers_of(fine, character, joints, side)
        own, arm = (fine.part(mask) for mask in (fingers >= 0, np.isin(
            fine.of, below(character, joints[f"{other}_forearm"]))))
        found.append(HandAndForearm(own.skin, fingers[fingers >= 0], np.full(len(own.of), np.inf),
                                    patches_of(arm, np.ones(len(arm.of), bool), character, joints)))
    return found


def patches_of(surface: OuterLayer, blocks_hands: NDArray[np.bool_], character: Character,
               joints: Mapping[str, int]) -> list[Patch]:
    """Return a surface as patches, one for each joint; ``blocks_hands`` (N,) as in `Patch`."""
    legs = [joint for side in SIDES for joint in below(character, joints[f"{side}_thigh"])]
    found = []
    for joint in np.unique(surface.of).tolist():
        own = surface.of == joint
        found.append(Patch(joint, surface.skin.vertices[own] - character.skeleton.heads[joint],
                           surface.ways[own], blocks_hands[own],
                           OBSTACLES.at_legs if joint in legs else OBSTACLES.at_body))
    return found


def in_skirt(surface: OuterLayer, character: Character) -> NDArray[np.bool_]:
    """Return a mask (N,) of the points of a surface that follow a skirt's joints, even in part."""
    joints = [character.skeleton.index[name] for name in SKIRT if name in character.skeleton.index]
    return np.asarray((np.isin(surface.skin.joints, joints)
                       & (surface.skin.weights > 0)).any(axis=1))


def along_limb(surface: OuterLayer, character: Character, joints: Mapping[str, int],
               side: str) -> FloatArray:
    """Return ``along`` (N,) of `HandAndForearm` for the points of a surface, -1 for points of none.

    Of the forearm only soft parts count, a little below the elbow and thinned.
    """
    elbow, wrist = (character.skeleton.heads[joints[f"{side}_{part}"]]
                    for part in ("forearm", "hand"))
    places = surface.skin.vertices
    along = product(places - elbow, wrist - elbow) / np.sum((wrist - elbow) ** 2)
    hand = in_hand(surface, character, joints, side)
    arm = surface.soft & ~hand & (along > OBSTACLES.at_legs) & np.isin(
        surface.of, below(character, joints[f"{side}_forearm"]))
    arm[arm] = one_a_cell(places[arm], OBSTACLES.arm_cell_m)
    return np.where(hand, np.inf, np.where(arm, np.minimum(along, 1.0), -1.0))


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


def fingers_of(surface: OuterLayer, character: Character, joints: Mapping[str, int],
               side: str) -> NDArray[np.intp]:
    """Return the first joint (P,) of the finger that each point belongs to, -1 for none."""
    found = np.full(len(surface.of), -1, np.intp)
    for finger in FINGERS:
        if (first := joints.get(f"{side}_{finger}1")) is not None:
            found[np.isin(surface.of, below(character, first))] = first
    return found


def below(character: Character, joint: int) -> list[int]:
    """Return the sorted indices of a joint, of its descendants, and of their helper joints."""
    skeleton, found = character.skeleton, {joint}
    for child, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
        if int(parent) in found or skeleton.index[helped_joint(name)] in found:
            found.add(child)
    return sorted(found)
