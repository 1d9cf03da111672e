"""Waiting for what other processes do, and limits for what might never end."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

EVERY_S = 0.02


def wait_until(happened: Callable[[], object], longest_s: float = 60.0) -> None:
    """Return as soon as something has happened; fails where it does not in time."""
    until = time.monotonic() + longest_s
    while not happened():
        assert time.monotonic() < until, "it does not happen"
        time.sleep(EVERY_S)


@contextmanager
def ending(processor_s: float) -> Iterator[None]:
    """Fail where the block takes more of this process's processor time, as what never ends does.

    Other work of the machine does not count, and the limit is many times what the block needs.
    """
    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"this has not ended after {processor_s} s of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, processor_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
