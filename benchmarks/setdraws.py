"""Whether what seeds draw of each set could stand: share of draws in which nothing is wrong.

    python benchmarks/setdraws.py [--seeds 20] [--from 0] [NAME ...]

Looks, by upright boxes, for things deeper in the performer's room than as the set was written, in
one another by more than 1 cm, and for what stands on nothing now.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mimegen.compositing.background import read_background
from mimegen.library.catalogue import Catalogue
from mimegen.library.places import place
from mimegen.motion.quaternions import FloatArray
from mimegen.stage.scenery.scenery import Group, Object, Scenery
from mimegen.stage.scenery.standing import DEEPER_M, FLAT_M, Standing, in_the_performers_room

# How far under a thing, or in it, the top of what carries it may be.
GAP_M = 0.03
# What plants bear, and what stands in for it where it does not count.
LEAVES = ("foliage", "frond")
NOTHING = Group(kind="group", of="nothing")


def name_of(thing: Object) -> str:
    """Return a thing's group or kind."""
    return thing.of if isinstance(thing, Group) else thing.kind


def floating(scenery: Scenery) -> Iterator[str]:
    """Yield the names of things with nothing under them, that are not mounted and do not hang."""
    standing = Standing(scenery)
    found = [standing.bounds(place) for place in range(len(scenery.objects))]
    boxes = np.array([np.full((2, 3), np.nan) if box is None else box for box in found])
    for box, thing in zip(boxes, scenery.objects, strict=True):
        if thing.mounted or not box[0, 2] > FLAT_M:
            continue
        hangs = any(box[1, 2] > ceiling.height - 0.3 for ceiling in scenery.ceilings)
        if not hangs and not _carried(box, boxes):
            yield name_of(thing)


def _carried(box: FloatArray, boxes: FloatArray) -> bool:
    """Say whether the top of any box (N, 2, 3) is under the foot of one (2, 3)."""
    beside = (boxes[:, 0, :2] > box[1, :2]).any(axis=1) | (boxes[:, 1, :2] < box[0, :2]).any(axis=1)
    rise = boxes[:, 1, 2] - box[0, 2]
    under = (rise > -GAP_M) & (boxes[:, 0, 2] < box[0, 2] - GAP_M)
    return bool((~beside & under).any())


def _leafless(scenery: Scenery) -> Scenery:
    """Return a set whose plants have no leaves."""
    def kept(things: tuple[Object, ...]) -> tuple[Object, ...]:
        return tuple(NOTHING if thing.kind in LEAVES else thing for thing in things)
    groups = {name: kept(things) for name, things in scenery.groups.items()}
    return scenery.model_copy(update={
        "groups": {**groups, NOTHING.of: ()}, "objects": kept(scenery.objects)})


def depths_of(scenery: Scenery) -> FloatArray:
    """Return how deep things lie in each other (N, N); leaves of two plants grow into each other.
    """
    whole, bare = Standing(scenery), Standing(_leafless(scenery))
    plants = np.array([not np.array_equal(whole.bounds(number), bare.bounds(number))
                       for number in range(len(scenery.objects))])
    return np.where(plants & plants[:, None], bare.depths(), whole.depths())


def deepest(scenery: Scenery) -> dict[tuple[str, str], float]:
    """Return how deep things of two names lie in each other, at most."""
    depths, names = depths_of(scenery), [name_of(thing) for thing in scenery.objects]
    found: dict[tuple[str, str], float] = {}
    for one, other in np.argwhere(depths > 0):
        pair = tuple(sorted((names[one], names[other])))
        found[pair[0], pair[1]] = max(found.get((pair[0], pair[1]), 0.0), depths[one, other])
    return found


def moving(written: Scenery) -> set[str]:
    """Return the names of what a draw may move; crowns that are scattered anew are not moved."""
    vary = written.vary
    assert vary is not None, "only sets that vary are drawn"
    if vary.room:
        return {name_of(thing) for thing in written.objects}
    return {*vary.things, *(name_of(extra.thing) for extra in vary.extras),
            *(other for ranges in vary.things.values() for other in ranges.instead)}


class Written(NamedTuple):
    """What is so in a set as it was written, and what a draw may move."""

    in_performers_room: float
    deepest: dict[tuple[str, str], float]
    moving: set[str]
    floating: set[str]

    @classmethod
    def of(cls, scenery: Scenery) -> "Written":
        """Look at a set."""
        return cls(in_the_performers_room(scenery), deepest(scenery), moving(scenery),
                   {*floating(scenery)})


def faults(drawn: Scenery, written: Written) -> list[str]:
    """Return what is wrong with a draw that is not so in the set as it was written."""
    said = []
    if in_the_performers_room(drawn) > written.in_performers_room + 2 * DEEPER_M:
        said.append("in the performer's room")
    said += [f"{one} in {other} by {100 * depth:.0f} cm"
             for (one, other), depth in deepest(drawn).items()
             if depth > written.deepest.get((one, other), 0.0) + 2 * DEEPER_M
             and {one, other} & written.moving]
    return said + [f"{name} floats" for name in sorted({*floating(drawn)} - written.floating)]


def main() -> None:
    """Print a line for each set and each fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    catalogue = Catalogue.with_libraries(())
    good = Counter[bool]()
    for name in options.names or list(catalogue.backgrounds):
        file = catalogue.file("background", name)
        scenery = read_background(file).set
        if scenery is None:
            continue
        bad, written = 0, Written.of(scenery)
        for seed in range(options.first, options.first + options.seeds):
            drawn = place(file, seed).set
            assert drawn is not None
            said = faults(drawn, written)
            good[not said] += 1
            bad += bool(said)
            if said:
                print(f"  {name}:{seed}: {'; '.join(said)}", flush=True)
        print(f"{name}: {options.seeds - bad} of {options.seeds}", flush=True)
    print(f"{good[True]} of {good.total()} draws without fault")


if __name__ == "__main__":
    main()
