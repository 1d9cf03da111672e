"""Output that nobody reads any more, as where ``head`` has seen enough."""

import os
import select
import sys
from typing import NoReturn

# What a shell says of a program that SIGPIPE ended.
UNREAD = 128 + 13
_OUTPUT = 1
_ERRORS = 2


def nobody_reads() -> bool:
    """Whether output or errors go into a pipe that its reader has closed."""
    return any(map(_closed, (_OUTPUT, _ERRORS)))


def end_unread() -> NoReturn:
    """End without a word, as other programs do whose output nobody reads."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(_closed, (_OUTPUT, _ERRORS)):
        # Python writes what is left in its buffers as it ends, and would tell of the pipe then.
        os.dup2(nowhere, stream)
    sys.exit(UNREAD)


def _closed(stream: int) -> bool:
    seen = select.poll()
    seen.register(stream, 0)
    return any(happened & select.POLLERR for _, happened in seen.poll(0))
