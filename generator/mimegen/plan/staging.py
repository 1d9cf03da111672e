"""How a clip's set is filmed: from where, and what of it is left out for the performers."""

from dataclasses import dataclass, field
from functools import lru_cache

from mimegen.plan.shots import camera_of
from mimegen.scenery.clearing import NONE, SetClearing, changes_on_the_floor, with_sight
from mimegen.scenery.floorplan import LaidSet
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.swept import Swept
from mimegen.shots.camera import Camera
from mimegen.store.shotfacts import ShotFacts


@dataclass(frozen=True)
class Filmed:
    """From where a set is seen, and its ``changes`` for those who perform in it."""

    camera: Camera
    changes: SetClearing = NONE


@dataclass(frozen=True)
class _KeyedSet:
    """A set, the same as another where its key is."""

    key: str
    scenery: Scenery = field(compare=False)


def filmed(key: str, scenery: Scenery | None, facts: ShotFacts) -> Filmed:
    """Return how a set with this key is filmed for a shot, of which the store has ``facts``."""
    camera = camera_of(facts)
    if scenery is None or "swept" not in facts:
        return Filmed(camera)
    return Filmed(camera, _changes(_KeyedSet(key, scenery), Swept.from_content(facts["swept"]),
                                   camera))


@lru_cache(maxsize=4096)
def _changes(place: _KeyedSet, swept: Swept, camera: Camera) -> SetClearing:
    return with_sight(_laid(place), _on_the_floor(place, swept), swept, camera)


@lru_cache(maxsize=1024)
def _on_the_floor(place: _KeyedSet, swept: Swept) -> SetClearing:
    return changes_on_the_floor(_laid(place), swept)


@lru_cache(maxsize=8)
def _laid(place: _KeyedSet) -> LaidSet:
    return LaidSet(place.scenery)
