"""Correct files whose root path is in another unit than the bones, such as metres and centimetres.
"""

from typing import NamedTuple

import numpy as np

from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray

# Factors tried. Units that software mixes differ by powers of ten: m, dm, cm and mm.
FACTORS = (10.0, 100.0, 1000.0, 0.1, 0.01, 0.001)
# Poses examined, evenly spaced.
POSES = 120
# Heights of the lowest joint above the file's ground, as fractions of the body's size: at most
# NEAR once the path is scaled, at least FAR before. After scaling, its height may vary by STEADY
# (or as much as before, if that is more).
NEAR = 0.1
FAR = 0.3
STEADY = 0.04
# Height of the lowest joint of a body that lies on the ground or a bench, as a fraction of its
# size.
LYING = (0.0, 0.35)
# Percentile of the lowest joint's heights that counts as on the ground. It is low, because a person
# who jumps or runs is in the air in most frames.
ON_GROUND = 20.0


class _Standing(NamedTuple):
    """Height of the lowest joint above the file's ground and its variation, in body sizes."""

    height: float
    wavers: float


def in_one_unit(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """Return the motion with its root's path in the unit of its bones, and a note if it changed.

    The units differ if the body is far above or below the file's ground, but stands on it, at
    least as steadily, once the path is scaled by a power of ten.
    """
    some = motion.at(np.arange(0, motion.frames, max(1, motion.frames // POSES)))
    from_root = some.global_pose.positions - some.root_positions[:, None]
    size = float(np.ptp(from_root, axis=1).max(axis=1).mean())
    axis = int(np.argmax(np.median(np.ptp(from_root, axis=1), axis=0)))
    root = some.root_positions[:, axis]
    sign = 1.0 if np.median(root) > 0 else -1.0
    lowest = (sign * from_root[:, :, axis]).min(axis=1)
    if not size > 0 or abs(_standing(sign * root, lowest, size).height) < FAR \
            or _lies(some, axis, size):
        return motion, ()
    fitting = [factor for factor in FACTORS if _stands(sign * root, lowest, size, factor)]
    if not fitting:
        return motion, ()
    factor = min(fitting, key=lambda one: abs(_standing(one * sign * root, lowest, size).height))
    scaled = Motion(motion.skeleton, motion.fps, motion.root_positions * factor, motion.rotations)
    return scaled, (f"the root's path is in another unit than the bones: it is scaled by"
                    f" {factor:g}, so that the feet stand on the file's ground",)


def _lies(motion: Motion, longest: int, size: float) -> bool:
    """Return whether a body lies on the ground already, with Y up as in most files.

    Its ``longest`` axis is not Y, and its lowest joint is at the height of a lying body.
    """
    lowest = float(np.median(motion.global_pose.positions[..., 1].min(axis=1))) / size
    return longest != 1 and LYING[0] <= lowest <= LYING[1]


def _standing(root: FloatArray, lowest: FloatArray, size: float) -> _Standing:
    """Return height and variation of the lowest joint, from the root's heights (F,)."""
    heights = (root + lowest) / size
    middle = np.median(heights)
    return _Standing(float(np.percentile(heights, ON_GROUND)),
                     float(np.median(np.abs(heights - middle))))


def _stands(root: FloatArray, lowest: FloatArray, size: float, factor: float) -> bool:
    """Return whether the body stands on the ground if the path is scaled by ``factor``."""
    before, after = _standing(root, lowest, size), _standing(factor * root, lowest, size)
    # A path that is too large varies too much in height, by the same factor.
    return abs(after.height) < NEAR and after.wavers <= max(before.wavers, STEADY)
