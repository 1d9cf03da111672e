"""Handle Ctrl-C before other modules are loaded; this module imports nothing slow."""

# The C module below ``signal``, whose enumerations take as long to load as all else here.
import _signal  # type: ignore[import-not-found]
import os

INTERRUPTED = 130  # exit status after Ctrl-C
STOPPED = "mimegen: stopped"


def end_at_once(*_: object) -> None:
    """End the process without cleaning up; for use while nothing has begun."""
    os.write(2, f"{STOPPED}\n".encode())
    os._exit(INTERRUPTED)


def until_work_begins() -> None:
    """Make Ctrl-C end this process at once while packages are loading.

    An exception during that time would print many lines, or look like a package that does not load.
    If Ctrl-C is ignored, as under ``nohup``, it stays ignored.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, end_at_once)
