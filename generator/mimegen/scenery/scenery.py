"""Sets as data: the ``set`` part of backgrounds/*.yaml.

A set has its own frame in metres, Z up. The performer stands at ``performer_at`` on Z = 0. Objects
that have a front show it towards -Y before they are turned, as people do.
"""

from collections.abc import Iterator
from typing import Self

from pydantic import Field, model_validator

from mimegen.base.yaml_file import Strict
from mimegen.scenery.light import Lamp, Sky, Sun
from mimegen.scenery.materials import SetMaterial
from mimegen.scenery.objects import Group, Object
from mimegen.scenery.ranges import Variation
from mimegen.scenery.values import Point2


class Walls(Strict):
    """Upright walls along corners, with the inside to the left of their direction.

    A wall is drawn only for cameras on its inside.
    """

    corners: tuple[Point2, ...] = Field(min_length=2)
    closed: bool = False
    bottom: float = 0.0
    top: float
    material: str


class Plane(Strict):
    """A horizontal rectangle between two corners: a floor, or a ceiling (seen from below)."""

    material: str
    corners: tuple[Point2, Point2] = ((-40.0, -40.0), (40.0, 40.0))
    height: float = 0.0


class Scenery(Strict):
    """A set: floors, walls, ceilings, objects and light; ``vary`` lists what seeds may change.

    ``scatter`` seeds the random differences between copies. ``redrawn`` is the number of earlier
    draws that were rejected.
    """

    performer_at: Point2 = (0.0, 0.0)
    turn_deg: float = 0.0
    sky: Sky
    sun: Sun
    lamps: tuple[Lamp, ...] = ()
    materials: dict[str, SetMaterial]
    floors: tuple[Plane, ...] = ()
    ceilings: tuple[Plane, ...] = ()
    walls: tuple[Walls, ...] = ()
    groups: dict[str, tuple[Object, ...]] = Field(default={})
    objects: tuple[Object, ...] = ()
    vary: Variation | None = None
    scatter: str = ""
    redrawn: int = 0

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        """Check that every material and group that is referred to exists."""
        for where, name in self._named_materials():
            if name not in self.materials:
                raise ValueError(f"{where}: there is no material {name!r}")
        for user, thing in self._objects():
            if isinstance(thing, Group) and thing.of not in self.groups:
                raise ValueError(f"{user}: there is no group {thing.of!r}")
        self._refuse_unknown_variation()
        for name in self.groups:
            self._refuse_circles(name, ())
        return self

    def _refuse_unknown_variation(self) -> None:
        """Raise ValueError if ``vary`` refers to materials, objects or groups that do not exist."""
        vary = self.vary or Variation()
        named = [("materials", name) for name in vary.materials] + [
            (f"hours.{number}.materials", name)
            for number, hour in enumerate(vary.hours) for name in hour.materials]
        for where, name in named:
            if name not in self.materials:
                raise ValueError(f"vary.{where}: there is no material {name!r}")
        if vary.room and not self.ceilings:
            raise ValueError("vary.room: there is no ceiling, which says how large the room is")
        used = {thing.of if isinstance(thing, Group) else thing.kind for thing in self.objects}
        for name, ranges in vary.things.items():
            if name not in used:
                raise ValueError(f"vary.things: no object is a copy of {name!r} or of that kind")
            for other in ranges.instead:
                if other not in self.groups:
                    raise ValueError(f"vary.things.{name}.instead: there is no group {other!r}")

    def _objects(self) -> Iterator[tuple[str, Object]]:
        """Yield every object with its location in the file."""
        for number, thing in enumerate(self.objects):
            yield f"objects.{number}", thing
        for number, extra in enumerate(self.vary.extras if self.vary else ()):
            yield f"vary.extras.{number}", extra.thing
        for name, group in self.groups.items():
            for number, thing in enumerate(group):
                yield f"groups.{name}.{number}", thing

    def _named_materials(self) -> Iterator[tuple[str, str]]:
        """Yield every reference to a material with its location in the file."""
        planes: tuple[Plane | Walls, ...] = (*self.floors, *self.ceilings, *self.walls)
        for plane in planes:
            yield type(plane).__name__.lower(), plane.material
        for where, thing in self._objects():
            if isinstance(thing, Group):
                yield from ((where, name) for name in thing.materials.values())
            else:
                names = (thing.material,) if isinstance(thing.material, str) else thing.material
                yield from ((where, name) for name in names)

    def _refuse_circles(self, name: str, outer: tuple[str, ...]) -> None:
        """Raise ValueError if a group contains itself, directly or through other groups."""
        if name in outer:
            raise ValueError(f"groups.{name} holds itself: {' -> '.join((*outer, name))}")
        for thing in self.groups[name]:
            if isinstance(thing, Group):
                self._refuse_circles(thing.of, (*outer, name))
