"""Tell how many of a known number of things are done, where each takes a while."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

from mimegen.production.progress import PROGRESS

Thing = TypeVar("Thing")


def ticking(things: Iterable[Thing], total: int, what: str, stream: TextIO | None = None
            ) -> Iterator[Thing]:
    """Yield things; print how many are done, as in "sampled 3 of 10 clips", every few seconds.

    ``what`` is such a text with ``{}`` for the numbers. Nothing is printed if all are done soon.
    """
    told = time.monotonic()
    for number, thing in enumerate(things, start=1):
        yield thing
        if number < total and time.monotonic() - told >= PROGRESS.log_every_s:
            told = time.monotonic()
            print(what.format(f"{number} of {total}"), file=stream or sys.stderr, flush=True)
