"""``python -m mimegen`` is the command ``mimegen``."""

import io
import sys

from mimegen.base.early import until_work_begins


def run() -> None:
    """Be the command line; Ctrl-C is heeded before its packages load."""
    until_work_begins()
    _prints_any_text()
    from mimegen.cli import main

    main()


def _prints_any_text() -> None:
    """Let names of files be printed that are no text in the terminal's encoding."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    run()
