"""Ctrl-C before anything else is loaded; so this needs nothing that takes time to load."""

# Beneath the module signal, whose enumerations take as long to load as all else here.
import _signal  # type: ignore[import-not-found]
import os

INTERRUPTED = 130
STOPPED = "mimegen: stopped"


def end_at_once(*_: object) -> None:
    """End without tidying up: for when nothing has begun."""
    os.write(2, f"{STOPPED}\n".encode())
    os._exit(INTERRUPTED)


def until_work_begins() -> None:
    """Have Ctrl-C end this process at once, as long as packages load.

    An exception in the middle of that would be told in many lines, or taken for a package that
    does not load. Where Ctrl-C is ignored, as behind ``nohup``, it stays so.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, end_at_once)
