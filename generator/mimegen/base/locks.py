"""Files that one process at a time may change, among all that share them."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mimegen.base.errors import RequestError


@contextmanager
def locked(path: Path, on_wait: Callable[[], object] | None = None) -> Iterator[None]:
    """Be the only one to change ``path``, among threads, processes and machines; wait if need be.

    ``on_wait`` is called before waiting for another.

    The lock is the system's own, on an empty file ``.NAME.lock`` beside it, so that it ends with
    its holder, however that ends. On NFS it holds among machines where the server's locks are on,
    as they are unless the mount says otherwise. The empty file stays: whoever removed it could
    let two in, one on the old and one on the new file.

    Raises RequestError where the place cannot be written or does not lock files.
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
    if on_wait is not None:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            on_wait()
    fcntl.flock(opened, fcntl.LOCK_EX)
