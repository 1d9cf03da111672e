"""Trousers: jeans, chinos, shorts."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.base.decisions import EQUAL
from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.cloth import (
    Field,
    cut_from_tights,
    evened_out,
    inside_all,
    lifted_off,
    sewn,
)
from mimegen.characters.drape import Stretch, draped
from mimegen.characters.patterns import cloth_material, printed
from mimegen.characters.piece import CharacterPiece
from mimegen.characters.spec import Trousers
from mimegen.characters.surface import SkinnedSurface
from mimegen.characters.wrinkles import with_leg_wrinkles
from mimegen.motion.quaternions import FloatArray

# How far inside their edges trousers hide what is under them, in metres.
COVER_M = 0.012


def make_trousers(garment: Trousers, body: Body) -> CharacterPiece:
    """Return trousers on a body."""
    fields = trouser_fields(garment, body)
    cut = cut_from_tights(body, fields)
    gap = 0.005 + 0.006 * garment.looseness
    surface = lifted_off(cut, body, gap)
    surface = hanging_legs(surface, garment, body, gap)
    surface = with_leg_wrinkles(evened_out(surface, body, gap * 0.8), garment, body)

    def hides(points: FloatArray) -> BoolArray:
        return inside_all(points, fields, COVER_M)

    mesh = printed(sewn("trousers", surface, cut, fields), garment.pattern, body)
    return CharacterPiece((mesh,), (cloth_material(
        "trousers", garment, fold_height=0.008 + 0.010 * garment.looseness,
        fold_stretch=(1.0, 1.0, 1.4), roughness=0.8),), hides)


def trouser_fields(garment: Trousers, body: Body) -> Sequence[Field]:
    """Return two fields: how far points lie below the waistband, and above the legs' ends."""
    scale = body.phenotype.height / 1.7
    hip, ankle = body.joint("LeftUpLeg"), body.joint("LeftFoot")
    waist = hip[2] + 0.105 * scale
    bottom = hip[2] + garment.leg * (ankle[2] - 0.012 * scale - hip[2])

    def waistband(points: FloatArray) -> FloatArray:
        below = waist - points[:, 2] + 0.15 * (points[:, 1] - hip[1])
        return np.where(np.abs(points[:, 0]) > 0.35 * scale, -0.2, below)

    def legs(points: FloatArray) -> FloatArray:
        return np.asarray(points[:, 2] - bottom + 0.25 * (points[:, 1] - ankle[1]))

    return waistband, legs


def hanging_legs(surface: SkinnedSurface, garment: Trousers, body: Body, gap: float
                ) -> SkinnedSurface:
    """Let each trouser leg hang straight from the thigh, and bridge the hollow of the seat."""
    scale = body.phenotype.height / 1.7
    tights = body.vertices[np.unique(body.faces["tights"])]
    vertices = surface.vertices.copy()
    hip = body.joint("LeftUpLeg")
    crotch = hip[2] - 0.075 * scale
    low = surface.vertices[:, 2].min()
    seat = Stretch(np.array([0.0, hip[1], hip[2] + 0.1 * scale]),
                   np.array([0.0, hip[1], crotch - 0.02]))
    trunk = tights[np.abs(tights[:, 0]) < 0.3 * scale]
    share = ramp(vertices[:, 2], crotch + 0.01 * scale, crotch + 0.06 * scale)[:, None]
    vertices = vertices + share * (draped(vertices, seat, gap, 1.5, trunk) - vertices)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        ankle, thigh = body.joint(side + "Foot"), body.joint(side + "UpLeg")
        top = np.array([thigh[0] * 0.9, thigh[1], crotch])
        tube = Stretch(top, np.array([ankle[0], ankle[1] + 0.005, low]))
        own = sign * tights[:, 0] > EQUAL
        above = tights[:, 2] > low
        moved = draped(vertices, tube, gap, 0.16 - 0.13 * garment.looseness, tights[own & above])
        share = ramp(vertices[:, 2], crotch + 0.01, crotch - 0.12 * scale)
        share = (share * (sign * vertices[:, 0] > EQUAL))[:, None]
        vertices = vertices + share * (moved - vertices)
        own = sign * surface.vertices[:, 0] > 0.004
        vertices[own, 0] = sign * np.maximum(sign * vertices[own, 0], 0.003)
    return replace(surface, vertices=vertices)
