"""Points of a character's skin, posed in all frames at once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from mimegen.base.decisions import first_most
from mimegen.base.vectors import lengths, product
from mimegen.characters.character import Character, Mesh
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True)
class SkinSample:
    """Vertices (V, 3) in the rest pose, with the joints and weights (V, K) of `Mesh`."""

    vertices: FloatArray
    joints: NDArray[np.int32]
    weights: FloatArray

    def part(self, chosen: NDArray[np.bool_]) -> "SkinSample":
        """Return the vertices of a mask (V,)."""
        return SkinSample(self.vertices[chosen], self.joints[chosen], self.weights[chosen])

    @cached_property
    def followed(self) -> Sequence[tuple[int, NDArray[np.intp], FloatArray]]:
        """The vertices that follow each joint: joint, vertex indices (N,) and weights (N,)."""
        found = []
        for joint in np.unique(self.joints[self.weights > 0]):
            share = np.where(self.joints == joint, self.weights, 0.0).sum(axis=1)
            own = np.flatnonzero(share)
            found.append((int(joint), own, share[own]))
        return found

    def heights(self, motion: Motion, frames: NDArray[np.intp]) -> FloatArray:
        """Return the heights (F, V) of the vertices in some frames (F,)."""
        pose, heads = motion.global_pose, motion.skeleton.heads
        heights = np.zeros((len(frames), len(self.vertices)))
        for joint, own, share in self.followed if len(frames) else ():
            up = quaternions.to_matrices(pose.rotations[frames, joint])[:, 2]
            moved = product(up, (self.vertices[own] - heads[joint]).T)
            moved = moved + pose.positions[frames, joint, 2:]
            heights[:, own] += share * moved
        return heights

    def least_heights(self, motion: Motion) -> FloatArray:
        """Return a lower bound (F,) of all vertices' heights, by their distances from joints."""
        positions, heads = motion.global_pose.positions, motion.skeleton.heads
        reach = [positions[:, joint, 2] - lengths(self.vertices[own] - heads[joint]).max()
                 for joint, own, _ in self.followed]
        return np.asarray(np.min(reach, axis=0))

    def posed(self, motion: Motion) -> FloatArray:
        """Return the vertices' positions (F, V, 3) in all frames, by linear blend skinning."""
        pose, heads = motion.global_pose, motion.skeleton.heads
        places = np.zeros((motion.frames, len(self.vertices), 3))
        for joint, own, share in self.followed:
            turn = quaternions.to_matrices(pose.rotations[:, joint])
            moved = product(self.vertices[own] - heads[joint], turn.transpose(0, 2, 1))
            places[:, own] += share[:, None] * (moved + pose.positions[:, None, joint])
        return places


def owners(mesh: Mesh) -> NDArray[np.intp]:
    """Return the joint (V,) with the largest weight of each vertex."""
    most = first_most(mesh.weights)
    return np.asarray(mesh.joints[np.arange(len(most)), most], dtype=np.intp)


@lru_cache(maxsize=12)
def outermost(character: Character, joints: frozenset[int] | None = None) -> SkinSample:
    """Return the outermost vertices of each joint, in 60 directions, or of some ``joints`` only."""
    wide = max((mesh.joints.shape[1] for mesh in character.meshes), default=1)
    whole = [_padded(mesh, wide) for mesh in character.meshes]
    of = np.concatenate([np.zeros(0, int), *(owners(mesh) for mesh in character.meshes)])
    places, follow, weights = (
        np.concatenate([np.zeros((0, width)), *parts]) for width, parts in
        zip((3, wide, wide), zip(*whole, strict=True) if whole else ((), (), ()), strict=True))
    ways = _directions(60)
    kept = [np.zeros(0, int)]
    for joint in np.unique(of) if joints is None else joints:
        own = np.flatnonzero(of == joint)
        if len(own):
            kept.append(own[np.unique(first_most(product(ways, places[own].T)))])
    chosen = np.concatenate(kept)
    return SkinSample(places[chosen], follow[chosen].astype(np.int32), weights[chosen])


def _padded(mesh: Mesh, wide: int) -> tuple[FloatArray, NDArray[np.int32], FloatArray]:
    more = ((0, 0), (0, wide - mesh.joints.shape[1]))
    return mesh.vertices, np.pad(mesh.joints, more), np.pad(mesh.weights, more)


def _directions(count: int) -> FloatArray:
    """Return unit vectors spread over the sphere (golden spiral)."""
    step = np.arange(count) + 0.5
    # Even steps in height are even areas of a sphere (Archimedes); the golden angle spreads them.
    height, angle = 1 - 2 * step / count, np.pi * (1 + 5**0.5) * step
    level = np.sqrt(1 - height**2)
    return np.stack([level * np.cos(angle), level * np.sin(angle), height], axis=1)


def outer_vertices(character: Character, joints: Collection[int]) -> FloatArray:
    """Return the vertices (V, 3), in the rest pose, whose largest weight is of one of ``joints``.
    """
    found = [mesh.vertices[np.isin(owners(mesh), list(joints))] for mesh in character.meshes]
    return np.concatenate([np.zeros((0, 3)), *found])
