"""Sets of actions that others publish, as NTU RGB+D 120's classes: ``mocap/sets/*.yaml``."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from mimegen.base.yaml_file import Strict, read_yaml_once

FOLDER = "mocap/sets"
# A number with a letter before it, as A16.
_NUMBERED = re.compile(r"[A-Za-z](\d+)")


def _by_code(members: object) -> object:
    return {name: name for name in members} if isinstance(members, list) else members


class ActionSet(Strict):
    """One file of ``mocap/sets/``: what the set is, whose it is and what it holds.

    ``called`` are the words that people write before a name or number of it, as ``NTU 16``.
    ``members`` are its names by its codes, or names alone; a name with commas is several.
    """

    about: str
    source: str
    called: tuple[str, ...] = ()
    members: Annotated[dict[str, str], BeforeValidator(_by_code)] = Field(min_length=1)

    def names_of(self, code: str) -> Iterator[str]:
        """Yield every name that asks for a member: its code, its names, and both after the set's.
        """
        own = {code: None, **dict.fromkeys(self.members[code].split(", "))}
        yield from own
        number = _NUMBERED.fullmatch(code)
        for called in self.called:
            yield from (f"{called} {name}" for name in (*own, *(number.groups() if number else ())))


def read_sets(folders: tuple[Path, ...]) -> Mapping[str, ActionSet]:
    """Return the sets in library folders by name, a later folder's before its namesakes."""
    files = {file.stem: file for folder in folders
             for file in sorted((folder / FOLDER).glob("*.yaml"))}
    return {name: read_yaml_once(files[name], ActionSet) for name in sorted(files)}
