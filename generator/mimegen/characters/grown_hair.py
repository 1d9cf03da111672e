"""Grow the single hairs of a finished character from the meshes of its hair.

Configs without single hairs render these meshes instead.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mimegen.base.seeds import generator
from mimegen.characters import hair_styles
from mimegen.characters.character import Character, Mesh
from mimegen.characters.fine_hairs import beard_hairs, brow_hairs, lash_hairs
from mimegen.characters.hair_field import HairField, Skull, grid_numbers, skull_of
from mimegen.characters.hair_growing import Hairs, grown
from mimegen.characters.hair_styles import HairStyle
from mimegen.characters.strands import CROPPED
from mimegen.characters.surface import vertex_normals

# Meshes that hairs replace; the surfaces below them are kept as a coat nearer to the skin.
RIBBONS = ("strands", "edge_strands", "framing_left", "framing_right", "tuft_strands",
           "beard_strands", "brows", "lashes", "hair_lining")
# How much deeper the coat lies than the hair's surface, as a fraction of its distance from the
# skin; for beards, in metres.
COAT_DEEPER = 0.55
BEARD_COAT_M = 0.003
# Hanging hair has no coat below this height above the eyes, in units (eyes to crown).
COAT_ENDS = -0.1
# The number of hairs in a beard, as a fraction of those on the head.
BEARD_SHARE = 0.25
# The number of hairs from which on they have their own radius; fewer hairs are wider.
FULL_COUNT = 12000


class GrownHair(NamedTuple):
    """A character's hairs, its meshes as they are under them, and names of ``hidden`` meshes."""

    hairs: tuple[Hairs, ...]
    meshes: tuple[Mesh, ...]
    hidden: frozenset[str]


def grown_hair(character: Character, count: int) -> GrownHair:
    """Return a character's hair as about ``count`` single hairs.

    With a count of 0, and on bodies that mimegen did not build, the meshes are returned unchanged.
    The same meshes get the same hairs, whatever else the character wears.
    """
    skull = skull_of(character)
    own = {mesh.name: mesh for mesh in character.meshes
           if character.materials[mesh.material].kind == "hair" or mesh.name == "lashes"}
    if count == 0 or skull is None or not {"brows", "lashes"} <= set(own):
        return GrownHair((), character.meshes, frozenset())
    wider = np.sqrt(max(FULL_COUNT / count, 1.0))
    hairs = tuple(each._replace(radius=each.radius * wider, points=np.round(each.points, 6))
                  for each in _grown(character, own, skull, count))
    meshes = tuple(_coat(mesh, skull) if mesh.name in own else mesh for mesh in character.meshes)
    return GrownHair(hairs, meshes, frozenset(RIBBONS) & frozenset(own))


def _grown(character: Character, own: Mapping[str, Mesh], skull: Skull, count: int
           ) -> Iterator[Hairs]:
    """Yield the hairs of each mesh that has hairs."""
    eyes = next(mesh.vertices for mesh in character.meshes if mesh.name == "eyes")
    yield brow_hairs(own["brows"], generator("hairs", "brows"))
    yield lash_hairs(own["lashes"], eyes, generator("hairs", "lashes"))
    if {"beard", "beard_strands"} <= set(own):
        yield beard_hairs(own["beard"], own["beard_strands"], int(BEARD_SHARE * count),
                          generator("hairs", "beard"))
    for name, style in _styles(own).items():
        yield grown(name, HairField.of(own[name], skull), skull, style, int(style.share * count),
                    generator("hairs", name))


def _styles(own: Mapping[str, Mesh]) -> dict[str, HairStyle]:
    """Return the style of hairs for each surface of hair, by the mesh's name."""
    if "hair" not in own:
        return {}
    if "tuft" in own:
        tuft = hair_styles.TAIL if "sway" in own["tuft"].attributes else hair_styles.BUN
        return {"hair": hair_styles.COMBED, "tuft": tuft}
    if "hair_lining" in own:
        return {"hair": hair_styles.HANGING}
    if "edge_strands" not in own:
        return {"hair": hair_styles.CURLS}
    cropped = len(own["strands"].vertices) == 2 * CROPPED.many * CROPPED.points
    return {"hair": hair_styles.CROPPED if cropped else hair_styles.SHORT}


def _coat(mesh: Mesh, skull: Skull) -> Mesh:
    """Return a surface of hair nearer to the skin, without its hanging parts."""
    if mesh.name == "beard":
        inward = vertex_normals(mesh.vertices, mesh.faces)
        return replace(mesh, vertices=mesh.vertices - BEARD_COAT_M * inward)
    if mesh.name not in ("hair", "tuft"):
        return mesh
    field = HairField.of(mesh, skull)
    deeper = field.places - COAT_DEEPER * field.off[..., None] * field.out
    places = deeper[grid_numbers(mesh)]
    if mesh.name == "tuft":
        return replace(mesh, vertices=places)
    lasting = mesh.vertices[mesh.faces, 2].max(axis=1) > skull.eyes_z + COAT_ENDS * skull.unit
    behind = mesh.vertices[mesh.faces, 1].min(axis=1) > skull.centre[1]
    columns = np.sort(grid_numbers(mesh)[1][mesh.faces], axis=1)
    left = np.where(columns[:, -1] - columns[:, 0] > 1, columns[:, -1], columns[:, 0])
    whole = ~field.parted[left]
    return replace(mesh, vertices=places, faces=mesh.faces[(lasting | behind) & whole])
