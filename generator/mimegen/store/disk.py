"""Wait for the store's disk, which may be unavailable for a while if it is on a file server."""

import time
from collections.abc import Callable

from mimegen.base.errors import RequestError

# A failure within this many seconds of the disk's return is attributed to its absence.
AFTERWARDS_S = 15.0
POLL_INTERVAL_S = 0.5  # seconds between two checks
MAX_WAIT_S = 1800.0  # seconds to wait at most


class Disk:
    """A disk that may be unavailable; ``there`` checks it, by default it is always available."""

    def __init__(self, there: Callable[[], bool] = lambda: True,
                 notify: Callable[[str], None] = lambda text: None, longest_s: float = MAX_WAIT_S
                 ) -> None:
        self._there, self._notify, self._longest_s = there, notify, longest_s
        self._back_at = float("-inf")

    @property
    def was_away(self) -> bool:
        """Whether it has only just become available again."""
        return time.monotonic() - self._back_at < AFTERWARDS_S

    def wait(self) -> None:
        """Return once the disk is available.

        Raises RequestError if that takes longer than ``longest_s`` seconds.
        """
        if self._there():
            return
        self._notify("the store is gone; waiting for it to come back")
        gone_at = time.monotonic()
        while not self._there():
            if time.monotonic() - gone_at > self._longest_s:
                raise RequestError(f"the store has been unreachable for {self._longest_s:.0f} s;"
                                   " reconnect it and run again, finished frames are kept")
            time.sleep(POLL_INTERVAL_S)
        self._back_at = time.monotonic()
        self._notify("the store is back")
