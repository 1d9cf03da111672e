"""How a clip's set is filmed: by which camera, and which objects are removed for the performers."""

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
    """The camera that a set is filmed by, and the ``changes`` made for its performers."""

    camera: Camera
    changes: SetClearing = NONE


@dataclass(frozen=True)
class _KeyedSet:
    """A set, equal to another if their keys are equal."""

    key: str
    scenery: Scenery = field(compare=False)


def filmed(key: str, scenery: Scenery | None, facts: ShotFacts) -> Filmed:
    """Return how the set with this key is filmed, given the store's ``facts`` of a shot."""
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
