"""CSV of joints in space: a line a frame with three columns a joint, or a line a joint.

Pose estimators' scripts name columns nose_x, x_nose, NOSE.X or x0, and may leave the head out.
"""

import csv
import io
import re
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.faces import refuse_faces
from mimegen.readers.cameras3d.people import EXPECTED, tracked_people
from mimegen.readers.cameras3d.skeletons import SETS
from mimegen.readers.cameras3d.tracked import recording_of_tracked
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.text import text_of

# Columns of time, and how many of their units are a second.
TIMES = {"time": 1.0, "time_s": 1.0, "timestamp": 1.0, "seconds": 1.0, "t": 1.0, "time_ms": 1e3,
         "timestamp_ms": 1e3, "timestamp_us": 1e6, "timestamp_usec": 1e6, "timestamp_ns": 1e9}
FRAMES = ("frame", "frame_id", "frame_idx", "frame_index", "frame_number", "frame_no", "image_id")
JOINTS = ("landmark", "landmark_id", "landmark_index", "landmark_name", "joint", "joint_id",
          "joint_name", "joint_index", "keypoint", "keypoint_id", "name", "id", "marker")
# A place is the last of a column's name, or the first.
AT_END, AT_START = (re.compile(r"(^|[\W_\d])[xyz]\d*$"), re.compile(r"^[xyz][\W_]"))
# Numbers of a frame in tables without a head: places, or places and how visible each is.
HEADLESS = {99: 3, 132: 4, 165: 5, 51: 3, 68: 4, 75: 3, 96: 3}
MOST_JOINTS = 600
Rows = list[list[str]]


def read_pose_csv(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a person of a CSV of joints. Raises RequestError where it is none."""
    rows = [row for row in csv.reader(io.StringIO("\n".join(
        text_of(path, "a CSV table").rows))) if any(cell.strip() for cell in row)]
    if len(rows) < 3:
        raise RequestError(f"{path}: has {len(rows)} lines, expected a header and at least 2"
                           " frames")
    refuse_faces(path, rows[0])
    head = [name.strip().lower() for name in rows[0]]
    if all(_is_number(cell) for cell in head) and len(head) in HEADLESS:
        joints = _table(path, rows, list(range(len(head))), 0)
        joints = joints.reshape(len(rows), -1, HEADLESS[len(head)])[..., :3]
        return _recording(path, joints, None, options)
    long = _line_a_joint(path, head, rows)
    if long is not None:
        return _recording(path, *long, options)
    columns = [number for number, name in enumerate(head) if AT_END.search(name)] or [
        number for number, name in enumerate(head) if AT_START.search(name)]
    if len(columns) % 3 or len(columns) // 3 not in SETS:
        raise RequestError(f"{path}: has {len(columns)} columns that begin or end in x, y or z;"
                           f" expected three for each of {EXPECTED} joints")
    joints = _table(path, rows[1:], columns, 1).reshape(len(rows) - 1, -1, 3)
    return _recording(path, joints, _rate(head, rows[1:]), options)


def _recording(path: Path, joints: FloatArray, fps: float | None, options: ReadOptions
               ) -> Recording:
    tracked = tracked_people(path, {"0": list(enumerate(joints))}, len(joints), fps)
    return recording_of_tracked(path, tracked, options)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _table(path: Path, rows: Rows, columns: list[int], first: int) -> FloatArray:
    """Return the numbers (F, K) of columns, NaN where a cell is empty."""
    table = np.full((len(rows), len(columns)), np.nan)
    for line, row in enumerate(rows):
        for place, column in enumerate(columns):
            cell = row[column].strip() if column < len(row) else ""
            try:
                table[line, place] = float(cell) if cell else np.nan
            except ValueError:
                raise RequestError(f"{path}: line {line + first + 1}: {cell[:20]!r} is not a"
                                   " number") from None
    return table


def _line_a_joint(path: Path, head: list[str], rows: Rows
                  ) -> tuple[FloatArray, float | None] | None:
    """Return joints (F, J, 3) and the rate of a table with a line for each joint, or None."""
    frame = next((head.index(name) for name in FRAMES if name in head), None)
    joint = next((head.index(name) for name in JOINTS if name in head), None)
    if frame is None or joint is None or not {"x", "y", "z"} <= set(head):
        return None
    places = _table(path, rows[1:], [head.index(axis) for axis in "xyz"], 1)
    cells = [(row[frame].strip(), row[joint].strip()) if max(frame, joint) < len(row) else ("", "")
             for row in rows[1:]]
    frames = {name: number for number, name in enumerate(dict.fromkeys(one for one, _ in cells))}
    joints = {name: number for number, name in enumerate(dict.fromkeys(one for _, one in cells))}
    if len(joints) > MOST_JOINTS:
        raise RequestError(f"{path}: has {len(joints)} joints; expected {EXPECTED}")
    found = np.full((len(frames), len(joints), 3), np.nan)
    for (one, name), place in zip(cells, places, strict=True):
        found[frames[one], joints[name]] = place
    firsts = {one: row for (one, _), row in reversed(list(zip(cells, rows[1:], strict=True)))}
    return found, _rate(head, [firsts[name] for name in frames])


def _rate(head: list[str], rows: Rows) -> float | None:
    """Return the rate that a column of times tells, or None."""
    column = next((number for number, name in enumerate(head) if name in TIMES), None)
    if column is None:
        return None
    try:
        times = np.array([float(row[column]) for row in rows]) / TIMES[head[column]]
    except (ValueError, IndexError):
        return None
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    # Stamps of no stated unit are milliseconds where they would be a second and more.
    step = step / 1e3 if 5.0 <= step < 1e3 else step
    return 1.0 / step if 1e-4 < step < 1.0 else None
