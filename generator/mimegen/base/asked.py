"""Fields of typed requests that the command line asks for: what each takes, and where help has it.

``commands/options.py`` makes options of them, so that a request and its options are one list.
"""

from enum import StrEnum
from typing import Any

from pydantic import Field
from pydantic.fields import FieldInfo


class Heading(StrEnum):
    """The parts of long help, in their order."""

    TAKES = "Actions and takes"
    GAIT = "Gaits: walk, run and the like"
    VARIANTS = "Variants"
    MOTION = "Your own motion capture"
    PICTURE = "The picture"
    OUTPUT = "Output"
    RENDERING = "Rendering"


def asked(default: Any, heading: Heading, explained: str, metavar: str | None = None,
          **limits: Any) -> Any:
    """Return a pydantic field with an option: its help under a heading, and what stands for its
    value there. ``limits`` are those of pydantic's ``Field``.
    """
    return Field(default, description=explained,
                 json_schema_extra={"heading": str(heading), "metavar": metavar}, **limits)


def heading_of(field: FieldInfo) -> Heading | None:
    """Return under which heading help has a field; None for one that has no option."""
    extra = field.json_schema_extra
    return Heading(str(extra["heading"])) if isinstance(extra, dict) else None


def metavar_of(field: FieldInfo) -> str | None:
    """Return what stands for a field's value in its help; None for what click itself says."""
    extra = field.json_schema_extra
    found = extra.get("metavar") if isinstance(extra, dict) else None
    return None if found is None else str(found)
