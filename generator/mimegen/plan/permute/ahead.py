"""Check takes on all cores in advance, before declarations are drawn one after the other."""

import os
import signal
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import TypeAlias

from threadpoolctl import threadpool_limits

from mimegen.base.errors import RequestError
from mimegen.base.interrupts import uninterrupted
from mimegen.base.parents import end_with_parent
from mimegen.base.paths import use_libraries, user_libraries
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.good_takes import GoodTakes

# Numbers per process: starting a process takes as long as checking two takes.
MIN_PER_PROCESS = 4
TOGETHER = 2  # numbers that a process gets at a time
_own: list[Drawing] = []
# What checking the takes of a number has found, by the takes' keys.
Known: TypeAlias = dict[str, list[str]]


class _UnknownError(Exception):
    """A take is needed that has not been checked yet."""


class _OnlyKnown(GoodTakes):
    def _cached(self, key: str, find: Callable[[], list[str]]) -> list[str]:
        if key not in self.known:
            raise _UnknownError
        return self.known[key]


def _untold(found: Iterable[Known], total: int) -> Iterable[Known]:
    return found


def look_ahead(drawing: Drawing, drawing_of: Callable[[GoodTakes], Drawing], count: int,
               tell: Callable[[Iterable[Known], int], Iterable[Known]] = _untold) -> None:
    """Check, in parallel, all takes that drawing the first ``count`` numbers needs.

    ``tell`` is given what each of the numbers yields, and how many there are. Every process makes
    its own ``drawing`` by ``drawing_of``. Numbers that cannot be drawn, and those that killed
    processes did not finish, are left for the drawing itself.
    """
    good = drawing.good
    numbers = [number for number in range(count) if not _is_known(drawing, number)]
    processes = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity")
                    else os.cpu_count() or 1, len(numbers) // MIN_PER_PROCESS)
    if processes < 2:
        return
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin,
                               (drawing_of, good, user_libraries()))
    others = active_children()
    try:
        with uninterrupted():
            found = pool.map(_known_of, numbers, chunksize=TOGETHER)
        with suppress(BrokenProcessPool):
            for known in tell(found, len(numbers)):
                good.known.update(known)
    except KeyboardInterrupt:
        # Otherwise each process would finish checking its take first.
        for process in set(active_children()).difference(others):
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _is_known(drawing: Drawing, number: int) -> bool:
    """Return whether a number can be drawn without checking any take."""
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
    """Set up a process of the pool: it ignores Ctrl-C and ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    threadpool_limits(1)
    use_libraries(libraries)
    _own.append(drawing_of(good))


def _known_of(number: int) -> dict[str, list[str]]:
    """Return what checking the takes of a number has found that was not known before."""
    drawing, = _own
    before = set(drawing.good.known)
    with suppress(RequestError):
        drawing.candidate(number)
    return {key: found for key, found in drawing.good.known.items() if key not in before}
