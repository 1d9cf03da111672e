"""The grammar of variants: ``character+background@angle``, with MIME's names."""

import re
from dataclasses import dataclass

from mimegen.errors import RequestError, near_misses

MIME = (
    "base+blank@0",
    "base+blank@90",
    "base+blank@180",
    "base+blank@270",
    "woman+blank@0",
    "adversarial+blank@0",
    "base+aligned@0",
    "base+misaligned@0",
    "adversarial+aligned@0",
    "adversarial+misaligned@0",
)
GROUPS = {
    "all": MIME,
    "mime": MIME,
    "angles": MIME[:4],
    "characters": ("base+blank@0", "woman+blank@0", "adversarial+blank@0"),
    "backgrounds": ("base+blank@0", "base+aligned@0", "base+misaligned@0"),
}
BACKGROUNDS = ("blank", "aligned", "misaligned")
CAST = {"base": "man", "adversarial": "spacesuit"}
# Who plays the second person where nobody says; everybody else meets a double.
PARTNERS = {"man": "woman", "woman": "man"}
_CELL = re.compile(r"(?P<character>[^+@]+)\+(?P<background>[^+@]+)@(?P<angle>\d+(\.\d+)?)")


@dataclass(frozen=True)
class Variant:
    """One cell of the matrix. ``character`` and ``background`` are as the user wrote them.

    ``from_group`` says that it was asked for as part of a group, not by its own name.
    """

    character: str
    background: str
    angle: float
    from_group: bool = False

    def __str__(self) -> str:
        return f"{self.character}+{self.background}@{self.angle:g}"


def parse_variants(text: str, characters: set[str], backgrounds: set[str]) -> list[Variant]:
    """Return the variants that a comma-separated list of names and groups stands for, each once.

    ``characters`` and ``backgrounds`` are the names that the catalogue offers.
    Raises RequestError, with near misses, for what the grammar does not allow.
    """
    found: dict[str, Variant] = {}
    for word in (part.strip() for part in text.split(",")):
        for name in GROUPS.get(word, (word,)):
            variant = _parse(name, {*CAST, *characters}, {*BACKGROUNDS, *backgrounds},
                             from_group=word in GROUPS)
            found.setdefault(str(variant), variant)
    return list(found.values())


def _parse(name: str, characters: set[str], backgrounds: set[str], from_group: bool) -> Variant:
    cell = _CELL.fullmatch(name)
    if cell is None:
        raise RequestError(f"variant '{name}' is neither a group nor character+background@angle"
                           f"{near_misses(name, [*GROUPS, *MIME])}")
    for kind, known in (("character", characters), ("background", backgrounds)):
        if cell[kind] not in known:
            raise RequestError(f"variant '{name}': no {kind} '{cell[kind]}'"
                               f"{near_misses(cell[kind], known)}")
    return Variant(cell["character"], cell["background"], float(cell["angle"]) % 360, from_group)
