"""Read dictionaries of particular data sets and tools, and rename their arrays to the usual names.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mimegen.readers.rates import rate_of_times
from mimegen.readers.smpl.flat import PLAIN
from mimegen.readers.smpl.parameters import RATE, has_parameters
from mimegen.readers.smpl.reading import World
from mimegen.readers.smpl.rotations import is_numeric

Tree = Mapping[str, Any]
Found = tuple[World, Mapping[str, Any]]
# Keys of an inner dictionary with the parameters, the least ambiguous first.
WITHIN = ("body", "smplx", "smpl", "smplh", "params", "smplx_params", "smpl_params", "parameters",
          "second_person", "motion", "data")
DEEPEST = 4


def named_parameters(tree: Tree) -> Found | None:
    """Return the world and the parameters, under the usual names, of a known tool, or None."""
    for layout in (_meshcapade, _egoallo, _dip, _within):
        found = layout(tree)
        if found is not None:
            return found
    return None


def _meshcapade(tree: Tree) -> Found | None:
    """Read Meshcapade's ``.smpl`` files: ``bodyPose`` (F, 22, 3) and others (its smplcodec)."""
    pose: Any = tree.get("bodyPose")
    if not is_numeric(pose) or pose.ndim != 3 or pose.shape[1:] != (22, 3):
        return None
    found = {"root_orient": pose[:, 0], "pose_body": pose[:, 1:], "flat_hand_mean": True,
             "trans": tree.get("bodyTranslation"), "betas": tree.get("shapeParameters"),
             "fps": tree.get("frameRate"), "gender": tree.get("gender"),
             "model_type": tree.get("smplVersion", "smplx")}
    hands: list[Any] = [tree.get(f"{side}HandPose") for side in ("left", "right")]
    if all(is_numeric(hand) and len(hand) == len(pose) for hand in hands):
        found |= {"left_hand_pose": hands[0], "right_hand_pose": hands[1]}
    return World("Y", "Meshcapade has Y up", "Meshcapade", 30.0), _present(found)


def _egoallo(tree: Tree) -> Found | None:
    """Read EgoAllo: ``Ts_world_root`` (1, F, 7), quaternion (w first) and position; ``body_quats``.
    """
    root: Any = tree.get("Ts_world_root")
    body: Any = tree.get("body_quats")
    if not (is_numeric(root) and is_numeric(body) and root.shape[-1] == 7):
        return None
    root = root.reshape(-1, *root.shape[-2:])[0]
    body = body.reshape(-1, *body.shape[-3:])[0]
    times = np.ravel(tree.get("timestamps_ns", ()))
    rate = rate_of_times((times.astype(float) - float(times[0])) / 1e9) \
        if len(times) > 1 and times.dtype.kind in "iuf" else 0.0
    found = {"global_orient": root[:, :4], "body_pose": body, "transl": root[:, 4:],
             "betas": tree.get("betas"), "fps": rate or None}
    return World("Z", "EgoAllo has Z up", "EgoAllo", 30.0), _present(found)


def _dip(tree: Tree) -> Found | None:
    """Read DIP-IMU: ``gt`` (F, 72) beside the sensors' data, 60 fps."""
    if not (is_numeric(tree.get("gt")) and "imu_ori" in tree):
        return None
    return World("Y", "DIP-IMU has Y up", "DIP-IMU", 60.0), {"poses": tree["gt"]}


def _within(tree: Tree) -> Found | None:
    """Read GRAB and others: parameters in an inner dictionary, rate and gender in the outer one."""
    held: Tree = tree
    outer: dict[str, Any] = {}
    for _ in range(DEEPEST):
        if has_parameters(held):
            return None if held is tree else (PLAIN, outer | dict(held))
        outer |= {name: held[name] for name in (*RATE, "gender") if name in held}
        inner = next((held[name] for name in WITHIN if isinstance(held.get(name), dict)), None)
        if inner is None:
            return None
        held = inner
    return None


def _present(found: dict[str, Any]) -> dict[str, Any]:
    """Return the entries that are not None."""
    return {name: value for name, value in found.items() if value is not None}


def by_frame_and_person(tree: list[Any]) -> list[list[tuple[str, dict[str, Any]]]] | None:
    """Return id and parameters of the people in each frame of EasyMocap's lists, or None.

    A frame is a list of people, or a dictionary with such a list as ``annots``.
    """
    frames = [frame.get("annots") if isinstance(frame, dict) else frame for frame in tree]
    if not frames or not all(isinstance(frame, list) for frame in frames):
        return None
    people = [[person for person in frame or ()
               if isinstance(person, dict) and has_parameters(person)] for frame in frames]
    if not any(people):
        return None
    return [[(_text(person.get("id", number)), person) for number, person in enumerate(frame)]
            for frame in people]


def flat_tracks(tree: Tree) -> dict[str, dict[str, Any]] | None:
    """Split arrays that hold the rows of all people, such as CoMotion's, by person; else None.

    ``id`` (or a similar key) gives each row's person, ``frame_idx`` its frame.
    """
    ids = next((np.ravel(tree[name]) for name in ("id", "ids", "track_id", "track_ids", "person_id")
                if is_numeric(tree.get(name))), None)
    frames = next((np.ravel(tree[name]) for name in ("frame_idx", "frame_ids", "frame", "frames",
                                                     "frame_id") if is_numeric(tree.get(name))),
                  None)
    if ids is None or frames is None or len(ids) < 2 or len(ids) != len(frames) \
            or ids.dtype.kind not in "iu":
        return None
    whole = {name: value for name, value in tree.items()
             if is_numeric(value) and value.ndim and len(value) == len(ids)}
    if not has_parameters(whole):
        return None
    made = {}
    for one in np.unique(ids):
        rows = np.flatnonzero(ids == one)
        rows = rows[np.argsort(frames[rows], kind="stable")]
        made[str(one)] = {name: value[rows] for name, value in whole.items()} | {
            "frame_ids": frames[rows]}
    return made


def _text(found: Any) -> str:
    """Return an id as text."""
    return str(found.item() if isinstance(found, np.ndarray | np.generic) and found.size == 1
               else found)
