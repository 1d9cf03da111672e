"""What workers made in the store, brought to the folder that it is for."""

import shutil
from pathlib import Path

from mimegen.base.files import publishing


def move(source: Path, target: Path) -> None:
    """Move a file or folder, to another disk if need be, so that it is only ever seen whole there.

    Raises DiskFullError, or RequestError where ``target`` cannot be written.
    """
    try:
        source.replace(target)
    except OSError:
        with publishing(target) as part:
            (shutil.copytree if source.is_dir() else shutil.copyfile)(source, part)
        remove(source)


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
