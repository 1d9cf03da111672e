"""From motion capture files to motions in the house's convention."""

from pathlib import Path

from mimegen.errors import RequestError
from mimegen.readers.bvh import read_bvh
from mimegen.readers.fbx import read_fbx
from mimegen.readers.house import in_house_convention
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.roles import Roles, find_roles

__all__ = ["ReadOptions", "Recording", "Roles", "find_roles", "read_motion"]


def read_motion(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a motion capture file of one person.

    Raises RequestError, one line, for a file that is missing, of another kind, or damaged.
    """
    kind = path.suffix.lower()
    if kind not in (".bvh", ".fbx"):
        raise RequestError(f"{path}: expected a motion file that ends in .bvh or .fbx")
    if kind == ".fbx":
        return read_fbx(path, options)
    if options.stack is not None:
        raise RequestError(f"{path}: only FBX files have animation stacks; leave out --stack")
    motion, notes = read_bvh(path)
    return in_house_convention(path, motion, "BVH", notes, options)
