"""A skeleton: a tree of named joints with their positions in the rest pose."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints in the rest pose, in metres, Z up, facing -Y.

    ``parents`` (J,) holds -1 for the only root, which is joint 0; parents come before children.
    ``heads`` (J, 3) are the joints' positions, ``tails`` (J, 3) the far ends of their bones.
    """

    names: tuple[str, ...]
    parents: NDArray[np.intp]
    heads: FloatArray
    tails: FloatArray

    def __post_init__(self) -> None:
        count = len(self.names)
        if not (self.parents.shape == (count,) and self.heads.shape == (count, 3)
                and self.tails.shape == (count, 3)):
            raise ValueError(f"a skeleton of {count} joints has arrays of other lengths")
        if count == 0 or self.parents[0] != -1:
            raise ValueError("joint 0 must be the root")
        if np.any(self.parents[1:] < 0) or np.any(self.parents >= np.arange(count)):
            raise ValueError("a skeleton has one root, and parents come before children")
        if len(set(self.names)) != count:
            raise ValueError("joint names must differ")

    def __repr__(self) -> str:
        return f"<Skeleton: {len(self.names)} joints, root {self.names[0]}>"

    @cached_property
    def offsets(self) -> FloatArray:
        """Positions (J, 3) relative to the parent in the rest pose; the root's is its own position.
        """
        offsets = self.heads.copy()
        offsets[1:] -= self.heads[self.parents[1:]]
        return offsets

    @cached_property
    def index(self) -> dict[str, int]:
        """Joint indices by name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def generations(self) -> list[NDArray[np.intp]]:
        """Indices (K,) of the joints at each depth below the root: its children, theirs, and so on.
        """
        depths = np.zeros(len(self.names), np.intp)
        for joint in range(1, len(depths)):
            depths[joint] = depths[self.parents[joint]] + 1
        return [np.flatnonzero(depths == depth) for depth in range(1, int(depths.max()) + 1)]

    def children(self, joint: int) -> list[int]:
        """Return the indices of a joint's children."""
        return [int(child) for child in np.flatnonzero(self.parents == joint)]

    def below(self, tops: Collection[int]) -> list[int]:
        """Return the indices of some joints and of all joints below them."""
        found = set(tops)
        for joint, parent in enumerate(self.parents):
            if int(parent) in found:
                found.add(joint)
        return sorted(found)

    def scaled(self, factor: float) -> "Skeleton":
        """Return the skeleton scaled by ``factor``."""
        return Skeleton(self.names, self.parents, self.heads * factor, self.tails * factor)
