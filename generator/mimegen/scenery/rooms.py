"""Resize and mirror rooms.

A room is the box under a set's first ceiling. Objects near a wall move with the wall, objects that
reach from wall to wall are stretched, and everything else keeps its position.
"""

from collections.abc import Mapping

import numpy as np

from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.layout import turned
from mimegen.scenery.light import Lamp
from mimegen.scenery.objects import Copies, Object
from mimegen.scenery.ranges import Room
from mimegen.scenery.scenery import Plane, Scenery, Walls
from mimegen.scenery.standing import DEEPER_M, StandingThings, performer_penetration_m

# Objects within this distance (X, Y, Z) of a wall or the ceiling move with it.
NEAR_M = np.array([1.3, 1.3, 0.4])
# Objects that span this fraction of the distance between walls are stretched.
ACROSS = 0.8
TRIES = 8


def varied_room(scenery: Scenery, room: Room, chance: np.random.Generator) -> Scenery:
    """Return a set with its walls and ceiling moved at random, and perhaps mirrored.

    A draw is rejected if objects then penetrate each other, or the performer's space, deeper than
    as written. After ``TRIES`` rejected draws the set is returned unchanged.
    """
    depths = StandingThings(scenery).depths()
    for _ in range(TRIES):
        plan = _mirrored(scenery) if room.mirror and chance.random() < 0.5 else scenery
        out = chance.uniform(*room.walls, 4)
        moved = _resized(plan, np.array([
            [-out[0], -out[1], 0.0], [out[2], out[3], chance.uniform(*room.height)]]).round(2))
        if (performer_penetration_m(moved) <= performer_penetration_m(scenery) + DEEPER_M
                and bool((StandingThings(moved).depths() <= depths + DEEPER_M).all())):
            return moved
    return scenery


def _resized(scenery: Scenery, out: FloatArray) -> Scenery:
    """Return a set whose room is larger by ``out`` (2, 3), at its lowest and highest corner."""
    ceiling = scenery.ceilings[0]
    old = np.array([(*ceiling.corners[0], 0.0), (*ceiling.corners[1], ceiling.height)])
    stretch = _Stretch(old, old + out)
    standing = StandingThings(scenery.model_copy(update={"objects": _all_objects(scenery)}))
    objects = tuple(stretch.resized(thing, standing.bounds(place))
                    for place, thing in enumerate(_all_objects(scenery)))
    return _with_all(scenery, objects).model_copy(update={
        "walls": tuple(stretch.walls(walls) for walls in scenery.walls),
        "floors": tuple(stretch.plane(plane) for plane in scenery.floors),
        "ceilings": tuple(stretch.plane(plane) for plane in scenery.ceilings),
        "lamps": tuple(stretch.lamp(lamp) for lamp in scenery.lamps)})


def _all_objects(scenery: Scenery) -> tuple[Object, ...]:
    """Return the objects of a set, followed by its optional ones."""
    assert scenery.vary is not None, "only sets that vary have other rooms"
    return (*scenery.objects, *(extra.thing for extra in scenery.vary.extras))


def _with_all(scenery: Scenery, objects: tuple[Object, ...]) -> Scenery:
    """Return the set with the objects that ``_all_objects`` returns replaced."""
    assert scenery.vary is not None, "only sets that vary have other rooms"
    count = len(scenery.objects)
    extras = tuple(extra.model_copy(update={"thing": thing})
                   for extra, thing in zip(scenery.vary.extras, objects[count:], strict=True))
    return scenery.model_copy(update={
        "objects": objects[:count],
        "vary": scenery.vary.model_copy(update={"extras": extras})})


class _Stretch:
    """Maps positions in one room (2, 3) to another."""

    def __init__(self, old: FloatArray, new: FloatArray) -> None:
        self._old, self._new = old, new
        self._ratio = (new[1] - new[0]) / (old[1] - old[0])

    def points(self, points: FloatArray) -> FloatArray:
        """Map points (N, 3); points outside the room keep their distance from the walls."""
        inside = np.clip(points, *self._old)
        return np.asarray(self._new[0] + (inside - self._old[0]) * self._ratio + points - inside)

    def resized(self, thing: Object, bounds: FloatArray | None) -> Object:
        """Return an object moved or stretched; ``bounds`` (2, 3) is the box of all its copies."""
        if bounds is None:
            return thing
        across = bounds[1] - bounds[0] >= ACROSS * (self._old[1] - self._old[0])
        near_low, near_high = np.abs(bounds - self._old) < NEAR_M
        near_low[2] = False
        moves = np.where(near_high, self._new[1] - self._old[1],
                         np.where(near_low, self._new[0] - self._old[0], 0.0))
        at = np.array(thing.at)
        place = np.where(across, self.points(at[None])[0], at + moves)
        return _longer(thing, np.where(across, self._ratio, 1.0)).model_copy(
            update={"at": tuple(place.round(4).tolist())})

    def walls(self, walls: Walls) -> Walls:
        """Return walls at their new positions, as high as the new room."""
        corners = np.array([(*corner, walls.top) for corner in walls.corners])
        moved = self.points(corners).round(4)
        return walls.model_copy(update={
            "corners": tuple(map(tuple, moved[:, :2].tolist())), "top": float(moved[0, 2])})

    def plane(self, plane: Plane) -> Plane:
        """Return a floor or a ceiling with its new corners."""
        moved = self.points(np.array([(*corner, plane.height) for corner in plane.corners]))
        return plane.model_copy(update={
            "corners": tuple(map(tuple, moved[:, :2].round(4).tolist())),
            "height": float(moved[0, 2].round(4))})

    def lamp(self, lamp: Lamp) -> Lamp:
        """Return a lamp with its power adjusted so that the new room is equally bright."""
        at, to = self.points(np.array([lamp.at, lamp.to])).round(4).tolist()
        watts = round(lamp.watts * float(self._ratio.prod()) ** (2 / 3), 2)
        return lamp.model_copy(update={"at": tuple(at), "to": tuple(to), "watts": watts})


def _longer(thing: Object, ratio: FloatArray) -> Object:
    """Return an object scaled along the set's axes (3,), unless it is turned against them."""
    own = turned(thing.turn)
    if (ratio == 1).all() or np.abs(own).max(axis=1).min() < 0.999:
        return thing
    along = ratio[np.abs(own).argmax(axis=0)]
    return thing.model_copy(update={
        "scale": tuple((along * thing.scale).round(4).tolist()),
        "repeat": tuple(copies.model_copy(update={
            "step": tuple((along * copies.step).round(4).tolist())}) for copies in thing.repeat)})


def _mirrored(scenery: Scenery) -> Scenery:
    """Return a set with left and right exchanged; objects are moved but not mirrored."""
    x, y = scenery.performer_at
    objects = tuple(thing.model_copy(update=_mirrored_fields(thing))
                    for thing in _all_objects(scenery))
    return _with_all(scenery, objects).model_copy(update={
        "performer_at": (-x, y), "turn_deg": -scenery.turn_deg,
        "walls": tuple(walls.model_copy(update={
            "corners": tuple((-x, y) for x, y in reversed(walls.corners))})
            for walls in scenery.walls),
        "floors": tuple(_mirror_plane(plane) for plane in scenery.floors),
        "ceilings": tuple(_mirror_plane(plane) for plane in scenery.ceilings),
        "lamps": tuple(lamp.model_copy(update={
            "at": (-lamp.at[0], *lamp.at[1:]), "to": (-lamp.to[0], *lamp.to[1:])})
            for lamp in scenery.lamps)})


def _mirrored_fields(thing: Object | Copies) -> Mapping[str, object]:
    """Return an object's mirrored position, rotation and copies, as changed fields."""
    about_x, about_y, about_z = thing.turn
    turn = (about_x, -about_y, -about_z)
    if isinstance(thing, Copies):
        return {"step": (-thing.step[0], *thing.step[1:]), "turn": turn}
    return {"at": (-thing.at[0], *thing.at[1:]), "turn": turn,
            "repeat": tuple(copies.model_copy(update=_mirrored_fields(copies))
                            for copies in thing.repeat)}


def _mirror_plane(plane: Plane) -> Plane:
    (x0, y0), (x1, y1) = plane.corners
    return plane.model_copy(update={"corners": ((-x1, y0), (-x0, y1))})
