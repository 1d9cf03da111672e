"""Find the outer layer of a character in the rest pose: points with outward normals."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.vectors import unit
from mimegen.characters.character import Character
from mimegen.characters.surface import vertex_normals
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.surface import SkinSample, owners

# Names of meshes that are neither obstacles to a hand nor part of it: hair and what lies on faces.
SOFT = frozenset({"hair", "hair_lining", "strands", "edge_strands", "beard_strands", "lashes",
                  "brows", "eyes", "laces", "glasses", "lenses"})

@dataclass(frozen=True)
class OuterParameters:
    """How the outer layer is found. Chosen on people in layers of clothes and on the suit."""

    # A point is an inner one if other surface with a similar normal lies above it: within beside_m
    # (m) of one of these distances (m) along the normal, and at least further_m (m) above the
    # point. Normals are similar from the cosine ``alike`` on.
    above_m: tuple[float, ...] = (0.008, 0.016, 0.024, 0.034, 0.046)
    beside_m: float = 0.012
    further_m: float = 0.004
    alike: float = 0.3
    # Least cosine between a normal and the direction away from the bone: it excludes flanges and
    # the insides of sleeves.
    from_bone: float = 0.4


OUTER = OuterParameters()


@dataclass(frozen=True)
class OuterLayer:
    """Points of a body's outer layer at rest, outward normals (N, 3), and the joint (N,) of each.

    ``soft`` (N,) marks points of skin and cloth.
    """

    skin: SkinSample
    ways: FloatArray
    of: NDArray[np.intp]
    soft: NDArray[np.bool_]

    def part(self, chosen: NDArray[np.bool_]) -> "OuterLayer":
        """Return the points of a mask (N,)."""
        return OuterLayer(self.skin.part(chosen), self.ways[chosen], self.of[chosen],
                          self.soft[chosen])


def thinned(surface: OuterLayer, cell: float) -> OuterLayer:
    """Return one point of the surface for each cell of this edge (m)."""
    return surface.part(one_a_cell(surface.skin.vertices, cell))


def one_a_cell(places: FloatArray, cell: float) -> NDArray[np.bool_]:
    """Return a mask (N,) of one of the places (N, 3) for each cell of this edge (m)."""
    kept = np.zeros(len(places), bool)
    kept[np.unique(np.round(places / cell).astype(int), axis=0, return_index=True)[1]] = True
    return kept


@lru_cache(maxsize=4)
def outer_surface(character: Character) -> OuterLayer:
    """Return all vertices of a character's outer layer."""
    meshes = [mesh for mesh in character.meshes if mesh.name not in SOFT]
    wide = max((mesh.joints.shape[1] for mesh in meshes), default=1)
    more = [((0, 0), (0, wide - mesh.joints.shape[1])) for mesh in meshes]
    places = np.concatenate([np.zeros((0, 3)), *(mesh.vertices for mesh in meshes)])
    ways = np.concatenate([np.zeros((0, 3)), *(vertex_normals(mesh.vertices, mesh.faces)
                                               for mesh in meshes)])
    joints, weights = (np.concatenate([np.zeros((0, wide)), *map(np.pad, parts, more)]) for parts in
                       ([mesh.joints for mesh in meshes], [mesh.weights for mesh in meshes]))
    of = np.concatenate([np.zeros(0, np.intp), *map(owners, meshes)])
    giving = {mesh.name for mesh in character.soft}
    soft = [np.full(len(mesh.vertices), mesh.name in giving) for mesh in meshes]
    whole = OuterLayer(SkinSample(places, joints.astype(np.int32), weights), ways, of,
                       np.concatenate([np.zeros(0, bool), *soft]))
    away = unit(places - nearest_on_bones(character.skeleton, places, of))
    return whole.part(~covered(places, ways) & (np.sum(away * ways, axis=1) > OUTER.from_bone))


def nearest_on_bones(skeleton: Skeleton, places: FloatArray,
                     of: NDArray[np.intp]) -> FloatArray:
    """Return the nearest points (V, 3) to places (V, 3) on the bones of joints (V,)."""
    start = skeleton.heads[of]
    bone = skeleton.tails[of] - start
    # The foot of the perpendicular, kept between the bone's ends.
    share = np.sum((places - start) * bone, axis=1) / np.maximum(np.sum(bone**2, axis=1), 1e-9)
    return np.asarray(start + np.clip(share, 0.0, 1.0)[:, None] * bone)


def covered(places: FloatArray, ways: FloatArray) -> NDArray[np.bool_]:
    """Return a mask of a body's points (V, 3) that lie below other surface; ``ways`` are normals.
    """
    found = np.zeros(len(places), bool)
    if not len(places):
        return found
    tree = scipy.spatial.cKDTree(places)
    for above in OUTER.above_m:
        away, near = tree.query(places + above * ways, distance_upper_bound=OUTER.beside_m)
        own = np.flatnonzero(np.isfinite(away))
        over = places[near[own]] - places[own]
        further = np.sum(over * ways[own], axis=1) > OUTER.further_m
        found[own] |= further & (np.sum(ways[near[own]] * ways[own], axis=1) > OUTER.alike)
    return found
