"""Figures for workers to pose, read from the files they are published in."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.files import publish_first
from mimegen.characters.character import Character, Performance
from mimegen.characters.packing import (
    pack_character,
    pack_performance,
    unpack_character,
    unpack_performance,
)
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.jobs import FigureFiles
from mimegen.shots.skinning import joint_columns


@dataclass(frozen=True, eq=False)
class Figure:
    """A character with its global pose in each of F frames and for each of J joints.

    ``positions`` (F, J, 3) are in metres, ``rotations`` (F, J, 4) are quaternions w x y z.
    """

    character: Character
    positions: FloatArray
    rotations: FloatArray

    def columns_at(self, moment: float) -> NDArray[np.float32]:
        """Return the joint columns (4 J, 3) at a time ``moment``, in frames from the first.

        Between frames, local rotations are interpolated (slerp), so bones keep their lengths.
        Before the first and after the last frame, the pose is that frame's.
        """
        skeleton = self.character.skeleton
        before = int(np.clip(np.floor(moment), 0, len(self.positions) - 1))
        share = min(moment - before, 1.0)
        if share <= 0 or before + 1 == len(self.positions):
            return joint_columns(skeleton, self.positions[before, None],
                                 self.rotations[before, None])
        both = slice(before, before + 2)
        pair = Motion.from_global_rotations(skeleton, 1.0, self.positions[both, 0],
                                            self.rotations[both])
        root = pair.root_positions[0] + share * np.diff(pair.root_positions, axis=0)
        turned = quaternions.slerp(pair.rotations[:1], pair.rotations[1:], share)
        return joint_columns(skeleton, *Motion(skeleton, 1.0, root, turned).global_pose)

    @staticmethod
    def of(performance: Performance) -> "Figure":
        """Return the figure of a performance."""
        pose = performance.motion.global_pose
        return Figure(performance.character, pose.positions, pose.rotations)


def publish_figure(performance: Performance, files: FigureFiles) -> None:
    """Publish a performance's character and motion, unless they are published already."""
    publish_first(files.character, pack_character(performance.character))
    publish_first(files.performance, pack_performance(performance))


@lru_cache(maxsize=4)
def read_figure(files: FigureFiles) -> Figure:
    """Read a figure; raises OSError or ValueError if a file is absent or damaged."""
    character = _read_character(files.character)
    return Figure.of(unpack_performance(files.performance.read_bytes(), character))


@lru_cache(maxsize=4)
def _read_character(path: Path) -> Character:
    return unpack_character(path.read_bytes())
