"""Skirts and dresses."""

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.cloth import cleared
from mimegen.characters.drape import Stretch, draped
from mimegen.characters.head import grid_faces
from mimegen.characters.patterns import cloth_material, printed
from mimegen.characters.piece import CharacterPiece
from mimegen.characters.spec import Dress, Skirt, Top
from mimegen.characters.surface import SkinnedSurface, hemmed, to_mesh
from mimegen.characters.top import make_top
from mimegen.motion.quaternions import FloatArray

COLUMNS = 72
ROWS = 30
# Distance from the body in metres: at the waist, where a top may hang over it, and further down.
CLOSE_M = 0.003
GAP_M = 0.010
# A skirt hides the legs only down to this height above its hem, in metres: as it swings, it may
# show this much of them.
SEEN_LEG_M = 0.30
# Folds: their number around the hem, and their depth in metres at the hem of the widest skirt.
FOLDS = 9
FOLD_M = 0.016


def make_skirt(garment: Skirt | Dress, body: Body) -> CharacterPiece:
    """Return a skirt that hangs from the waist; ``followers.py`` makes it move."""
    waist, hem = skirt_ends(garment.leg, body)
    tube = Stretch(np.array([0.0, waist[1], waist[2]]), np.array([0.0, waist[1], hem]))
    cut = SkinnedSurface(hanging(garment, body, tube), grid_faces(ROWS, COLUMNS, closed=True)[:,
                                                                                              ::-1],
                         rigid_to_hips(body))
    surface = cleared(cut, body, CLOSE_M)
    finished = hemmed(surface, 0.003, 0.02)
    edge = np.zeros(len(finished.vertices))
    edge[:len(surface.vertices)] = np.minimum(waist[2] - surface.vertices[:, 2],
                                              surface.vertices[:, 2] - hem).clip(0.0)
    mesh = printed(to_mesh("skirt", finished, "skirt", {
        "rest": finished.vertices, "edge": edge}), garment.pattern, body)

    def hides(points: FloatArray) -> BoolArray:
        inside = (points[:, 2] < waist[2] - 0.02) & (points[:, 2] > hem + SEEN_LEG_M)
        return np.asarray(inside & (np.abs(points[:, 0]) < 0.35 * body.phenotype.height / 1.7))

    return CharacterPiece((mesh,), (cloth_material("skirt", garment, fold_height=0.016,
                                                   fold_stretch=(1.0, 1.0, 0.3), roughness=0.8),),
                                                   hides)


def make_dress(garment: Dress, body: Body) -> CharacterPiece:
    """Return a dress: a top down to the waist, and a skirt of the same cloth."""
    bodice = make_top(Top(kind="top", color=garment.color, pattern=garment.pattern, length=0.12,
                          sleeve=garment.sleeve, neckline=garment.neckline,
                          looseness=garment.looseness), body)
    skirt = make_skirt(garment, body)
    return CharacterPiece(bodice.meshes + skirt.meshes, bodice.materials + skirt.materials,
                          lambda points: bodice.hides(points) | skirt.hides(points))


def skirt_ends(leg: float, body: Body) -> tuple[FloatArray, float]:
    """Return the centre of the waist (3,), and the hem's height in metres.

    ``leg`` is the fraction of the leg from hip to ankle that the skirt covers.
    """
    hip, ankle = body.joint("LeftUpLeg"), body.joint("LeftFoot")
    rise = 0.115 * body.phenotype.height / 1.7
    return (np.array([0.0, hip[1], hip[2] + rise]), float(hip[2] + leg * (ankle[2] - hip[2])))


def hanging(garment: Skirt | Dress, body: Body, tube: Stretch) -> FloatArray:
    """Return vertex positions (ROWS * COLUMNS, 3): close at the waist, then wider and in folds."""
    turns = np.linspace(-np.pi, np.pi, COLUMNS, endpoint=False)
    along = np.linspace(0.0, 1.0, ROWS)[:, None]
    thin = np.stack(np.broadcast_arrays(
        0.01 * np.sin(turns), tube.start[1] - 0.01 * np.cos(turns),
        tube.start[2] - along * tube.length), axis=-1).reshape(-1, 3)
    tights = body.vertices[np.unique(body.faces["tights"])]
    tights = tights[np.abs(tights[:, 0]) < 0.30 * body.phenotype.height / 1.7]
    close, wide = (draped(thin, tube, gap, 0.05 - flare, tights).reshape(ROWS, COLUMNS, 3)
                   for gap, flare in ((CLOSE_M, 0.0), (GAP_M, 0.30 * garment.flare)))
    below = ramp(tube.length * along, 0.08, 0.2)[..., None]
    places = close + below * (wide - close)
    deep = FOLD_M * garment.flare * np.clip(1.6 * along - 0.5, 0.0, None)
    wave = deep * (np.cos(FOLDS * turns) + 0.5 * np.cos((2 * FOLDS + 1) * turns + 1.0))
    places[..., 0] += wave * np.sin(turns)
    places[..., 1] -= wave * np.cos(turns)
    return places.reshape(-1, 3)


def rigid_to_hips(body: Body) -> FloatArray:
    """Return weights (ROWS * COLUMNS, J) that follow the hips alone."""
    weights = np.zeros((ROWS * COLUMNS, len(body.skeleton.names)))
    weights[:, body.skeleton.index["Hips"]] = 1.0
    return weights
