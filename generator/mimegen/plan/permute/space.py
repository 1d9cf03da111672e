"""The space that permutations are drawn from: the possible levels of each axis, by take."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Self

from mimegen.base.errors import RequestError
from mimegen.compositing.background import read_background
from mimegen.faults.fault import fault_kinds
from mimegen.library.cast import cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import Entry
from mimegen.library.misleading import misleading
from mimegen.library.score_take import ScoreTake
from mimegen.library.take import LibraryTake
from mimegen.library.takes import can_mirror, library_take
from mimegen.plan.permute.axes import (
    BY_RULE,
    CHARACTER,
    FAULT,
    FAULT_AMOUNT,
    INTENSITY,
    MANNERS,
    MISLEADING,
    NO_FAULT,
    OWN_MANNER,
    OWN_PAIR,
    SEED,
    SET_SEED,
    STANCE,
    Freedom,
    Value,
    axes,
)
from mimegen.plan.permute.declaration import OWN_STYLE, VIDEO
from mimegen.plan.permute.seen import SeenRows
from mimegen.plan.variants import parse_variants
from mimegen.shots.config import FramedCamera, RenderConfig, read_config

RANDOM_PERSON = "random"
OWN_ROLES = ("blank", "aligned", "misaligned")
VIEW = {"elevation", "lens"}
# People sampled to estimate the fraction who differ enough from everybody in the rows.
PEOPLE_TRIED = 400


@dataclass(frozen=True)
class TakeSpace:
    """A take and the levels of each drawn axis.

    ``others`` are the sets that are neither aligned nor misaligned with the take. ``misaligned``
    are the names of misleading sets, by source: the action's own, or by rule. ``grid`` holds the
    values for random draws, ``levels`` those that designs balance.
    """

    take: LibraryTake
    others: tuple[str, ...]
    misaligned: dict[str, tuple[str, ...]]
    grid: dict[str, tuple[Value, ...]]
    levels: dict[str, tuple[Value, ...]]


@dataclass(frozen=True)
class Space:
    """All clips that can be drawn and differ enough from what was ``seen``."""

    catalogue: Catalogue
    freedom: Freedom
    seen: SeenRows
    config: RenderConfig
    parts: tuple[TakeSpace, ...]

    @classmethod
    def of(cls, catalogue: Catalogue, entries: Sequence[Entry], freedom: Freedom, seen: SeenRows
           ) -> Self:
        """Return the space of all takes of the actions.

        Raises RequestError if a fixed value does not exist or does not suit a take, and if a drawn
        axis has no level left.
        """
        _check_names(catalogue, freedom)
        _check_fault(freedom)
        config = read_config(catalogue.file("config", str(freedom.usual("config"))))
        if not isinstance(config.camera, FramedCamera):
            _check_view(freedom)
            freedom = Freedom(freedom.drawn - VIEW, freedom.fixed)
        takes = [library_take(entry, name, 0) for entry in entries for name in entry.takes]
        rules = _Rules(catalogue, freedom, seen)
        parts = tuple(rules.part(take) for take in takes)
        _check_manners(freedom, parts)
        return cls(catalogue, freedom, seen, config, parts)

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The actions, each once."""
        return tuple(dict.fromkeys(part.take.action for part in self.parts))

    @cached_property
    def of_action(self) -> dict[str, tuple[int, ...]]:
        """The numbers of each action's parts, by action."""
        return {action: tuple(number for number, part in enumerate(self.parts)
                              if part.take.action == action) for action in self.actions}

    @cached_property
    def size(self) -> int:
        """How many distinct clips can be drawn at random."""
        return sum(prod(self._width(part, axis, grid) for axis, grid in part.grid.items())
                   * self._seeds(part) * self._people(part) for part in self.parts)

    def _width(self, part: TakeSpace, axis: str, grid: Sequence[Value]) -> int:
        """Return how many values a drawn axis has; for backgrounds, every set and seed counts."""
        if axis != "background":
            return len(grid)
        places = axes().seeds[SET_SEED].below if SET_SEED in self.freedom.drawn else 1
        return sum(places if name in self.varying else 1
                   for role in grid for name in self._names(part, str(role)))

    def _names(self, part: TakeSpace, role: str) -> tuple[str, ...]:
        """Return the backgrounds that a role or a name stands for."""
        if role == "misaligned":
            return tuple(name for source in self.freedom.levels_of(MISLEADING)
                         for name in part.misaligned[source])
        if role == "other":
            return part.others
        return (str(part.take.aligned) if role == "aligned" else role,)

    @cached_property
    def varying(self) -> frozenset[str]:
        """The backgrounds that a seed can vary."""
        return varying_sets(self.catalogue)

    def _seeds(self, part: TakeSpace) -> int:
        if SEED not in self.freedom.drawn or not isinstance(part.take, ScoreTake):
            return 1
        seen = self.seen.seeds.get((part.take.action, part.take.name), set())
        return axes().seeds[SEED].below - len(seen)

    def _people(self, part: TakeSpace) -> int:
        return self.people**part.take.performers if CHARACTER in self.freedom.drawn else 1

    @cached_property
    def people(self) -> int:
        """How many people can be drawn; if there are rows, estimated from a sample."""
        below = axes().seeds[CHARACTER].below
        if not len(self.seen.people):
            return below
        far = sum(self.seen.takes_person(f"random:{seed}") for seed in range(PEOPLE_TRIED))
        return below * far // PEOPLE_TRIED


def varying_sets(catalogue: Catalogue) -> frozenset[str]:
    """Return the backgrounds that a seed can vary."""
    found = {name: read_background(file).set for name, file in catalogue.backgrounds.items()}
    return frozenset(name for name, scenery in found.items() if scenery and scenery.vary)


def _check_names(catalogue: Catalogue, freedom: Freedom) -> None:
    """Raise RequestError if an axis is fixed to an unknown name."""
    background, display = str(freedom.usual("background")), str(freedom.usual("display"))
    if background not in (*OWN_ROLES, "other"):
        name, colon, seed = background.partition(":")
        if colon and name in catalogue.backgrounds:
            raise RequestError(f"background={background}: permutations take the seed of a set from"
                               f" its own axis; use background={name} and set_seed={seed}")
        catalogue.file("background", background)
    if display != VIDEO:
        parse_variants(f"{display}@0", set(catalogue.characters), set(catalogue.backgrounds))
    if (character := str(freedom.usual(CHARACTER))) != RANDOM_PERSON:
        cast_member(catalogue, character)


def _check_view(freedom: Freedom) -> None:
    """Raise RequestError if another view is requested of a camera with a fixed position."""
    for name in sorted(VIEW & freedom.fixed.keys()):
        raise RequestError(f"--fix {name}={freedom.fixed[name]}: config {freedom.usual('config')}"
                           " has a fixed camera; choose a config that frames the performer, such as"
                           " standard")


def _check_fault(freedom: Freedom) -> None:
    """Raise RequestError for an amount without a fault, and for a fault that dots cannot show."""
    fault = str(freedom.usual(FAULT))
    if fault == NO_FAULT and FAULT not in freedom.drawn \
            and FAULT_AMOUNT in freedom.drawn | freedom.fixed.keys():
        raise RequestError(f"{FAULT_AMOUNT}: no fault is chosen; vary the axis {FAULT} too, or add"
                           f" --fix {FAULT}=NAME")
    if fault != NO_FAULT and not _goes_with_display(freedom, fault):
        raise RequestError(f"--fix {FAULT}={fault}: applies to rendered frames, and point-light"
                           " displays have none")


def _can_be_performed(take: LibraryTake, name: str, value: Value) -> bool:
    """Return whether a take is a cue that can have this value of an axis in ``MANNERS``."""
    score = take.score if isinstance(take, ScoreTake) else None
    if score is None or not score.stances:
        return False
    return value in score.stances if name == STANCE else name == INTENSITY or bool(score.repeat)


def _check_manners(freedom: Freedom, parts: Sequence[TakeSpace]) -> None:
    """Raise RequestError if a manner of cues is drawn but no take can vary in it."""
    for name in MANNERS:
        if name in freedom.drawn and all(part.grid[name] == (OWN_MANNER,) for part in parts):
            raise RequestError(f"--axes {name}: none of these actions is a cue that varies in it;"
                               " choose cues, as in --actions cues")


def _goes_with_display(freedom: Freedom, fault: str) -> bool:
    """Return whether all displays that can be drawn can show a fault."""
    video = "display" not in freedom.drawn and freedom.usual("display") == VIDEO
    return video or fault_kinds()[fault].acts_on == "motion"


@dataclass(frozen=True)
class _Rules:
    """Which levels a take can have, and which differ enough from what was seen."""

    catalogue: Catalogue
    freedom: Freedom
    seen: SeenRows

    def part(self, take: LibraryTake) -> TakeSpace:
        """Return the space of a take. Raises RequestError if a drawn axis has no value left."""
        others = self._new(take, (name for name in self._sets
                                  if name not in (take.aligned, take.misaligned)))
        misaligned = {source: self._new(take, names) or names
                      for source, names in self._misaligned(take).items()}
        self._check_fixed(take)
        drawn = {name: axis for name, axis in axes().levelled.items()
                 if name in self.freedom.drawn}
        names = {"other": others, "misaligned": self._new(take, (
            name for source in self.freedom.levels_of(MISLEADING) for name in misaligned[source]))}
        grid = {name: self._levels(take, names, name, axis.grid) for name, axis in drawn.items()}
        levels = {name: self._levels(take, names, name, axis.levels)
                  for name, axis in drawn.items()}
        for name, values in grid.items():
            if not values:
                raise RequestError(
                    f"{take.action}: no value of the axis {name} is far enough from all"
                    f" {self.seen.rows} rows; fix it with --fix {name}=..., which skips this check")
        return TakeSpace(take, others, misaligned, grid, {name: values or grid[name][:1]
                                         for name, values in levels.items()})

    @cached_property
    def _sets(self) -> tuple[str, ...]:
        return tuple(name for name, file in self.catalogue.backgrounds.items()
                     if read_background(file).color is None)

    def _misaligned(self, take: LibraryTake) -> dict[str, tuple[str, ...]]:
        """Return the misleading backgrounds, by source."""
        own = () if take.misaligned is None else (take.misaligned,)
        return {OWN_PAIR: own, BY_RULE: self._misleading_by_rule(take)}

    def _misleading_by_rule(self, take: LibraryTake) -> tuple[str, ...]:
        name = take.action, take.name
        if name not in self._found_misleading:
            self._found_misleading[name] = misleading(self.catalogue, *name)
        return self._found_misleading[name]

    @cached_property
    def _found_misleading(self) -> dict[tuple[str, str], tuple[str, ...]]:
        return {}

    def _new(self, take: LibraryTake, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if self._is_new(take, name))

    def _levels(self, take: LibraryTake, names: Mapping[str, Sequence[str]], name: str,
                values: Sequence[Value]) -> tuple[Value, ...]:
        """Return the levels left of an axis; if none of a manner are, "own"."""
        own = (OWN_MANNER,) if name in MANNERS else ()
        return self._allowed(take, names, name, values) or own

    def _allowed(self, take: LibraryTake, names: Mapping[str, Sequence[str]], name: str,
                 values: Iterable[Value]) -> tuple[Value, ...]:
        return tuple(value for value in values if self._can(take, name, value)
                     and self._is_far(take, names, name, value))

    def _can(self, take: LibraryTake, name: str, value: Value) -> bool:
        """Return whether a take can have this value of an axis."""
        if name == "mirror" and value == "yes":
            return can_mirror(take)
        if name == "style":
            return value == OWN_STYLE or isinstance(take, ScoreTake)
        if name == MISLEADING and value == BY_RULE:
            return bool(self._misleading_by_rule(take))
        if name == "background" and value == "aligned":
            return take.aligned is not None
        if name == "background" and value == "misaligned":
            found = self._misaligned(take)
            return any(found[source] for source in self.freedom.levels_of(MISLEADING))
        if name in MANNERS:
            return _can_be_performed(take, name, value)
        if name == FAULT and value != NO_FAULT:
            return _goes_with_display(self.freedom, str(value))
        return True

    def _is_far(self, take: LibraryTake, names: Mapping[str, Sequence[str]], name: str, value: Value
                ) -> bool:
        """Return whether a value of an axis differs enough from what the rows show."""
        if name == "azimuth":
            return self.seen.takes_azimuth(take.action, float(value))
        if name == "background":
            return value == "blank" or (bool(names[str(value)]) if value in names else
                                        self._is_new(take, str(take.aligned)))
        if name == MISLEADING:
            return bool(self._new(take, self._misaligned(take)[str(value)]))
        return True

    def _is_new(self, take: LibraryTake, background: str) -> bool:
        """Return whether no row shows the action with a background, or new sets can be drawn."""
        return self.seen.takes_background(take.action, background) or (
            SET_SEED in self.freedom.drawn and background in self._varying)

    @cached_property
    def _varying(self) -> frozenset[str]:
        return varying_sets(self.catalogue)

    def _check_fixed(self, take: LibraryTake) -> None:
        for name, value in self.freedom.fixed.items():
            if not self._can(take, name, value):
                raise RequestError(f"--fix {name}={value}: not available for {take.action}, take"
                                   f" {take.name}; leave it out of --actions, or do not fix {name}")
