"""Read motions from files of arrays; the content tells which tool wrote them."""

from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.readers.arrays import tree_of
from mimegen.readers.cameras3d.jointarrays import joint_people, recording_of_joints
from mimegen.readers.npz import SHAPES, read_npz
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.smpl.choosing import recording_of_people
from mimegen.readers.smpl.layouts import people_in
from mimegen.readers.smpl.parameters import UnreadableError
from mimegen.readers.soma import is_soma, recording_of_soma
from mimegen.readers.text_to_motion.layouts import takes_in
from mimegen.readers.text_to_motion.reading import recording_of_takes


def read_arrays(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read the motion of one person from an npz, npy, pickle, joblib or torch file.

    Raises RequestError, one line, if the file is damaged, holds code, holds no known kind of
    motion, or holds several people of whom none is chosen.
    """
    tree = tree_of(path)
    if isinstance(tree, dict) and {"names", "parents", "root_positions"} <= tree.keys():
        return read_npz(path, options)
    try:
        people = people_in(tree)
        if people is not None:
            return recording_of_people(path, people, options)
        if is_soma(tree):
            return recording_of_soma(path, tree, options)
        takes = takes_in(tree)
        if takes is not None:
            return recording_of_takes(path, takes, options)
        joints = joint_people(tree)
        if joints is not None:
            return recording_of_joints(path, *joints, options)
    except UnreadableError as problem:
        raise RequestError(f"{path}: {problem}") from None
    raise RequestError(f"{path}: {_held(tree)}; expected a motion of mimegen ({', '.join(SHAPES)}),"
                       " of SMPL (poses and trans, or global_orient and body_pose), HumanML3D"
                       " joints (frames, 22, 3) or vectors (frames, 263), or Kimodo's"
                       " posed_joints")


def _held(tree: Any) -> str:
    """Describe a file's content for an error message."""
    if isinstance(tree, dict):
        names = ", ".join(f"{str(name)[:40]} {getattr(value, 'shape', '')}".strip()
                          for name, value in list(tree.items())[:6])
        return f"its arrays are of no known kind of motion ({names or 'none'})"
    return f"holds an array of no known kind of motion {getattr(tree, 'shape', type(tree))}"
