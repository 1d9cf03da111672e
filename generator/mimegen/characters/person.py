"""The person without clothes: skin, face and hair."""

import numpy as np

from mimegen.base.easing import ramp
from mimegen.characters.beards import beard_field
from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.face import make_face
from mimegen.characters.face_units import POINTS
from mimegen.characters.hair import above_hairline, make_hair
from mimegen.characters.head import head_shape
from mimegen.characters.piece import CharacterPiece, compacted
from mimegen.characters.spec import CharacterSpec
from mimegen.motion.quaternions import FloatArray

# Darkness of the hair drawn on the skin, 0 to 1: under a beard, and on the scalp by kind of hair.
BEARD_SHADE = 0.9
SCALP_SHADE = {"strands": 0.6, "curls": 0.8, "tail": 0.6, "bun": 0.6, "crop": 1.0, "bald": 0.3}
# The fraction of the scalp's value that is left on top of a bald head.
BALD_TOP = 0.25


def make_person(spec: CharacterSpec, body: Body) -> CharacterPiece:
    """Return the meshes and materials of skin, eyes, brows, lashes and hair."""
    meshes, materials = make_face(spec, body)
    hair = make_hair(spec, body)
    return CharacterPiece(
        (skin(body, spec), *meshes, *hair.meshes),
        (skin_material(spec), *materials, *hair.materials),
    )


def skin(body: Body, spec: CharacterSpec) -> Mesh:
    """Return the mesh of the skin.

    Its attributes (V,) run from 0 to 1: ``red`` is redness from blood, ``lips``, ``hairy`` the
    visible hair on the skin, ``nails``. ``rest`` (V, 3) holds positions in the rest pose, in
    metres, and ``face_points`` (V,) the index of each vertex in the body's array of vertices.
    """
    vertices = body.vertices
    return compacted(Mesh(
        "skin", vertices, body.faces["body"], body.flesh.joints, body.flesh.weights, "skin",
        attributes={
            "red": redness(body), "lips": np.asarray(body.masks["lips"]),
            "hairy": hairy(body, spec), "nails": np.asarray(body.masks["fingernails"]),
            "rest": vertices, POINTS: np.arange(len(vertices), dtype=float),
        },
    ))


def redness(body: Body) -> FloatArray:
    """Return how red the skin is at each vertex (V,), 0 to 1: cheeks, nose, ears and knuckles."""
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


def hairy(body: Body, spec: CharacterSpec) -> FloatArray:
    """Return how much hair is visible on the skin (V,), 0 to 1: stubble, beards and scalp."""
    head, hair = head_shape(body), spec.hair
    stubble = spec.skin.beard * beard_field(head, "full")
    under = BEARD_SHADE * beard_field(head, hair.beard) * (hair.beard != "none")
    x, y, _ = (body.vertices - head.centre).T
    inside = above_hairline(head, hair, body.vertices, np.arctan2(x, -y))
    scalp = ramp(inside, -0.008, 0.014) * ramp(body.vertices[:, 2], head.eyes[0, 2] - head.unit,
                                               head.eyes[0, 2] - 0.9 * head.unit)
    scalp = scalp * (1 - body.masks["ears"]) * SCALP_SHADE[hair.kind]
    if hair.kind == "bald":
        up = (body.vertices[:, 2] - head.eyes[0, 2]) / head.unit
        scalp = scalp * (BALD_TOP + (1 - BALD_TOP) * ramp(up, 0.75, 0.4))
    return np.asarray(np.maximum(np.maximum(stubble, under), scalp))


def skin_material(spec: CharacterSpec) -> Material:
    """Return the skin's material."""
    return Material("skin", "skin", {
        "color": spec.skin.color, "redness": spec.skin.redness, "hair_color": spec.hair.color,
    })
