"""Vectors and skeletons from mimegen's axes to those of formats with Y up, and back."""

import numpy as np

from mimegen.motion.quaternions import FloatArray
from mimegen.motion.skeleton import Skeleton


def with_y_up(vectors: FloatArray) -> FloatArray:
    """Return vectors (..., 3), Z up and facing -Y, as vectors with Y up and facing +Z."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    return np.stack([x, z, -y], axis=-1)


def with_z_up(vectors: FloatArray) -> FloatArray:
    """Return vectors (..., 3), Y up and facing +Z, as vectors with Z up and facing -Y."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    return np.stack([x, -z, y], axis=-1)


def skeleton_with_z_up(skeleton: Skeleton) -> Skeleton:
    """Return a skeleton with Y up and facing +Z as one with Z up and facing -Y."""
    return Skeleton(skeleton.names, skeleton.parents, with_z_up(skeleton.heads),
                    with_z_up(skeleton.tails))
