"""The console that prints commands' tables."""

from typing import NoReturn

from rich.console import Console

from mimegen.commands.streams import end_unread

# Wider than any table, so that names are never cut to fit a terminal; long lines wrap.
WIDTH = 240


class _Tables(Console):
    def on_broken_pipe(self) -> NoReturn:
        """End as all commands do; Rich would exit with status 1, which means that clips failed."""
        end_unread()


def wide_console() -> Console:
    """Return a console that prints tables at full width and text without interpreting markup.

    Names of files, bones and labels may look like Rich markup, such as ``[/x]``.
    """
    return _Tables(highlight=False, markup=False, emoji=False, soft_wrap=True, width=WIDTH)
