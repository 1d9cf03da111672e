"""Takes looked at on all cores, before they are drawn one after the other."""

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context, parent_process

from threadpoolctl import threadpool_limits

from mimegen.base.errors import RequestError
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.good_takes import GoodTakes

# A process starts in the time that one looks at two takes.
LEAST_EACH = 4
TOGETHER = 2
_own: list[Drawing] = []


def look_ahead(drawing_of: Callable[[GoodTakes], Drawing], count: int, good: GoodTakes) -> None:
    """Have ``good`` know what drawing the first ``count`` numbers asks of it.

    Every process makes the drawing by ``drawing_of``. What cannot be drawn, and what processes that
    are killed do not look at, is left for whoever draws it.
    """
    processes = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity")
                    else os.cpu_count() or 1, count // LEAST_EACH)
    if processes < 2:
        return
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin, (drawing_of, good))
    try:
        with suppress(BrokenProcessPool):
            for known in pool.map(_looked_at, range(count), chunksize=TOGETHER):
                good.known.update(known)
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(drawing_of: Callable[[GoodTakes], Drawing], good: GoodTakes) -> None:
    """Be a process of the pool; one that is interrupted ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threadpool_limits(1)
    _own.append(drawing_of(good))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _looked_at(number: int) -> dict[str, list[str]]:
    """Return what was found for a number that was not known before."""
    drawing, = _own
    before = set(drawing.good.known)
    with suppress(RequestError):
        drawing.candidate(number)
    return {key: found for key, found in drawing.good.known.items() if key not in before}
