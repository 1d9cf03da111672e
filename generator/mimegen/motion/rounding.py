"""Motions on a grid, stage by stage, so that what a stage makes is the same on every machine."""

from mimegen.base.grid import on_grid
from mimegen.motion.motion import Motion

# About a quarter of a micrometre, and half a millionth of a radian: fine enough that jerk, a third
# difference, hardly changes, coarse enough that last bits next to never tell.
POSE = 2.0**-22
# Joints that went less (m) were only rounded.
STILL = 1e-6


def rounded(motion: Motion) -> Motion:
    """Return the motion with its root's places and its rotations on the grid."""
    return Motion(motion.skeleton, motion.fps, on_grid(motion.root_positions, POSE),
                  on_grid(motion.rotations, POSE))
