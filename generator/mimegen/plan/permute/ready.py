"""Predefined requests for permutations: ``mimegen permute --ready NAME``."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.yaml_file import Strict, read_yaml

FOLDER = Path(__file__).with_name("requests")


class ReadyPermutations(Strict):
    """The actions, axes, fixed values and design of a request; see ``permute --help``."""

    about: str
    actions: list[str] = Field(min_length=1)
    axes: list[str] = Field(min_length=1)
    fix: tuple[str, ...] = ()
    design: Literal["random", "pairwise", "full", "latin"]


def read_ready(name: str) -> ReadyPermutations:
    """Return a request by name or file. Raises RequestError if it is unknown or invalid."""
    known = {file.stem: file for file in FOLDER.glob("*.yaml")}
    if name not in known and not Path(name).is_file():
        raise RequestError(f"no ready request '{name}'{near_misses(name, known)}")
    return read_yaml(known.get(name, Path(name)), ReadyPermutations)
