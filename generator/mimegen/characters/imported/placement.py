"""Position, orientation and scale of an imported body."""

from dataclasses import dataclass

import numpy as np

from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, eq=False)
class Similarity:
    """The transform of points p from the file to mimegen's world: ``scale * turn @ p + shift``."""

    turn: FloatArray
    scale: float
    shift: FloatArray
    notes: tuple[str, ...]

    def places(self, points: FloatArray) -> FloatArray:
        """Return points (N, 3) in mimegen's convention."""
        return np.asarray(np.einsum("ab,nb->na", self.scale * self.turn, points) + self.shift)

    def displacements(self, offsets: FloatArray) -> FloatArray:
        """Return displacements (N, 3) in mimegen's convention."""
        return np.asarray(np.einsum("ab,nb->na", self.scale * self.turn, offsets))

    def skeleton(self, skeleton: Skeleton) -> Skeleton:
        """Return the skeleton in mimegen's convention."""
        return Skeleton(skeleton.names, skeleton.parents, self.places(skeleton.heads),
                        self.places(skeleton.tails))
