"""Processes that end with the one that started them."""

import os
import threading
from collections.abc import Callable
from multiprocessing import parent_process


def end_with_parent(last: Callable[[], object] = lambda: None) -> None:
    """Have this process end when its parent does, however that ended, and do ``last`` before."""
    threading.Thread(target=_wait, args=(last,), daemon=True).start()


def _wait(last: Callable[[], object]) -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        last()
        os._exit(1)
