"""How far another seed may change a set: the ``vary`` part of its file."""

from pydantic import Field

from mimegen.base.yaml_file import Strict
from mimegen.scenery.light import Sky, Sun
from mimegen.scenery.materials import SetMaterial
from mimegen.scenery.objects import Object
from mimegen.scenery.values import HexColor, Point2, Share


class ColorRange(Strict):
    """How far both colors of a material may vary.

    ``colors`` are alternatives for the first color; the second keeps its ratio to the first. Then
    both change by up to ``hue`` degrees, and by up to the fractions ``light`` and ``chroma`` of
    their own values, in either direction.
    """

    colors: tuple[HexColor, ...] = ()
    hue: float = Field(default=0.0, ge=0, le=180)
    light: Share = 0.0
    chroma: Share = 0.0


class ThingRange(Strict):
    """How the objects of one kind, or the copies of one group, may vary.

    Each object may be left out, moved (metres in X and Y, either direction), turned (degrees,
    either direction), scaled (by a fraction, up or down) or replaced by another of the groups in
    ``instead``. In a row of copies, up to the fraction ``fewer`` may be missing; the others then
    stand further apart.
    """

    leave_out: Share = 0.0
    move: Point2 = (0.0, 0.0)
    turn: float = Field(default=0.0, ge=0, le=180)
    scale: Share = 0.0
    instead: tuple[str, ...] = ()
    fewer: Share = 0.0


class Room(Strict):
    """Ranges in metres by which walls may move outwards and the ceiling upwards.

    Each of the four walls is drawn separately; negative values move it inwards, or the ceiling
    down. With ``mirror``, left and right are exchanged in half of the draws.
    """

    walls: Point2 = (0.0, 0.0)
    height: Point2 = (0.0, 0.0)
    mirror: bool = False


class Extra(Strict):
    """An object that is present in a fraction ``chance`` of the draws."""

    chance: Share = 0.5
    thing: Object


class Hour(Strict):
    """A time of day, weather or season: its sky and sun.

    ``materials`` are the colors that seasonal surfaces have then, such as leaves, lawns and views
    through windows. ``windows`` is the fraction of their light that windows let in; the other lamps
    make up for the rest.
    """

    sky: Sky
    sun: Sun
    materials: dict[str, HexColor] = Field(default={})
    windows: float = Field(default=1.0, gt=0, le=1)


class Variation(Strict):
    """What another seed of the set may change; everything else stays.

    ``materials`` are alternative surfaces, or ranges of their colors. ``hours`` are alternative
    lights. ``lamps`` and ``warmth`` are the fractions by which the set's own lamps may be stronger
    or weaker, and warmer or cooler. ``turn_deg`` is the angle by which the whole place may be
    turned about the performer, and ``performer`` the distances in metres by which the performer may
    be moved in it, both in either direction.
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
