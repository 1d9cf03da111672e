"""Round motions to a grid after each stage, so that results are the same on every machine."""

from mimegen.base.grid import on_grid
from mimegen.motion.motion import Motion

# The grid: about a quarter of a micrometre, and half a microradian. It is fine enough that jerk, a
# third difference, hardly changes, and coarse enough that differences in the last bits almost never
# matter.
POSE = 2.0**-22
# A smaller displacement (m) of a joint is due to rounding.
STILL = 1e-6


def rounded(motion: Motion) -> Motion:
    """Return the motion with root positions and rotations rounded to the grid."""
    return Motion(motion.skeleton, motion.fps, on_grid(motion.root_positions, POSE),
                  on_grid(motion.rotations, POSE))
