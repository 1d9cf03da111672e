"""Handle output whose reader has gone, as when ``head`` has seen enough."""

import os
import select
import sys
from typing import NoReturn

# Exit status that shells report for a program ended by SIGPIPE.
UNREAD = 128 + 13
_OUTPUT = 1
_ERRORS = 2


def nobody_reads() -> bool:
    """Whether standard output or error is a pipe that its reader has closed."""
    return any(map(_closed, (_OUTPUT, _ERRORS)))


def end_unread() -> NoReturn:
    """Exit silently, as other programs do when their output is no longer read."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(_closed, (_OUTPUT, _ERRORS)):
        # Python flushes its buffers on exit and would then report the closed pipe.
        os.dup2(nowhere, stream)
    sys.exit(UNREAD)


def _closed(stream: int) -> bool:
    seen = select.poll()
    seen.register(stream, 0)
    return any(happened & select.POLLERR for _, happened in seen.poll(0))
