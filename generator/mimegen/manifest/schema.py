"""The fields of a row, as JSON Schema for programs and as a Markdown table for people."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from mimegen.manifest.row import Row
from mimegen.manifest.rowpart import RowPart


def row_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a row as it is written."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Row.model_json_schema()


def field_table() -> str:
    """Return Markdown tables of a row's fields with types and meanings, one table for each part."""
    schema = row_schema()
    return "\n".join(line for part in _parts() for line in _part_lines(part, schema))


def _parts() -> list[type[BaseModel]]:
    """Return the parts of a row in the order in which they are written."""
    return [part for part in reversed(Row.__mro__) if issubclass(part, RowPart) and
            part not in (RowPart, Row)]


def _part_lines(part: type[BaseModel], schema: dict[str, Any]) -> Iterator[str]:
    yield from (f"### {part.__doc__}".splitlines()[0].rstrip("."), "")
    yield from ("| field | type | meaning |", "|---|---|---|")
    for name in part.model_fields:
        field = schema["properties"][name]
        shown = f"**`{name}`**" if name in schema["required"] else f"`{name}`"
        meaning = field.get("description", "").replace("|", "\\|")
        yield f"| {shown} | {_type(field)} | {meaning} |"
    yield ""


def _type(field: dict[str, Any]) -> str:
    """Return a field's type in a word or two, without null."""
    if "anyOf" in field:
        names = {_type(option): None for option in field["anyOf"]}
        if {"integer", "number"} <= names.keys():
            del names["integer"]
        return " or ".join(name for name in names if name != "null")
    if "$ref" in field:
        return str(field["$ref"]).rsplit("/", 1)[-1].lower()
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    return str(field.get("type", "any"))
