"""Wait for what other jobs on the same store are making."""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

POLL_INTERVAL_S = 1.0  # seconds between two calls

_Work = TypeVar("_Work")


def poll(waits: Callable[[], bool], look: Callable[[], Iterator[_Work]]
         ) -> Iterator[_Work | None]:
    """Call ``look`` every second while ``waits()``; yield the work it finds and, between, None."""
    checked_at = time.monotonic()
    while waits():
        yield None
        if time.monotonic() - checked_at > POLL_INTERVAL_S:
            yield from look()
            checked_at = time.monotonic()
