"""By which names actions answer: ids, labels, aliases, and the names that sets have for them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mimegen.base.errors import RequestError, near_misses
from mimegen.choreography.action import Action
from mimegen.library.sets import FOLDER, ActionSet


class NamedAction(NamedTuple):
    """The action that a name stands for, and the take, where it is that take's own alias."""

    action: str
    take: str | None = None


Claims = Iterator[tuple[str, str | None]]


def plain(name: str) -> str:
    """Return a name in lower case, its words parted by single underscores."""
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split())


def _id(action: Action) -> Claims:
    yield action.id, None


def _first_label(action: Action) -> Claims:
    yield action.labels[0], None


def _aliases(action: Action) -> Claims:
    yield from ((alias, None) for alias in action.aliases)


def _aliases_of_takes(action: Action) -> Claims:
    yield from ((alias, take) for take, facts in action.takes.items() for alias in facts.aliases)


def _further_labels(action: Action) -> Claims:
    yield from ((label, None) for label in action.labels[1:])


# What an action may be asked for by; where several claim a name, an earlier claim wins.
_CLAIMS: tuple[Callable[[Action], Claims], ...] = (
    _id, _first_label, _aliases, _aliases_of_takes, _further_labels)


def names_of_actions(*kinds: Sequence[Action]) -> dict[str, tuple[NamedAction, ...]]:
    """Return what every name stands for, an earlier kind of action before a later one.

    Several actions stand under a name that they claim alike.
    """
    best: dict[str, tuple[tuple[int, int], dict[str, NamedAction]]] = {}
    for rank, claims in enumerate(_CLAIMS):
        for kind, actions in enumerate(kinds):
            for action in actions:
                for name, take in claims(action):
                    first, asked = best.setdefault(plain(name), ((rank, kind), {}))
                    if first == (rank, kind):
                        asked.setdefault(action.id, NamedAction(action.id, take))
    return {name: tuple(asked.values()) for name, (_, asked) in best.items()}


def names_in_sets(actions: Iterable[tuple[Path, Action]], sets: Mapping[str, ActionSet]
                  ) -> dict[str, tuple[NamedAction, ...]]:
    """Return what the names that sets have for actions stand for.

    ``actions`` stand beside their files. Raises RequestError for a set, or a name in one, that
    there is not.
    """
    found: dict[str, dict[str, NamedAction]] = {}
    for file, action in actions:
        for name, codes in action.sets.items():
            check_codes(file, name, codes, sets)
            for code in codes:
                for other in sets[name].names_of(code):
                    found.setdefault(plain(other), {})[action.id] = NamedAction(action.id)
    return {name: tuple(asked.values()) for name, asked in found.items()}


def check_codes(file: Path, name: str, codes: Sequence[str], sets: Mapping[str, ActionSet]) -> None:
    """Refuse what an action says of a set, if there is no such set or no such name in it."""
    if name not in sets:
        raise RequestError(f"{file}: sets: unknown set {name!r}{near_misses(name, sets)}; a set is"
                           f" a file in {FOLDER}/")
    for code in codes:
        if code not in sets[name].members:
            raise RequestError(f"{file}: sets: {name}: {FOLDER}/{name}.yaml has no {code!r}"
                               f"{near_misses(code, sets[name].members)}")


def the_one(name: str, asked: Sequence[NamedAction]) -> NamedAction:
    """Return the only action of those that a name fits. Raises RequestError, naming all of them."""
    if len(asked) > 1:
        ids = ", ".join(one.action for one in asked)
        raise RequestError(f"'{name}' fits several actions: {ids}; expected the id of one, or"
                           " several with commas")
    return asked[0]
