"""Read SMPL's parameters from one array without names, with one row of numbers per frame."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.skeletons import are_limbs
from mimegen.readers.smpl.bodies import are_places
from mimegen.readers.smpl.parameters import MAX_VALUE
from mimegen.readers.smpl.reading import World
from mimegen.readers.smpl.rotations import SIX

MOTION_X = World("Y", "Motion-X has Y up", "Motion-X", 30.0)
PLAIN = World("Y", "SMPL's own axes have Y up", "SMPL", 30.0)
# Numbers of a row that holds the rotation vectors of all joints of SMPL, SMPL-H or SMPL-X.
WHOLE_POSES = (72, 156, 165)
# Numbers of joints, and numbers of a joint, of arrays with an axis of joints.
BY_JOINT, NUMBERS = (24, 52, 55), (3, 4, 6, 9)
# Greatest median difference from length 1 of the first vector of a joint's six numbers.
LOOSE = 0.05
KINECT = 25


@dataclass(frozen=True)
class _Row:
    """The numbers of a frame: first ``contacts``, then three of the path, then rotations.

    There are ``joints`` rotations of ``each`` numbers.
    """

    contacts: int
    joints: int
    each: int


# Layouts by the numbers of a frame. EDGE, LODGE and FineDance (30 fps) write dances with six
# numbers per joint; others write rotation vectors after the path.
ROWS = {135: _Row(0, 22, 6), 139: _Row(4, 22, 6), 147: _Row(0, 24, 6), 151: _Row(4, 24, 6),
        315: _Row(0, 52, 6), 319: _Row(4, 52, 6), 69: _Row(0, 22, 3), 75: _Row(0, 24, 3),
        159: _Row(0, 52, 3), 168: _Row(0, 55, 3)}


def flat_parameters(array: NDArray[Any]) -> tuple[World, Mapping[str, Any]] | None:
    """Return the world and the parameters by name that an array holds, or None if it has none."""
    if array.dtype.kind != "f" or array.ndim not in (2, 3):
        return None
    # Judge the array by values that a motion may have; others are refused later.
    held = np.clip(np.nan_to_num(array.astype(float)), -MAX_VALUE, MAX_VALUE)
    if array.ndim == 3:
        by_joint = array.shape[1] in BY_JOINT and array.shape[2] in NUMBERS
        return (PLAIN, {"poses": array}) if by_joint and not are_places(held) else None
    if array.shape[1] == 322:
        return MOTION_X, _motion_x(array)
    if array.shape[1] in WHOLE_POSES:
        return None if _holds_places(held) else (PLAIN, {"poses": array})
    row = ROWS.get(array.shape[1])
    if row is None or not (_turns(held, row) if row.each == SIX else not _holds_places(held)):
        return None
    path, pose = np.split(array[:, row.contacts:], [3], axis=1)
    return PLAIN, {"trans": path, "poses": pose}


def _motion_x(array: FloatArray) -> Mapping[str, Any]:
    """Return Motion-X's parameters from its 322 numbers per frame; 30 fps, Y up.

    By its README, these are root, body, hands, jaw, 50 of the face's expression, 100 of its shape,
    translation and betas.
    """
    return {"root_orient": array[:, :3], "pose_body": array[:, 3:66], "pose_hand": array[:, 66:156],
            "pose_jaw": array[:, 156:159], "trans": array[:, 309:312], "betas": array[:, 312:]}


def _holds_places(array: FloatArray) -> bool:
    """Return whether rows hold positions of joints instead, such as SMPL's 24 or Kinect's 25."""
    joints = array.shape[1] // 3
    if joints * 3 != array.shape[1]:
        return False
    positions = array.reshape(len(array), joints, 3)
    return are_limbs(positions) if joints == KINECT else are_places(positions)


def _turns(array: FloatArray, row: _Row) -> bool:
    """Return whether rows hold rotations of six numbers, whose first vector has length 1."""
    pose = array[:, row.contacts + 3:]
    firsts = pose.reshape(len(pose), row.joints, 2, 3)[..., 0, :]
    woven = pose.reshape(len(pose), row.joints, 3, 2)[..., 0]
    off = [float(np.median(np.abs(np.linalg.norm(one, axis=-1) - 1.0))) for one in (firsts, woven)]
    return min(off) < LOOSE
