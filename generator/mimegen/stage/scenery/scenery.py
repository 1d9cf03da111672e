"""Sets as data: the ``set`` part of backgrounds/*.yaml.

A set lies in its own metres, Z up. The performer stands at ``performer_at`` on Z = 0; things
that have a front show it towards -Y before they are turned, as persons do.
"""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mimegen.base.yaml_file import Strict
from mimegen.stage.config import Vector

HexColor = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$", description="sRGB, #rrggbb")]
Positive = Annotated[float, Field(gt=0)]
Point2 = tuple[float, float]
Said = Annotated[str, Field(pattern="^[A-Z0-9 :.,+=/!\n-]+$", description="capitals and digits")]


class SetMaterial(Strict):
    """A surface: a color, a pattern of it with a second one, and how it shines.

    ``size`` is the pattern's size in metres (plank length and width, tile, stripe, grain);
    ``gap`` the share of a plank or tile that is joint, of a ``mown`` band that is edge. ``shore``
    draws sand, surf and sea by the distance to the waterline of an ``island``; ``net`` only the
    cords of a mesh of ``size``.
    """

    color: HexColor
    second: HexColor | None = None
    pattern: Literal[
        "plain", "wood", "planks", "tiles", "bricks", "cloth", "speckle", "sand", "stripes",
        "painting", "outdoors", "shore", "net", "mown",
    ] = "plain"
    size: tuple[Positive, Positive] = (1.0, 1.0)
    gap: float = Field(default=0.02, ge=0, le=0.5)
    roughness: float = Field(default=0.6, ge=0, le=1)
    metallic: float = Field(default=0.0, ge=0, le=1)
    coat: float = Field(default=0.0, ge=0, le=1)
    sheen: float = Field(default=0.0, ge=0, le=1)
    bump: float = Field(default=0.0, ge=0, le=5)
    glow: float = Field(default=0.0, ge=0)
    opacity: float = Field(default=1.0, ge=0, le=1)


class Copies(Strict):
    """``count`` copies, each moved and turned from the last; ``vary`` scatters them by chance."""

    count: int = Field(ge=1, le=2000)
    step: Vector = (0.0, 0.0, 0.0)
    turn: Vector = (0.0, 0.0, 0.0)
    vary_at: Vector = (0.0, 0.0, 0.0)
    vary_turn: Vector = (0.0, 0.0, 0.0)
    vary_scale: Vector = (0.0, 0.0, 0.0)


class Placed(Strict):
    """What every object has: place, turn (degrees about X, then Y, then Z), scale, copies.

    The copies of an object with several materials take them in turn. A ``mounted`` object hangs
    on what is behind it and is left out for a camera that stands behind it.
    """

    at: Vector = (0.0, 0.0, 0.0)
    turn: Vector = (0.0, 0.0, 0.0)
    scale: Positive | tuple[Positive, Positive, Positive] = 1.0
    repeat: tuple[Copies, ...] = ()
    mounted: bool = False


class Solid(Placed):
    """An object with a surface: one name in ``materials``, or several for its copies."""

    material: str | tuple[str, ...]


class Box(Solid):
    """A box of ``size`` that stands on its place, its edges rounded by ``bevel`` metres."""

    kind: Literal["box"]
    size: tuple[Positive, Positive, Positive]
    bevel: float = Field(default=0.0, ge=0)


class Cylinder(Solid):
    """An upright cylinder, or a cone where ``top`` (the upper radius) differs."""

    kind: Literal["cylinder"]
    radius: Positive
    height: Positive
    top: float | None = Field(default=None, ge=0)
    bevel: float = Field(default=0.0, ge=0)


class Sphere(Solid):
    """A sphere around its place."""

    kind: Literal["sphere"]
    radius: Positive


class Lathe(Solid):
    """A profile of (radius, height) turned about the upright."""

    kind: Literal["lathe"]
    profile: tuple[Point2, ...] = Field(min_length=2)


class Extrude(Solid):
    """An outline in X and Y raised by ``height``; ``smooth`` draws a curve through its points."""

    kind: Literal["extrude"]
    outline: tuple[Point2, ...] = Field(min_length=3)
    height: Positive
    smooth: bool = False
    bevel: float = Field(default=0.0, ge=0)


class Tube(Solid):
    """A round bar along points, ``radius`` at the start and ``end`` at the end."""

    kind: Literal["tube"]
    points: tuple[Vector, ...] = Field(min_length=2)
    radius: Positive
    end: Positive | None = None
    smooth: bool = False
    closed: bool = False


class Arc(Solid):
    """A flat ring of ``radius`` (to its outer edge) and ``width``, or a part of it."""

    kind: Literal["arc"]
    radius: Positive
    width: Positive
    between: Point2 = (0.0, 360.0)


class Curtain(Solid):
    """Hanging cloth of ``size`` (width, height) with folds ``depth`` metres deep."""

    kind: Literal["curtain"]
    size: tuple[Positive, Positive]
    folds: int = Field(ge=1, le=400)
    depth: Positive = 0.06


class Section(Strict):
    """One cross-section of a loft at ``x``: from ``bottom`` to ``top``, ``width`` across.

    ``square`` is the exponent of its superellipse: 2 an ellipse, 8 nearly a box; ``lean`` is by
    what share its top is narrower than its bottom.
    """

    x: float
    bottom: float
    top: float
    width: Positive
    square: float = Field(default=4.0, ge=1.5, le=20)
    lean: float = Field(default=0.0, ge=-0.9, le=0.9)


class Sheet(Solid):
    """A net or a cloth that hangs: ``size`` (width, height), upright on its place.

    Its upper edge is ``sag`` metres lower halfway, and its middle is blown ``belly`` metres
    towards +Y.
    """

    kind: Literal["sheet"]
    size: tuple[Positive, Positive]
    sag: float = Field(default=0.0, ge=0)
    belly: float = 0.0


class Words(Solid):
    """Writing ``height`` metres high, to be read from -Y, its lines centred on one another.

    Of several ``words`` copies have all in turn, in an order that a seed of the set changes.
    ``weight`` is the strokes' share of the height. What would be wider than ``width`` metres is
    smaller, its middle as high.
    """

    kind: Literal["words"]
    words: Said | tuple[Said, ...]
    height: Positive
    weight: float = Field(default=0.15, gt=0, le=0.4)
    width: Positive | None = None


class Loft(Solid):
    """A smooth skin over cross-sections along X, such as a car's body or a cushion."""

    kind: Literal["loft"]
    sections: tuple[Section, ...] = Field(min_length=2)
    smooth: bool = True


class Frond(Solid):
    """A palm's leaf that leaves its place along -Y, rises by ``rise`` degrees and droops."""

    kind: Literal["frond"]
    length: Positive
    width: Positive
    rise: float = 40.0
    droop: float = 90.0
    leaflets: int = Field(default=24, ge=1, le=100)


class Foliage(Solid):
    """A bush or a tree's crown: ``leaves`` of ``leaf`` metres on a lumpy ball around its place."""

    kind: Literal["foliage"]
    radius: Positive
    leaf: Positive = 0.15
    leaves: int = Field(default=500, ge=1, le=5000)


class Island(Solid):
    """The ground of a beach out to the horizon: land within a smooth outline, sea around it."""

    kind: Literal["island"]
    outline: tuple[Point2, ...] = Field(min_length=4)


class Group(Placed):
    """A copy of one of the set's groups, with some of its materials exchanged."""

    kind: Literal["group"]
    of: str
    materials: dict[str, str] = Field(default={})


Object = Annotated[
    Box | Cylinder | Sphere | Lathe | Extrude | Tube | Arc | Curtain | Sheet | Words | Loft | Frond
    | Foliage | Island | Group,
    Field(discriminator="kind"),
]


class Walls(Strict):
    """Upright walls along corners; the inside lies to the left. Open where unseen from inside."""

    corners: tuple[Point2, ...] = Field(min_length=2)
    closed: bool = False
    bottom: float = 0.0
    top: float
    material: str


class Plane(Strict):
    """A level rectangle between two corners: a floor, or a ceiling (seen from below)."""

    material: str
    corners: tuple[Point2, Point2] = ((-40.0, -40.0), (40.0, 40.0))
    height: float = 0.0


class Sky(Strict):
    """What is beyond the set, and how it lights it."""

    zenith: HexColor
    horizon: HexColor
    ground: HexColor
    strength: float = Field(ge=0)
    clouds: float = Field(default=0.0, ge=0, le=1)


class Sun(Strict):
    """The sun's own strength here; its direction is the render config's."""

    strength: float = Field(ge=0)
    color: HexColor = "#ffffff"
    size_deg: float = Field(default=5.0, ge=0, le=90)


class Lamp(Strict):
    """A glowing rectangle of ``size`` at a place that shines at ``to``, in watts; not seen.

    One that stands for a ``window`` has what is let in.
    """

    at: Vector
    to: Vector
    size: tuple[Positive, Positive]
    watts: Positive
    color: HexColor = "#ffffff"
    window: bool = False


Share = Annotated[float, Field(ge=0, le=1)]


class ColorRange(Strict):
    """How far a material's colors may be from what they are: both alike.

    ``colors`` are further ones to choose the first from; the second keeps its ratio to it. Then
    ``hue`` in degrees either way, ``light`` and ``chroma`` as shares of their own either way.
    """

    colors: tuple[HexColor, ...] = ()
    hue: float = Field(default=0.0, ge=0, le=180)
    light: Share = 0.0
    chroma: Share = 0.0


class ThingRange(Strict):
    """How the objects that are a copy of a group, or made of a kind, may differ.

    Each may be left out, moved (metres either way in X and Y), turned (degrees either way), be
    larger or smaller (share either way), or be one of other groups ``instead``. Of a row of copies
    up to the share ``fewer`` may be missing; the others then stand further apart.
    """

    leave_out: Share = 0.0
    move: Point2 = (0.0, 0.0)
    turn: float = Field(default=0.0, ge=0, le=180)
    scale: Share = 0.0
    instead: tuple[str, ...] = ()
    fewer: Share = 0.0


class Room(Strict):
    """How far walls may stand further out and the ceiling higher, from and to, in metres.

    Each of four walls has a draw of its own; less than 0 is further in, or lower. With ``mirror``
    left and right are exchanged in half of the draws.
    """

    walls: Point2 = (0.0, 0.0)
    height: Point2 = (0.0, 0.0)
    mirror: bool = False


class Extra(Strict):
    """An object that is there in some of the draws."""

    chance: Share = 0.5
    thing: Object


class Hour(Strict):
    """A time of the day, a weather or a season: its sky and sun.

    ``materials`` are the colors that what changes with it has then: leaves, lawns, windows' views.
    ``windows`` is the share of their light that they let in; the other lamps make up for the rest.
    """

    sky: Sky
    sun: Sun
    materials: dict[str, HexColor] = Field(default={})
    windows: float = Field(default=1.0, gt=0, le=1)


class Variation(Strict):
    """What another seed of the set may change; everything else stays.

    ``materials`` are further looks to choose from, or ranges of their colors; ``hours`` are further
    lights; ``lamps`` how much stronger or weaker the set's own lamps may be, ``warmth`` how much
    warmer or cooler. ``turn_deg`` and ``performer`` say by how much the whole place may be turned
    about the performer, and the performer stand elsewhere in it, either way.
    """

    materials: dict[str, ColorRange | tuple[SetMaterial, ...]] = Field(default={})
    hours: tuple[Hour, ...] = ()
    lamps: Share = 0.0
    warmth: Share = 0.0
    things: dict[str, ThingRange] = Field(default={})
    extras: tuple[Extra, ...] = ()
    turn_deg: float = Field(default=0.0, ge=0, le=180)
    performer: Point2 = (0.0, 0.0)
    room: Room | None = None


class Scenery(Strict):
    """A set: floors, walls, ceilings, objects, and its light; ``vary`` says what seeds change.

    ``scatter`` seeds what copies scatter by chance; ``redrawn`` is how many draws before this one
    could not stand.
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
        for number, thing in enumerate(self.objects):
            yield f"objects.{number}", thing
        for number, extra in enumerate(self.vary.extras if self.vary else ()):
            yield f"vary.extras.{number}", extra.thing
        for name, group in self.groups.items():
            for number, thing in enumerate(group):
                yield f"groups.{name}.{number}", thing

    def _named_materials(self) -> Iterator[tuple[str, str]]:
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
        if name in outer:
            raise ValueError(f"groups.{name} holds itself: {' -> '.join((*outer, name))}")
        for thing in self.groups[name]:
            if isinstance(thing, Group):
                self._refuse_circles(thing.of, (*outer, name))
