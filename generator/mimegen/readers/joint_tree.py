"""A tree of joints in some poses, with its lengths, branches and distances."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray

# Most joints of a line; limbs, necks and fingers end before.
MAX_LINE = 40
# Poses of a motion that are examined, evenly spaced.
POSES = 60


@dataclass(frozen=True, eq=False)
class JointTree:
    """A tree of joints in some natural poses ``positions`` (K, J, 3), in any unit and axes.

    ``mean_rotation_deg`` (J,) is each joint's mean rotation from its mean orientation, in degrees.
    ``nubs`` (J,) is True for the last joints of chains that never turn and only mark where a bone
    ends.
    """

    skeleton: Skeleton
    positions: FloatArray
    mean_rotation_deg: FloatArray
    nubs: NDArray[np.bool_]

    @classmethod
    def at_rest(cls, skeleton: Skeleton) -> "JointTree":
        """Return the tree of a skeleton of which only the rest pose is known."""
        count = len(skeleton.names)
        return cls(skeleton, skeleton.heads[None], np.zeros(count), np.zeros(count, dtype=bool))

    @classmethod
    def moving(cls, motion: Motion) -> "JointTree":
        """Return the tree of a motion."""
        skeleton, step = motion.skeleton, max(1, motion.frames // POSES)
        positions = motion.global_pose.positions[::step]
        local = motion.rotations[::step]
        mean = quaternions.normalise(quaternions.without_flips(local).mean(axis=0) + 1e-12)
        between = quaternions.multiply(quaternions.conjugate(mean), local)
        mean_rotation_deg = np.degrees(np.linalg.norm(quaternions.to_rotation_vectors(between),
                                                      axis=2))
        ends = skeleton.tails - skeleton.heads
        # For files without bone ends, readers extend the last bones by half of their length.
        open_ended = np.isclose(ends, 0.0).all(axis=1) | np.isclose(
            ends, skeleton.offsets / 2).all(axis=1)
        leaves = ~np.isin(np.arange(len(ends)), skeleton.parents)
        return cls(skeleton, positions - positions[:, :1], mean_rotation_deg.mean(axis=0),
                   leaves & open_ended & (mean_rotation_deg.max(axis=0) < 0.01))

    @cached_property
    def lengths(self) -> FloatArray:
        """The distance (J,) of each joint from its parent, 0 for the root."""
        lengths = self.distance(np.arange(len(self.skeleton.names)), self.skeleton.parents)
        lengths[0] = 0.0
        return lengths

    @cached_property
    def children(self) -> list[list[int]]:
        """Each joint's children."""
        children: list[list[int]] = [[] for _ in self.skeleton.names]
        for joint, parent in enumerate(self.skeleton.parents[1:].tolist(), start=1):
            children[parent].append(joint)
        return children

    @cached_property
    def reaches(self) -> FloatArray:
        """The length (J,) of the longest chain from each joint's parent through it to an end."""
        deepest = np.zeros(len(self.lengths))
        for joint in range(len(deepest) - 1, 0, -1):
            parent = self.skeleton.parents[joint]
            deepest[parent] = max(deepest[parent], self.lengths[joint] + deepest[joint])
        return np.asarray(self.lengths + deepest)

    def ancestors(self, joint: int) -> list[int]:
        """Return a joint and all above it."""
        line = []
        while joint >= 0:
            line.append(joint)
            joint = int(self.skeleton.parents[joint])
        return line

    @cached_property
    def _next(self) -> list[int]:
        """The child on each joint's longest chain downward, -1 if it has no child."""
        return [max(children, key=lambda child: self.reaches[child], default=-1)
                for children in self.children]

    def line(self, joint: int) -> list[int]:
        """Return the joints of the longest chain downward from a joint, up to ``MAX_LINE``."""
        line = [joint]
        while len(line) < MAX_LINE and (below := self._next[line[-1]]) >= 0:
            line.append(below)
        return line

    def vector(self, start: int, end: int) -> FloatArray:
        """Return the vectors (K, 3) from one joint to another."""
        return np.asarray(self.positions[:, end] - self.positions[:, start])

    def distance(self, ones: NDArray[np.intp], others: NDArray[np.intp]) -> FloatArray:
        """Return the median distances (N,) between joints ``ones`` (N,) and ``others`` (N,)."""
        between = self.positions[:, ones] - self.positions[:, others]
        return np.asarray(np.median(np.linalg.norm(between, axis=2), axis=0))
