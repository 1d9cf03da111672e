"""A spacesuit on a body: nothing of who wears it is seen."""

import numpy as np

from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.piece import BoolArray, Piece
from mimegen.characters.spacesuit_ends import boot, glove
from mimegen.characters.spacesuit_fitting import Fitting
from mimegen.characters.spacesuit_helmet import helmet, neck
from mimegen.characters.spacesuit_limbs import arm, leg
from mimegen.characters.spacesuit_pack import backpack, chest_controls, patch
from mimegen.characters.spacesuit_shapes import Part, joined, mirrored
from mimegen.characters.spacesuit_spec import Spacesuit
from mimegen.characters.spacesuit_trunk import trunk
from mimegen.characters.surface import Surface, to_mesh
from mimegen.motion.quaternions import FloatArray

SOLE_M = 0.034

# Every vertex brings its own color; bumps are in metres.
MATERIALS = (
    Material("suit", "painted", {"roughness": 0.85, "metallic": 0.0, "bump": 0.0016}),
    Material("shell", "painted", {"roughness": 0.35, "metallic": 0.0, "bump": 0.0}),
    Material("metal", "painted", {"roughness": 0.3, "metallic": 0.9, "bump": 0.0}),
    Material("rubber", "painted", {"roughness": 0.6, "metallic": 0.0, "bump": 0.0}),
    Material("visor", "painted", {"roughness": 0.06, "metallic": 1.0, "bump": 0.0}),
)


def make_spacesuit(suit: Spacesuit, body: Body) -> Piece:
    """Return a suit that hides the whole person."""
    fitting = Fitting(suit, body)
    sole = SOLE_M * fitting.scale
    left = [*arm(fitting), *leg(fitting), *glove(fitting), *boot(fitting, sole)]
    parts = [*trunk(fitting), *helmet(fitting), *neck(fitting), *backpack(fitting),
             *chest_controls(fitting), *patch(fitting), *left,
             *(mirrored(each, body.skeleton) for each in left)]
    meshes = tuple(
        mesh_of([each for each in parts if each.material == material.name])
        for material in MATERIALS
    )
    return Piece(meshes, MATERIALS, everything, sole)


def everything(points: FloatArray) -> BoolArray:
    """Hide all points (N, 3)."""
    return np.ones(len(points), dtype=bool)


def mesh_of(parts: list[Part]) -> Mesh:
    """Return parts of one material as one mesh; ``color`` and the rest pose are attributes."""
    whole = joined(parts)
    surface = Surface(whole.shape.vertices, whole.shape.faces, whole.weights)
    return to_mesh(whole.material, surface, whole.material,
                   {"color": whole.colors, "rest": whole.shape.vertices})
