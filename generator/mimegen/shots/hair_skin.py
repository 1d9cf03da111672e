"""Skinning of hairs: their points follow the mesh that they grow from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from mimegen.characters.character import Character, Mesh
from mimegen.characters.face_units import POINTS
from mimegen.characters.grown_hair import GrownHair
from mimegen.characters.hair_growing import Hairs
from mimegen.shots.skinning import SkinMatrix, posed_points, skin_matrix

# The number of nearest vertices whose skin weights a hair's point blends.
NEAREST = 3


@dataclass(frozen=True, eq=False)
class HairSkin:
    """The skinning of all points of a body's hairs, one hair after another.

    ``matrix`` skins all points. The points ``moving`` (M,), on a face for example, also follow the
    corrections of the body's skin: ``under`` (M,) are the body's vertices at their roots, and
    ``plain`` is the skin matrix of these vertices, without corrections.
    """

    matrix: SkinMatrix
    moving: NDArray[np.intp]
    under: NDArray[np.intp]
    plain: SkinMatrix

    def posed(self, columns: NDArray[np.float32], body: NDArray[np.float32]
              ) -> NDArray[np.float32]:
        """Return the points (N, 3) for joint columns (4 J, 3) and the body's vertices (V, 3)."""
        places = np.ascontiguousarray(posed_points(self.matrix, columns), np.float32)
        places[self.moving] += body[self.under] - posed_points(self.plain, columns)
        return places


def hair_skin(character: Character, hair: GrownHair) -> HairSkin:
    """Return the skinning of a character's hairs; there must be at least one."""
    joints = len(character.skeleton.names)
    meshes = {mesh.name: mesh for mesh in hair.meshes}
    firsts = dict(zip(meshes, np.cumsum([0, *(len(mesh.vertices) for mesh in hair.meshes)]),
                      strict=False))
    parts = [_followed(each, meshes[each.source]) for each in hair.hairs]
    plain = sparse.vstack([skin_matrix(mesh, joints) for mesh in hair.meshes], format="csr")
    moving, under, first = [], [], 0
    for each, part in zip(hair.hairs, parts, strict=True):
        if POINTS in meshes[each.source].attributes:
            moving.append(first + np.arange(len(part.vertices)))
            under.append(firsts[each.source] + _roots(each, meshes[each.source]))
        first += len(part.vertices)
    rows = np.concatenate(under) if under else np.zeros(0, np.intp)
    return HairSkin(sparse.vstack([skin_matrix(part, joints) for part in parts], format="csr"),
                    np.concatenate(moving) if moving else rows, rows, plain[rows])


def _followed(hairs: Hairs, mesh: Mesh) -> Mesh:
    """Return the points of hairs as the vertices of a mesh, with blended weights of those nearby.

    Weights are blended from the nearest vertices of ``mesh`` by inverse distance.
    """
    points = hairs.points.reshape(-1, 3)
    away, near = cKDTree(mesh.vertices).query(points, NEAREST)
    share = 1 / np.maximum(away, 1e-4)
    share = share / share.sum(axis=1, keepdims=True)
    joints = mesh.joints[near].reshape(len(points), -1)
    weights = (share[..., None] * mesh.weights[near]).reshape(len(points), -1)
    return Mesh("hairs", points, np.zeros((0, 4), np.int32), joints, weights, mesh.material)


def _roots(hairs: Hairs, mesh: Mesh) -> NDArray[np.intp]:
    """Return, for each point of a hair, the vertex of a mesh nearest to the hair's root."""
    nearest = cKDTree(mesh.vertices).query(hairs.points[:, 0])[1]
    return np.repeat(nearest, hairs.points.shape[1])
