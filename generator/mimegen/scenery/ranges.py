"""What another seed of a set may change, and how far: the ``vary`` part of its file."""

from pydantic import Field

from mimegen.base.yaml_file import Strict
from mimegen.scenery.light import Sky, Sun
from mimegen.scenery.materials import SetMaterial
from mimegen.scenery.objects import Object
from mimegen.scenery.values import HexColor, Point2, Share


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
