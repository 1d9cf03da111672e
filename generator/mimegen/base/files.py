"""Files that are only ever seen whole, and what names their content."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from mimegen.base.errors import NO_SPACE, RequestError, disk_full
from mimegen.base.owners import owner_lives, unfinished_name, unfinished_of

# A writer that has not touched its file for so long is dead.
FORSAKEN_S = 24 * 3600.0
# What scratch folders are for, as their names say.
_SCRATCH = "mimegen"
# When a file was written, in nanoseconds, and how long it is.
Stamp = tuple[int, int]


def content_key(*parts: object) -> str:
    """Return the SHA-256 of values that JSON can hold; equal values give equal keys."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, which are read again only where it was touched."""
    status = path.stat()
    return _hash_of(path, status.st_ino, (status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=1 << 16)
def _hash_of(path: Path, inode: int, stamp: Stamp) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stamp(path: Path) -> Stamp | None:
    """Return what changes when a file is written again; None without a file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def publish(path: Path, content: str | bytes, synced: bool = False, makes_folder: bool = True
            ) -> None:
    """Write a file so that it is only ever seen whole; see ``publishing``."""
    with publishing(path, synced, makes_folder) as part, _naming_path(path):
        part.write_bytes(content if isinstance(content, bytes) else content.encode())


@contextmanager
def publishing(path: Path, synced: bool = False, makes_folder: bool = True) -> Iterator[Path]:
    """Lend a place beside ``path`` for a file or folder, which takes its final name when whole.

    On any error it is gone; what a killed process leaves, ``sweep`` removes. Any number of
    processes on any number of machines may publish the same file: one of them wins.

    ``synced`` waits for the disk, so that not even a loss of power leaves an empty file under the
    final name. That is for what nothing could make again: frames, clips and rows in the store have
    checksums or are read again before they are believed, and waiting costs up to tens of
    milliseconds a file.

    Unless it ``makes_folder``, that must be there: one that went with its disk is then not made
    again in its place. Raises DiskFullError, or RequestError where ``path`` cannot be written, or
    is a device: a file under its name would take the device's place.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise RequestError(f"{path}: is a device, not a file; choose another path")
    part = path.with_name(unfinished_name(path.name))
    if makes_folder:
        with _naming_path(path):
            path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with _naming_path(path, only=NO_SPACE):
            yield part
        with _naming_path(path):
            if synced:
                _sync(part)
            part.replace(path)
            if synced:
                _sync(path.parent)
    finally:
        _remove(part)


def make_folder(folder: Path) -> None:
    """Make a folder and those that it lies in; raises RequestError where that cannot be."""
    with _naming_path(folder):
        folder.mkdir(parents=True, exist_ok=True)


def publish_first(path: Path, content: bytes) -> None:
    """Publish a file as ``publish_once`` does, and remove what dead processes left beside it.

    For folders of few files: all of their names are read.
    """
    sweep(path.parent)
    publish_once(path, content)


def publish_once(path: Path, content: bytes) -> None:
    """Publish a file unless there is one: of many who make the same, the first one's stays.

    Where the file system has no hard links, two that do it at the same moment may replace each
    other's.
    """
    if path.exists():
        return
    part = path.with_name(unfinished_name(path.name))
    with _naming_path(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(content)
            _name_once(part, path)
        finally:
            _remove(part)


def _name_once(part: Path, path: Path) -> None:
    try:
        path.hardlink_to(part)
    except FileExistsError:
        pass
    except OSError:
        if not path.exists():
            part.replace(path)


@contextmanager
def scratch_folder(root: Path | None = None) -> Iterator[Path]:
    """Lend an empty folder in ``root``, by default the system's own, that is gone at the end.

    Scratch folders of killed processes in ``root`` are removed, and nothing else. Raises
    DiskFullError, or RequestError where ``root`` cannot be written.
    """
    root = root or Path(tempfile.gettempdir())
    folder = root / unfinished_name(_SCRATCH)
    sweep(root, _SCRATCH)
    with _naming_path(root):
        folder.mkdir(mode=0o700, parents=True)
    try:
        yield folder
    finally:
        _remove(folder)


def sweep(folder: Path, only: str | None = None) -> None:
    """Remove what dead processes of mimegen left unfinished in a folder, and nothing else.

    Names tell what is mimegen's (``owners``); ``only`` what was to get this name is looked at.
    Links stay: mimegen makes none.

    On this machine the process number decides. What was begun on another is removed after a day
    without a change, by the clock that stamps files there: a file server's may differ from ours.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        unfinished = [path for path in folder.iterdir() if _is_ours(path, only)]
        lives = {path: owner_lives(path.name) for path in unfinished}
        for path in unfinished:
            if lives[path] is False:
                _remove(path)
        elsewhere = [path for path in unfinished if lives[path] is None]
        if elsewhere:
            now = clock_of(folder)
            for path in elsewhere:
                if now - _last_change(path) > FORSAKEN_S:
                    _remove(path)


def _is_ours(path: Path, only: str | None) -> bool:
    name = unfinished_of(path.name)
    return name is not None and only in (None, name) and not path.is_symlink()


def clear(path: Path) -> None:
    """Remove a file, and what dead processes left unfinished beside it."""
    sweep(path.parent)
    path.unlink(missing_ok=True)


def clock_of(folder: Path) -> float:
    """Return the time by the clock that stamps a folder's files; -inf where none can be written."""
    probe = folder / unfinished_name("clock")
    try:
        probe.touch()
        return probe.stat().st_mtime
    except PermissionError:
        return float("-inf")
    finally:
        _remove(probe)


def _last_change(path: Path) -> float:
    """Return when a file, or anything in a folder, was last written; now, where it just went."""
    try:
        return max(place.lstat().st_mtime for place in (path, *path.rglob("*")))
    except FileNotFoundError:
        return float("inf")


def _remove(path: Path) -> None:
    """Remove a file or folder if it is there and may be removed."""
    # A disk that is read-only refuses to remove even what is not there.
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def _naming_path(path: Path, only: Collection[int] = ()) -> Iterator[None]:
    """Say of ``path`` that it cannot be written; of others' errors ``only`` some are about it."""
    try:
        yield
    except OSError as problem:
        if only and problem.errno not in only:
            raise
        if problem.errno in NO_SPACE:
            raise disk_full(f"writing {path}") from problem
        raise RequestError(f"{path}: cannot be written ({reason(path, problem)})") from problem


def reason(path: Path, problem: OSError) -> str:
    """Say what stands in the way of a path: the file that lies where a folder should, if one does.
    """
    if isinstance(problem, FileExistsError | NotADirectoryError):
        for folder in (*reversed(path.parents), path):
            if folder.exists() and not folder.is_dir():
                return f"{folder} is no folder; name another place"
    return str(problem.strerror)
