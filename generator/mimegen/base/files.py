"""Write files so that they are never seen incomplete, and compute hashes of content."""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from mimegen.base.errors import NO_SPACE, RequestError, disk_full
from mimegen.base.owners import owner_lives, unfinished_name, unfinished_of

# Seconds after which the writer of an unchanged unfinished file counts as dead.
FORSAKEN_S = 24 * 3600.0
# The name of scratch folders, which identifies them as mimegen's.
_SCRATCH = "mimegen"
# A file's modification time in nanoseconds, and its size in bytes.
Stamp = tuple[int, int]


def content_key(*parts: object) -> str:
    """Return the SHA-256 of values that JSON can represent; equal values give equal keys."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, which are read again only if the file has changed."""
    status = path.stat()
    return _hash_of(path, status.st_ino, (status.st_mtime_ns, status.st_size))


def refuse_changed(planned: Any, path: Path | None) -> None:
    """Raise RequestError if a file of something planned was edited after its key was computed.

    ``planned`` is a frozen dataclass with a cached ``key``; a copy computes it from the files as
    they are now.
    """
    if replace(planned).key != planned.key:
        raise changed_since(path)


def changed_since(path: Path | None) -> RequestError:
    """Return the error for a file that was edited between its plan and its use."""
    return RequestError(f"{path}: this file, or one that it needs, was changed after it was"
                        " planned; make the request again")


@lru_cache(maxsize=1 << 16)
def _hash_of(path: Path, inode: int, stamp: Stamp) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stamp(path: Path) -> Stamp | None:
    """Return a value that changes when a file is written again; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def publish(path: Path, content: str | bytes, synced: bool = False, makes_folder: bool = True
            ) -> None:
    """Write a file so that it is never seen incomplete; see ``publishing``."""
    with publishing(path, synced, makes_folder) as part, _naming_path(path):
        part.write_bytes(content if isinstance(content, bytes) else content.encode())


@contextmanager
def publishing(path: Path, synced: bool = False, makes_folder: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; what is written there is renamed at the end.

    On any error it is removed; leftovers of killed processes are removed by ``sweep``. Any number
    of processes on any number of machines may publish the same file: one of them wins. ``synced``
    waits until the data is on disk, so that even a power failure leaves no empty file under the
    final name. Use it for files that cannot be made again: frames, clips and rows in the store have
    checksums or are checked before use, and waiting takes up to tens of milliseconds per file.
    Unless ``makes_folder``, the folder must exist, so that a folder on a disk that has become
    unavailable is not created in its place. Raises DiskFullError, or RequestError if ``path``
    cannot be written, or is a device, which a file of that name would replace.
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
    """Make a folder and its parents. Raises RequestError if that is impossible."""
    with _naming_path(folder):
        folder.mkdir(parents=True, exist_ok=True)


def publish_first(path: Path, content: bytes) -> None:
    """Publish a file as ``publish_once`` does, and remove leftovers of dead processes there.

    For folders with few files, because all their names are read.
    """
    sweep(path.parent)
    publish_once(path, content)


def publish_once(path: Path, content: bytes) -> None:
    """Publish a file unless it exists: if several processes make it, the first one's stays.

    On file systems without hard links, two processes that do so at the same moment may replace each
    other's file.
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
    """Rename a finished file to ``path`` unless that exists, if the file system has hard links."""
    try:
        path.hardlink_to(part)
    except FileExistsError:
        pass
    except OSError:
        if not path.exists():
            part.replace(path)


@contextmanager
def scratch_folder(root: Path | None = None) -> Iterator[Path]:
    """Yield an empty folder in ``root``, by default the system's own; remove it at the end.

    Scratch folders of killed processes in ``root`` are removed too, and nothing else. Raises
    DiskFullError, or RequestError if ``root`` cannot be written.
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
    """Remove unfinished files of dead mimegen processes from a folder, and nothing else.

    They are recognised by their names (``owners``); ``only`` restricts them to those with this
    final name. Links are left alone, since mimegen makes none. For processes of this machine, the
    process id decides. Files of other machines are removed after a day without a change, measured
    by the clock that sets the folder's timestamps, because a file server's clock may differ from
    ours.
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
    """Remove a file and the unfinished files of dead processes beside it."""
    sweep(path.parent)
    path.unlink(missing_ok=True)


def clock_of(folder: Path) -> float:
    """Return the time by the clock that sets a folder's timestamps; -inf if it is not writable.

    A folder on a read-only file system is not writable either.
    """
    probe = folder / unfinished_name("clock")
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError as problem:
        if problem.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        return float("-inf")
    finally:
        _remove(probe)


def _last_change(path: Path) -> float:
    """Return the time a file, or anything in a folder, was last written; inf if it is gone."""
    try:
        return max(place.lstat().st_mtime for place in (path, *path.rglob("*")))
    except FileNotFoundError:
        return float("inf")


def _remove(path: Path) -> None:
    """Remove a file or folder if it exists and may be removed."""
    # A read-only disk reports an error even for files that do not exist.
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
    """Turn OSError into an error that names ``path``; with ``only``, those errno values alone."""
    try:
        yield
    except OSError as problem:
        if only and problem.errno not in only:
            raise
        if problem.errno in NO_SPACE:
            raise disk_full(f"writing {path}") from problem
        raise RequestError(f"{path}: cannot be written ({reason(path, problem)})") from problem


def reason(path: Path, problem: OSError) -> str:
    """Return why a path cannot be written: for example the file that is in a folder's place."""
    if isinstance(problem, FileExistsError | NotADirectoryError):
        for folder in (*reversed(path.parents), path):
            if folder.exists() and not folder.is_dir():
                return f"{folder} is no folder; name another place"
    return str(problem.strerror)
