"""Processes that end with the one that started them."""

import os
import sys
import threading
from collections.abc import Callable
from multiprocessing import parent_process


def end_with_parent(last: Callable[[], object] = lambda: None) -> None:
    """Have this process end when its parent does, however that ended, and do ``last`` before."""
    threading.Thread(target=_wait, args=(last,), daemon=True).start()


def end_with_input(last: Callable[[], object]) -> None:
    """Have this process end when its standard input closes, and do ``last`` before.

    The parent holds the other end of it, which closes however the parent ends.
    """
    threading.Thread(target=_wait_for_input, args=(last,), daemon=True).start()


def _wait_for_input(last: Callable[[], object]) -> None:
    os.read(sys.stdin.fileno(), 1)
    last()
    os._exit(1)


def _wait(last: Callable[[], object]) -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        last()
        os._exit(1)
