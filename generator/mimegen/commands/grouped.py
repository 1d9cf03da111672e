"""Help that groups many options under headings."""

from collections.abc import Mapping
from typing import Any

import click

from mimegen.commands.common import Remembering

Headings = Mapping[str, tuple[str, ...]]
OTHER = "Other options"


class Grouped(Remembering):
    """A command whose help has a part for each heading; other options follow at the end."""

    def __init__(self, *args: Any, headings: Headings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.headings = headings

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by heading, in the order in which they are declared."""
        lines = {str(option.name): line for option in self.get_params(ctx)
                 if isinstance(option, click.Option)
                 and (line := option.get_help_record(ctx)) is not None}
        named = {name for names in self.headings.values() for name in names}
        rest = tuple(name for name in lines if name not in named)
        for heading, names in {**self.headings, OTHER: rest}.items():
            part = [line for name, line in lines.items() if name in names]
            if part:
                with formatter.section(heading):
                    formatter.write_dl(part)
