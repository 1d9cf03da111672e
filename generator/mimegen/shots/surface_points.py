"""Points that cover a figure's surface densely, as a skin matrix that poses them."""

import numpy as np
import scipy

from mimegen.characters.character import Character, Mesh
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.skinning import SkinMatrix, skin_matrix

# Points within a voxel of this size at rest, in cells, are merged for all poses.
SAME_CELLS = 0.1


def surface_matrix(character: Character, cell_m: float) -> SkinMatrix:
    """Return the skin matrix (P, 4 J) of points that cover the figure's surface without gaps.

    In the rest pose, neighbouring points are at most about three quarters of a cell apart.
    """
    joints = len(character.skeleton.names)
    parts = [_voxel_matrix(_barycentric_points(mesh, cell_m), mesh, SAME_CELLS * cell_m)
             @ skin_matrix(mesh, joints) for mesh in character.meshes]
    return scipy.sparse.csr_matrix(scipy.sparse.vstack(parts, format="csr"), dtype=np.float32)


def _voxel_matrix(points: SkinMatrix, mesh: Mesh, voxel_m: float) -> SkinMatrix:
    """Return one row of a matrix (P, V) for each voxel that its points lie in at rest."""
    voxels = np.floor(points @ mesh.vertices / voxel_m).astype(np.int64)
    voxels -= voxels.min(axis=0)
    wide, high = (voxels[:, 1:].max(axis=0) + 1).tolist()
    _, first = np.unique((voxels[:, 0] * wide + voxels[:, 1]) * high + voxels[:, 2],
                         return_index=True)
    return points[np.sort(first)]


def _barycentric_points(mesh: Mesh, cell_m: float) -> SkinMatrix:
    """Return the matrix (P, V) from a mesh's vertices to these and to points on its triangles."""
    quads = mesh.faces[mesh.faces[:, 3] >= 0]
    triangles = np.concatenate([mesh.faces[:, :3], quads[:, [0, 2, 3]]])
    corners = mesh.vertices[triangles]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max(axis=1)
    parts = np.ceil(edges / (0.75 * cell_m)).astype(int)
    count = len(mesh.vertices)
    matrices = [scipy.sparse.identity(count, dtype=np.float32, format="csr")]
    for number in np.unique(parts[parts > 1]):
        inside = _lattice(int(number))
        chosen = triangles[parts == number]
        columns = np.repeat(chosen, len(inside), axis=0)
        values = np.tile(inside, (len(chosen), 1))
        rows = np.repeat(np.arange(len(columns)), 3)
        matrices.append(scipy.sparse.csr_matrix(
            (values.ravel().astype(np.float32), (rows, columns.ravel())),
            shape=(len(columns), count),
        ))
    return scipy.sparse.vstack(matrices, format="csr")


def _lattice(parts: int) -> FloatArray:
    """Return barycentric coordinates (N, 3) of a lattice on a triangle, without its corners.

    Each edge is divided into ``parts``.
    """
    first, second = np.meshgrid(np.arange(parts + 1), np.arange(parts + 1))
    third = parts - first - second
    lattice = np.stack([first, second, third], axis=-1)[third >= 0]
    return np.asarray(lattice[lattice.max(axis=1) < parts] / parts)
