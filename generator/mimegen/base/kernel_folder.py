"""The folder of GPU kernels compiled by ``mimegen devices prepare``, for use by workers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from mimegen.base.user_cache import cache_folder

# Environment variable with the path of another folder than that in the user's cache.
KERNELS = "MIMEGEN_KERNELS"
# The folder of the current request, not visible to threads and other requests.
_chosen: ContextVar[Path | None] = ContextVar("kernels", default=None)


def kernel_folder() -> Path:
    """Return the folder of prepared kernels: the chosen one, the environment's or the cache's."""
    named = os.environ.get(KERNELS)
    return _chosen.get() or (Path(named).absolute() if named else cache_folder() / "kernels")


@contextmanager
def using_kernels(path: Path | None) -> Iterator[None]:
    """Use the prepared kernels in ``path`` within this context; None changes nothing."""
    if path is None:
        yield
        return
    before = _chosen.get()
    _chosen.set(path.expanduser().absolute())
    try:
        yield
    finally:
        _chosen.set(before)


def kernel_environment() -> dict[str, str]:
    """Return environment variables that pass the chosen folder on to subprocesses."""
    chosen = _chosen.get()
    return {} if chosen is None else {KERNELS: str(chosen)}
