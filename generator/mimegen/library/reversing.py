"""Play performances backwards."""

import numpy as np

from mimegen.characters.character import Performance
from mimegen.motion.motion import GlobalPose, Motion


def reversed_scene(scene: tuple[Performance, ...]) -> tuple[Performance, ...]:
    """Return all performers' frames in reverse order; applied twice, it restores the scene."""
    return tuple(Performance(performance.character, reversed_motion(performance.motion))
                 for performance in scene)


def reversed_motion(motion: Motion) -> Motion:
    """Return a motion's frames in reverse order, with its global pose if that is known."""
    backwards = motion.at(np.arange(motion.frames)[::-1])
    pose = motion.known_pose
    return backwards if pose is None else backwards.with_pose(
        GlobalPose(pose.positions[::-1], pose.rotations[::-1]))
