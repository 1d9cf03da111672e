"""The names by which actions can be requested: ids, labels, aliases and names in published sets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mimegen.base.errors import RequestError, near_misses
from mimegen.choreography.action import Action
from mimegen.library.sets import FOLDER, ActionSet


class NamedAction(NamedTuple):
    """The action that a name stands for, and the take if the name is that take's own alias."""

    action: str
    take: str | None = None


Claims = Iterator[tuple[str, str | None]]


def plain(name: str) -> str:
    """Return a name in lower case, with single underscores between its words."""
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


# Sources of an action's names; if several actions claim a name, the earlier source wins.
_CLAIMS: tuple[Callable[[Action], Claims], ...] = (
    _id, _first_label, _aliases, _aliases_of_takes, _further_labels)


def names_of_actions(*kinds: Sequence[Action]) -> dict[str, tuple[NamedAction, ...]]:
    """Return the actions that each name stands for; earlier kinds win over later ones.

    A name has several actions if they claim it with equal rank.
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
    """Return the actions that each name in a published set stands for.

    ``actions`` are pairs of a file and its action. Raises RequestError for an unknown set or code.
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
    """Raise RequestError if an action names an unknown set or an unknown code in it."""
    if name not in sets:
        raise RequestError(f"{file}: sets: unknown set {name!r}{near_misses(name, sets)}; a set is"
                           f" a file in {FOLDER}/")
    for code in codes:
        if code not in sets[name].members:
            raise RequestError(f"{file}: sets: {name}: {FOLDER}/{name}.yaml has no {code!r}"
                               f"{near_misses(code, sets[name].members)}")


def the_one(name: str, asked: Sequence[NamedAction]) -> NamedAction:
    """Return the only action that a name fits. Raises RequestError, naming all, if several do."""
    if len(asked) > 1:
        ids = ", ".join(one.action for one in asked)
        raise RequestError(f"'{name}' fits several actions: {ids}; expected the id of one, or"
                           " several with commas")
    return asked[0]
