"""Tops: t-shirts, blouses, shirts, sweaters, hoodies, and open jackets over them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.character import Material
from mimegen.characters.cloth import (
    Field,
    cloth_mesh,
    cut_from_tights,
    evened_out,
    inside_all,
    lifted_off,
    limit_sleeve_gap,
    sewn,
)
from mimegen.characters.drape import Stretch, draped
from mimegen.characters.patterns import cloth_material, printed
from mimegen.characters.piece import CharacterPiece
from mimegen.characters.spec import Jacket, Top
from mimegen.characters.surface import SkinnedSurface, to_mesh
from mimegen.characters.trimmings import band, hood, lapels, patch, shirt_collar, skinned_like
from mimegen.characters.wrinkles import with_top_wrinkles
from mimegen.motion.quaternions import FloatArray

# How far inside its edges, in metres, a top and a jacket hide what is under them; a jacket hides
# less, because the view reaches under it.
COVER_M = 0.015
UNDER_JACKET_M = 0.04
# Points farther from an arm's axis than this fraction of the body's height belong to the trunk, as
# with broad hips.
ARM_SHARE = 0.11
# How much farther a jacket stands off the skin than a top, in metres.
OVER_M = 0.017
# The open front of a shirt's neck: its depth in metres and the slope of its sides.
VEE_M = 0.07
VEE_SLOPE = 1.5
# How much a tight top narrows towards the waist, in metres per metre, and the looseness from which
# on tops hang straight.
TIGHT_TAPER = 0.5
STRAIGHT = 0.9
# The fraction of the slack that a ribbed hem takes up.
DRAWN_IN = 0.85
# Cuffs and hem ribs: their length and distance from the cloth, in metres; the factor by which ribs
# are darker; the fraction of the arm from which on a sleeve has cuffs.
CUFF_M = 0.06
HEM_RIB_M = 0.05
CUFF_LIFT_M = 0.004
RIB_LIFT_M = 0.003
RIB_SHADE = 0.7
LONG_SLEEVE = 0.8
PLACKET_M = 0.017
BUTTON_M = 0.007
BUTTONS = 6


def make_top(garment: Top | Jacket, body: Body) -> CharacterPiece:
    """Return a top or a jacket on a body."""
    fields = top_fields(garment, body)
    cut = cut_from_tights(body, fields)
    gap = 0.006 + 0.010 * garment.looseness + OVER_M * (garment.kind == "jacket")
    surface = lifted_off(cut, body, gap)
    surface = hanging_trunk(surface, garment, body, gap)
    surface = hanging_sleeves(surface, garment, body, gap)
    surface = with_top_wrinkles(evened_out(surface, body, gap * 0.8), garment, body)
    surface = limit_sleeve_gap(surface, body)

    def hides(points: FloatArray) -> BoolArray:
        if garment.kind == "top":
            return inside_all(points, fields, COVER_M)
        return inside_all(points, fields[:2] + fields[3:], UNDER_JACKET_M) & (
            fields[2](points) > -OVER_M)

    trims = trimmings(garment, surface, cut, fields, body)
    meshes = [sewn(garment.kind, surface, cut, fields),
              *(cloth_mesh(f"{garment.kind}_trim{number}", trim, garment.kind)
                for number, trim in enumerate(trims))]
    ribs = [cloth_mesh(f"{garment.kind}_rib{number}", rib, f"{garment.kind}_rib")
            for number, rib in enumerate(ribbing(garment, surface, fields))]
    buttons = button_piece(garment, surface, body)
    return CharacterPiece((*(printed(mesh, garment.pattern, body) for mesh in meshes), *ribs,
                           *buttons.meshes),
                          (top_material(garment), *rib_material(garment), *buttons.materials),
                          hides)


def top_material(garment: Top | Jacket) -> Material:
    """Return the cloth material of a top or a jacket."""
    return cloth_material(
        garment.kind, garment, fold_height=0.010 + 0.010 * garment.looseness,
        fold_stretch=(1.0, 1.0, 0.55), roughness=0.85)


def rib_material(garment: Top | Jacket) -> tuple[Material, ...]:
    """Return the material of ribs, if any: the cloth's color, darkened as between ribs."""
    if not garment.ribbed:
        return ()
    color = tuple(RIB_SHADE * channel for channel in garment.color)
    return (Material(f"{garment.kind}_rib", "cloth", {
        "color": color, "fold_height": 0.004, "fold_stretch": (1.0, 1.0, 0.3), "roughness": 0.9}),)


def ribbing(garment: Top | Jacket, surface: SkinnedSurface, fields: Sequence[Field]
           ) -> Iterator[SkinnedSurface]:
    """Yield the ribs at hem and wrists of a ribbed garment."""
    if garment.ribbed:
        yield band(surface, lambda points: HEM_RIB_M - fields[0](points), RIB_LIFT_M)
        yield band(surface, lambda points: CUFF_M - fields[1](points), RIB_LIFT_M)


def trimmings(garment: Top | Jacket, surface: SkinnedSurface, cut: SkinnedSurface,
              fields: Sequence[Field],
              body: Body) -> Iterator[SkinnedSurface]:
    """Yield collar or hood, lapels, cuffs, placket and pocket."""
    neckline = fields[2](cut.vertices)
    if garment.collar == "shirt":
        yield shirt_collar(surface, neckline, body, 22.0 if garment.kind == "top" else 30.0)
    if garment.collar == "hood":
        yield hood(surface, neckline, body)
    if isinstance(garment, Jacket) and garment.collar == "shirt":
        yield lapels(surface, body, fields[3])
    if garment.collar == "shirt" and garment.sleeve > LONG_SLEEVE:
        yield band(surface, lambda points: CUFF_M - fields[1](points), CUFF_LIFT_M)
    if isinstance(garment, Top) and garment.buttons:
        yield patch(surface, body, lambda points: PLACKET_M - np.abs(points[:, 0]), 0.003)
    if isinstance(garment, Top) and garment.pocket:
        yield patch(surface, body, pocket_field(surface, body), 0.005)


def pocket_field(surface: SkinnedSurface, body: Body) -> Field:
    """Return a field of how far points lie inside a hoodie's pocket, in metres."""
    low = surface.vertices[:, 2].min() + 0.05
    scale = body.phenotype.height / 1.7

    def inside(points: FloatArray) -> FloatArray:
        x, _, z = points.T
        width = scale * (0.135 - 0.35 * np.clip(z - low - 0.06, 0.0, None))
        return np.asarray(np.minimum(np.minimum(width - np.abs(x), z - low),
                                     low + 0.19 * scale - z))

    return inside


def button_piece(garment: Top | Jacket, surface: SkinnedSurface, body: Body) -> CharacterPiece:
    """Return the buttons on a placket."""
    if garment.kind == "jacket" or not garment.buttons:
        return CharacterPiece((), ())
    front = surface.vertices[(np.abs(surface.vertices[:, 0]) < 0.02)
                             & (surface.vertices[:, 1] < body.joint("Spine1")[1])]
    levels = np.linspace(front[:, 2].min() + 0.06, front[:, 2].max() - 0.015, BUTTONS)
    order = np.argsort(front[:, 2], kind="stable")
    depth = np.interp(levels, front[order, 2], front[order, 1]) - 0.006
    grid = buttons_at(np.stack([np.zeros(BUTTONS), depth, levels], axis=1))
    made = skinned_like(surface, grid.reshape(2, -1, 3), closed=False)
    ends = np.arange(8, 8 * BUTTONS, 8) - 1
    made = replace(made, faces=np.delete(made.faces, ends, axis=0))
    color = tuple(0.25 + 0.5 * (channel < 0.3) for channel in garment.color)
    return CharacterPiece((to_mesh("buttons", made, "buttons", {}),),
                          (Material("buttons", "plain", {"color": color, "roughness": 0.4,
                                                         "metallic": 0.0}),))


def buttons_at(centres: FloatArray) -> FloatArray:
    """Return the vertices (2, N, 8, 3) of flat cones at centres (N, 3): the tips, then the rims."""
    turn = np.linspace(0, 2 * np.pi, 8)
    rim = BUTTON_M * np.stack([np.cos(turn), 0.25 + 0 * turn, np.sin(turn)], axis=1)
    tips = np.tile(centres[:, None] - [0, 0.002, 0], (1, 8, 1))
    return np.stack([tips, centres[:, None] + rim])


def top_fields(garment: Top | Jacket, body: Body) -> tuple[Field, ...]:
    """Return fields of how far points lie inside hem, sleeve ends and neckline, in metres.

    A jacket has a fourth one for its opening.
    """
    scale, over = body.phenotype.height / 1.7, garment.kind == "jacket"
    tight = garment.kind == "top" and garment.collar == "shirt"
    hip, neck = body.joint("LeftUpLeg"), body.joint("Neck")
    shoulder, wrist = body.joint("LeftArm"), body.joint("LeftHand")
    bottom = hip[2] + (0.10 - 0.16 * garment.length) * scale
    sleeve = shoulder[0] + garment.sleeve * (wrist[0] - shoulder[0])

    def hem(points: FloatArray) -> FloatArray:
        return np.asarray(points[:, 2] - bottom)

    def sleeves(points: FloatArray) -> FloatArray:
        return np.asarray(sleeve - np.abs(points[:, 0]))

    def neckline(points: FloatArray) -> FloatArray:
        x, y, z = (points - neck).T
        scoop = garment.neckline * scale * np.exp(-((x / (0.075 * scale)) ** 2))
        rise = (0.008 * over - 0.006) * scale + 0.45 * y
        vee = tight * np.maximum(VEE_M - VEE_SLOPE * np.abs(x) / scale, 0.0) * scale
        rise = rise - (scoop + vee) * ramp(y, 0.02, -0.05)
        return np.where(np.abs(x) > 0.13 * scale, 0.2, rise - z)

    def opening(points: FloatArray) -> FloatArray:
        x, y, z = (points - neck).T
        falling = 0.3 * ramp(z, -0.3 * scale, -0.6 * scale) - 0.25 * ramp(z, -0.3 * scale, 0.0)
        width = half_open * scale * (1 + falling)
        return np.where(y < 0.0, np.abs(x) - width, 0.2)

    if isinstance(garment, Top):
        return hem, sleeves, neckline
    half_open = garment.opening
    return hem, sleeves, neckline, opening


def hanging_trunk(surface: SkinnedSurface, garment: Top | Jacket, body: Body, gap: float
                 ) -> SkinnedSurface:
    """Let the cloth hang from chest and shoulder blades down to the hem."""
    armpit = body.joint("LeftArm")[2] - 0.055 * body.phenotype.height
    trunk = np.unique(body.faces["tights"])
    around = body.vertices[trunk]
    around = around[np.abs(around[:, 0]) < body.joint("LeftArm")[0] * 0.98]
    low = surface.vertices[:, 2].min()
    centre = body.joint("Spine1")[1] - 0.01
    tube = Stretch(np.array([0.0, centre, armpit]), np.array([0.0, centre, low]))
    moved = draped(surface.vertices, tube, gap, trunk_taper(garment), around)
    share = ramp(surface.vertices[:, 2], armpit + 0.01, armpit - 0.06)
    share = share * (np.abs(surface.vertices[:, 0]) < body.joint("LeftArm")[0] * 1.3)
    share = share * (1 - DRAWN_IN * garment.ribbed * ramp(surface.vertices[:, 2], low + 0.08,
                                                          low + 0.02))
    return replace(surface, vertices=surface.vertices + share[:, None] * (
        moved - surface.vertices))


def trunk_taper(garment: Top | Jacket) -> float:
    """Return how much the trunk may narrow downwards, in metres per metre; most tops hardly do."""
    return max(TIGHT_TAPER * (1 - garment.looseness / STRAIGHT), 0.02)


def hanging_sleeves(surface: SkinnedSurface, garment: Top | Jacket, body: Body, gap: float
                   ) -> SkinnedSurface:
    """Let the sleeves hang loosely around the arms."""
    vertices = surface.vertices.copy()
    for side in ("Left", "Right"):
        start, end = body.joint(side + "Arm"), body.joint(side + "Hand")
        tube = Stretch(start, end)
        arm = body.vertices[np.unique(body.faces["tights"])]
        _, along, away = tube.coordinates(arm)
        arm = arm[(along > 0.03) & (away < ARM_SHARE * body.phenotype.height)]
        moved = draped(vertices, tube, gap, 0.36 - 0.20 * garment.looseness, arm)
        _, along, _ = tube.coordinates(vertices)
        wrist = along.max() - np.array([0.09, 0.02])
        share = ramp(along, 0.07, 0.13) * (1 - DRAWN_IN * garment.ribbed * ramp(along, *wrist))
        vertices = vertices + share[:, None] * (moved - vertices)
    return replace(surface, vertices=vertices)
