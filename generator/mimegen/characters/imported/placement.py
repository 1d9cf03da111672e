"""Where an imported body stands, and how large it is."""

from dataclasses import dataclass

import numpy as np

from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, eq=False)
class Similarity:
    """From the file's places p to the house's: ``scale * turn @ p + shift``."""

    turn: FloatArray
    scale: float
    shift: FloatArray
    notes: tuple[str, ...]

    def places(self, points: FloatArray) -> FloatArray:
        """Return points (N, 3) in the house's convention."""
        return np.asarray(np.einsum("ab,nb->na", self.scale * self.turn, points) + self.shift)

    def ways(self, offsets: FloatArray) -> FloatArray:
        """Return offsets (N, 3) in the house's convention."""
        return np.asarray(np.einsum("ab,nb->na", self.scale * self.turn, offsets))

    def skeleton(self, skeleton: Skeleton) -> Skeleton:
        """Return the skeleton in the house's convention."""
        return Skeleton(skeleton.names, skeleton.parents, self.places(skeleton.heads),
                        self.places(skeleton.tails))
