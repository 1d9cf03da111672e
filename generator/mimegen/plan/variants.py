"""The grammar of variants: ``character+background@angle``, with MIME's names.

An angle turns the camera from the render config's own position; ``front``, ``left``, ``back``,
``right``, ``front+30`` and ``front-45`` are directions from the performer's front (plan/front.py).
A seed after a background varies its set: ``beach:7`` or ``aligned:7``. ``nobody+background@angle``
shows the place of ``base`` without a performer, as a control. ``pointlight@angle`` shows dots
instead of a body; words after colons modify it, as in ``pointlight:inverted:masked=40@90``:
manipulations, styles, or the name of a display.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from mimegen.base.errors import RequestError, near_misses
from mimegen.manifest.row import NOBODY
from mimegen.plan.front import SIDE_PATTERN, SIDES, side_degrees, side_name
from mimegen.pointlight.spec import Display
from mimegen.pointlight.words import worded_display

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
POINTLIGHT = ("pointlight@0", "pointlight:inverted@0", "pointlight:scrambled@0")
GROUPS = {
    "all": MIME,
    "mime": MIME,
    "angles": MIME[:4],
    "characters": ("base+blank@0", "woman+blank@0", "adversarial+blank@0"),
    "backgrounds": ("base+blank@0", "base+aligned@0", "base+misaligned@0"),
    "pointlight": POINTLIGHT,
}
BACKGROUNDS = ("blank", "aligned", "misaligned")
# ``nobody`` has the camera framing of ``base``, who is then left out of the picture.
CAST = {"base": "man", "adversarial": "spacesuit", "lights": "lights:man", NOBODY: "man"}
# Suggested if a variant is misspelled.
_FROM_FRONT = tuple(f"base+blank@{side}" for side in SIDES)
_VIEW = rf"(?P<view>\d+(\.\d+)?|{SIDE_PATTERN})"
_DISPLAY = re.compile(rf"pointlight(?P<words>(:[^@:]+)*)@{_VIEW}")
_CELL = re.compile(r"(?P<character>[^+@]+)\+(?P<background>[^+@:]+)(:(?P<seed>\d{1,9}))?"
                   rf"@{_VIEW}")


@dataclass(frozen=True)
class Variant:
    """One cell of the matrix; ``character`` and ``background`` are as the user wrote them.

    ``set_seed`` varies the background's set. ``from_group`` is True if the variant was requested as
    part of a group, not by its own name. ``words`` are those of a point-light display: empty for
    the plain one, None for a rendered body. ``angle`` turns the camera from the config's own
    position or, if ``from_front``, from the performer's front; in degrees, 0 to 360.
    """

    character: str
    background: str
    angle: float
    from_group: bool = False
    words: tuple[str, ...] | None = None
    set_seed: int | None = None
    from_front: bool = False

    @property
    def view(self) -> str:
        """The angle as written in a variant: ``90``, ``front``, ``front+30``."""
        return side_name(self.angle) if self.from_front else f"{self.angle:g}"

    @property
    def view_word(self) -> str:
        """The angle as written in a file name: ``90``, ``front``, ``front30``."""
        return self.view.replace("+", "")

    def __str__(self) -> str:
        if self.words is not None:
            return ":".join(("pointlight", *self.words)) + f"@{self.view}"
        seed = "" if self.set_seed is None else f":{self.set_seed}"
        return f"{self.character}+{self.background}{seed}@{self.view}"


def parse_variants(text: str, characters: set[str], backgrounds: set[str]) -> list[Variant]:
    """Return the variants in a comma-separated list of names and groups, each once.

    A variant requested by name does not count as part of a group, even if a group has it too.
    ``characters`` and ``backgrounds`` are the names in the catalogue. Raises RequestError, with
    similar names, for what the grammar does not allow.
    """
    found: dict[str, Variant] = {}
    for word in (part.strip() for part in text.split(",")):
        for name in GROUPS.get(word, (word,)):
            variant = _parse(name, {*CAST, *characters}, {*BACKGROUNDS, *backgrounds},
                             from_group=word in GROUPS)
            if str(variant) not in found or found[str(variant)].from_group:
                found[str(variant)] = variant
    return list(found.values())


def variants_among(text: str, present: Collection[str]) -> set[str]:
    """Return the variants of ``present`` that a comma-separated list of names and groups covers.

    Raises RequestError, with similar names, for a name or group that covers none of them.
    """
    covered: set[str] = set()
    for word in (part.strip() for part in text.split(",")):
        found = {*GROUPS.get(word, (word,))} & {*present}
        if not found:
            raise RequestError(f"variant '{word}': no clip of it{near_misses(word, present)}")
        covered |= found
    return covered


def _parse(name: str, characters: set[str], backgrounds: set[str], from_group: bool) -> Variant:
    """Return the variant of one name. Raises RequestError for what the grammar does not allow."""
    dots = _DISPLAY.fullmatch(name)
    if dots is not None:
        words = tuple(dots["words"].split(":")[1:])
        try:
            worded_display(words, Display(name="pointlight", description=""))
        except RequestError as problem:
            raise RequestError(f"variant '{name}': {problem}") from problem
        return _seen_from(dots["view"], Variant("base", "blank", 0.0, from_group, words))
    cell = _CELL.fullmatch(name)
    if cell is None:
        known_names = [*GROUPS, *MIME, *POINTLIGHT, *_FROM_FRONT]
        raise RequestError(f"variant '{name}': expected a group or character+background@angle,"
                           " where the angle is degrees or front, left, back, right,"
                           f" front+30{near_misses(name, known_names)}")
    for kind, known in (("character", characters), ("background", backgrounds)):
        if cell[kind] not in known:
            raise RequestError(f"variant '{name}': no {kind} '{cell[kind]}'"
                               f"{near_misses(cell[kind], known)}")
    return _seen_from(cell["view"], Variant(
        cell["character"], cell["background"], 0.0, from_group,
        set_seed=int(cell["seed"]) if cell["seed"] else None))


def _seen_from(view: str, variant: Variant) -> Variant:
    side = side_degrees(view)
    return replace(variant, angle=float(view) % 360 if side is None else side,
                   from_front=side is not None)
