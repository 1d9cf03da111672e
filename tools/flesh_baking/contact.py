"""Parts of a surface that touch and do not pass through one another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from flesh_baking.sculpted import Array
from mimegen.characters.surface import neighbour_average, vertex_normals

# Touching parts stay so far apart; what was less than a fold farther away at rest is the fold
# itself; what is deeper inside than anything may get lies there by mistake. In metres.
GAP_M, FOLD_M, DEEPEST_M = 0.001, 0.03, 0.08


class Contact:
    """Two sides of a surface, and where they are apart."""

    def __init__(self, sides: Sequence[NDArray[np.intp]], rest: Array,
                 faces: NDArray[np.int32]) -> None:
        """``sides`` number vertices; ``rest`` (S, 3) has them apart, ``faces`` (F, 4) join them."""
        self.sides, self.rest, self.faces = sides, rest, faces
        self.average = neighbour_average(faces, len(rest))

    def push(self, now: Array) -> Array:
        """Return how far (S, 3) vertices inside the other side move out, each half of the way."""
        normals = vertex_normals(now, self.faces)
        found = np.zeros_like(now)
        for own, other in (self.sides, self.sides[::-1]):
            away, near = cKDTree(now[other]).query(now[own])
            near = other[near]
            apart = np.linalg.norm(self.rest[own] - self.rest[near], axis=1)
            ahead = np.einsum("sa,sa->s", now[own] - now[near], normals[near]) - GAP_M
            inside = (ahead < 0) & (apart > away + FOLD_M) & (away < DEEPEST_M)
            inside &= np.einsum("sa,sa->s", normals[own], normals[near]) < 0
            found[own] = np.where(inside, -ahead / 2, 0.0)[:, None] * normals[near]
        return np.asarray(found + self.average @ found) / 2
