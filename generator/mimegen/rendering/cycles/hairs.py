"""Hairs in Blender: curves that Cycles renders as hair. Runs in worker processes only."""

from collections.abc import Sequence

import bpy
import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Character, Material
from mimegen.characters.grown_hair import GrownHair
from mimegen.characters.hair_growing import Hairs
from mimegen.rendering.cycles.materials import Parameters, Shader, shaded
from mimegen.shots.hair_skin import hair_skin

# The attribute by whose vectors, in metres a second, Cycles blurs what moves.
VELOCITY = "velocity"
# How thick a hair's tip is, as a share of its root.
TIP = 0.35
# How much lighter and darker than the person's color hairs are, at a shade of 1.
SHADES = 0.35
# Hair that is brighter than this in every channel is gray, and has dark hairs among white ones.
GRAY = 0.15
GRAY_SHADES = 0.6


class StagedHair:
    """A character's hairs on the stage, one object for those of each mesh."""

    def __init__(self, character: Character, hair: GrownHair) -> None:
        scene = bpy.context.scene
        scene.cycles_curves.shape, scene.cycles_curves.subdivisions = "RIBBONS", 1
        materials = {mesh.name: character.materials[mesh.material] for mesh in hair.meshes}
        self._curves = [_make_curves(each, materials[each.source]) for each in hair.hairs]
        self._lengths = [each.points.shape[0] * each.points.shape[1] for each in hair.hairs]
        self._skin = hair_skin(character, hair)

    def pose(self, columns: Sequence[NDArray[np.float32]], bodies: Sequence[NDArray[np.float32]],
             hertz: float) -> list[NDArray[np.float32]]:
        """Pose hairs by joint columns (4 J, 3) on a body's vertices (V, 3): at a frame's moment,
        and where it moves at two more. Return the places (N, 3) of their points at each.
        """
        posed, *apart = map(self._skin.posed, columns, bodies)
        first = 0
        for curves, length in zip(self._curves, self._lengths, strict=True):
            own = slice(first, first + length)
            first = own.stop
            _fill(curves, "position", "FLOAT_VECTOR", "POINT", posed[own])
            if apart:
                _fill(curves, VELOCITY, "FLOAT_VECTOR", "POINT",
                      (apart[1][own] - apart[0][own]) * np.float32(hertz))
            curves.update_tag()
        return [posed, *apart]


def _make_curves(hairs: Hairs, material: Material) -> bpy.types.Curves:
    count, points = hairs.points.shape[:2]
    made = bpy.data.hair_curves.new(f"{hairs.source}_hairs")
    made.add_curves([points] * count)
    thick = np.interp(np.linspace(0, 1, points), [0, 0.6, 1], [1, 0.9, TIP])
    _fill(made, "position", "FLOAT_VECTOR", "POINT", hairs.points)
    _fill(made, "radius", "FLOAT", "POINT", hairs.radius[:, None] * thick)
    _fill(made, "shade", "FLOAT", "CURVE", hairs.shade)
    made.materials.append(_hair_material(material))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(made.name, made))
    return made


def _fill(curves: bpy.types.Curves, name: str, kind: str, domain: str,
          values: NDArray[np.float32] | NDArray[np.float64]) -> None:
    """Give curves an attribute's values, made where it is not there yet."""
    attribute = curves.attributes.get(name) or curves.attributes.new(name, kind, domain)
    field = "vector" if kind == "FLOAT_VECTOR" else "value"
    attribute.data.foreach_set(field, np.asarray(values, np.float32).ravel())


def _hair_material(material: Material) -> bpy.types.Material:
    """Return a material of hairs of the color of a material of kind ``hair``, or like it."""
    made = bpy.data.materials.new(f"{material.name}_hairs")
    made.use_nodes = True
    shader = Shader(made.node_tree)
    fibre = made.node_tree.nodes.new("ShaderNodeBsdfHairPrincipled")
    fibre.parametrization = "COLOR"
    p: Parameters = material.parameters
    color = p["color"]
    spread = GRAY_SHADES if min(color) > GRAY else SHADES
    share = shader.span(shader.attribute("shade"), -1.0, 1.0)
    shader.feed(fibre.inputs["Color"], shader.mix(share, shaded(color, 1 - spread),
                                                  shaded(color, 1 + spread)))
    for name, value in (("Roughness", 0.32), ("Radial Roughness", 0.45),
                        ("Random Roughness", 0.25)):
        fibre.inputs[name].default_value = value
    made.node_tree.links.new(fibre.outputs[0],
                             made.node_tree.nodes["Material Output"].inputs["Surface"])
    return made
