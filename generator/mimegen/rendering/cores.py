"""Limit the number of cores that a library sees while it is loaded."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Linux lists the threads of this process here, one folder each.
THREADS = Path("/proc/self/task")


@contextmanager
def seeing_cores(count: int) -> Iterator[None]:
    """Restrict this process to ``count`` cores (0 for all) within the block, and lift it after.

    Blender's task scheduler (TBB) starts one thread for each core it sees when it is loaded. While
    a single thread renders, the idle ones keep polling for work, which costs a tenth to a fifth of
    the processor's time. Works on Linux only, by setting the CPU affinity; elsewhere it does
    nothing. The first core depends on the process's id, so workers that load at the same time
    usually do so on different cores.
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
