"""Compute the root's path for a file that has none: the lowest points of the feet stand still."""

import numpy as np

from mimegen.motion import Motion
from mimegen.motion.lowpass import low_passed
from mimegen.motion.quaternions import FloatArray

# A point of the feet this much lower than another, in metres, has e times its weight.
SOFT = 0.02
# Deviation (seconds) of the Gaussian that smooths the feet's positions.
SMOOTH_S = 0.03


def path_of_feet(motion: Motion, feet: list[int], up: FloatArray
                 ) -> tuple[Motion, tuple[str, ...]]:
    """Return a motion whose root moves so that the lowest points of the ``feet`` stand still.

    Those points are put on the ground. ``up`` (3,) is the file's up axis. Also return a note.
    """
    positions = motion.global_pose.positions[:, feet] - motion.root_positions[:, None]
    positions = low_passed(positions, SMOOTH_S * motion.fps)
    heights = np.einsum("fkc,c->fk", positions, up)
    weights = np.exp(-(heights - heights.min(axis=1, keepdims=True)) / SOFT)
    weights = (weights[1:] + weights[:-1]) / 2
    steps = np.einsum("fk,fkc->fc", weights, np.diff(positions, axis=0))
    steps /= weights.sum(axis=1, keepdims=True)
    path = np.zeros((motion.frames, 3))
    path[1:] = -np.cumsum(steps, axis=0)
    path -= up * np.einsum("fc,c->f", path, up)[:, None]
    path = path - up * heights.min(axis=1, keepdims=True)
    return Motion(motion.skeleton, motion.fps, path, motion.rotations), (
        "the file has no path: the body moves so that its lower foot stands still",)
