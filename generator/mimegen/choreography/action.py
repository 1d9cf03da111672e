"""Actions: what is mimed, and what is said of it (``mocap/<action>/action.yaml``)."""

from pathlib import Path

from pydantic import Field

from mimegen.yaml_file import Strict, YamlFile


class Action(Strict):
    """One file ``action.yaml``; its takes lie beside it.

    ``labels`` are the right answers, MIME's where MIME has the action; ``aliases`` are further
    names to ask for it by; the misaligned background belongs to another action.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    name: str
    labels: tuple[str, ...] = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    aligned_background: str
    misaligned_background: str
    semantic_group: str
    recognised_by: str
    licence: str
    author: str


def read_action(path: Path) -> Action:
    """Read an ``action.yaml``.

    Raises RequestError with the file, line and key of the first thing that is wrong.
    """
    document = YamlFile(path)
    action = document.parsed(Action)
    if action.id != path.parent.name:
        raise document.error(("id",), f"{action.id!r} lies in a folder named {path.parent.name!r}")
    return action
