"""Files that one process at a time may change, among all that share them."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mimegen.base.errors import RequestError


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Be the only one to change ``path``, among threads, processes and machines; wait if need be.

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
            fcntl.flock(opened, fcntl.LOCK_EX)
        except OSError as problem:
            raise RequestError(
                f"{lock}: this place does not lock files ({problem.strerror}), so that several"
                " writers would undo each other's work; name another, or mount it with locks"
            ) from problem
        yield
