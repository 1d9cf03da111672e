"""Waiting for what other jobs on the store are making."""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

LOOK_EVERY_S = 1.0

_Work = TypeVar("_Work")


def looked_at_again(waits: Callable[[], bool], look: Callable[[], Iterator[_Work]]
                    ) -> Iterator[_Work | None]:
    """Yield what ``look`` finds to do, every second as long as ``waits``; None meanwhile."""
    looked_at = time.monotonic()
    while waits():
        yield None
        if time.monotonic() - looked_at > LOOK_EVERY_S:
            yield from look()
            looked_at = time.monotonic()
