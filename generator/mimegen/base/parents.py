"""Processes that end when their parent ends."""

import os
import sys
import threading
from collections.abc import Callable
from multiprocessing import parent_process


def end_with_parent() -> None:
    """End this process when its parent ends, for whatever reason."""
    threading.Thread(target=_wait, daemon=True).start()


def end_with_input(last: Callable[[], object]) -> None:
    """End this process when its standard input closes, after calling ``last``.

    The parent holds the other end, which closes however the parent ends.
    """
    threading.Thread(target=_wait_for_input, args=(last,), daemon=True).start()


def _wait_for_input(last: Callable[[], object]) -> None:
    os.read(sys.stdin.fileno(), 1)
    last()
    os._exit(1)


def _wait() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
