"""T-shirts, blouses and sweaters."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.character import Material
from mimegen.characters.cloth import Field, cut_from_tights, inside_all, lifted_off, settled, sewn
from mimegen.characters.drape import Stretch, draped
from mimegen.characters.piece import BoolArray, Piece
from mimegen.characters.spec import Top
from mimegen.characters.surface import Surface
from mimegen.motion.quaternions import FloatArray

COVER_M = 0.015


def make_top(garment: Top, body: Body) -> Piece:
    """Return a top on a body."""
    fields = top_fields(garment, body)
    cut = cut_from_tights(body, fields)
    gap = 0.006 + 0.010 * garment.looseness
    surface = lifted_off(cut, body, gap)
    surface = hanging_trunk(surface, garment, body, gap)
    surface = hanging_sleeves(surface, garment, body, gap)
    surface = settled(surface, body, gap * 0.8)

    def hides(points: FloatArray) -> BoolArray:
        return inside_all(points, fields, COVER_M)

    mesh = sewn("top", surface, cut, fields)
    return Piece((mesh,), (Material("top", "cloth", {
        "color": garment.color, "fold_height": 0.018 + 0.016 * garment.looseness,
        "fold_stretch": (1.0, 1.0, 0.55), "roughness": 0.85,
    }),), hides)


def top_fields(garment: Top, body: Body) -> Sequence[Field]:
    """Return how far points lie inside the hem, the sleeves' ends and the neckline."""
    scale = body.phenotype.height / 1.7
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
        rise = -0.014 * scale + 0.45 * y - scoop * ramp(y, 0.02, -0.05)
        return np.where(np.abs(x) > 0.13 * scale, 0.2, rise - z)

    return hem, sleeves, neckline


def hanging_trunk(surface: Surface, garment: Top, body: Body, gap: float) -> Surface:
    """Let the cloth hang from chest and shoulder blades down to the hem."""
    armpit = body.joint("LeftArm")[2] - 0.055 * body.phenotype.height
    trunk = np.unique(body.faces["tights"])
    around = body.vertices[trunk]
    around = around[np.abs(around[:, 0]) < body.joint("LeftArm")[0] * 1.12]
    low = surface.vertices[:, 2].min()
    centre = body.joint("Spine1")[1] - 0.01
    tube = Stretch(np.array([0.0, centre, armpit]), np.array([0.0, centre, low]))
    moved = draped(surface.vertices, tube, gap, 0.9 - 0.75 * garment.looseness, around)
    share = ramp(surface.vertices[:, 2], armpit + 0.01, armpit - 0.06)
    share = share * (np.abs(surface.vertices[:, 0]) < body.joint("LeftArm")[0] * 1.3)
    return replace(surface, vertices=surface.vertices + share[:, None] * (
        moved - surface.vertices))


def hanging_sleeves(surface: Surface, garment: Top, body: Body, gap: float) -> Surface:
    """Let the sleeves hang around the arms."""
    vertices = surface.vertices.copy()
    for side in ("Left", "Right"):
        start, end = body.joint(side + "Arm"), body.joint(side + "Hand")
        tube = Stretch(start, end)
        arm = body.vertices[np.unique(body.faces["tights"])]
        _, along, _ = tube.coordinates(arm)
        moved = draped(vertices, tube, gap, 0.30 - 0.22 * garment.looseness, arm[along > 0.03])
        _, along, _ = tube.coordinates(vertices)
        share = ramp(along, 0.07, 0.13)[:, None]
        vertices = vertices + share * (moved - vertices)
    return replace(surface, vertices=vertices)
