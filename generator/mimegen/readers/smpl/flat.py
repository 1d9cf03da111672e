"""SMPL's parameters in one array without names: a row of numbers a frame."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.skeletons import are_limbs
from mimegen.readers.smpl.bodies import are_places
from mimegen.readers.smpl.parameters import LARGEST_VALUE
from mimegen.readers.smpl.reading import World
from mimegen.readers.smpl.rotations import SIX

MOTION_X = World("Y", "Motion-X has Y up", "Motion-X", 30.0)
PLAIN = World("Y", "SMPL's own axes have Y up", "SMPL", 30.0)
WHOLE_POSES = (72, 156, 165)
BY_JOINT, NUMBERS = (24, 52, 55), (3, 4, 6, 9)
# How far off length 1 the first three of a joint's six numbers may be, in the middle.
LOOSE = 0.05
KINECT = 25


@dataclass(frozen=True)
class _Row:
    """Where a frame's numbers are: first some of contacts, the path's three, then rotations."""

    contacts: int
    joints: int
    each: int


# By how many numbers a frame has. EDGE, LODGE and FineDance (30 fps) lay out dances so, with six
# numbers a joint; others put rotation vectors after the path.
ROWS = {135: _Row(0, 22, 6), 139: _Row(4, 22, 6), 147: _Row(0, 24, 6), 151: _Row(4, 24, 6),
        315: _Row(0, 52, 6), 319: _Row(4, 52, 6), 69: _Row(0, 22, 3), 75: _Row(0, 24, 3),
        159: _Row(0, 52, 3), 168: _Row(0, 55, 3)}


def flat_parameters(array: NDArray[Any]) -> tuple[World, Mapping[str, Any]] | None:
    """Return the world and the parameters by name that an array holds, or None for another."""
    if array.dtype.kind != "f" or array.ndim not in (2, 3):
        return None
    # What is said of it, by its numbers, is told by those that a motion may have.
    held = np.clip(np.nan_to_num(array.astype(float)), -LARGEST_VALUE, LARGEST_VALUE)
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
    """Motion-X: 322 numbers a frame: root, body, hands, jaw, 50 of the face, 100 of its shape,
    translation, betas (its README); 30 fps, Y up.
    """
    return {"root_orient": array[:, :3], "pose_body": array[:, 3:66], "pose_hand": array[:, 66:156],
            "pose_jaw": array[:, 156:159], "trans": array[:, 309:312], "betas": array[:, 312:]}


def _holds_places(array: FloatArray) -> bool:
    """Say whether rows are joints' places instead, as of SMPL's 24, or of Kinect's 25."""
    joints = array.shape[1] // 3
    if joints * 3 != array.shape[1]:
        return False
    places = array.reshape(len(array), joints, 3)
    return are_limbs(places) if joints == KINECT else are_places(places)


def _turns(array: FloatArray, row: _Row) -> bool:
    """Say whether rows hold six numbers of a rotation for each joint: a vector of length 1 first.
    """
    pose = array[:, row.contacts + 3:]
    firsts = pose.reshape(len(pose), row.joints, 2, 3)[..., 0, :]
    woven = pose.reshape(len(pose), row.joints, 3, 2)[..., 0]
    off = [float(np.median(np.abs(np.linalg.norm(one, axis=-1) - 1.0))) for one in (firsts, woven)]
    return min(off) < LOOSE
