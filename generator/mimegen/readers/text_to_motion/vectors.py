"""Decode HumanML3D's vectors of 263 numbers, and KIT-ML's of 251, to joint positions.

Guo et al., "Generating Diverse and Natural 3D Human Motions from Text" (2022). A frame holds half
of the root's turn about Y to the next frame (radians), its step in X and Z relative to its heading,
and its height; the other joints' positions relative to that heading; their rotations; velocities;
and whether the left heel and toe and the right heel and toe stand.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# Numbers of a frame -> number of joints.
JOINTS_OF = {263: 22, 251: 21}
CONTACTS = 4
# Value of a contact above which the foot stands.
STANDS = 0.5
# Greatest difference from length 1 of the rotations' columns (median); generated ones are not
# exact.
FAR = 0.3


def is_in_metres(vectors: FloatArray) -> bool:
    """Return whether vectors (F, 263 or 251) are in metres and not normalised for a model.

    The rotations' columns then have length 1. A model's input is shifted and scaled by the data
    set's mean and deviation.
    """
    joints = JOINTS_OF[vectors.shape[1]]
    start = 4 + 3 * (joints - 1)
    columns = vectors[:, start:start + 6 * (joints - 1)].reshape(-1, 3)
    return bool(abs(np.median(np.linalg.norm(columns, axis=1)) - 1.0) < FAR)


class Decoded(NamedTuple):
    """Joint positions ``positions`` (F, J, 3), Y up, facing +Z at the start.

    ``planted`` maps ``left`` and ``right`` to masks (F,) of the frames in which that foot stands.
    """

    positions: FloatArray
    planted: dict[str, NDArray[np.bool_]]


def decoded(vectors: FloatArray) -> Decoded:
    """Return the joint positions of vectors (F, 263 or 251), and when the feet stand."""
    joints = JOINTS_OF[vectors.shape[1]]
    frames = len(vectors)
    half = np.zeros(frames)
    half[1:] = np.cumsum(vectors[:-1, 0])
    back = np.zeros((frames, 4))
    back[:, 0], back[:, 2] = np.cos(half), -np.sin(half)
    steps = np.zeros((frames, 3))
    steps[1:, [0, 2]] = vectors[:-1, 1:3]
    root = np.cumsum(quaternions.rotate(back, steps), axis=0)
    root[:, 1] = vectors[:, 3]
    others = vectors[:, 4 : 4 + 3 * (joints - 1)].reshape(frames, joints - 1, 3)
    others = quaternions.rotate(back[:, None], others)
    others[..., [0, 2]] += root[:, None, [0, 2]]
    stands = vectors[:, -CONTACTS:] > STANDS
    return Decoded(np.concatenate([root[:, None], others], axis=1),
                   {"left": stands[:, :2].any(axis=1), "right": stands[:, 2:].any(axis=1)})
