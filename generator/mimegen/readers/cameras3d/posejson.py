"""JSON and CSV of joints in space: Azure Kinect, MediaPipe's world landmarks, OpenPose's 3D.

Azure Kinect's offline processor writes ``frames`` of ``bodies`` with ``joint_positions`` (32, 3) in
millimetres; MediaPipe has 33 landmarks in metres about the hips; OpenPose 25 keypoints of four
numbers (``pose_keypoints_3d``). In all of them Y points down. A CSV has a line a frame and columns
that end in x, y and z.
"""

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.tracked import Tracked, recording_of_tracked
from mimegen.readers.files import LARGEST
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.position_layouts import file_layout
from mimegen.readers.recording import Recording
from mimegen.readers.smpl.choosing import recording_of_people
from mimegen.readers.smpl.layouts import People, people_in
from mimegen.readers.smpl.parameters import UnreadableError
from mimegen.readers.text import text_of

# Skeletons by how many joints a frame has.
LAYOUTS = {32: ("Azure Kinect", "azure"), 33: ("MediaPipe", "mediapipe"),
           25: ("OpenPose", "openpose")}
LANDMARKS = ("pose_world_landmarks", "poseWorldLandmarks", "world_landmarks", "worldLandmarks",
             "pose_landmarks", "landmarks", "keypoints3D", "keypoints_3d", "keypoints")
UNSEEN = 0.1
# The axis that is up in a camera's picture; others count where the body is along them all but so.
CAMERA_UP = "-Y"
SURELY = 0.8
# Columns of time, and how many of their units are a second.
TIMES = {"time": 1.0, "time_s": 1.0, "timestamp": 1.0, "seconds": 1.0, "t": 1.0, "time_ms": 1e3,
         "timestamp_ms": 1e3, "timestamp_us": 1e6, "timestamp_usec": 1e6, "timestamp_ns": 1e9}
MOST_FRAMES = 1_000_000
LONGEST_NOTE = 400
MOST_NOTES = 10


def read_pose_json(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a person of a JSON file of joints. Raises RequestError where it holds none."""
    try:
        tree = json.loads("\n".join(text_of(path, "JSON").rows))
    except (ValueError, RecursionError) as problem:
        raise RequestError(f"{path}: is not JSON ({str(problem)[:100]})") from None
    _refuse_faces(path, tree.get("names") if isinstance(tree, dict) else None)
    found = _parameters(path, tree)
    if found is not None:
        return recording_of_people(path, found, options)
    frames, fps = _frames(tree)
    if frames is None or not 2 <= len(frames) <= MOST_FRAMES:
        raise RequestError(f"{path}: contains no frames of joints; expected a list of frames, or"
                           " 'frames', with the bodies of Azure Kinect, 33 landmarks of MediaPipe"
                           " or pose_keypoints_3d of OpenPose")
    people: dict[str, list[tuple[int, FloatArray]]] = {}
    try:
        for number, frame in enumerate(frames):
            for key, joints in _bodies(frame):
                people.setdefault(key, []).append((number, joints))
    except (TypeError, ValueError, LookupError, AttributeError) as problem:
        raise RequestError(f"{path}: a frame contains no joints ({str(problem)[:100]})") from None
    tracked = replace(_tracked(path, people, len(frames), fps), notes=_notes(tree))
    return recording_of_tracked(path, tracked, options)


def _parameters(path: Path, tree: Any) -> People | None:
    """Return whose SMPL parameters a file holds, or None where it holds joints."""
    try:
        return people_in(tree) if isinstance(tree, dict) else None
    except UnreadableError as problem:
        raise RequestError(f"{path}: {problem}") from None


def _notes(tree: Any) -> tuple[str, ...]:
    """Return what a file says of itself, as those that mimegen makes of videos do."""
    notes = tree.get("notes") if isinstance(tree, dict) else None
    if not isinstance(notes, list):
        return ()
    return tuple(" ".join(note.split())[:LONGEST_NOTE] for note in notes[:MOST_NOTES]
                 if isinstance(note, str))


def _refuse_faces(path: Path, names: Any) -> None:
    """Raise RequestError for weights of ARKit's facial expressions, as Live Link and BEAT write."""
    if isinstance(names, list) and any(
            isinstance(name, str) and name.strip().lower() in ("eyeblinkleft", "jawopen")
            for name in names):
        raise RequestError(f"{path}: holds weights of facial expressions (ARKit) and no body; use"
                           " a file with the motion of a body")


def _frames(tree: Any) -> tuple[list[Any] | None, float | None]:
    if isinstance(tree, list):
        return tree, None
    if not isinstance(tree, dict):
        return None, None
    rate = tree.get("fps", tree.get("frame_rate", tree.get("frameRate")))
    fps = float(rate) if isinstance(rate, int | float) and 0 < rate < 10_000 else None
    for name in ("frames", *LANDMARKS, "data"):
        if isinstance(tree.get(name), list):
            return tree[name], fps or _timed(tree[name])
    return None, fps


def _timed(frames: list[Any]) -> float | None:
    """Return the rate that time stamps in microseconds tell, as Azure Kinect's."""
    times = [frame.get("timestamp_usec") for frame in frames if isinstance(frame, dict)]
    steps = np.diff([time for time in times if isinstance(time, int | float)])
    step = float(np.median(steps)) if len(steps) else 0.0
    return 1e6 / step if step > 0 else None


def _bodies(frame: Any) -> list[tuple[str, FloatArray]]:
    """Return the people of a frame by id, with joints (J, 3), NaN where unsure."""
    if isinstance(frame, dict) and isinstance(frame.get("bodies"), list):
        return [(str(body.get("body_id", number)), np.asarray(body["joint_positions"], float))
                for number, body in enumerate(frame["bodies"])]
    if isinstance(frame, dict) and isinstance(frame.get("people"), list):
        return [(str(number), _four(np.asarray(person["pose_keypoints_3d"], float)))
                for number, person in enumerate(frame["people"]) if person.get(
                    "pose_keypoints_3d")]
    found: Any
    if isinstance(frame, dict):
        found = next((frame[name] for name in LANDMARKS if isinstance(frame.get(name), list)), [])
    else:
        found = frame
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    return [("0", _landmarks(found))] if found else []


def _four(flat: FloatArray) -> FloatArray:
    """Return joints (J, 3) of OpenPose's x, y, z and confidence."""
    joints = flat.reshape(-1, 4)
    return np.where(joints[:, 3:] > 0, joints[:, :3], np.nan)


def _landmarks(found: list[Any]) -> FloatArray:
    if isinstance(found[0], dict):
        sure = [float(one.get("visibility", one.get("score", 1.0)) or 0.0) for one in found]
        places = np.array([[one["x"], one["y"], one["z"]] for one in found], float)
    else:
        numbers = np.array(found, float).reshape(len(found), -1)
        places, sure = numbers[:, :3], [1.0] * len(found)
    # What the estimator guesses of hidden joints stands beside what it sees.
    return np.concatenate([np.where(np.array(sure)[:, None] >= UNSEEN, places, np.nan), places],
                          axis=1)


def _tracked(path: Path, people: dict[str, list[tuple[int, FloatArray]]], frames: int,
             fps: float | None) -> Tracked:
    counts = {joints.shape for held in people.values() for _, joints in held}
    if len(counts) != 1 or next(iter(counts))[1:] not in ((3,), (6,)) \
            or next(iter(counts))[0] not in LAYOUTS:
        raise RequestError(f"{path}: its frames have"
                           f" {', '.join(str(shape[0]) for shape in sorted(counts)[:4]) or 'no'}"
                           " joints; expected 32 (Azure Kinect), 33 (MediaPipe) or 25 (OpenPose)")
    count = next(iter(counts))[0]
    if len(people) * frames * count > LARGEST // 8:
        raise RequestError(f"{path}: contains more people and frames than are read")
    kind, layout = LAYOUTS[count]
    made = {key: np.full((frames, count, 3), np.nan) for key in people}
    guesses = {key: places.copy() for key, places in made.items()}
    for key, held in people.items():
        for number, joints in held:
            finite = np.where(np.isfinite(joints), joints, np.nan)
            made[key][number], guesses[key][number] = finite[:, :3], finite[:, -3:]
    up = _up_of(layout, made)
    # MediaPipe's vertical is the camera's: one that looks down tilts the body (docs/research).
    return Tracked(kind, layout, up, made, fps, is_level=up == "Z", guesses=guesses)


def _up_of(layout: str, people: Mapping[str, FloatArray]) -> str:
    """Return the axis from feet to head: -Y in a camera's picture, Z or Y where several see one."""
    known = file_layout(layout)
    index, roles = known.layout.skeleton.index, known.layout.roles
    bodies = known.placed(np.concatenate(list(people.values())))
    feet = (bodies[:, index[roles["left_foot"]]] + bodies[:, index[roles["right_foot"]]]) / 2
    body = bodies[:, index[roles["head"]]] - feet
    seen = body[np.isfinite(body).all(axis=1)]
    if not len(seen):
        return CAMERA_UP
    x, y, z = np.median(seen, axis=0)
    upright = SURELY * np.linalg.norm((x, y, z))
    return "Z" if z > upright else "Y" if y > upright else CAMERA_UP


def recording_of_landmarks(path: Path, landmarks: FloatArray, options: ReadOptions) -> Recording:
    """Return the recording of an array (F, 33, 3 or more) of MediaPipe's landmarks."""
    places = np.where(np.isfinite(landmarks[..., :3]), landmarks[..., :3], np.nan)
    people = {"0": list(enumerate(places))}
    return recording_of_tracked(path, _tracked(path, people, len(places), None), options)


def read_pose_csv(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a person of a CSV of joints: a line a frame, three columns a joint in their order.

    Raises RequestError where it is none.
    """
    rows = [row for row in csv.reader(io.StringIO("\n".join(
        text_of(path, "a CSV table").rows))) if any(cell.strip() for cell in row)]
    if len(rows) < 3:
        raise RequestError(f"{path}: has {len(rows)} lines, expected a header and at least 2"
                           " frames")
    _refuse_faces(path, rows[0])
    columns = [number for number, name in enumerate(rows[0])
               if re.search(r"(^|[\W_\d])[xyz]\d*$", name.strip().lower())]
    if len(columns) % 3 or len(columns) // 3 not in LAYOUTS:
        raise RequestError(f"{path}: has {len(columns)} columns that end in x, y or z; expected"
                           " three for each of 33 (MediaPipe), 25 (OpenPose) or 32 joints (Azure"
                           " Kinect)")
    table = np.full((len(rows) - 1, len(columns)), np.nan)
    for line, row in enumerate(rows[1:]):
        for place, column in enumerate(columns):
            cell = row[column].strip() if column < len(row) else ""
            try:
                table[line, place] = float(cell) if cell else np.nan
            except ValueError:
                raise RequestError(
                    f"{path}: line {line + 2}: {cell[:20]!r} is not a number") from None
    joints = table.reshape(len(table), -1, 3)
    people = {"0": [(number, one) for number, one in enumerate(joints)]}
    return recording_of_tracked(path, _tracked(path, people, len(joints), _rate(rows)), options)


def _rate(rows: list[list[str]]) -> float | None:
    """Return the rate that a column of times tells, or None."""
    names = [name.strip().lower() for name in rows[0]]
    column = next((number for number, name in enumerate(names) if name in TIMES), None)
    if column is None:
        return None
    try:
        times = np.array([float(row[column]) for row in rows[1:]]) / TIMES[names[column]]
    except (ValueError, IndexError):
        return None
    step = float(np.median(np.diff(times)))
    return 1.0 / step if 1e-4 < step < 1.0 else None
