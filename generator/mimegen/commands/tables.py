"""Where commands print tables."""

from typing import NoReturn

from rich.console import Console

from mimegen.commands.streams import end_unread

# More than any table takes: names are not cut short to fit a terminal, which wraps what is longer.
WIDTH = 240


class _Tables(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave as all commands do; Rich's own way is exit status 1, as if clips had failed."""
        end_unread()


def wide_console() -> Console:
    """Return a console that prints tables as wide as they are, and every text as it is.

    Names of files, bones and labels may hold what Rich takes for markup, as ``[/x]``.
    """
    return _Tables(highlight=False, markup=False, emoji=False, soft_wrap=True, width=WIDTH)
