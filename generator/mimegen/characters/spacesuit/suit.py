"""The spacesuit, which hides the person who wears it completely."""

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.piece import CharacterPiece
from mimegen.characters.spacesuit.ends import boot, glove
from mimegen.characters.spacesuit.fitting import Fitting
from mimegen.characters.spacesuit.helmet import helmet, neck
from mimegen.characters.spacesuit.limbs import arm, leg
from mimegen.characters.spacesuit.pack import backpack, chest_controls, connectors, patch
from mimegen.characters.spacesuit.shapes import SuitPart, joined, mirrored
from mimegen.characters.spacesuit.spec import Spacesuit
from mimegen.characters.spacesuit.trunk import trunk
from mimegen.characters.surface import SkinnedSurface, to_mesh
from mimegen.motion.quaternions import FloatArray

# The thickness of the boots' soles, for a person of 1.8 m.
SOLE_M = 0.034

# Every vertex has its own color; the height of folds is in metres.
MATERIALS = tuple(
    Material(name, "painted", {"roughness": roughness, "metallic": metallic, "wear": wear,
                               "fold_height": fold_height})
    for name, roughness, metallic, wear, fold_height in (
        ("suit", 0.85, 0.0, 0.5, 0.0028),
        ("shell", 0.35, 0.0, 0.25, 0.0),
        ("metal", 0.32, 0.85, 0.2, 0.0),
        ("rubber", 0.6, 0.0, 0.4, 0.0),
        ("visor", 0.06, 1.0, 0.0, 0.0),
    )
)


def make_spacesuit(suit: Spacesuit, body: Body) -> CharacterPiece:
    """Return a suit that hides the whole person."""
    fitting = Fitting(suit, body)
    sole = SOLE_M * fitting.scale
    left = [*arm(fitting), *leg(fitting), *glove(fitting), *boot(fitting, sole)]
    parts = [*trunk(fitting), *helmet(fitting), *neck(fitting), *backpack(fitting),
             *chest_controls(fitting), *connectors(fitting), *patch(fitting), *left,
             *(mirrored(each, body.skeleton) for each in left)]
    meshes = tuple(
        mesh_of([each for each in parts if each.material == material.name])
        for material in MATERIALS
    )
    return CharacterPiece(meshes, MATERIALS, everything, sole)


def everything(points: FloatArray) -> BoolArray:
    """Return a mask (N,) that hides all points (N, 3)."""
    return np.ones(len(points), dtype=bool)


def mesh_of(parts: list[SuitPart]) -> Mesh:
    """Return parts of one material as one mesh with the attributes ``paint`` and ``rest``.

    ``paint`` (V, 3) are colors, ``rest`` (V, 3) positions in the rest pose.
    """
    whole = joined(parts)
    surface = SkinnedSurface(whole.shape.vertices, whole.shape.faces, whole.weights)
    return to_mesh(whole.material, surface, whole.material,
                   {"paint": whole.colors, "rest": whole.shape.vertices})
