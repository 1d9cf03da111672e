"""Clear a set for a performance: remove objects that performers would walk into or stand behind.

The performers are moved within the set if fewer objects then have to go. Objects that are still in
their way are removed, and for each camera the objects that would hide them. Walls and floors stay.
A set in which performers touch nothing is returned unchanged.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.floorplan import (
    GROUND_M,
    FloorPlan,
    LaidSet,
    Mask,
    PlacedThing,
    floor_plan,
)
from mimegen.scenery.layout import (
    PERFORMER_HIGH,
    PERFORMER_LOW,
    PlacedShape,
    box_corners,
    hulls_meet,
    lay_out,
    turned_boxes,
    visible_pieces,
    world_from_set,
)
from mimegen.scenery.objects import Box, Group, Object
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.swept import CELL_M, Cells, Swept
from mimegen.shots.camera import Camera

# Performers are moved by multiples of STEP_M, at most MAX_SHIFT_M.
STEP_M = 0.5
MAX_SHIFT_M = 3.0
# Cost of moving performers by a metre, in cubic metres of removed objects.
METRE_COST = 0.25
# Cost of each square of the floor that has a wall, or no ground, where performers are.
SQUARE_COST = 100.0
# Edge length of the floor blocks whose visibility is tested.
BLOCK_M = 0.5
# The name of an empty group.
NOTHING = "nothing"
# The floor of the performer's space, in metres; every set keeps it free.
PERFORMER_AREA = np.array([PERFORMER_LOW[:2], PERFORMER_HIGH[:2]])

Doubt = Literal["wall", "ground"]


@dataclass(frozen=True)
class SetClearing:
    """The changes of a set for one performance.

    ``moved`` is the performers' displacement (X, Y) in metres in the set's frame. ``left_out``
    lists removed copies as (object index, copy index). ``doubts`` are remaining problems:
    performers pass through a wall, or leave the ground.
    """

    moved: tuple[float, float] = (0.0, 0.0)
    left_out: tuple[tuple[int, int], ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def changes_anything(self) -> bool:
        """Whether pictures of the set differ from those without the changes."""
        return bool(self.left_out) or self.moved != (0.0, 0.0)

    @property
    def seen(self) -> list[Any]:
        """The changes that affect pictures, as JSON content."""
        return [list(self.moved), [list(one) for one in self.left_out]]

    def content(self) -> dict[str, Any]:
        """Return the changes as JSON content."""
        return {"moved_m": list(self.moved), "left_out": [list(one) for one in self.left_out],
                "doubts": list(self.doubts)}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> "SetClearing":
        """Return the changes from the JSON that ``content`` returned."""
        x, y = content["moved_m"]
        return cls((x, y), tuple((number, copy) for number, copy in content["left_out"]),
                   tuple(content["doubts"]))


NONE = SetClearing()


def needed_changes(laid: LaidSet, swept: Swept, camera: Camera) -> SetClearing:
    """Return the changes of a set for a performance and a camera.

    The performers' displacement and the objects in their way are the same for all cameras.
    """
    return with_sight(laid, changes_on_the_floor(laid, swept), swept, camera)


def with_sight(laid: LaidSet, free: SetClearing, swept: Swept, camera: Camera) -> SetClearing:
    """Return the changes ``free`` plus the objects that hide performers from a camera."""
    hiding = _hiding(laid, free, swept, camera)
    return replace(free, left_out=tuple(sorted({*free.left_out, *hiding})))


def changes_on_the_floor(laid: LaidSet, swept: Swept) -> SetClearing:
    """Return the changes after which performers touch nothing, for all cameras."""
    cells = _squares_outside(swept.floor.cells)
    if not len(cells):
        return NONE
    reach = int(np.abs(cells).max()) + 2
    first = _evaluated(floor_plan(laid, swept.top_m, reach), cells, cells, (0, 0))
    if first.cost == 0:
        return NONE
    further = floor_plan(laid, swept.top_m, reach + round(MAX_SHIFT_M / CELL_M))
    best = min([first, *_displacements(further, cells)], key=lambda place: place.cost)
    return SetClearing(_in_the_set(laid.scenery, best.shift),
                       tuple(sorted((thing.number, thing.copy) for thing in best.met)), best.doubts)


def _squares_outside(cells: Cells) -> Cells:
    """Return the squares (N, 2) that are not entirely within the performer's space."""
    low, high = cells * CELL_M, (cells + 1) * CELL_M
    inside = (low >= PERFORMER_AREA[0] - 1e-9).all(axis=1) \
        & (high <= PERFORMER_AREA[1] + 1e-9).all(axis=1)
    return np.asarray(cells[~inside])


@dataclass(frozen=True)
class _ShiftedPlace:
    """A displacement ``shift`` (X, Y) in squares, the objects in the way there, and its cost."""

    shift: tuple[int, int]
    met: tuple[PlacedThing, ...]
    doubts: tuple[Doubt, ...]
    cost: float


def _displacements(plan: FloorPlan, cells: Cells) -> Iterable[_ShiftedPlace]:
    """Yield displaced positions, nearest first, except those behind walls."""
    emptied = np.concatenate([cells, _performer_squares()])
    for shift in _shifts():
        if not _goes_through_a_wall(plan, shift):
            yield _evaluated(plan, cells, emptied, shift)


def _evaluated(plan: FloorPlan, cells: Cells, emptied: Cells,
               shift: tuple[int, int]) -> _ShiftedPlace:
    """Evaluate a displacement.

    ``cells`` are the squares that performers occupy, ``emptied`` those that must be clear.
    """
    lost = _met(plan, emptied, shift)
    walls = _count(plan, plan.walls, emptied, shift)
    holes = 0 if plan.carried is None else _count(plan, ~plan.carried, cells, shift)
    cost = (sum(thing.volume for thing in lost) + SQUARE_COST * (walls + holes)
            + METRE_COST * CELL_M * float(np.hypot(*shift)))
    wrong: list[tuple[Doubt, int]] = [("wall", walls), ("ground", holes)]
    doubts = tuple(doubt for doubt, squares in wrong if squares)
    return _ShiftedPlace(shift, _met(plan, cells, shift), doubts, round(cost, 6))


def _met(plan: FloorPlan, cells: Cells, shift: tuple[int, int]) -> tuple[PlacedThing, ...]:
    taken = _shifted(plan, cells, shift)
    places = plan.taken + plan.reach
    hit = np.unique(plan.takers[taken[places[:, 1], places[:, 0]]])
    return tuple(plan.things[number] for number in hit.tolist())


def _shifted(plan: FloorPlan, cells: Cells, shift: tuple[int, int]) -> Mask:
    mask = np.zeros((2 * plan.reach, 2 * plan.reach), bool)
    x, y = (cells + shift + plan.reach).T
    mask[y, x] = True
    return mask


def _count(plan: FloorPlan, bad: Mask, cells: Cells, shift: tuple[int, int]) -> int:
    return int((_shifted(plan, cells, shift) & bad).sum())


def _performer_squares() -> Cells:
    low, high = np.round(PERFORMER_AREA / CELL_M).astype(np.intp)
    return np.asarray(np.stack(np.meshgrid(*map(np.arange, low, high)), axis=-1).reshape(-1, 2))


@lru_cache(maxsize=1)
def _shifts() -> tuple[tuple[int, int], ...]:
    """Return the allowed displacements (X, Y) in squares, shortest first."""
    step, most = round(STEP_M / CELL_M), round(MAX_SHIFT_M / CELL_M)
    ways = range(-most, most + 1, step)
    found = [(x, y) for x in ways for y in ways if 0 < np.hypot(x, y) <= most]
    return tuple(sorted(found, key=lambda way: (way[0]**2 + way[1]**2, way)))


def _goes_through_a_wall(plan: FloorPlan, shift: tuple[int, int]) -> bool:
    """Return whether a wall stands between the original and the displaced position."""
    steps = np.linspace(0, 1, 2 * max(map(abs, shift)) + 1)[:, None]
    x, y = (np.floor(steps * np.array(shift)).astype(np.intp) + plan.reach).T
    return bool(plan.walls[y, x].any())


def _in_the_set(scenery: Scenery, shift: tuple[int, int]) -> tuple[float, float]:
    """Convert a displacement in squares of the world to metres in the set's frame."""
    turn = np.radians(scenery.turn_deg)
    x, y = CELL_M * shift[0], CELL_M * shift[1]
    return (round(float(np.cos(turn) * x + np.sin(turn) * y), 3) + 0.0,
            round(float(np.cos(turn) * y - np.sin(turn) * x), 3) + 0.0)


def _hiding(laid: LaidSet, free: SetClearing, swept: Swept, camera: Camera) -> set[tuple[int, int]]:
    """Return the copies of objects between a camera and the performers.

    Figures are composited over the picture of the set, so a performer behind such an object would
    be drawn in front of it. The stage itself removes what hides the performer's space.
    """
    blocks = _blocks(_squares_outside(swept.floor.cells), swept.top_m)
    if not blocks:
        return set()
    pieces = visible_pieces(_moved_pieces(laid, free), camera)
    boxes, eye = turned_boxes(pieces), np.array(camera.position)
    meets = np.zeros(len(pieces), bool)
    for block in blocks:
        meets |= hulls_meet(np.vstack([eye, block]), boxes)
    return {laid.owners[pieces[place].whole] for place in np.flatnonzero(meets).tolist()}


def _moved_pieces(laid: LaidSet, changes: SetClearing) -> list[PlacedShape]:
    """Return a set's pieces as they are with its changes."""
    kept = [piece for piece in laid.pieces if laid.owners[piece.whole] not in changes.left_out]
    if changes.moved == (0.0, 0.0):
        return kept
    shift = np.eye(4)
    shift[:2, 3] = -(world_from_set(laid.scenery)[:2, :2] @ changes.moved)
    return [replace(piece, matrix=shift @ piece.matrix, front=None if piece.front is None
                    else (piece.front[0] + shift[:3, 3], piece.front[1])) for piece in kept]


def _blocks(cells: Cells, top_m: float) -> list[FloatArray]:
    """Return the corners (8, 3) of boxes that stand on squares, up to a height."""
    squares = np.floor_divide(cells, round(BLOCK_M / CELL_M))
    found = []
    for square in np.unique(squares, axis=0):
        own = cells[(squares == square).all(axis=1)]
        low, high = own.min(axis=0) * CELL_M, (own.max(axis=0) + 1) * CELL_M
        found.append(box_corners(np.array([*low, GROUND_M]), np.array([*high, top_m])))
    return found


def changed(scenery: Scenery, changes: SetClearing) -> Scenery:
    """Return a set with its performer moved and some copies of its objects removed.

    Everything else keeps its position. If a row of copies loses some, random details within the
    remaining copies may change.
    """
    if not changes.changes_anything:
        return scenery
    (x, y), (along, across) = scenery.performer_at, changes.moved
    moved = scenery.model_copy(update={
        "performer_at": (round(x + along, 3), round(y + across, 3))})
    if not changes.left_out:
        return moved
    objects, others = list(moved.objects), []
    for number, out in _by_object(changes.left_out).items():
        objects[number] = Group(kind="group", of=NOTHING)
        others += _other_copies(scenery, number, out)
    return moved.model_copy(update={
        "objects": (*objects, *others), "groups": {**scenery.groups, NOTHING: ()}})


def _by_object(left_out: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for number, copy in sorted(left_out):
        found.setdefault(number, set()).add(copy)
    return found


def _kept_copies(thing: Object, out: Collection[int]) -> list[int]:
    copies = int(np.prod([repeat.count for repeat in thing.repeat]))
    return [copy for copy in range(copies) if copy not in out]


def _other_copies(scenery: Scenery, number: int, out: Collection[int]) -> list[Object]:
    """Return the copies of an object that are kept, each as a separate object."""
    thing = scenery.objects[number]
    kept = _kept_copies(thing, out)
    matrices = _copies(scenery, number) if kept else []
    return [_single_copy(thing, matrices[copy], copy) for copy in kept]


def _copies(scenery: Scenery, number: int) -> list[FloatArray]:
    """Return the matrix (4, 4) of each copy of an object in the set's frame.

    It replaces the object by a unit box and reads the boxes' matrices.
    """
    thing = scenery.objects[number]
    box = Box(kind="box", size=(1.0, 1.0, 1.0), material="", at=thing.at, turn=thing.turn,
              scale=thing.scale, repeat=thing.repeat)
    empty = Group(kind="group", of=NOTHING)
    probe = scenery.model_copy(update={
        "objects": (*[empty] * number, box), "groups": {NOTHING: ()},
        "turn_deg": 0.0, "performer_at": (0.0, 0.0)})
    return [piece.matrix for piece in lay_out(probe)]


def _single_copy(thing: Object, matrix: NDArray[np.float64], copy: int) -> Object:
    """Return one copy of an object as a separate object with the pose ``matrix`` (4, 4)."""
    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    turn = matrix[:3, :3] / scale
    angles = np.degrees([np.arctan2(turn[2, 1], turn[2, 2]), np.arcsin(np.clip(-turn[2, 0], -1, 1)),
                         np.arctan2(turn[1, 0], turn[0, 0])])
    change: dict[str, Any] = {
        "at": _triple(matrix[:3, 3], 4), "turn": _triple(angles, 3), "scale": _triple(scale, 4),
        "repeat": ()}
    if not isinstance(thing, Group) and not isinstance(thing.material, str):
        change["material"] = thing.material[copy % len(thing.material)]
    return thing.model_copy(update=change)


def _triple(values: FloatArray, digits: int) -> tuple[float, float, float]:
    x, y, z = (round(float(value), digits) + 0.0 for value in values)
    return x, y, z
