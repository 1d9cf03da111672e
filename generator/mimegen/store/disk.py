"""The disk that the store is on, which may be away for a while: file servers are."""

import time
from collections.abc import Callable

from mimegen.base.errors import RequestError

# What failed so shortly after the disk came back failed because it was away.
AFTERWARDS_S = 15.0
LOOK_EVERY_S = 0.5
LONGEST_S = 1800.0


class Disk:
    """Tells whether a disk is there, by ``there``; without it, it always is."""

    def __init__(self, there: Callable[[], bool] = lambda: True,
                 notify: Callable[[str], None] = lambda text: None, longest_s: float = LONGEST_S
                 ) -> None:
        self._there, self._notify, self._longest_s = there, notify, longest_s
        self._back_at = float("-inf")

    @property
    def was_away(self) -> bool:
        """Whether it came back only just now."""
        return time.monotonic() - self._back_at < AFTERWARDS_S

    def wait(self) -> None:
        """Return once it is there. Raises RequestError where that takes half an hour."""
        if self._there():
            return
        self._notify("the store is gone; waiting for it to come back")
        gone_at = time.monotonic()
        while not self._there():
            if time.monotonic() - gone_at > self._longest_s:
                raise RequestError(f"the store has been unreachable for {self._longest_s:.0f} s;"
                                   " reconnect it and run again, finished frames are kept")
            time.sleep(LOOK_EVERY_S)
        self._back_at = time.monotonic()
        self._notify("the store is back")
