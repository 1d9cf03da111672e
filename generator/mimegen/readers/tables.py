"""CSV files: Motive's tables of markers, and any other table of joints."""

from pathlib import Path

from mimegen.readers.c3d import read_c3d
from mimegen.readers.cameras3d.posejson import read_pose_csv
from mimegen.readers.options import AS_FOUND, ReadOptions
from mimegen.readers.recording import Recording

HEAD = 64


def read_csv(path: Path, options: ReadOptions = AS_FOUND) -> Recording:
    """Read a person from a table. Raises RequestError as the readers of either kind."""
    with path.open("rb") as opened:
        head = opened.read(HEAD)
    if head.lstrip(b"\xef\xbb\xbf").startswith(b"Format Version"):
        return read_c3d(path, options)
    return read_pose_csv(path, options)
