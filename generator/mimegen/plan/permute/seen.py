"""Clips that models may have seen: what their manifests show, and what differs enough from it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from mimegen.base.angles import wrapped_deg
from mimegen.base.errors import RequestError
from mimegen.library.catalogue import Catalogue
from mimegen.manifest.file import MANIFEST, rows_of
from mimegen.manifest.row import Row
from mimegen.motion.quaternions import FloatArray
from mimegen.plan.permute.axes import axes
from mimegen.plan.permute.people import distances, person_of


@dataclass(frozen=True)
class SeenRows:
    """What the rows of given manifests show: angles, places and seeds by action, and people."""

    catalogue: Catalogue
    rows: int = 0
    angles: dict[str, set[float]] = field(default_factory=lambda: defaultdict(set))
    places: dict[str, set[tuple[str, int | None]]] = field(default_factory=lambda: defaultdict(set))
    seeds: dict[tuple[str, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    avatars: frozenset[str] = frozenset()

    @cached_property
    def people(self) -> FloatArray:
        """The numbers (N, 26) of all people in the rows that can be described."""
        found = [person for name in sorted(self.avatars)
                 if (person := person_of(self.catalogue, name)) is not None]
        return np.array(found) if found else np.empty((0, 0))

    def takes_azimuth(self, action: str, azimuth: float) -> bool:
        """Return whether a camera azimuth is far enough from those of all rows of an action."""
        return all(abs(wrapped_deg(azimuth - angle)) >= axes().unseen.azimuth
                   for angle in self.angles.get(action, ()))

    def takes_background(self, action: str, name: str) -> bool:
        """Return whether no row shows an action with a background, whatever its seed."""
        return all(name != shown for shown, _ in self.places.get(action, ()))

    def takes_place(self, action: str, name: str, seed: int) -> bool:
        """Return whether no row shows an action in the place that a seed draws."""
        return (name, seed) not in self.places.get(action, ())

    def takes_seed(self, action: str, take: str, seed: int) -> bool:
        """Return whether no row shows a take with a seed."""
        return seed not in self.seeds.get((action, take), ())

    def takes_person(self, name: str) -> bool:
        """Return whether a person differs enough from everybody in the rows."""
        if name.replace("random:", "random_") in self.avatars:
            return False
        person = person_of(self.catalogue, name)
        if person is None or not len(self.people):
            return True
        return bool((distances(person, self.people, axes().unseen.person) > 1).all())

    def are_distinct(self, name: str, others: Sequence[str]) -> bool:
        """Return whether a person differs enough from each of the others to be told apart."""
        people = [person_of(self.catalogue, each) for each in (name, *others)]
        known = np.array([person for person in people if person is not None])
        far = axes().unseen.person
        return len(known) < 2 or bool((distances(known[0], known[1:], far) > 1).all())


def seen_in(catalogue: Catalogue, places: Iterable[Path]) -> SeenRows:
    """Return what manifests show; a place is a manifest or its folder.

    Raises RequestError if there is none, or a line is not a valid row.
    """
    rows = [row for place in places for row in _rows(place)]
    seen = SeenRows(catalogue, len(rows), avatars=frozenset(
        name for row in rows for name in (row.avatar, row.partner_avatar) if name is not None))
    for row in rows:
        if row.angle is not None:
            seen.angles[row.action].add(float(row.angle))
        if row.background_config != "blank" and row.background_name is not None:
            seen.places[row.action].add((row.background_name, row.set_seed))
        seen.seeds[row.action, row.take].add(row.seed)
    return seen


def _rows(place: Path) -> list[Row]:
    folder = place if place.is_dir() else place.parent
    if not (folder / MANIFEST).is_file() or (not place.is_dir() and place.name != MANIFEST):
        raise RequestError(f"{place}: expected a {MANIFEST} or a folder with one")
    return list(rows_of(folder))
