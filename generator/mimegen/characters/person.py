"""The person without clothes: skin, face and hair."""

import numpy as np

from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.face import make_face
from mimegen.characters.hair import make_hair
from mimegen.characters.head import head_shape
from mimegen.characters.piece import Piece, compacted
from mimegen.characters.spec import CharacterSpec
from mimegen.motion.quaternions import FloatArray


def make_person(spec: CharacterSpec, body: Body) -> Piece:
    """Return skin, eyes, brows, lashes and hair."""
    meshes, materials = make_face(spec, body)
    hair = make_hair(spec, body)
    return Piece(
        (skin(body, spec), *meshes, *hair.meshes),
        (skin_material(spec), *materials, *hair.materials),
    )


def skin(body: Body, spec: CharacterSpec) -> Mesh:
    """Return the skin.

    Attributes (V,), 0 to 1: ``red`` where blood shows, ``lips``, ``beard`` and ``scalp`` where
    hair grows, ``nails``; ``rest`` (V, 3) is the rest-pose place.
    """
    vertices = body.vertices
    return compacted(Mesh(
        "skin", vertices, body.faces["body"], body.joints, body.weights, "skin",
        attributes={
            "red": redness(body), "lips": np.asarray(body.masks["lips"]),
            "beard": beard(body), "nails": np.asarray(body.masks["fingernails"]),
            "rest": vertices,
        },
    ))


def redness(body: Body) -> FloatArray:
    """Return where cheeks, nose, ears and knuckles are redder (V,)."""
    head = head_shape(body)
    x, y, z = (body.vertices - head.eyes.mean(axis=0)).T / head.unit
    cheek = np.exp(-(((np.abs(x) - 0.38) / 0.16) ** 2 + ((z + 0.38) / 0.16) ** 2))
    nose = np.exp(-((x / 0.12) ** 2 + ((z + 0.38) / 0.12) ** 2))
    front = ramp(y, 0.4, 0.1)
    red = np.maximum(0.8 * cheek, 0.7 * nose) * front
    for name in body.skeleton.names:
        if "Hand" in name and name[-1] in "12":
            away = np.linalg.norm(body.vertices - body.joint(name), axis=1)
            red = np.maximum(red, 0.7 * np.exp(-((away / 0.012) ** 2)))
    return np.asarray(np.maximum(red, 0.6 * body.masks["ears"]))


def beard(body: Body) -> FloatArray:
    """Return where a beard grows (V,): upper lip, chin and jaw."""
    head = head_shape(body)
    x, y, z = (body.vertices - head.eyes.mean(axis=0)).T / head.unit
    jaw = ramp(z, -0.45 , -0.62) * ramp(z, -1.35, -1.05) * ramp(y, 0.95, 0.75)
    below_cheeks = ramp(z + 0.55 * np.abs(x), -0.30, -0.42)
    return np.asarray(jaw * below_cheeks * (1 - body.masks["lips"]))


def skin_material(spec: CharacterSpec) -> Material:
    """Return the skin's material."""
    return Material("skin", "skin", {
        "color": spec.skin.color, "redness": spec.skin.redness, "beard": spec.skin.beard,
        "hair_color": spec.hair.color,
    })
