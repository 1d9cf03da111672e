"""Whether the licences of clips' parts allow to publish the clips under another licence."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import RootModel

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.yaml_file import read_yaml
from mimegen.evaluation.exports.licences import UNKNOWN, Part, parts_of
from mimegen.evaluation.exports.templates import FOLDER
from mimegen.manifest.row import Row

Condition = Literal["attribution", "non_commercial", "no_derivatives", "share_alike"]
# The parts that an error names at most.
_NAMED = 4


class _Table(RootModel[dict[str, tuple[Condition, ...]]]):
    """The conditions of known licences, by name without version."""


@dataclass(frozen=True)
class Licence:
    """A known licence: its name without version, its version as numbers, and its conditions."""

    name: str
    version: tuple[int, ...]
    conditions: frozenset[Condition]

    def allows(self, other: "Licence | None") -> bool:
        """Whether a work made from one under this licence may be published under another.

        None is a licence that is not known. Clips are adaptations, which licences without
        derivatives do not allow.
        """
        if "no_derivatives" in self.conditions:
            return False
        if "share_alike" in self.conditions:
            return other is not None and other.name == self.name and other.version >= self.version
        return self.conditions <= (frozenset() if other is None else other.conditions)


def known_licence(text: str) -> Licence | None:
    """Return the licence of this name, such as ``CC-BY-4.0`` or ``CC BY 4.0``; None if unknown."""
    name = re.sub(r"[\s_-]+", "-", text.strip()).upper()
    found = re.fullmatch(r"(.+?)(?:-V?(\d+(?:\.\d+)*))?", name)
    if found is None:
        return None
    family, version = found[1], found[2] or "0"
    conditions = _table().get(family)
    numbers = tuple(int(number) for number in version.split("."))
    return None if conditions is None else Licence(family, numbers, conditions)


@cache
def _table() -> dict[str, frozenset[Condition]]:
    table = read_yaml(FOLDER / "licences.yaml", _Table).root
    return {name.upper(): frozenset(conditions) for name, conditions in table.items()}


def withheld_parts(rows: Iterable[Row], licence: str) -> Counter[Part]:
    """Return how many clips have each part that may not be published under ``licence``."""
    wanted = known_licence(licence)
    return Counter(part for row in rows for part in dict.fromkeys(parts_of(row))
                   if not _is_allowed(part, wanted))


def _is_allowed(part: Part, wanted: Licence | None) -> bool:
    own = known_licence(part.licence or UNKNOWN)
    return own is not None and own.allows(wanted)


def check_rights(rows: Iterable[Row], licence: str) -> None:
    """Raise RequestError, naming parts, unless all parts may be published under ``licence``."""
    withheld = withheld_parts(rows, licence)
    if withheld:
        raise RequestError(
            f"--licence {licence}: not allowed by the licences of {'; '.join(_named(withheld))}."
            " Choose a licence that all parts allow, or give --rights-cleared and the reason why"
            " you may publish them")


def _named(parts: Counter[Part]) -> Iterator[str]:
    """Yield each part with its file and licence, up to a limit, and the number of all others."""
    sorted_parts = sorted(parts.items(), key=lambda item: (-item[1], str(item[0])))
    for part, count in sorted_parts[:_NAMED]:
        yield f"{part.kind} {part.file or ''}".strip() + (
            f" ({_stated(part.licence)}, {counted(count, 'clip')})")
    if len(parts) > _NAMED:
        yield f"{len(parts) - _NAMED} more parts"


def _stated(licence: str | None) -> str:
    """Return a licence, and whether it is one that mimegen does not know."""
    if licence in (None, UNKNOWN):
        return f"licence {UNKNOWN}"
    return f"{licence}{'' if known_licence(licence or '') else ', a licence unknown to mimegen'}"
