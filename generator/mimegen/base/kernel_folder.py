"""The folder of GPU kernels that ``mimegen devices prepare`` compiled, which workers use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from mimegen.base.kept import cache_folder

# The environment's name for another folder than the one in the user's cache.
KERNELS = "MIMEGEN_KERNELS"
# The folder of the request in hand, which threads and other requests do not see.
_chosen: ContextVar[Path | None] = ContextVar("kernels", default=None)


def kernel_folder() -> Path:
    """Return the folder of prepared kernels: the chosen, the environment's or the cache's."""
    named = os.environ.get(KERNELS)
    return _chosen.get() or (Path(named).absolute() if named else cache_folder() / "kernels")


@contextmanager
def using_kernels(path: Path | None) -> Iterator[None]:
    """Have all in this context use the prepared kernels in ``path``; None changes nothing."""
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
    """Return what an environment needs so that processes see the chosen folder."""
    chosen = _chosen.get()
    return {} if chosen is None else {KERNELS: str(chosen)}
