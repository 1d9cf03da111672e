"""Objects that stand in a set: the ``objects`` and ``groups`` parts of its file.

Coordinates are in metres, Z up, in the set's own frame. An object with a front shows it towards -Y
before it is turned.
"""

from typing import Annotated, Literal

from pydantic import Field

from mimegen.base.yaml_file import Strict
from mimegen.scenery.values import Point2, Positive
from mimegen.shots.config import Vector

Lettering = Annotated[
    str, Field(pattern="^[A-Z0-9 :.,+=/!\n-]+$", description="capitals and digits")]


class Copies(Strict):
    """``count`` copies, each moved and turned from the last.

    ``vary_at`` (metres), ``vary_turn`` (degrees) and ``vary_scale`` (fractions) are the largest
    random differences, in either direction.
    """

    count: int = Field(ge=1, le=2000)
    step: Vector = (0.0, 0.0, 0.0)
    turn: Vector = (0.0, 0.0, 0.0)
    vary_at: Vector = (0.0, 0.0, 0.0)
    vary_turn: Vector = (0.0, 0.0, 0.0)
    vary_scale: Vector = (0.0, 0.0, 0.0)


class Placed(Strict):
    """Placement of any object: position, turn (degrees about X, then Y, then Z), scale and copies.

    If an object has several materials, its copies use them in turn. A ``mounted`` object hangs on
    something behind it and is left out for a camera that stands behind it.
    """

    at: Vector = (0.0, 0.0, 0.0)
    turn: Vector = (0.0, 0.0, 0.0)
    scale: Positive | tuple[Positive, Positive, Positive] = 1.0
    repeat: tuple[Copies, ...] = ()
    mounted: bool = False


class Solid(Placed):
    """An object with a surface: a name in ``materials``, or several that its copies use in turn."""

    material: str | tuple[str, ...]


class Box(Solid):
    """A box of ``size`` that stands on its position, with edges rounded by ``bevel`` metres."""

    kind: Literal["box"]
    size: tuple[Positive, Positive, Positive]
    bevel: float = Field(default=0.0, ge=0)


class Cylinder(Solid):
    """An upright cylinder, or a cone if ``top`` (the upper radius) is given."""

    kind: Literal["cylinder"]
    radius: Positive
    height: Positive
    top: float | None = Field(default=None, ge=0)
    bevel: float = Field(default=0.0, ge=0)


class Sphere(Solid):
    """A sphere centred on its position."""

    kind: Literal["sphere"]
    radius: Positive


class Lathe(Solid):
    """A profile of (radius, height) points revolved about the vertical axis."""

    kind: Literal["lathe"]
    profile: tuple[Point2, ...] = Field(min_length=2)


class Extrude(Solid):
    """An outline in X and Y extruded by ``height``; ``smooth`` draws a curve through its points."""

    kind: Literal["extrude"]
    outline: tuple[Point2, ...] = Field(min_length=3)
    height: Positive
    smooth: bool = False
    bevel: float = Field(default=0.0, ge=0)


class Tube(Solid):
    """A round bar along points, with ``radius`` at the start and ``end`` at the other end."""

    kind: Literal["tube"]
    points: tuple[Vector, ...] = Field(min_length=2)
    radius: Positive
    end: Positive | None = None
    smooth: bool = False
    closed: bool = False


class Arc(Solid):
    """A flat ring of outer ``radius`` and ``width``, or the part ``between`` two angles (degrees).
    """

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


class LoftSection(Strict):
    """One cross-section of a loft at ``x``: from ``bottom`` to ``top``, ``width`` across.

    ``square`` is the exponent of its superellipse: 2 is an ellipse, 8 nearly a box. ``lean`` is the
    fraction by which its top is narrower than its bottom.
    """

    x: float
    bottom: float
    top: float
    width: Positive
    square: float = Field(default=4.0, ge=1.5, le=20)
    lean: float = Field(default=0.0, ge=-0.9, le=0.9)


class HangingSheet(Solid):
    """A hanging net or cloth of ``size`` (width, height), upright above its position.

    Halfway along, its upper edge sags by ``sag`` metres; its middle bulges ``belly`` metres towards
    +Y.
    """

    kind: Literal["sheet"]
    size: tuple[Positive, Positive]
    sag: float = Field(default=0.0, ge=0)
    belly: float = 0.0


class WrittenWords(Solid):
    """Lettering ``height`` metres high, readable from -Y, with centred lines.

    If there are several ``words``, copies use them in turn, in an order that depends on the set's
    seed. ``weight`` is the stroke width as a fraction of the height. Text wider than ``width``
    metres is scaled down about its middle.
    """

    kind: Literal["words"]
    words: Lettering | tuple[Lettering, ...]
    height: Positive
    weight: float = Field(default=0.15, gt=0, le=0.4)
    width: Positive | None = None


class Loft(Solid):
    """A smooth skin over cross-sections along X, such as a car's body or a cushion."""

    kind: Literal["loft"]
    sections: tuple[LoftSection, ...] = Field(min_length=2)
    smooth: bool = True


class Frond(Solid):
    """A palm leaf that leaves its position along -Y, rises by ``rise`` degrees and droops."""

    kind: Literal["frond"]
    length: Positive
    width: Positive
    rise: float = 40.0
    droop: float = 90.0
    leaflets: int = Field(default=24, ge=1, le=100)


class Foliage(Solid):
    """A bush or tree crown: ``leaves`` leaves of ``leaf`` metres on a lumpy ball."""

    kind: Literal["foliage"]
    radius: Positive
    leaf: Positive = 0.15
    leaves: int = Field(default=500, ge=1, le=5000)


class Island(Solid):
    """The ground of a beach, out to the horizon: land within a smooth outline, sea around it."""

    kind: Literal["island"]
    outline: tuple[Point2, ...] = Field(min_length=4)


class Group(Placed):
    """A copy of one of the set's groups, with some of its materials replaced."""

    kind: Literal["group"]
    of: str
    materials: dict[str, str] = Field(default={})


Object = Annotated[
    Box | Cylinder | Sphere | Lathe | Extrude | Tube | Arc | Curtain | HangingSheet | WrittenWords
    | Loft | Frond | Foliage | Island | Group,
    Field(discriminator="kind"),
]
