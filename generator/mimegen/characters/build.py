"""Build a character from its description."""


import numpy as np

from mimegen.characters.body import make_body
from mimegen.characters.character import Character
from mimegen.characters.fingerprint import fingerprint
from mimegen.characters.followers import following, under_tops, with_followers
from mimegen.characters.helpers import following_helpers, with_helpers
from mimegen.characters.outfit import dress
from mimegen.characters.person import make_person
from mimegen.characters.piece import CharacterPiece, lifted, under, without_hidden
from mimegen.characters.rounding import rounded_material, rounded_mesh, rounded_skeleton
from mimegen.characters.spec import CharacterSpec
from mimegen.characters.swelling import swelling_of
from mimegen.motion import Skeleton

# Least distance of inner garments from the one over them, in metres.
LAYER_GAP_M = 0.008
SOURCE = "MakeHuman/MPFB base mesh hm08 and shape targets (Data Collection AB and others)"


def build_character(spec: CharacterSpec) -> Character:
    """Return the character that a description specifies, standing on Z = 0.

    Pieces are added from the skin outwards. Parts of inner pieces that an outer one hides are
    removed.
    """
    body = make_body(spec.phenotype)
    pieces: list[CharacterPiece] = [make_person(spec, body)]
    skin = next(mesh for mesh in pieces[0].meshes if mesh.name == "skin")
    for garment in spec.outfit:
        pieces = with_layer(pieces, dress(garment, body))
    lift = max(piece.lift for piece in pieces)
    materials = {material.name: rounded_material(material)
                 for piece in pieces for material in piece.materials}
    rise = np.array([0.0, 0.0, lift])
    bare = body.skeleton
    skeleton = with_helpers(
        Skeleton(bare.names, bare.parents, bare.heads + rise, bare.tails + rise))
    standing = [lifted(mesh, lift) for piece in pieces for mesh in piece.meshes]
    skeleton = rounded_skeleton(with_followers(skeleton, standing))
    moving = [following(following_helpers(mesh, skeleton), skeleton) for mesh in standing]
    meshes = tuple(map(rounded_mesh, under_tops(moving, skeleton)))
    swelling = swelling_of(following_helpers(skin, body.helped), body.helped)
    return Character(
        spec.name, skeleton, meshes, materials, fingerprint(meshes, materials.values(), swelling),
        SOURCE, spec.licence, swelling, spec.phenotype.age,
    )


def with_layer(pieces: list[CharacterPiece], worn: CharacterPiece) -> list[CharacterPiece]:
    """Return the pieces, the person first, with one more garment worn over them."""
    person, *inner = (without_hidden(piece, worn.hides) for piece in pieces)
    for mesh in worn.meshes:
        inner = [under(piece, mesh, LAYER_GAP_M) for piece in inner]
    return [person, *inner, worn]
