"""Whether a place that a seed drew could stand: what is wrong in it that was not so as written."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.layout import PlacedShape, laid_objects
from mimegen.scenery.objects import Foliage, Frond, Group, Object
from mimegen.scenery.ranges import Variation
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.standing import (
    DEEPER_M,
    FLAT_M,
    box_depth,
    in_the_performers_room,
    whole_boxes,
)
from mimegen.scenery.touching import depth_between

# How far under a thing, or in it, the top of what carries it may be.
GAP_M = 0.03
# What plants bear.
LEAVES = (Foliage, Frond)


class Written(NamedTuple):
    """What is so in a set as it was written, and the names of what a draw may move."""

    in_performers_room: float
    deepest: dict[tuple[str, str], float]
    moving: set[str]
    floating: set[str]

    @classmethod
    def of(cls, scenery: Scenery, vary: Variation) -> "Written":
        """Look at a set that may vary."""
        looked = _Looked(scenery)
        deepest: dict[tuple[str, str], float] = {}
        for one, other, depth in looked.deeper(0.0):
            pair = looked.names(one, other)
            deepest[pair] = max(deepest.get(pair, 0.0), depth)
        return cls(in_the_performers_room(scenery), deepest, _moving(scenery, vary),
                   {*_floating(scenery, looked)})


def faults(drawn: Scenery, written: Written) -> list[str]:
    """Return what is wrong with a draw that is not so in the set as it was written.

    That is what lies by more than 2 cm deeper in the performer's room or in something else, and
    what stands on nothing now.
    """
    looked, problems = _Looked(drawn), []
    if in_the_performers_room(drawn) > written.in_performers_room + 2 * DEEPER_M:
        problems.append("something in the performer's room")
    for one, other, boxes_depth in looked.deeper(2 * DEEPER_M):
        pair = looked.names(one, other)
        allowed = written.deepest.get(pair, 0.0) + 2 * DEEPER_M
        if boxes_depth > allowed and {*pair} & written.moving:
            depth = looked.exact_depth(one, other)
            problems += [f"{pair[0]} in {pair[1]} by {100 * depth:.0f} cm"] * (depth > 2 * DEEPER_M)
    afloat = {*_floating(drawn, looked)} - written.floating
    return problems + [f"{name} on nothing" for name in sorted(afloat)]


class _Looked:
    """The things of a set by the boxes (N, 2, 3) of their copies, and the two things' depths."""

    def __init__(self, scenery: Scenery) -> None:
        straight = scenery.model_copy(update={"turn_deg": 0.0, "performer_at": (0.0, 0.0)})
        self._objects = scenery.objects
        self._pieces = laid_objects(straight)
        # Leaves of two plants may grow into each other.
        self._leafless = [[piece for piece in pieces if not isinstance(piece.shape, LEAVES)]
                          for pieces in self._pieces]
        self.boxes = [_boxes(pieces) for pieces in self._pieces]

    def deeper(self, least: float) -> Iterator[tuple[int, int, float]]:
        """Yield two things whose boxes lie deeper in each other than that, and how deep."""
        low, high = _around(self.boxes)
        near = (np.minimum(high[:, None], high) - np.maximum(low[:, None], low) > least).all(axis=2)
        for one, other in np.argwhere(np.triu(near, 1)).tolist():
            first, second = self._paired(one, other)
            depth = box_depth(_boxes(first), _boxes(second))
            if depth > least:
                yield one, other, depth

    def exact_depth(self, one: int, other: int) -> float:
        """Return how deep two things lie in each other by their own shapes, not by their boxes."""
        return depth_between(*self._paired(one, other))

    def names(self, one: int, other: int) -> tuple[str, str]:
        """Return the names of two things, in their alphabet's order."""
        first, second = sorted(name_of(self._objects[number]) for number in (one, other))
        return first, second

    def _paired(self, one: int, other: int) -> tuple[list[PlacedShape], list[PlacedShape]]:
        plants = all(len(self._leafless[number]) < len(self._pieces[number])
                     for number in (one, other))
        pieces = self._leafless if plants else self._pieces
        return pieces[one], pieces[other]


def _boxes(pieces: list[PlacedShape]) -> FloatArray:
    return whole_boxes(pieces) if pieces else np.zeros((0, 2, 3))


def _around(boxes: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest corners (N, 3) around all copies of each thing."""
    low = [box[:, 0].min(axis=0, initial=np.inf) for box in boxes]
    high = [box[:, 1].max(axis=0, initial=-np.inf) for box in boxes]
    return np.array(low).reshape(-1, 3), np.array(high).reshape(-1, 3)


def name_of(thing: Object) -> str:
    """Return what an object is called: its group, or its kind."""
    return thing.of if isinstance(thing, Group) else thing.kind


def _moving(scenery: Scenery, vary: Variation) -> set[str]:
    """Return the names of what a draw may move; crowns that are scattered anew are not moved."""
    if vary.room:
        return {name_of(thing) for thing in scenery.objects}
    return {*vary.things, *(name_of(extra.thing) for extra in vary.extras),
            *(other for ranges in vary.things.values() for other in ranges.instead)}


def _floating(scenery: Scenery, looked: _Looked) -> Iterator[str]:
    """Yield the names of things with nothing under them, that are not mounted and do not hang."""
    boxes = np.stack(_around(looked.boxes), axis=1)
    for box, thing in zip(boxes, scenery.objects, strict=True):
        if thing.mounted or not FLAT_M < box[0, 2] < np.inf:
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
