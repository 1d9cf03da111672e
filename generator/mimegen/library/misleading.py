"""Find misleading backgrounds for an action by rule instead of by hand."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from mimegen.base.files import Stamp, stamp
from mimegen.choreography.action import Action
from mimegen.compositing.background import read_background
from mimegen.library.catalogue import Catalogue
from mimegen.library.naming import plain


def misleading(catalogue: Catalogue, action: str, take: str) -> tuple[str, ...]:
    """Return the sets that mislead about a take of an action, sorted; empty if there are none.

    Each fits an action of another semantic group, and no action of the same group or with a common
    label. Each is indoors or outdoors like the take's own background, so that this difference alone
    does not give it away. Actions without a group have no misleading sets and provide none.
    """
    if action not in catalogue.actions:
        return ()
    shown = catalogue.actions[action].action.of_take(take)
    if shown.aligned_background is None or shown.semantic_group is None:
        return ()
    own_kind = is_indoors(catalogue, shown.aligned_background)
    labels = {plain(label) for label in shown.labels}
    fitting, elsewhere = {shown.aligned_background}, set[str]()
    for other in _shown(catalogue):
        alike = other.semantic_group == shown.semantic_group or not labels.isdisjoint(
            plain(label) for label in other.labels)
        if alike or other.semantic_group is not None:
            (fitting if alike else elsewhere).add(str(other.aligned_background))
    return tuple(name for name in sorted(elsewhere - fitting)
                 if name in catalogue.backgrounds and is_indoors(catalogue, name) is own_kind)


def _shown(catalogue: Catalogue) -> Iterator[Action]:
    """Yield the facts of every take with a known background."""
    for entry in catalogue.actions.values():
        for facts in (entry.action, *(entry.action.of_take(name) for name in entry.takes)):
            if facts.aligned_background is not None:
                yield facts


def is_indoors(catalogue: Catalogue, name: str) -> bool | None:
    """Return whether a set has a ceiling; None for colors and pictures.

    Raises as ``read_background``.
    """
    file = catalogue.file("background", name)
    return _has_ceiling(file, stamp(file))


@lru_cache(maxsize=256)
def _has_ceiling(file: Path, written: Stamp | None) -> bool | None:
    scenery = read_background(file).set
    return None if scenery is None else bool(scenery.ceilings)
