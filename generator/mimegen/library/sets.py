"""Published sets of actions, such as the classes of NTU RGB+D 120: ``mocap/sets/*.yaml``."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from mimegen.base.yaml_file import Strict, read_yaml_once

FOLDER = "mocap/sets"
# A letter followed by a number, such as A16.
_NUMBERED = re.compile(r"[A-Za-z](\d+)")


def _by_code(members: object) -> object:
    return {name: name for name in members} if isinstance(members, list) else members


class ActionSet(Strict):
    """One file of ``mocap/sets/``: a set's description, source and members.

    ``called`` are words that people write before a name or number of the set, as in ``NTU 16``.
    ``members`` are names by code, or names alone; commas separate several names.
    """

    about: str
    source: str
    called: tuple[str, ...] = ()
    members: Annotated[dict[str, str], BeforeValidator(_by_code)] = Field(min_length=1)

    def names_of(self, code: str) -> Iterator[str]:
        """Yield every name for a member: its code and names, alone and after the set's words."""
        own = {code: None, **dict.fromkeys(self.members[code].split(", "))}
        yield from own
        number = _NUMBERED.fullmatch(code)
        for called in self.called:
            yield from (f"{called} {name}" for name in (*own, *(number.groups() if number else ())))


def read_sets(folders: tuple[Path, ...]) -> Mapping[str, ActionSet]:
    """Return the sets in library folders by name; later folders override earlier ones."""
    files = {file.stem: file for folder in folders
             for file in sorted((folder / FOLDER).glob("*.yaml"))}
    return {name: read_yaml_once(files[name], ActionSet) for name in sorted(files)}
