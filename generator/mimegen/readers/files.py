"""What must be true of a file before any reader opens it."""

import json
from pathlib import Path
from urllib.parse import unquote

from mimegen.base.errors import RequestError
from mimegen.base.foreign import refuse_foreign

# An hour of a whole body has some 250 MB as text; reading takes a multiple of that in memory.
LARGEST = 512 * 2**20


def check_file(path: Path) -> None:
    """Raise RequestError where there is no file, nothing or far too much in it, or another kind."""
    if path.is_dir():
        raise RequestError(f"{path}: is a folder, expected a motion file")
    if not path.exists():
        raise RequestError(f"{path}: is a broken link; the file was moved" if path.is_symlink()
                           else f"{path}: no such file")
    if path.stat().st_size == 0:
        raise RequestError(f"{path}: is empty, expected a motion file; export it again")
    check_size(path)
    refuse_foreign(path)


def check_size(path: Path) -> None:
    """Raise RequestError where a file is larger than any that is read."""
    if path.stat().st_size > LARGEST:
        raise RequestError(f"{path}: is {path.stat().st_size / 2**20:.0f} MiB, more than the limit"
                           f" of {LARGEST // 2**20} MiB; export a part of it")


def buffers_beside(path: Path) -> tuple[Path, ...]:
    """Return the files beside a .gltf file that hold its numbers; none for any other kind."""
    if path.suffix.lower() != ".gltf":
        return ()
    try:
        buffers = json.loads(path.read_bytes())["buffers"]
        names = [str(buffer["uri"]) for buffer in buffers if "uri" in buffer]
    # Damaged files are the reader's to refuse.
    except (ValueError, KeyError, TypeError):
        return ()
    return tuple(path.parent / unquote(name) for name in names if not name.startswith("data:"))
