"""Read OpenSim's tables of joint angles (.mot and .sto), by its inverse kinematics or OpenCap.

Format: OpenSim's user guide, "Storage (.sto) and motion (.mot) files": header lines with inDegrees
up to endheader, the names of the columns, and one line per frame. Coordinates are those of gait2392
and of Rajagopal's model; other columns are not used. The lengths of bones are not in the file.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
from pydantic import Field

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, Vector, read_yaml_once
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.rates import evened, rate_of_times
from mimegen.readers.recording import Recording
from mimegen.readers.smpl.reading import World, upright
from mimegen.readers.text import text_of

# Letter of a side in coordinates, and the sign of its sideways axis.
SIDES = {"right": ("r", 1.0), "left": ("l", -1.0)}
AXES = {"x": 0, "y": 1, "z": 2}
# Coordinates that every file must have, of the pelvis' path, and of the knees' angles.
NEEDED = ("pelvis_tilt", "hip_flexion_r", "hip_flexion_l")
PATH = ("pelvis_tx", "pelvis_ty", "pelvis_tz")
KNEES = ("knee_angle_r", "knee_angle_l")
MAX_CELLS = 100_000_000
MAX_ABS_VALUE = 1e6
# Angles above this (two turns in radians) are taken for degrees, whatever the header states.
MAX_RADIANS = 13.0
WORLD = World("Y", "OpenSim has Y up", "OpenSim")


class _Joint(Strict):
    parent: str | None
    rest: Vector
    role: str
    turns: tuple[tuple[str, str], ...] = ()


class _Model(Strict):
    middle: Mapping[str, _Joint] = Field(min_length=3)
    sides: Mapping[str, _Joint] = Field(min_length=5)


def read_mot(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read the motion of a table of joint angles.

    Raises RequestError, with the line, if it is not such a table or has no angles of the legs.
    """
    names, table, degrees = _table(path)
    columns = _columns(names, table)
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise RequestError(f"{path}: has no column {missing[0]!r}; expected the joint angles of"
                           " OpenSim's inverse kinematics, not forces or other results")
    fps = options.fps_of_file or _rate(path, columns)
    uneven: tuple[str, ...] = ()
    if options.fps_of_file is None:
        table, uneven = evened(columns["time"], table, fps, bridged=True)
        columns = _columns(names, table)
    scale = np.pi / 180 if degrees or _look_like_degrees(columns) else 1.0
    angles = {name: values * scale for name, values in columns.items()} | {
        name: columns[name] for name in PATH if name in columns}
    notes = ("the bones' lengths are an average adult's: the file has joint angles alone", *uneven)
    angles = _with_bending_knees(angles)
    joints = _joints()
    skeleton = _skeleton(joints)
    count = len(table)
    local = np.stack([_turned(one, angles, count) for one in joints.values()], axis=1)
    path_of = np.stack([angles.get(name, np.zeros(count)) for name in PATH], axis=1)
    motion = Motion(skeleton, fps, path_of, quaternions.without_flips(local))
    return upright(path, motion, WORLD, notes, options,
                   {joint.role: name for name, joint in joints.items()})


def _table(path: Path) -> tuple[list[str], FloatArray, bool]:
    """Return the columns' names, the numbers (F, K), and whether angles are in degrees."""
    rows = text_of(path, "the text of an OpenSim motion file").rows
    end = next((n for n, row in enumerate(rows[:200]) if row.strip().lower() == "endheader"), None)
    if end is None or end + 1 >= len(rows):
        raise RequestError(f"{path}: expected a line endheader, as in OpenSim's motion files")
    head = " ".join(rows[:end]).lower()
    names = rows[end + 1].split()
    lines = [(number, row.split()) for number, row in enumerate(rows[end + 2:], end + 3)
             if row.strip()]
    if len(lines) < 2 or len(lines) * len(names) > MAX_CELLS:
        raise RequestError(f"{path}: has {len(lines)} frames, expected at least 2")
    table = np.zeros((len(lines), len(names)))
    for frame, (number, cells) in enumerate(lines):
        if len(cells) != len(names):
            raise RequestError(f"{path}: line {number}: has {len(cells)} cells, expected"
                               f" {len(names)}")
        try:
            table[frame] = [float(cell) for cell in cells]
        except ValueError:
            raise RequestError(f"{path}: line {number}: a cell is not a number") from None
    if not np.isfinite(table).all() or np.abs(table).max() > MAX_ABS_VALUE:
        raise RequestError(f"{path}: contains values that are not angles or positions")
    return names, table, re.search(r"indegrees\s*=\s*yes", head) is not None


def _columns(names: list[str], table: FloatArray) -> dict[str, FloatArray]:
    """Return the columns of a table (F, K) by the names of their coordinates."""
    return {_coordinate(name): table[:, number] for number, name in enumerate(names)}


def _coordinate(name: str) -> str:
    """Return the coordinate's name in a column's: ``/jointset/hip_r/hip_flexion_r/value``."""
    parts = name.split("/")
    return parts[-2] if len(parts) > 2 and parts[-1] == "value" else parts[-1]


def _rate(path: Path, columns: Mapping[str, FloatArray]) -> float:
    """Return the frame rate of the times. Raises RequestError if there are none."""
    rate = rate_of_times(columns.get("time", np.zeros(2)))
    if not rate > 0:
        raise RequestError(f"{path}: has no times; give the rate with --fps-of-file")
    return rate


def _look_like_degrees(columns: Mapping[str, FloatArray]) -> bool:
    """Return whether some angles are too large for radians."""
    return any(np.abs(columns[name]).max() > MAX_RADIANS for name in (*NEEDED, *KNEES)
               if name in columns)


def _with_bending_knees(angles: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Return angles with negative knee flexion, whichever sign the model uses."""
    knees = {name: angles[name] for name in KNEES if name in angles}
    if not knees or float(np.mean(list(knees.values()))) <= 0:
        return angles
    return angles | {name: -values for name, values in knees.items()}


@cache
def _joints() -> dict[str, _Joint]:
    """Return all joints by name, parents first; the left ones mirror the right ones."""
    model = read_yaml_once(data_file("rigs/skeletons/opensim.yaml"), _Model)
    found = {name: _Joint(parent=joint.parent, rest=joint.rest, role=joint.role, turns=tuple(
        (coordinate, axis) for coordinate, axis in joint.turns))
        for name, joint in model.middle.items()}
    for side, (mark, sign) in SIDES.items():
        found |= dict(_of_side(model, side, mark, sign))
    return found


def _of_side(model: _Model, side: str, mark: str, sign: float) -> Iterator[tuple[str, _Joint]]:
    """Yield name and joint of each joint of a side."""
    for name, joint in model.sides.items():
        x, y, z = joint.rest
        parent = joint.parent if joint.parent in model.middle else f"{side}_{joint.parent}"
        turns = tuple((coordinate.replace("$", mark), axis if sign > 0 or axis == "z"
                       else f"-{axis}") for coordinate, axis in joint.turns)
        yield f"{side}_{name}", _Joint(parent=parent, rest=(x, y, sign * z),
                                       role=f"{side}_{joint.role}", turns=turns)


def _skeleton(joints: Mapping[str, _Joint]) -> Skeleton:
    """Return the skeleton; bones end at the mean of their children."""
    names = tuple(joints)
    parents = np.array([-1 if joint.parent is None else names.index(joint.parent)
                        for joint in joints.values()])
    heads = np.array([joint.rest for joint in joints.values()])
    tails = heads + (heads - heads[np.maximum(parents, 0)]) / 2
    for number in range(len(names)):
        below = heads[parents == number]
        if len(below):
            tails[number] = below.mean(axis=0)
    return Skeleton(names, parents, heads, tails)


def _turned(joint: _Joint, angles: Mapping[str, FloatArray], frames: int) -> FloatArray:
    """Return a joint's local rotations (F, 4): those of its coordinates, multiplied in order."""
    whole = np.tile(quaternions.IDENTITY, (frames, 1))
    for coordinate, axis in joint.turns:
        if coordinate in angles:
            vector = np.zeros(3)
            vector[AXES[axis[-1]]] = -1.0 if axis.startswith("-") else 1.0
            whole = quaternions.multiply(whole, quaternions.from_rotation_vectors(
                angles[coordinate][:, None] * vector))
    return whole
