"""Locks on files that only one process at a time may change."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mimegen.base.errors import RequestError


@contextmanager
def locked(path: Path, on_wait: Callable[[], object] | None = None) -> Iterator[None]:
    """Hold the lock on ``path``, among threads, processes and machines; wait if it is held.

    ``on_wait`` is called before waiting. It is a lock of the operating system on an empty file
    ``.NAME.lock`` beside ``path``, so it ends with its holder, however that ends. On NFS it works
    between machines if the server's locks are on, which is the default of mounts. The lock file is
    never removed: two processes could otherwise hold the lock, one on the old and one on the new
    file. Raises RequestError if the folder cannot be written or does not support locks.
    """
    lock = path.with_name(f".{path.name}.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        opened = lock.open("ab")
    except OSError as problem:
        raise RequestError(f"{path}: cannot be written ({problem.strerror})") from problem
    with opened:
        try:
            _lock(opened, on_wait)
        except OSError as problem:
            raise RequestError(
                f"{lock}: this file system does not support locks ({problem.strerror}), so parallel"
                " writers would corrupt files; choose another folder, or mount it with locks"
            ) from problem
        yield


def _lock(opened: BinaryIO, on_wait: Callable[[], object] | None) -> None:
    """Take the lock, calling ``on_wait`` first if another process holds it."""
    if on_wait is not None:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            on_wait()
    fcntl.flock(opened, fcntl.LOCK_EX)
