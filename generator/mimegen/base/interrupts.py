"""Handle Ctrl-C: one line and exit status 130 whenever it comes, and no output of subprocesses.

A terminal sends Ctrl-C to every process of a command. Only the main process reacts to it; the
others end with it.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from mimegen.base.early import INTERRUPTED, end_at_once


def end_silently(_signal: int, _frame: FrameType | None) -> NoReturn:
    """End the process at once; the interruption has been reported before."""
    os._exit(INTERRUPTED)


@contextmanager
def as_exception() -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt in this context, where it ended the process before.

    Afterwards it ends the process again.
    """
    if signal.getsignal(signal.SIGINT) is not end_at_once:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, end_silently)


def forget_interrupt() -> None:
    """Let this process end with its own exit status after a KeyboardInterrupt.

    If the exception passed through code compiled from a string, such as a dataclass's, Python would
    end by the signal instead, unless other such code has run since.
    """
    eval("None")


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C while processes start; the new processes never receive it.

    A process interrupted while it loads packages prints many lines, and one whose start is
    interrupted here would be left without an owner.
    """
    from multiprocessing import resource_tracker

    # It starts with the first process otherwise, and would unblock signals.
    resource_tracker.ensure_running()
    with _delayed():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _delayed() -> Iterator[None]:
    """Delay Ctrl-C, which another thread may receive, until the end of this context."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda _signal, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(signal.SIGINT, came[0])
