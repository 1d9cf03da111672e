"""Takes looked at on all cores, before they are drawn one after the other."""

import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from multiprocessing import active_children, get_context
from pathlib import Path

from threadpoolctl import threadpool_limits

from mimegen.base.errors import RequestError
from mimegen.base.interrupts import uninterrupted
from mimegen.base.parents import end_with_parent
from mimegen.base.paths import use_libraries, user_libraries
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.good_takes import GoodTakes

# A process starts in the time that one looks at two takes.
LEAST_EACH = 4
TOGETHER = 2
_own: list[Drawing] = []


class _UnknownError(Exception):
    """A take is asked for that nobody has looked at."""


class _OnlyKnown(GoodTakes):
    def _cached(self, key: str, find: Callable[[], list[str]]) -> list[str]:
        if key not in self.known:
            raise _UnknownError
        return self.known[key]


def look_ahead(drawing: Drawing, drawing_of: Callable[[GoodTakes], Drawing], count: int) -> None:
    """Have what is known of takes hold all that drawing the first ``count`` numbers asks of it.

    Every process makes the ``drawing`` by ``drawing_of``. What cannot be drawn, and what processes
    that are killed do not look at, is left for whoever draws it.
    """
    good = drawing.good
    numbers = [number for number in range(count) if not _is_known(drawing, number)]
    processes = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity")
                    else os.cpu_count() or 1, len(numbers) // LEAST_EACH)
    if processes < 2:
        return
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin,
                               (drawing_of, good, user_libraries()))
    others = active_children()
    try:
        with uninterrupted():
            found = pool.map(_known_of, numbers, chunksize=TOGETHER)
        with suppress(BrokenProcessPool):
            for known in found:
                good.known.update(known)
    except KeyboardInterrupt:
        # Each would look at its take to the end first.
        for process in set(active_children()).difference(others):
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _is_known(drawing: Drawing, number: int) -> bool:
    """Whether nothing has to be looked at to draw a number."""
    good = drawing.good
    try:
        replace(drawing, good=_OnlyKnown(good.file, good.known)).candidate(number)
    except _UnknownError:
        return False
    except RequestError:
        pass
    return True


def _begin(drawing_of: Callable[[GoodTakes], Drawing], good: GoodTakes,
           libraries: tuple[Path, ...]) -> None:
    """Be a process of the pool; one that is interrupted ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    threadpool_limits(1)
    use_libraries(libraries)
    _own.append(drawing_of(good))


def _known_of(number: int) -> dict[str, list[str]]:
    """Return what was found for a number that was not known before."""
    drawing, = _own
    before = set(drawing.good.known)
    with suppress(RequestError):
        drawing.candidate(number)
    return {key: found for key, found in drawing.good.known.items() if key not in before}
