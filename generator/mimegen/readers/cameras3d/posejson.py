"""Read JSON files of joint positions: Azure Kinect, MediaPipe's world landmarks, OpenPose's 3D.

Azure Kinect's offline processor writes ``frames`` of ``bodies`` with ``joint_positions`` (32, 3) in
millimetres. MediaPipe has 33 landmarks in metres relative to the hips. OpenPose has 25 keypoints
of four numbers (``pose_keypoints_3d``). In all of them Y points down. Frames are a list, a
dictionary by number, or one line each.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.faces import refuse_faces
from mimegen.readers.cameras3d.people import tracked_people
from mimegen.readers.cameras3d.skeletons import SETS
from mimegen.readers.cameras3d.tracked import recording_of_tracked
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.rates import numbered_rows, rate_of_times
from mimegen.readers.recording import Recording
from mimegen.readers.smpl.choosing import recording_of_people
from mimegen.readers.smpl.layouts import People, people_in
from mimegen.readers.smpl.parameters import UnreadableError
from mimegen.readers.text import text_of

# Keys of joints in a frame, preferred ones first.
LANDMARKS = ("pose_world_landmarks", "poseWorldLandmarks", "world_landmarks", "worldLandmarks",
             "pose_landmarks", "landmarks", "keypoints3D", "keypoints3d", "keypoints_3d",
             "keypoints")
MEDIAPIPE_NAMES = (
    "nose", "left_eye_inner", "left_eye", "left_eye_outer", "right_eye_inner", "right_eye",
    "right_eye_outer", "left_ear", "right_ear", "mouth_left", "mouth_right", "left_shoulder",
    "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_pinky",
    "right_pinky", "left_index", "right_index", "left_thumb", "right_thumb", "left_hip",
    "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle", "left_heel",
    "right_heel", "left_foot_index", "right_foot_index")
# Keys of a frame's own number.
NUMBERS = ("frame", "frame_id", "frame_idx", "frame_index", "frame_number", "image_id")
# Visibility below which a joint counts as not seen.
UNSEEN = 0.1
MAX_FRAMES = 1_000_000
MAX_NOTE_LETTERS = 400
MAX_NOTES = 10


def read_pose_json(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a person from a JSON file of joints. Raises RequestError if it holds no joints."""
    tree = _tree(path)
    refuse_faces(path, tree.get("names") if isinstance(tree, dict) else None)
    found = _parameters(path, tree)
    if found is not None:
        return recording_of_people(path, found, options)
    frames, fps = _frames(tree)
    frames = None if frames is None else _in_their_rows(frames)
    if frames is None or not 2 <= len(frames) <= MAX_FRAMES:
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
    tracked = replace(tracked_people(path, people, len(frames), fps), notes=_notes(tree))
    return recording_of_tracked(path, tracked, options)


def _tree(path: Path) -> Any:
    """Return the content of a JSON file, or a list of each line's if every line is JSON."""
    rows = text_of(path, "JSON").rows
    try:
        return json.loads("\n".join(rows))
    except (ValueError, RecursionError) as problem:
        try:
            lines = [json.loads(row) for row in rows if row.strip()]
        except (ValueError, RecursionError):
            raise RequestError(f"{path}: is not JSON ({str(problem)[:100]})") from None
    return lines


def _parameters(path: Path, tree: Any) -> People | None:
    """Return the people whose SMPL parameters a file holds, or None if it holds joints."""
    frames = tree.get("frames") if isinstance(tree, dict) else None
    try:
        found = people_in(tree) if isinstance(tree, dict | list) else None
        return people_in(frames) if found is None and isinstance(frames, list) else found
    except UnreadableError as problem:
        raise RequestError(f"{path}: {problem}") from None


def _notes(tree: Any) -> tuple[str, ...]:
    """Return the notes in a file; those that mimegen makes from videos have some."""
    notes = tree.get("notes") if isinstance(tree, dict) else None
    if not isinstance(notes, list):
        return ()
    return tuple(" ".join(note.split())[:MAX_NOTE_LETTERS] for note in notes[:MAX_NOTES]
                 if isinstance(note, str))


def _frames(tree: Any) -> tuple[list[Any] | None, float | None]:
    """Return the frames of a file and its rate, each None if there is none."""
    if isinstance(tree, list):
        return tree, None
    if not isinstance(tree, dict):
        return None, None
    rate = tree.get("fps", tree.get("frame_rate", tree.get("frameRate")))
    fps = float(rate) if isinstance(rate, int | float) and 0 < rate < 10_000 else None
    for name in ("frames", *LANDMARKS, "data"):
        if isinstance(tree.get(name), list):
            return tree[name], fps or _timed(tree[name])
    numbered = {key: frame for key, frame in tree.items() if re.search(r"\d", key)
                and isinstance(frame, dict | list)}
    if len(numbered) > len(tree) // 2:
        order = sorted(numbered, key=_in_order)
        return _spread([numbered[key] for key in order],
                       [_in_order(key)[0] for key in order]), fps
    return None, fps


def _in_their_rows(frames: list[Any]) -> list[Any]:
    """Return frames in the rows of their own numbers or timestamps.

    Rows are filled with None for missing frames, as those without a person may be.
    """
    for name in NUMBERS:
        found = [frame.get(name) for frame in frames if isinstance(frame, dict)]
        numbers = [number for number in found if type(number) is int]
        if len(numbers) == len(frames):
            return _spread(frames, numbers)
    stamps = _stamps(frames)
    if len(stamps) == len(frames) and (rate := rate_of_times(stamps)):
        return _spread(frames, np.round(stamps * rate).astype(int).tolist())
    return frames


def _spread(frames: list[Any], numbers: list[int]) -> list[Any]:
    """Return frames by their numbers, with None for each missing one."""
    rows = numbered_rows(numbers)
    if rows is None:
        return frames
    spread: list[Any] = [None] * (rows[-1] + 1)
    for row, frame in zip(rows, frames, strict=True):
        spread[row] = frame
    return spread


def _in_order(key: str) -> tuple[int, str]:
    """Return a key to sort frames by: the last number in their name, then the name."""
    return int(re.findall(r"\d+", key)[-1][:18]), key


def _timed(frames: list[Any]) -> float | None:
    """Return the frame rate by timestamps in microseconds, as Azure Kinect writes them, or None."""
    return rate_of_times(_stamps(frames)) or None


def _stamps(frames: list[Any]) -> FloatArray:
    """Return the times in seconds, from 0, of the frames that have a timestamp."""
    times = [frame.get("timestamp_usec") for frame in frames if isinstance(frame, dict)]
    stamps = np.array([time for time in times if isinstance(time, int | float)], float)
    return np.asarray((stamps - stamps[:1]) / 1e6)


def _bodies(frame: Any) -> list[tuple[str, FloatArray]]:
    """Return id and joints of each person in a frame.

    Joints are (J, 3), or (J, 6) with the estimator's guesses; uncertain ones are NaN.
    """
    if isinstance(frame, dict) and isinstance(frame.get("bodies"), list):
        return [(str(body.get("body_id", number)), np.asarray(body["joint_positions"], float))
                for number, body in enumerate(frame["bodies"])]
    if isinstance(frame, dict) and isinstance(frame.get("people"), list):
        return [(str(number), _four(np.asarray(person["pose_keypoints_3d"], float)))
                for number, person in enumerate(frame["people"]) if person.get(
                    "pose_keypoints_3d")]
    if isinstance(frame, list) and frame and all(
            isinstance(one, dict) and one.keys() & {*LANDMARKS} for one in frame):
        return [(str(one.get("id", number)), joints) for number, one in enumerate(frame)
                for _, joints in _bodies(one)]
    found: Any
    if isinstance(frame, dict):
        found = next((frame[name] for name in LANDMARKS
                      if isinstance(frame.get(name), list | dict)), frame)
    else:
        found = frame
    if isinstance(found, dict):
        found = _named(found)
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    return [("0", _landmarks(found))] if found else []


def _named(found: dict[str, Any]) -> list[Any]:
    """Return the landmarks of a dictionary by name, in MediaPipe's order if it has its names."""
    plain = {re.sub(r"[^a-z]", "", name.lower()): one for name, one in found.items()
             if isinstance(one, dict | list)}
    names = [name.replace("_", "") for name in MEDIAPIPE_NAMES]
    if set(names) <= plain.keys():
        return [plain[name] for name in names]
    return list(plain.values()) if len(plain) in SETS else []


def _four(flat: FloatArray) -> FloatArray:
    """Return joints (J, 3) from OpenPose's x, y, z and confidence; NaN if that is 0."""
    joints = flat.reshape(-1, 4)
    return np.where(joints[:, 3:] > 0, joints[:, :3], np.nan)


def _landmarks(found: list[Any]) -> FloatArray:
    """Return landmarks (J, 6): positions, NaN if hidden, then positions with guesses."""
    if isinstance(found[0], dict):
        sure = [float(one.get("visibility", one.get("score", 1.0)) or 0.0) for one in found]
        positions = np.array([[one["x"], one["y"], one["z"]] for one in found], float)
    else:
        numbers = np.array(found, float).reshape(len(found), -1)
        positions, sure = numbers[:, :3], [1.0] * len(found)
        if numbers.shape[1] == 4:
            sure = list(numbers[:, 3])
    # Positions that are seen, then all positions with the guesses for hidden joints.
    return np.concatenate([np.where(np.array(sure)[:, None] >= UNSEEN, positions, np.nan),
                           positions],
                          axis=1)
