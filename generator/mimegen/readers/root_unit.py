"""Files whose root moves in another unit than their bones have: metres over centimetres, say."""

from typing import NamedTuple

import numpy as np

from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray

# Units that software mixes differ by powers of ten: metres, decimetres, centimetres, millimetres.
FACTORS = (10.0, 100.0, 1000.0, 0.1, 0.01, 0.001)
# Poses looked at, evenly spread.
POSES = 120
# Of the body's size: how near to the file's ground the lowest joint must come once it is scaled,
# how far it must be as it is, and how much its height may waver where nothing in the pose tells.
NEAR = 0.1
FAR = 0.3
STEADY = 0.04
# Of the body's size: where the lowest joint of who lies on the ground or a bench is above it.
LYING = (0.0, 0.35)
# Who jumps or runs is in the air for most frames: this percentile of heights is on the ground.
ON_GROUND = 20.0


class _Standing(NamedTuple):
    """How the lowest joint stands to the file's ground: its height there, and how that wavers."""

    height: float
    wavers: float


def in_one_unit(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """Return the motion with its root's path in the unit of its bones, and a note if it changed.

    The root's path is in another unit where the body hangs far above or below the file's ground,
    but stands on it, no less steadily, with the path scaled by a power of ten.
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
    """Say whether a body lies as it is: ``longest`` along another axis than Y, most files' up, and
    on Y's ground.
    """
    lowest = float(np.median(motion.global_pose.positions[..., 1].min(axis=1))) / size
    return longest != 1 and LYING[0] <= lowest <= LYING[1]


def _standing(root: FloatArray, lowest: FloatArray, size: float) -> _Standing:
    heights = (root + lowest) / size
    middle = np.median(heights)
    return _Standing(float(np.percentile(heights, ON_GROUND)),
                     float(np.median(np.abs(heights - middle))))


def _stands(root: FloatArray, lowest: FloatArray, size: float, factor: float) -> bool:
    before, after = _standing(root, lowest, size), _standing(factor * root, lowest, size)
    # A path that is too large wavers by what it is too large by.
    return abs(after.height) < NEAR and after.wavers <= max(before.wavers, STEADY)
