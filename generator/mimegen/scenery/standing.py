"""Place and move a set's objects without new collisions."""

import itertools
from collections.abc import Iterator

import numpy as np

from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.layout import (
    PERFORMER_HIGH,
    PERFORMER_LOW,
    PlacedShape,
    WallPanel,
    box_corners,
    faces_camera,
    lay_out,
    panel_frame,
    turned_boxes,
    wall_panels,
)
from mimegen.scenery.objects import Box, Cylinder, Object, Sphere
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shapes import bounds_of
from mimegen.shots.camera import Camera

# Objects may penetrate others by this much more than in the set as written.
DEEPER_M = 0.01
# Objects no higher than this, such as rugs, lie on the floor and may have others on top.
FLAT_M = 0.06
# Sample points in the body of a standing person, in metres.
BODY = np.array([[x, y, z] for x in (-0.25, 0.0, 0.25) for y in (-0.25, 0.0, 0.25)
                 for z in (0.1, 0.5, 1.0, 1.5)])
Boxes = FloatArray


class StandingThings:
    """A set's objects, as axis-aligned boxes (N, 2, 3) of their copies in the set's frame.

    An object is placed only if it penetrates other objects, walls and the performer's space no
    deeper than the object written there. Objects that are not moved are therefore always valid.
    """

    def __init__(self, scenery: Scenery) -> None:
        self._scenery = scenery
        self._written = scenery.objects
        self._objects: list[Object | None] = list(scenery.objects)
        self._rooms = list(_rooms(scenery))
        self._boxes = [self._boxes_of(thing) for thing in scenery.objects]
        self._first = list(self._boxes)

    @property
    def objects(self) -> tuple[Object, ...]:
        """The current objects."""
        return tuple(thing for thing in self._objects if thing is not None)

    def written(self, place: int) -> Object:
        """Return an object as written."""
        return self._written[place]

    def bounds(self, place: int) -> FloatArray | None:
        """Return the box (2, 3) around all copies of an object; None if it has no copies."""
        boxes = self._boxes[place]
        if not len(boxes):
            return None
        low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
        return np.asarray([low, high])

    def depths(self) -> FloatArray:
        """Return penetration depths (N, N) in metres; only the upper triangle is filled."""
        found = np.zeros((len(self._boxes), len(self._boxes)))
        for one, other in itertools.combinations(range(len(self._boxes)), 2):
            found[one, other] = box_depth(self._boxes[one], self._boxes[other])
        return found

    def leave_out(self, place: int) -> None:
        """Remove an object."""
        self._objects[place], self._boxes[place] = None, np.zeros((0, 2, 3))

    def replace(self, place: int, thing: Object) -> bool:
        """Replace an object if the new one fits; return whether it does."""
        boxes, first = self._boxes_of(thing), self._first[place]
        room = all(box_depth(boxes, other) <= box_depth(first, self._first[number]) + DEEPER_M
                   for number, other in enumerate(self._boxes) if number != place)
        if not room or not self._is_inside(boxes, first) or (
                self._performer_penetration_m(thing)
                > self._performer_penetration_m(self._written[place]) + DEEPER_M):
            return False
        self._objects[place], self._boxes[place] = thing, boxes
        return True

    def add(self, thing: Object) -> None:
        """Add an object if it fits."""
        boxes = self._boxes_of(thing)
        if self._performer_penetration_m(thing) <= 0 and all(
                box_depth(boxes, other) <= DEEPER_M for other in self._boxes):
            self._objects.append(thing)
            self._boxes.append(boxes)
            self._first.append(boxes)

    def _is_inside(self, boxes: Boxes, first: Boxes) -> bool:
        """Return whether an object is within all closed walls that it was within as written."""
        return all(_within(room, boxes) for room in self._rooms if _within(room, first))

    def _boxes_of(self, thing: Object) -> Boxes:
        alone = self._scenery.model_copy(update={
            "objects": (thing,), "turn_deg": 0.0, "performer_at": (0.0, 0.0)})
        return object_boxes(lay_out(alone))

    def _performer_penetration_m(self, thing: Object) -> float:
        return performer_penetration_m(self._scenery.model_copy(update={"objects": (thing,)}))


def performer_penetration_m(scenery: Scenery) -> float:
    """Return the deepest penetration of the performer's space by any object, in metres."""
    room = np.stack([PERFORMER_LOW, PERFORMER_HIGH])[None]
    return box_depth(room, _piece_boxes(lay_out(scenery)), flat_too=True)


def blocks_the_performer(scenery: Scenery) -> bool:
    """Return whether a box, cylinder or sphere of a set occupies the performer's position.

    Other shapes are skipped: they may be hollow within their bounds, as a fence around a field.
    """
    solid = [piece for piece in lay_out(scenery)
             if isinstance(piece.shape, (Box, Cylinder, Sphere))]
    return any(_holds_a_body(piece, *bounds_of(piece.shape)) for piece in solid)


def _holds_a_body(piece: PlacedShape, low: FloatArray, high: FloatArray) -> bool:
    """Return whether a point of the standing body is within a piece's bounds (3,)."""
    own = np.column_stack([BODY, np.ones(len(BODY))]) @ np.linalg.inv(piece.matrix).T
    within = (own[:, :3] > low) & (own[:, :3] < high)
    return bool(within.all(axis=1).any())


def wall_hides_the_performer(scenery: Scenery, camera: Camera) -> bool:
    """Return whether a visible wall stands between the camera and the performer.

    Walls are hidden from cameras behind them, so such a wall has its corners in the wrong order or
    stands inside the room.
    """
    return any(_is_before(panel, np.array(camera.position)) for panel in wall_panels(scenery)
               if faces_camera(panel, camera))


def _is_before(panel: WallPanel, eye: FloatArray) -> bool:
    """Return whether a line from the eye (3,) to a point of the standing body crosses a wall."""
    frame, corners = panel_frame(panel)
    seen, body = ((points - frame[:3, 3]) @ frame[:3, :3] for points in (eye, BODY))
    deep = seen[1] - body[:, 1]
    share = seen[1] / np.where(deep == 0, np.inf, deep)
    meets = (seen + share[:, None] * (body - seen))[:, [0, 2]]
    low, high = (one(axis=0)[[0, 2]] for one in (corners.min, corners.max))
    within = ((meets > low) & (meets < high)).all(axis=1)
    return bool((within & (share > 0) & (share < 1)).any())


def object_boxes(pieces: list[PlacedShape]) -> Boxes:
    """Return the axis-aligned box (N, 2, 3) of every ``whole``; its pieces must be consecutive."""
    boxes = _piece_boxes(pieces)
    starts = np.flatnonzero(np.diff([piece.whole for piece in pieces], prepend=-1))
    return np.stack([np.minimum.reduceat(boxes[:, 0], starts),
                     np.maximum.reduceat(boxes[:, 1], starts)], axis=1)


def box_depth(ones: Boxes, others: Boxes, flat_too: bool = False) -> float:
    """Return the deepest penetration between two groups of boxes; 0 if none overlap.

    Boxes no higher than ``FLAT_M`` are ignored unless ``flat_too``.
    """
    if not flat_too:
        ones, others = (boxes[boxes[:, 1, 2] > FLAT_M] for boxes in (ones, others))
    if not len(ones) or not len(others):
        return 0.0
    high = np.minimum(ones[:, None, 1], others[None, :, 1])
    low = np.maximum(ones[:, None, 0], others[None, :, 0])
    return float(max((high - low).min(axis=-1).max(), 0.0))


def _within(room: FloatArray, boxes: Boxes) -> bool:
    """Return whether boxes, seen from above, are within an outline (N, 2), by the even-odd rule."""
    corners = np.concatenate([box_corners(low, high)[::2, :2] for low, high in boxes]
                             or [np.zeros((0, 2))])
    start, end = room, np.roll(room, -1, axis=0)
    rise = end[:, 1] - start[:, 1]
    passed = (start[:, 1] > corners[:, 1:]) != (end[:, 1] > corners[:, 1:])
    share = (corners[:, 1:] - start[:, 1]) / np.where(rise == 0, 1.0, rise)
    crossing = start[:, 0] + share * (end[:, 0] - start[:, 0])
    crossings = (passed & (corners[:, :1] < crossing)).sum(axis=1)
    return bool((crossings % 2 == 1).all())


def _rooms(scenery: Scenery) -> Iterator[FloatArray]:
    """Yield the outline (N, 2) of each closed wall in the set's frame."""
    for walls in scenery.walls:
        if walls.closed:
            yield np.array(walls.corners)


def _piece_boxes(pieces: list[PlacedShape]) -> Boxes:
    """Return the axis-aligned box (N, 2, 3), lowest and highest corner, of every piece."""
    placed = turned_boxes(pieces)
    return np.stack([placed.min(axis=1), placed.max(axis=1)], axis=1)
