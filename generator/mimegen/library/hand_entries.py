"""Catalogue entries of hand actions, all from one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from mimegen.choreography.action import Action
from mimegen.hands.table import Gesture, HandClass, HandTable, read_table, table_file
from mimegen.library.entry import Entry

LICENCE = "CC0-1.0"


@dataclass(frozen=True)
class HandEntry(Entry):
    """A hand action: its takes by name, and its class."""

    gestures: Mapping[str, Gesture] | None = None
    hand_class: HandClass | None = None

    @property
    def file(self) -> Path:
        """The table that holds the action."""
        return self.folders[-1] / table_file().name

    @cached_property
    def takes(self) -> dict[str, Path]:
        """The table's path, by the names of the action's takes in it."""
        return dict.fromkeys(self.gestures or (), self.file)

    def gesture(self, name: str | None) -> tuple[Gesture, HandClass]:
        """Return the named take, or the default one. Raises RequestError as ``take``."""
        self.take(name)
        assert self.gestures is not None and self.hand_class is not None, "hand_entries gives both"
        return self.gestures[name or self.asked or next(iter(self.gestures))], self.hand_class


def hand_entries() -> Mapping[str, HandEntry]:
    """Return the hand actions by id. Raises RequestError if their table is invalid."""
    return _entries(table_file())


@cache
def _entries(file: Path) -> Mapping[str, HandEntry]:
    table = read_table(file)
    return {name: HandEntry(_action(table, takes), (file.parent,), None, takes,
                            table.classes[next(iter(takes.values())).kind])
            for name, takes in sorted(table.gestures.items())}


def _action(table: HandTable, takes: Mapping[str, Gesture]) -> Action:
    """Return the action of a hand action's takes."""
    first = next(iter(takes.values()))
    hand_class = table.classes[first.kind]
    shapes = dict.fromkeys(shape for take in takes.values() for shape in (
        take.hand.shape, *(stop.shape for stop in take.way)) if shape is not None)
    return Action(
        id=first.id, name=first.labels[0], labels=first.labels, aliases=first.aliases,
        aligned_background=hand_class.aligned, misaligned_background=hand_class.misaligned,
        semantic_group=hand_class.semantic_group, sets=first.sets, intentions=hand_class.intentions,
        hand_shapes=tuple(shapes), licence=LICENCE, author="mimegen",
        recognised_by=hand_class.recognised_by.format(label=first.labels[0]))
