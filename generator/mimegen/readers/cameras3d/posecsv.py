"""Read CSV tables of joint positions.

A table has one line per frame with three columns per joint, or one line per joint and frame. Pose
estimators' scripts name columns nose_x, x_nose, NOSE.X or x0, and may leave out the header.
"""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.faces import refuse_faces
from mimegen.readers.cameras3d.people import EXPECTED, tracked_people
from mimegen.readers.cameras3d.skeletons import SETS
from mimegen.readers.cameras3d.tracked import recording_of_tracked
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.rates import evened, numbered_rows, rate_of_times, spread
from mimegen.readers.recording import Recording
from mimegen.readers.text import text_of

# Columns of time, with their units per second.
TIMES = {"time": 1.0, "time_s": 1.0, "timestamp": 1.0, "seconds": 1.0, "t": 1.0, "time_ms": 1e3,
         "timestamp_ms": 1e3, "timestamp_us": 1e6, "timestamp_usec": 1e6, "timestamp_ns": 1e9}
FRAMES = ("frame", "frame_id", "frame_idx", "frame_index", "frame_number", "frame_no", "image_id")
JOINTS = ("landmark", "landmark_id", "landmark_index", "landmark_name", "joint", "joint_id",
          "joint_name", "joint_index", "keypoint", "keypoint_id", "name", "id", "marker")
# A column's name ends or begins with its axis.
AT_END, AT_START = (re.compile(r"(^|[\W_\d])[xyz]\d*$"), re.compile(r"^[xyz][\W_]"))
# Tables without a header: columns -> numbers of a joint. The first three are its position; others
# tell how visible it is.
HEADLESS = {99: 3, 132: 4, 165: 5, 51: 3, 68: 4, 75: 3, 96: 3}
MAX_JOINTS = 600
Rows = list[list[str]]


def read_pose_csv(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a person from a CSV table of joints. Raises RequestError if it is not such a table."""
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
        return _recording(path, joints, _Timing(), options)
    long = _line_a_joint(path, head, rows)
    if long is not None:
        return _recording(path, *long, options)
    body = rows[1:]
    columns = [number for number, name in enumerate(head) if AT_END.search(name)] or [
        number for number, name in enumerate(head) if AT_START.search(name)]
    if len(columns) % 3 or len(columns) // 3 not in SETS:
        raise RequestError(f"{path}: has {len(columns)} columns that begin or end in x, y or z;"
                           f" expected three for each of {EXPECTED} joints")
    joints = _table(path, body, columns, 1).reshape(len(body), -1, 3)
    return _recording(path, joints, _timing(head, body), options)


class _Timing(NamedTuple):
    """The times (F,) of a table's frames in seconds, and the frames' rows by their numbers.

    Each is None if the table does not have it.
    """

    times: FloatArray | None = None
    rows: list[int] | None = None


def _recording(path: Path, joints: FloatArray, timing: _Timing, options: ReadOptions
               ) -> Recording:
    """Return the recording of joints (F, J, 3), with missing frames as gaps."""
    notes: tuple[str, ...] = ()
    fps = rate_of_times(timing.times) if timing.times is not None else 0.0
    if fps and options.fps_of_file is None and timing.times is not None:
        joints, notes = evened(timing.times, joints, fps)
    elif timing.rows is not None:
        joints = spread(joints, timing.rows)
    tracked = tracked_people(path, {"0": list(enumerate(joints))}, len(joints), fps or None)
    return recording_of_tracked(path, replace(tracked, notes=notes), options)


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
                  ) -> tuple[FloatArray, _Timing] | None:
    """Return joints (F, J, 3) and the timing of a table with a line for each joint, or None."""
    frame = next((head.index(name) for name in FRAMES if name in head), None)
    joint = next((head.index(name) for name in JOINTS if name in head), None)
    if frame is None or joint is None or not {"x", "y", "z"} <= set(head):
        return None
    positions = _table(path, rows[1:], [head.index(axis) for axis in "xyz"], 1)
    cells = [(row[frame].strip(), row[joint].strip()) if max(frame, joint) < len(row) else ("", "")
             for row in rows[1:]]
    names = list(dict.fromkeys(one for one, _ in cells))
    if all(re.fullmatch(r"\d{1,9}", name) for name in names):
        names.sort(key=int)
    frames = {name: number for number, name in enumerate(names)}
    joints = {name: number for number, name in enumerate(dict.fromkeys(one for _, one in cells))}
    if len(joints) > MAX_JOINTS:
        raise RequestError(f"{path}: has {len(joints)} joints; expected {EXPECTED}")
    if len(set(cells)) < len(cells):
        raise RequestError(f"{path}: has several lines for one joint of one frame, as of several"
                           " people; keep one person's lines")
    found = np.full((len(frames), len(joints), 3), np.nan)
    for (one, name), place in zip(cells, positions, strict=True):
        found[frames[one], joints[name]] = place
    firsts = {one: row for (one, _), row in reversed(list(zip(cells, rows[1:], strict=True)))}
    return found, _timing(head, [firsts[name] for name in frames])


def _timing(head: list[str], rows: Rows) -> _Timing:
    """Return the timing by the columns of times and of frame numbers."""
    numbers = next((column for column, name in enumerate(head) if name in FRAMES), None)
    cells = [row[numbers].strip() if numbers < len(row) else "" for row in rows] \
        if numbers is not None else [""]
    known = numbered_rows([int(cell) for cell in cells]) \
        if all(re.fullmatch(r"\d{1,9}", cell) for cell in cells) else None
    return _Timing(_times(head, rows), known)


def _times(head: list[str], rows: Rows) -> FloatArray | None:
    """Return the times (F,) of a column in seconds, or None if there is no usable column."""
    column = next((number for number, name in enumerate(head) if name in TIMES), None)
    if column is None:
        return None
    try:
        times = np.array([float(row[column]) for row in rows]) / TIMES[head[column]]
    except (ValueError, IndexError):
        return None
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    # Timestamps without a unit are milliseconds if, as seconds, steps would be 5 s or more.
    times, step = (times / 1e3, step / 1e3) if 5.0 <= step < 1e3 else (times, step)
    return times if 1e-4 < step < 1.0 else None
