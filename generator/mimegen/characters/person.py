"""The person without clothes: skin, eyes, lashes."""

import numpy as np

from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.piece import Piece, compacted
from mimegen.characters.spec import CharacterSpec


def make_person(spec: CharacterSpec, body: Body) -> Piece:
    """Return skin and eyes."""
    surfaces = {"skin": "body", "eyes": "eyes"}
    meshes = tuple(body_surface(body, surface, name) for name, surface in surfaces.items())
    return Piece(meshes, (skin_material(spec),
                          Material("eyes", "plain", {"color": (0.8, 0.8, 0.8)})))


def body_surface(body: Body, surface: str, name: str) -> Mesh:
    """Return one of the body's own surfaces as a mesh named like its material."""
    masks = {mask: np.asarray(values) for mask, values in body.masks.items()}
    return compacted(Mesh(
        name, body.vertices, body.faces[surface], body.joints, body.weights, name,
        attributes=masks,
    ))


def skin_material(spec: CharacterSpec) -> Material:
    """Return the skin's material."""
    return Material("skin", "skin", {"color": spec.skin.color, "redness": spec.skin.redness})
