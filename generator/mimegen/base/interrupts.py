"""Ctrl-C: one line and exit status 130, whenever it comes, and nothing of it for processes.

A terminal sends it to every process of a command. Only the first one is to heed it: the others end
with it.
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
    """End at once, where what happened has been said."""
    os._exit(INTERRUPTED)


@contextmanager
def as_exception() -> Iterator[None]:
    """Have Ctrl-C raise KeyboardInterrupt where it ended the process, and afterwards end it again.
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
    """Let this process end with a status of its own after KeyboardInterrupt.

    Python ends by the signal itself where the exception passed through code from a string, as that
    of a dataclass is, unless other such code has run since.
    """
    eval("None")


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back while processes start; those never see it.

    A process that is interrupted while it loads its packages tells of it in many lines, and one
    whose start is interrupted here would be known to nobody.
    """
    from multiprocessing import resource_tracker

    # Starts with the first process, and would let signals through again.
    resource_tracker.ensure_running()
    with _held_back():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _held_back() -> Iterator[None]:
    """Have Ctrl-C, which another thread may receive, wait for the end."""
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
