"""What is worked on in a pool of threads, taken in as it is done."""

from collections.abc import Iterator
from concurrent.futures import Future
from typing import TypeVar

_Made = TypeVar("_Made")
_Piece = TypeVar("_Piece")


def finished(working: dict[Future[_Made], _Piece], wait: bool = False
             ) -> Iterator[tuple[_Piece, Future[_Made]]]:
    """Yield, and take out of ``working``, what is done; with ``wait``, at least one."""
    for future, piece in list(working.items()):
        if wait or future.done():
            wait = False
            del working[future]
            yield piece, future
