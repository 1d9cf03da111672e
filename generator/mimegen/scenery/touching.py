"""Penetration depth of two objects of a set, from the shapes of their pieces."""

from functools import lru_cache

import numpy as np

from mimegen.base.vectors import product
from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.layout import PlacedShape
from mimegen.scenery.meshes import in_world
from mimegen.scenery.shapes import mesh_of

# Separating planes are searched along the pieces' own axes, LEVEL horizontal directions, since
# most objects stand upright, and DIRECTIONS others.
LEVEL = 36
DIRECTIONS = 128


def depth_between(ones: list[PlacedShape], others: list[PlacedShape]) -> float:
    """Return the deepest penetration between two groups of pieces, in metres.

    The depth of two convex hulls is their least overlap along any direction (separating axes,
    Gottschalk et al. 1996). It is searched over many directions, so it is an upper bound, more so
    for hollow pieces.
    """
    first, second = ([in_world(mesh_of(piece.shape), piece.matrix) for piece in pieces]
                     for pieces in (ones, others))
    shared = _boxes_overlap(first, second)
    depth = 0.0
    # Pairs with the largest box overlap come first: most other pairs then cannot be deeper.
    for place in np.argsort(-shared, axis=None, kind="stable"):
        one, other = np.unravel_index(place, shared.shape)
        if shared[one, other] <= depth:
            break
        directions = np.concatenate([_axes(ones[one]), _axes(others[other]), _spread()])
        depth = max(depth, _hulls_depth(first[one], second[other], directions))
    return depth


def _boxes_overlap(first: list[FloatArray], second: list[FloatArray]) -> FloatArray:
    """Return the least overlap (N, M) along X, Y and Z of the pieces' axis-aligned boxes."""
    groups = (first, second)
    low, other_low = (np.array([one.min(axis=0) for one in group]) for group in groups)
    high, other_high = (np.array([one.max(axis=0) for one in group]) for group in groups)
    return np.asarray((np.minimum(high[:, None], other_high)
                       - np.maximum(low[:, None], other_low)).min(axis=2))


def _axes(piece: PlacedShape) -> FloatArray:
    """Return the face normals (3, 3) of a piece's oriented box as rows."""
    normals = np.linalg.inv(piece.matrix[:3, :3])
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))


def _hulls_depth(one: FloatArray, other: FloatArray, directions: FloatArray) -> float:
    """Return the least overlap of two pieces' points along any direction; 0 if separated."""
    first, second = (product(points, directions.T) for points in (one, other))
    overlap = (np.minimum(first.max(axis=0), second.max(axis=0))
               - np.maximum(first.min(axis=0), second.min(axis=0))).min()
    return max(float(overlap), 0.0)


@lru_cache(maxsize=1)
def _spread() -> FloatArray:
    """Return unit vectors (N, 3): horizontal ones, and a spiral over half a sphere (Vogel 1979)."""
    turn = np.arange(LEVEL) / LEVEL * np.pi
    level = np.stack([np.cos(turn), np.sin(turn), np.zeros(LEVEL)], axis=-1)
    number = np.arange(DIRECTIONS) + 0.5
    rise = number / DIRECTIONS
    turn, flat = number * np.pi * (3.0 - 5**0.5), np.sqrt(1 - rise**2)
    return np.concatenate([
        level, np.stack([flat * np.cos(turn), flat * np.sin(turn), rise], axis=-1)])
