"""Read arrays of joint positions from pose estimators, Kinect, Human3.6M and AIST++."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.people import tracked_people
from mimegen.readers.cameras3d.skeletons import SETS
from mimegen.readers.cameras3d.tracked import recording_of_tracked
from mimegen.readers.options import ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.smpl.parameters import rate_in
from mimegen.readers.smpl.rotations import is_numeric

# Keys of joints in dictionaries, the least ambiguous first.
NAMES = ("keypoints3d_optim", "keypoints3d", "keypoints_3d", "joints3d", "joints_3d", "pose3d",
         "poses3d", "poses_3d", "pose_3d", "kpts3d", "reconstruction", "pred_3d", "joints_cam",
         "joints", "positions", "skeleton", "landmarks", "arr_0")
# Key of VideoPose3D's Human3.6M joints, by subject and action, and their rate (Hz).
POSITIONS, FPS = "positions_3d", 50.0
# Keys of people in NTU RGB+D that was converted to arrays.
NTU_BODY = re.compile(r"skel_body\d+")
MAX_PEOPLE = 10
# Most levels of nested dictionaries.
DEEPEST = 3
# Numbers that a joint may have; the first three are its position.
PLACES = (3, 4, 5)
# Numbers of a frame in one row -> numbers of a joint.
ROWS = {51: 3, 75: 3, 99: 3, 132: 4}


def joint_people(tree: Any) -> tuple[dict[str, FloatArray], float | None] | None:
    """Return joints (F, J, 3) by person and the file's rate or None; None if it has no joints."""
    if is_numeric(tree):
        people = _people_of(tree)
        return None if not people else (people, None)
    if not isinstance(tree, dict):
        return None
    bodies = {str(name): held for name, held in tree.items() if NTU_BODY.fullmatch(str(name))}
    if bodies:
        people = {name: one for name, held in bodies.items() for one in _people_of(held).values()}
        return (people, rate_in(tree)) if people else None
    if isinstance(tree.get(POSITIONS), dict):
        people = dict(_flattened(tree[POSITIONS], ""))
        return (people, rate_in(tree) or FPS) if people else None
    names = [name for name in NAMES if name in tree] or (list(tree) if len(tree) == 1 else [])
    found = next((people for name in names if (people := _people_of(tree[name]))), None)
    return (found, rate_in(tree)) if found else None


def recording_of_joints(path: Path, people: Mapping[str, FloatArray], fps: float | None,
                        options: ReadOptions) -> Recording:
    """Return the recording of one of the people of ``joint_people``."""
    frames = max(map(len, people.values()))
    held = {key: list(enumerate(positions)) for key, positions in people.items()}
    return recording_of_tracked(path, tracked_people(path, held, frames, fps), options)


def _flattened(tree: Mapping[Any, Any], above: str, depth: int = 1) -> list[tuple[str, FloatArray]]:
    """Return name and joints of each person in nested dictionaries."""
    found: list[tuple[str, FloatArray]] = []
    for name, held in tree.items():
        whole = f"{above} {name}".strip()
        if isinstance(held, dict) and depth < DEEPEST:
            found += _flattened(held, whole, depth + 1)
        else:
            found += [(whole, one) for one in _people_of(held).values()]
    return found


def _people_of(array: Any) -> dict[str, FloatArray]:
    """Return the joints (F, J, 3) of each person in an array; none if it holds no joints."""
    if not is_numeric(array):
        return {}
    if array.ndim == 2 and array.shape[1] in ROWS:
        array = array.reshape(len(array), -1, ROWS[array.shape[1]])
    if array.ndim == 3:
        array = array[None]
    if array.ndim != 4 or array.shape[2] not in SETS or array.shape[3] not in PLACES:
        return {}
    if array.shape[1] < MAX_PEOPLE <= array.shape[0]:
        array = np.swapaxes(array, 0, 1)
    positions = np.asarray(array[..., :3], float)
    return {str(number): np.where(np.isfinite(one), one, np.nan)
            for number, one in enumerate(positions)}
