"""Read BVH files: a tree of joints and a table of channel values, one row per frame.

Format: Meredith and Maddock, "Motion Capture File Formats Explained" (2001), section 4.2. A
joint's rotation is the product of its channels' rotations in the order in which they are listed.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.bvh_text import BvhJoint, hierarchy_of, parts_of, table_of
from mimegen.readers.canonical import canonical_recording
from mimegen.readers.gaps import bridged_positions, bridged_rotations, gap_notes
from mimegen.readers.options import ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.root_unit import in_one_unit
from mimegen.readers.text import text_of


def read_bvh_recording(path: Path, options: ReadOptions) -> Recording:
    """Read a BVH file in mimegen's convention. Raises RequestError as ``read_bvh``."""
    motion, notes = read_bvh(path, options.fps_of_file)
    return canonical_recording(path, motion, "BVH", notes, options)


def read_bvh(path: Path, fps: float | None = None) -> tuple[Motion, tuple[str, ...]]:
    """Read a BVH file in its own units and axes; ``fps`` overrides the file's own rate.

    Return the motion, with the file's rest pose, and notes on oddities that were corrected. Raises
    RequestError, with file, line and what was expected, for anything but a complete BVH file of
    one skeleton with at least two frames.
    """
    rows, coded = text_of(path, "the text of a BVH file")
    if not any(row.strip() for row in rows):
        raise RequestError(f"{path}: is empty, expected a BVH file")
    rows, start, plain = parts_of(path, rows)
    joints, named = hierarchy_of(path, rows[:start])
    table, rate, counted = table_of(path, rows, start, joints, fps)
    motion, more = _motion(path, joints, table, rate)
    motion, scaled = in_one_unit(motion)
    return motion, (*coded, *plain, *named, *counted, *more, *scaled)


def _motion(path: Path, joints: list[BvhJoint], table: FloatArray,
            rate: float) -> tuple[Motion, tuple[str, ...]]:
    """Return the motion of a table (F, C), with oddities corrected, and notes.

    A root above the joint that moves is merged into it. A bone that changes its length keeps the
    median one, and its parent turns instead.
    """
    offsets = np.array([joint.offset for joint in joints])
    rotations, moves = _channels(joints, np.nan_to_num(table), offsets)
    rotations, moves, gaps = _without_gaps(joints, table, rotations, moves)
    notes = [*gaps]
    while len(joints) > 1 and [joint.parent for joint in joints].count(0) == 1 and any(
            "position" in channel for channel in joints[1].channels):
        notes.append(f"{joints[0].name!r} above {joints[1].name!r}: its movement is added to the"
                     " joint below it")
        joints, rotations, moves, offsets = _folded(joints, rotations, moves, offsets)
    count = len(joints)
    parents = np.array([joint.parent for joint in joints])
    for joint in range(1, count):
        if any("position" in channel for channel in joints[joint].channels):
            offsets[joint] = np.median(moves[:, joint], axis=0)
    heads = offsets.copy()
    for joint in range(1, count):
        heads[joint] += heads[parents[joint]]
    motion = Motion(_skeleton(joints, parents, heads), rate, moves[:, 0], rotations)
    drift = np.abs(moves[:, 1:] - offsets[1:]).max(axis=(0, 2), initial=0.0)
    size = np.ptp(heads, axis=0).max()
    moving = [joints[j + 1].name for j in np.flatnonzero(drift > 0.003 * size)]
    if moving:
        motion = _with_moving_joints(motion, moves)
        notes.append(f"{len(moving)} bones change length or slide in the file ({moving[0]!r}):"
                     " their mean length is kept and their parents turn instead")
    return motion, tuple(notes)


def _folded(joints: list[BvhJoint], rotations: FloatArray, moves: FloatArray,
            offsets: FloatArray) -> tuple[list[BvhJoint], FloatArray, FloatArray, FloatArray]:
    """Merge a root into its only child, which has a path of its own."""
    moves[:, 1] = moves[:, 0] + quaternions.rotate(rotations[:, 0], moves[:, 1])
    rotations[:, 1] = quaternions.multiply(rotations[:, 0], rotations[:, 1])
    rest = [replace(joint, parent=joint.parent - 1) for joint in joints[1:]]
    return rest, rotations[:, 1:], moves[:, 1:], offsets[1:]


def _channels(joints: list[BvhJoint], table: FloatArray,
              offsets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return local rotations (F, J, 4) and the joints' offsets (F, J, 3) from their parents."""
    rotations = np.tile(quaternions.IDENTITY, (len(table), len(joints), 1))
    moves = np.tile(offsets, (len(table), 1, 1))
    by_order: dict[str, list[tuple[int, list[int]]]] = {}
    column = 0
    for number, joint in enumerate(joints):
        turns = []
        for channel in joint.channels:
            if channel.endswith("position"):
                moves[:, number, "xyz".index(channel[0])] = table[:, column]
            else:
                turns.append((channel[0].upper(), column))
            column += 1
        if turns:
            order = "".join(axis for axis, _ in turns)
            by_order.setdefault(order, []).append((number, [c for _, c in turns]))
    for order, members in by_order.items():
        angles = table[:, [columns for _, columns in members]]
        rotations[:, [number for number, _ in members]] = quaternions.from_euler(order, angles)
    return rotations, _with_default_offsets(joints, moves, offsets)


def _without_gaps(joints: list[BvhJoint], table: FloatArray, rotations: FloatArray,
                  moves: FloatArray) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Bridge rotations (F, J, 4) and offsets (F, J, 3) where a channel is NaN; also return notes.
    """
    if not np.isnan(table).any():
        return rotations, moves, ()
    turns, shifts = np.zeros((2, *rotations.shape[:2]), bool)
    owners = [(number, channel) for number, joint in enumerate(joints)
              for channel in joint.channels]
    for column in np.flatnonzero(np.isnan(table).any(axis=0)).tolist():
        number, channel = owners[column]
        lost = shifts if channel.endswith("position") else turns
        lost[:, number] |= np.isnan(table[:, column])
    notes = gap_notes([joint.name for joint in joints], turns | shifts)
    return bridged_rotations(rotations, turns), bridged_positions(moves, shifts), notes


def _with_default_offsets(joints: list[BvhJoint], moves: FloatArray,
                          offsets: FloatArray) -> FloatArray:
    """Use OFFSET if all position channels below the root are zero: here they add to OFFSET."""
    placed = [i for i, joint in enumerate(joints)
              if i and any("position" in channel for channel in joint.channels)]
    if placed and not np.any(moves[:, placed]) and np.any(offsets[placed]):
        moves[:, placed] = offsets[placed]
    return moves


def _skeleton(joints: list[BvhJoint], parents: NDArray[np.intp], heads: FloatArray) -> Skeleton:
    """Return the skeleton; bones end at their End Site or at the mean of their children."""
    tails = heads.copy()
    for number, joint in enumerate(joints):
        children = np.flatnonzero(parents == number)
        if joint.end is not None:
            tails[number] += joint.end
        elif len(children):
            tails[number] = heads[children].mean(axis=0)
    return Skeleton(tuple(joint.name for joint in joints), parents, heads, tails)


def _with_moving_joints(motion: Motion, moves: FloatArray) -> Motion:
    """Turn each bone with one child so that it points at that child's position in the file."""
    skeleton = motion.skeleton
    turned = motion.rotations.copy()
    for joint in range(len(skeleton.names)):
        children = skeleton.children(joint)
        if len(children) != 1 or not np.any(skeleton.offsets[children[0]]):
            continue
        true = moves[:, children[0]]
        true = np.where(np.any(true, axis=1, keepdims=True), true, skeleton.offsets[children[0]])
        swing = quaternions.between(skeleton.offsets[children[0]], true)
        turned[:, joint] = quaternions.multiply(turned[:, joint], swing)
        turned[:, children[0]] = quaternions.multiply(
            quaternions.conjugate(swing), turned[:, children[0]])
    return Motion(skeleton, motion.fps, motion.root_positions, quaternions.normalise(turned))
