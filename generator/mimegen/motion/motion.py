"""A motion: a skeleton and its pose in every frame."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.skeleton import Skeleton


class GlobalPose(NamedTuple):
    """Positions (F, J, 3) of all joints in metres, and their global rotations (F, J, 4)."""

    positions: FloatArray
    rotations: FloatArray


@dataclass(frozen=True, eq=False)
class Motion:
    """Poses over time. Bone lengths are constant by construction.

    ``root_positions`` (F, 3) are the root joint's positions in metres; ``rotations`` (F, J, 4) are
    the local rotations of all joints relative to their parents, the root's relative to the world.
    """

    skeleton: Skeleton
    fps: float
    root_positions: FloatArray
    rotations: FloatArray

    def __post_init__(self) -> None:
        frames, joints = len(self.root_positions), len(self.skeleton.names)
        if self.root_positions.shape != (frames, 3) or self.rotations.shape != (frames, joints, 4):
            raise ValueError(
                f"root_positions {self.root_positions.shape} and rotations {self.rotations.shape}"
                f" do not fit a skeleton of {joints} joints"
            )
        if frames < 1 or not self.fps > 0:
            raise ValueError("a motion has at least one frame and a positive frame rate")

    def __repr__(self) -> str:
        return (f"<Motion: {self.duration:.1f} s, {self.frames} frames at {self.fps:g} fps,"
                f" {len(self.skeleton.names)} joints>")

    @property
    def frames(self) -> int:
        """The number of frames."""
        return len(self.root_positions)

    @property
    def duration(self) -> float:
        """How long all frames are shown, in seconds."""
        return self.frames / self.fps

    @property
    def last_s(self) -> float:
        """The time of the last frame, in seconds; the first is at 0."""
        # Frames are points in time: n of them span n - 1 intervals.
        return (self.frames - 1) / self.fps

    def at(self, frames: NDArray[np.intp]) -> "Motion":
        """Return the frames with these indices (K,), at the same rate."""
        return Motion(self.skeleton, self.fps, self.root_positions[frames], self.rotations[frames])

    @property
    def known_pose(self) -> GlobalPose | None:
        """The global pose if it has been computed before, else None."""
        return self.__dict__.get("global_pose")

    def with_pose(self, pose: GlobalPose) -> "Motion":
        """Return this motion with its global pose stored, if that is known without kinematics."""
        self.__dict__["global_pose"] = pose
        return self

    @cached_property
    def global_pose(self) -> GlobalPose:
        """The global pose, by forward kinematics for all frames at once."""
        skeleton = self.skeleton
        positions = np.empty((self.frames, len(skeleton.names), 3))
        rotations = np.empty_like(self.rotations)
        positions[:, 0], rotations[:, 0] = self.root_positions, self.rotations[:, 0]
        # Parents first, and all joints of one depth in one call: one call for each level of the
        # tree.
        for joints in skeleton.generations:
            parents = skeleton.parents[joints]
            above = rotations[:, parents]
            rotations[:, joints] = quaternions.multiply(above, self.rotations[:, joints])
            positions[:, joints] = positions[:, parents] + quaternions.rotate(
                above, skeleton.offsets[joints]
            )
        return GlobalPose(positions, rotations)

    @classmethod
    def from_global_rotations(
        cls, skeleton: Skeleton, fps: float, root_positions: FloatArray, rotations: FloatArray
    ) -> "Motion":
        """Make a motion from global rotations (F, J, 4)."""
        local = rotations.copy()
        parents = skeleton.parents[1:]
        local[:, 1:] = quaternions.multiply(
            quaternions.conjugate(rotations[:, parents]), rotations[:, 1:]
        )
        return cls(skeleton, fps, root_positions, quaternions.normalise(local))
