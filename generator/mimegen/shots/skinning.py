"""Linear blend skinning as one sparse matrix, fast over many frames, followed by corrections."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.characters.character import Character, Mesh, joint_transforms
from mimegen.characters.posing import Corrections, corrections_of
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

SkinMatrix: TypeAlias = Any
"""A scipy.sparse.csr_matrix (V, 4 J) that maps ``joint_columns`` to vertices."""


def skin_matrix(mesh: Mesh, joints: int) -> SkinMatrix:
    """Return the matrix (V, 4 * joints) that skins a mesh, float32.

    Linear blend skinning, v' = sum of w_j (R_j v + t_j), is linear in the R_j and t_j.
    """
    count, influences = mesh.joints.shape
    rest = np.concatenate([mesh.vertices, np.ones((count, 1))], axis=1)
    values = mesh.weights[:, :, None] * rest[:, None, :]
    columns = 4 * mesh.joints[:, :, None] + np.arange(4)
    rows = np.repeat(np.arange(count), influences * 4)
    entries = (values.ravel().astype(np.float32), (rows, columns.ravel()))
    matrix = scipy.sparse.csr_matrix(entries, shape=(count, 4 * joints))
    matrix.eliminate_zeros()
    return matrix


def joint_columns(skeleton: Skeleton, positions: FloatArray,
                  rotations: FloatArray) -> NDArray[np.float32]:
    """Return the joints' transforms (4 J, 3 F) that a skin matrix is multiplied with.

    Each joint has four rows, its transposed rotation and its translation, and each frame three
    columns. ``positions`` (F, J, 3) and ``rotations`` (F, J, 4) are the global pose.
    """
    matrices, shifts = joint_transforms(skeleton, positions, rotations)
    stacked = np.concatenate([np.swapaxes(matrices, -1, -2), shifts[:, :, None, :]], axis=2)
    frames, joints = positions.shape[:2]
    by_joint = stacked.transpose(1, 2, 0, 3).reshape(4 * joints, 3 * frames)
    return np.asarray(by_joint, np.float32)


def skinned(matrix: SkinMatrix, columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the posed vertices (F, V, 3) of a skin matrix for joint columns (4 J, 3 F)."""
    product = np.asarray(matrix @ columns)
    return np.ascontiguousarray(product.reshape(len(product), -1, 3).transpose(1, 0, 2))


def posed_points(matrix: SkinMatrix, columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the points (V, 3) of a skin matrix for one frame's joint columns (4 J, 3).

    The result is stored axis by axis in memory, because multiplying one column after another takes
    half the time.
    """
    posed: NDArray[np.float32] = np.stack(
        [matrix @ np.ascontiguousarray(axis) for axis in columns.T])
    return posed.T


@dataclass(frozen=True, eq=False)
class BodySkin:
    """The skinning of a body's meshes: a skin matrix, and the corrections applied to its result."""

    matrix: SkinMatrix
    corrections: Corrections

    def posed(self, columns: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vertices (V, 3) for one frame's joint columns (4 J, 3)."""
        places = np.ascontiguousarray(posed_points(self.matrix, columns), np.float32)
        self.corrections.apply(places, columns)
        return places


def body_skin(character: Character, meshes: Sequence[Mesh] | None = None) -> BodySkin:
    """Return the skinning of a character's meshes, one after another, or of ``meshes`` instead."""
    drawn = character.meshes if meshes is None else meshes
    joints = len(character.skeleton.names)
    matrix = scipy.sparse.vstack([skin_matrix(mesh, joints) for mesh in drawn], format="csr")
    return BodySkin(matrix, corrections_of(character, drawn))
