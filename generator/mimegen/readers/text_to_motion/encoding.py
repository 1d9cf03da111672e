"""Encode joint positions as HumanML3D's vectors of 263 numbers: the inverse of ``vectors.decoded``.

Guo et al. 2022 and the data set's ``motion_representation`` describe each number.
"""

from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter1d

from mimegen.base.vectors import unit
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# SMPL's joints that give the heading: right and left hip, right and left shoulder.
FACING = (2, 1, 17, 16)
CHAINS = ((0, 2, 5, 8, 11), (0, 1, 4, 7, 10), (0, 3, 6, 9, 12, 15), (9, 14, 17, 19, 21),
          (9, 13, 16, 18, 20))
# Direction from each joint's parent to the joint in the rest pose of HumanML3D's rotations.
X, Y, Z = (np.eye(3)[axis] for axis in range(3))
DIRECTIONS = np.array([0 * X, X, -X, Y, -Y, -Y, Y, -Y, -Y, Y, Z, Z, Y, X, -X, Z, -Y, -Y, -Y, -Y,
                       -Y, -Y])
# Deviation, in frames, of the Gaussian that smooths the heading, and squared distance (m^2) from
# one frame to the next below which a foot stands.
SMOOTH = 20.0
STANDS = 0.002
LEFT_FOOT = (7, 10)
RIGHT_FOOT = (8, 11)


def encoded(positions: FloatArray) -> FloatArray:
    """Return the vectors (F - 1, 263) of joints (F, 22, 3), Y up."""
    rotations = _local_rotations(positions)
    root = rotations[:, 0]
    steps = quaternions.rotate(root[1:], np.diff(positions[:, 0], axis=0))
    spins = quaternions.multiply(root[1:], quaternions.conjugate(root[:-1]))
    local = positions - positions[:, :1] * [1.0, 0.0, 1.0]
    local = quaternions.rotate(root[:, None], local)[:, 1:]
    matrices = quaternions.to_matrices(rotations[:, 1:])
    columns = np.concatenate([matrices[..., 0], matrices[..., 1]], axis=-1)
    speeds = quaternions.rotate(root[:-1, None], np.diff(positions, axis=0))
    moved = np.sum(np.diff(positions, axis=0) ** 2, axis=-1)
    frames = len(positions) - 1
    return np.concatenate([
        np.arcsin(np.clip(spins[:, 2:3], -1.0, 1.0)), steps[:, [0, 2]], positions[:-1, 0, 1:2],
        local[:-1].reshape(frames, -1), columns[:-1].reshape(frames, -1),
        speeds.reshape(frames, -1), moved[:, LEFT_FOOT] < STANDS, moved[:, RIGHT_FOOT] < STANDS],
        axis=1)


def _local_rotations(positions: FloatArray) -> FloatArray:
    """Return local rotations (F, 22, 4) along the chains; the root's turns the body to face +Z."""
    right_hip, left_hip, right, left = FACING
    across = unit(positions[:, right_hip] - positions[:, left_hip]
                  + positions[:, right] - positions[:, left])
    forward = quaternions.cross(np.broadcast_to(Y, across.shape), across)
    forward = unit(gaussian_filter1d(forward, SMOOTH, axis=0, mode="nearest"))
    rotations = np.tile(quaternions.IDENTITY, (*positions.shape[:2], 1))
    rotations[:, 0] = quaternions.between(forward, Z)
    for chain in CHAINS:
        above = rotations[:, 0]
        for parent, joint in pairwise(chain):
            bone = quaternions.between(DIRECTIONS[joint],
                                       positions[:, joint] - positions[:, parent] + 1e-12)
            rotations[:, joint] = quaternions.multiply(quaternions.conjugate(above), bone)
            above = quaternions.multiply(above, rotations[:, joint])
    return rotations
