"""Turn segments with global positions and orientations into a skeleton's motion."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray

# Greatest difference of a quaternion's length from 1.
LENGTH_OFF = 0.05


def motion_of_segments(path: Path, names: tuple[str, ...], parents: NDArray[np.intp], fps: float,
                       rotations: FloatArray, positions: FloatArray) -> Motion:
    """Return the motion of segments, parents first.

    ``rotations`` (F, S, 4) are global orientations, the identity in a T pose; ``positions`` (F, S,
    3) are positions. Raises RequestError if the segments are not connected into one body.
    """
    lengths = np.linalg.norm(rotations, axis=-1)
    if np.abs(lengths - 1.0).max() > LENGTH_OFF:
        raise RequestError(f"{path}: has orientations that are not unit quaternions")
    rotations = rotations / lengths[..., None]
    above = parents[1:]
    if parents[0] != -1 or np.any(above < 0) or np.any(above >= np.arange(1, len(names))):
        raise RequestError(f"{path}: its joints do not connect the segments into one body")
    offsets = np.median(quaternions.rotate(quaternions.conjugate(rotations[:, above]),
                                           positions[:, 1:] - positions[:, above]), axis=0)
    heads = np.zeros((len(names), 3))
    for joint, parent in enumerate(above.tolist(), start=1):
        heads[joint] = heads[parent] + offsets[joint - 1]
    tails = heads + (heads - heads[np.maximum(parents, 0)]) / 2
    for joint in range(len(names)):
        below = heads[parents == joint]
        if len(below):
            tails[joint] = below.mean(axis=0)
    skeleton = Skeleton(names, parents, heads, tails)
    return Motion.from_global_rotations(skeleton, fps, positions[:, 0],
                                        quaternions.without_flips(rotations))
