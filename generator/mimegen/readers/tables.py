"""Read CSV files: tables of markers or bones by Motive and Nexus, and other tables of joints."""

from pathlib import Path

from mimegen.readers.c3d import read_c3d
from mimegen.readers.cameras3d.posecsv import read_pose_csv
from mimegen.readers.markertables import is_nexus
from mimegen.readers.motive import read_bones
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.suits.motive_bones import recording_of_bones, roles_of_bones

# Bytes read from the beginning of a file.
HEAD = 64


def read_csv(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a person from a table of markers, bones or joints.

    Raises RequestError as the reader of that kind of table does.
    """
    if is_nexus(path):
        return read_c3d(path, options)
    with path.open("rb") as opened:
        head = opened.read(HEAD)
    if head.lstrip(b"\xef\xbb\xbf").startswith(b"Format Version"):
        return _of_bones(path, options) or read_c3d(path, options)
    return read_pose_csv(path, options)


def _of_bones(path: Path, options: ReadOptions) -> Recording | None:
    """Return the recording of a skeleton's bones, or None if no whole body's bones are there."""
    bones = read_bones(path, options.fps_of_file)
    roles = {} if bones is None else roles_of_bones(bones.names)
    if bones is None or not roles:
        return None
    order = [bones.names.index(name) for name in roles.values()]
    return recording_of_bones(path, roles, bones.rotations[:, order], bones.positions[:, order],
                              bones.fps, options)
