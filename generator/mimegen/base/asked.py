"""Fields of typed requests that are also command line options, with their help texts.

``commands/options.py`` makes the options from these fields, so that a request and its options are
defined once.
"""

from enum import StrEnum
from typing import Any

from pydantic import Field
from pydantic.fields import FieldInfo


class Heading(StrEnum):
    """The headings of long help, in order."""

    TAKES = "Actions and takes"
    GAIT = "Gaits: walk, run and the like"
    VARIANTS = "Variants"
    MOTION = "Your own motion capture"
    PICTURE = "The picture"
    OUTPUT = "Output"
    RENDERING = "Rendering"


def asked(default: Any, heading: Heading, explained: str, metavar: str | None = None,
          **limits: Any) -> Any:
    """Return a pydantic field that is also a command line option.

    ``explained`` is its help text below ``heading``, ``metavar`` the placeholder of its value
    there. ``limits`` are passed on to pydantic's ``Field``.
    """
    return Field(default, description=explained,
                 json_schema_extra={"heading": str(heading), "metavar": metavar}, **limits)


def heading_of(field: FieldInfo) -> Heading | None:
    """Return the help heading of a field; None for a field without an option."""
    extra = field.json_schema_extra
    return Heading(str(extra["heading"])) if isinstance(extra, dict) else None


def metavar_of(field: FieldInfo) -> str | None:
    """Return the placeholder of a field's value in its help; None for click's default."""
    extra = field.json_schema_extra
    found = extra.get("metavar") if isinstance(extra, dict) else None
    return None if found is None else str(found)
