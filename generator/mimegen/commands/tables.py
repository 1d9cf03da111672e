"""Where commands print tables."""

from rich.console import Console

# More than any table takes: names are not cut short to fit a terminal, which wraps what is longer.
WIDTH = 240


def wide_console() -> Console:
    """Return a console that prints tables as wide as they are."""
    return Console(highlight=False, soft_wrap=True, width=WIDTH)
