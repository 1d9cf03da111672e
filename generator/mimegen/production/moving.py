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
            _copy(source, part)
        remove(source)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder with all in it; the first error, as of a full disk, ends it.

    shutil.copytree goes on, and then tells of every file in one error that has no number.
    """
    for path in sorted([source, *source.rglob("*")]):
        place = target / path.relative_to(source)
        if path.is_dir():
            place.mkdir()
        else:
            shutil.copyfile(path, place)


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
