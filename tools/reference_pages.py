"""Write the tables of docs/reference/api.md and cli.md, from docstrings and help texts.

GitHub shows these pages as they are; the site that ``make docs`` builds adds every signature and
option below the tables.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from mimegen import api
from mimegen.base.asked import heading_of
from mimegen.cli import main

ROOT = Path(__file__).resolve().parents[1]
API_PAGE = ROOT / "docs" / "reference" / "api.md"
CLI_PAGE = ROOT / "docs" / "reference" / "cli.md"
START = "<!-- Tables by tools/reference_pages.py: run it after a change. -->\n"
END = "<!-- End of tables. -->\n"
# Its fields have a table of their own.
WITHOUT_MEMBERS = api.RenderRequest


def page_with(text: str, tables: str) -> str:
    """Return a page with tables between the two marks that it holds."""
    head, _, rest = text.partition(START)
    return f"{head}{START}\n{tables}\n{END}{rest.partition(END)[2]}"


def api_tables() -> str:
    """Return a table of the functions, one of the classes and one of each class's members."""
    things = {name: getattr(api, name) for name in api.__all__}
    classes = {name: one for name, one in things.items() if inspect.isclass(one)}
    functions = [_row(f"[`mg.{name}({_parameters(one)})`]({_source(one)})", one)
                 for name, one in things.items() if name not in classes]
    listed = [_row(f"[`mg.{name}`]({_source(one)})", one) for name, one in classes.items()]
    parts = [_table("Functions", "function", functions), _table("Classes", "class", listed)]
    parts += [_table(f"mg.{name}", "member", rows) for name, one in classes.items()
              if (rows := list(_members(one)))]
    fields = api.RenderRequest.model_fields
    parts.append(_table("Fields of mg.RenderRequest", "field", [
        f"| `{name}` | {_cell(str(field.description))} |" for name, field in fields.items()
        if heading_of(field) is not None]))
    return "\n".join(parts)


def cli_table() -> str:
    """Return a table of all commands."""
    rows = [f"| `{name}` | {_cell(_first(command.help or ''))} |"
            for name, command in _commands(main, "mimegen")]
    return _table("Commands", "command", rows)


def _members(kind: type) -> Iterator[str]:
    """Yield a row for each public method and property with a docstring of its own."""
    if kind is WITHOUT_MEMBERS:
        return
    for owner in reversed(kind.__mro__):
        if not owner.__module__.startswith("mimegen."):
            continue
        for name, member in vars(owner).items():
            if isinstance(member, property | cached_property) and not name.startswith("_"):
                yield _row(f"`{name}`", member)
            elif inspect.isfunction(member) and not name.startswith("_"):
                yield _row(f"`{name}({_parameters(member)})`", member)


def _parameters(function: Callable[..., Any]) -> str:
    """Return the names of what a function takes, as it is called, with defaults."""
    return ", ".join(_parameter(one) for one in inspect.signature(function).parameters.values()
                     if one.name != "self")


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_KEYWORD: "**", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, "")
    default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
    return f"{stars}{parameter.name}{default}"


def _commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path} {name}")


def _row(shown: str, member: Any) -> str:
    return f"| {shown} | {_cell(_first(inspect.getdoc(member) or ''))} |"


def _first(text: str) -> str:
    """Return the first sentence of a docstring or help text."""
    words = " ".join(text.split("\n\n")[0].split())
    sentence, stop, _ = words.partition(". ")
    return sentence + stop.strip()


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|").strip()


def _source(member: Any) -> str:
    """Return the link from a page of the reference to the file that defines something."""
    return "../../" + str(Path(inspect.getfile(member)).resolve().relative_to(ROOT))


def _table(heading: str, of: str, rows: list[str]) -> str:
    return "\n".join([f"## {heading}\n", f"| {of} | what it is |" if of != "function" else
                      "| function | what it does |", "|---|---|", *rows, ""])


def write() -> None:
    """Write both pages."""
    for page, tables in ((API_PAGE, api_tables()), (CLI_PAGE, cli_table())):
        page.write_text(page_with(page.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    write()
