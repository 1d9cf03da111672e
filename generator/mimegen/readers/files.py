"""Checks that a file must pass before any reader opens it."""

import json
from pathlib import Path
from urllib.parse import unquote

from mimegen.base.errors import RequestError
from mimegen.base.file_signatures import refuse_foreign

# Largest file read, in bytes. An hour of a whole body takes some 250 MB as text, and reading it
# takes a multiple of that in memory.
MAX_FILE_BYTES = 512 * 2**20


def check_file(path: Path) -> None:
    """Raise RequestError if a file is missing, empty, too large, or clearly of another kind."""
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
    """Raise RequestError if a file is larger than ``MAX_FILE_BYTES``."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise RequestError(f"{path}: is {path.stat().st_size / 2**20:.0f} MiB, more than the limit"
                           f" of {MAX_FILE_BYTES // 2**20} MiB; export a part of it")


def buffers_beside(path: Path) -> tuple[Path, ...]:
    """Return the binary files that a .gltf file refers to; none for any other kind of file."""
    if path.suffix.lower() != ".gltf":
        return ()
    try:
        buffers = json.loads(path.read_bytes())["buffers"]
        names = [str(buffer["uri"]) for buffer in buffers if "uri" in buffer]
    # The reader refuses damaged files.
    except (ValueError, KeyError, TypeError):
        return ()
    return tuple(path.parent / unquote(name) for name in names if not name.startswith("data:"))
