"""Move what workers made in the store to the folder it is meant for."""

import shutil
from pathlib import Path

from mimegen.base.files import publishing


def move(source: Path, target: Path) -> None:
    """Move a file or folder, across disks if need be, so that the target is never seen incomplete.

    Raises DiskFullError if the disk is full, RequestError if ``target`` cannot be written.
    """
    try:
        source.replace(target)
    except OSError:
        with publishing(target) as part:
            _copy(source, part)
        remove(source)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder with its content; stop at the first error, such as a full disk.

    shutil.copytree would go on and then report all files in a single error without an errno.
    """
    for path in sorted([source, *source.rglob("*")]):
        place = target / path.relative_to(source)
        if path.is_dir():
            place.mkdir()
        else:
            shutil.copyfile(path, place)


def remove(path: Path) -> None:
    """Remove a file or folder if it exists."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
