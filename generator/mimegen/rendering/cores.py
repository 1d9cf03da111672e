"""How many cores a library believes there are, while it is loaded."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# A thread of this process lies here for each that Linux schedules.
THREADS = Path("/proc/self/task")


@contextmanager
def seeing_cores(count: int) -> Iterator[None]:
    """Have what is loaded within see ``count`` cores, 0 for all, and run on all of them after.

    Blender's task scheduler (TBB) starts a thread for each core it sees when it is loaded. While a
    single thread renders, the others find nothing to do and ask for their turn again and again,
    which costs a tenth to a fifth of the processor's time. Only Linux tells how many there are
    by a process's own choice. Workers that load at once do so on different cores.
    """
    if not count or not hasattr(os, "sched_setaffinity") or not THREADS.is_dir():
        yield
        return
    usual = os.sched_getaffinity(0)
    first = os.getpid() % len(usual)
    cores = [*sorted(usual)[first:], *sorted(usual)[:first]]
    os.sched_setaffinity(0, cores[:count])
    try:
        yield
    finally:
        for thread in THREADS.iterdir():
            # A thread may have ended since.
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), usual)
