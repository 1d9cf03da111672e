"""Faults in a randomly varied set that its file, as written, does not have."""

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
    object_boxes,
    performer_penetration_m,
)
from mimegen.scenery.touching import depth_between

# An object counts as supported if another's top is at most this far below or above its foot.
GAP_M = 0.03
# Shapes of leaves, which may intersect other leaves.
LEAVES = (Foliage, Frond)


class Written(NamedTuple):
    """Faults that a set has as written, and the names of the objects that a draw may move.

    ``in_performers_room`` is the deepest intrusion into the performer's space, ``deepest`` the
    penetration of each pair of objects, both in metres; ``floating`` are unsupported objects.
    """

    in_performers_room: float
    deepest: dict[tuple[str, str], float]
    moving: set[str]
    floating: set[str]

    @classmethod
    def of(cls, scenery: Scenery, vary: Variation) -> "Written":
        """Measure a set before it is varied."""
        looked = _Looked(scenery)
        deepest: dict[tuple[str, str], float] = {}
        for one, other, depth in looked.deeper(0.0):
            pair = looked.names(one, other)
            deepest[pair] = max(deepest.get(pair, 0.0), depth)
        return cls(performer_penetration_m(scenery), deepest, _moving(scenery, vary),
                   {*_floating(scenery, looked)})


def faults(drawn: Scenery, written: Written) -> list[str]:
    """Return the faults of a drawn variation that the set as written does not have.

    A fault is an object that penetrates the performer's space or another object by over 2 cm more
    than as written, or that has lost its support.
    """
    looked, problems = _Looked(drawn), []
    if performer_penetration_m(drawn) > written.in_performers_room + 2 * DEEPER_M:
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
    """A set's objects as boxes (N, 2, 3), one per copy, and how deep objects penetrate others."""

    def __init__(self, scenery: Scenery) -> None:
        straight = scenery.model_copy(update={"turn_deg": 0.0, "performer_at": (0.0, 0.0)})
        self._objects = scenery.objects
        self._pieces = laid_objects(straight)
        # Leaves of two plants may grow into each other.
        self._leafless = [[piece for piece in pieces if not isinstance(piece.shape, LEAVES)]
                          for pieces in self._pieces]
        self.boxes = [_boxes(pieces) for pieces in self._pieces]

    def deeper(self, least: float) -> Iterator[tuple[int, int, float]]:
        """Yield pairs of objects whose boxes overlap by more than ``least`` metres, with depth."""
        low, high = _around(self.boxes)
        near = (np.minimum(high[:, None], high) - np.maximum(low[:, None], low) > least).all(axis=2)
        for one, other in np.argwhere(np.triu(near, 1)).tolist():
            first, second = self._paired(one, other)
            depth = box_depth(_boxes(first), _boxes(second))
            if depth > least:
                yield one, other, depth

    def exact_depth(self, one: int, other: int) -> float:
        """Return the penetration depth of two objects from their meshes, in metres."""
        return depth_between(*self._paired(one, other))

    def names(self, one: int, other: int) -> tuple[str, str]:
        """Return the names of two objects in alphabetical order."""
        first, second = sorted(name_of(self._objects[number]) for number in (one, other))
        return first, second

    def _paired(self, one: int, other: int) -> tuple[list[PlacedShape], list[PlacedShape]]:
        plants = all(len(self._leafless[number]) < len(self._pieces[number])
                     for number in (one, other))
        pieces = self._leafless if plants else self._pieces
        return pieces[one], pieces[other]


def _boxes(pieces: list[PlacedShape]) -> FloatArray:
    return object_boxes(pieces) if pieces else np.zeros((0, 2, 3))


def _around(boxes: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest corners (N, 3) of each object's copies together."""
    low = [box[:, 0].min(axis=0, initial=np.inf) for box in boxes]
    high = [box[:, 1].max(axis=0, initial=-np.inf) for box in boxes]
    return np.array(low).reshape(-1, 3), np.array(high).reshape(-1, 3)


def name_of(thing: Object) -> str:
    """Return an object's name: its group or, for single shapes, its kind."""
    return thing.of if isinstance(thing, Group) else thing.kind


def _moving(scenery: Scenery, vary: Variation) -> set[str]:
    """Return the names of objects that a draw may move.

    Tree crowns whose leaves are scattered again do not count as moved.
    """
    if vary.room:
        return {name_of(thing) for thing in scenery.objects}
    return {*vary.things, *(name_of(extra.thing) for extra in vary.extras),
            *(other for ranges in vary.things.values() for other in ranges.instead)}


def _floating(scenery: Scenery, looked: _Looked) -> Iterator[str]:
    """Yield the names of objects that nothing supports: not mounted, hanging or standing."""
    boxes = np.stack(_around(looked.boxes), axis=1)
    for box, thing in zip(boxes, scenery.objects, strict=True):
        if thing.mounted or not FLAT_M < box[0, 2] < np.inf:
            continue
        hangs = any(box[1, 2] > ceiling.height - 0.3 for ceiling in scenery.ceilings)
        if not hangs and not _carried(box, boxes):
            yield name_of(thing)


def _carried(box: FloatArray, boxes: FloatArray) -> bool:
    """Return whether one box (2, 3) stands on the top of any of the boxes (N, 2, 3)."""
    beside = (boxes[:, 0, :2] > box[1, :2]).any(axis=1) | (boxes[:, 1, :2] < box[0, :2]).any(axis=1)
    rise = boxes[:, 1, 2] - box[0, 2]
    under = (rise > -GAP_M) & (boxes[:, 0, 2] < box[0, 2] - GAP_M)
    return bool((~beside & under).any())
