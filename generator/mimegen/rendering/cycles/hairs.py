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

# The attribute with the velocity of each point, in metres per second, for Cycles' motion blur.
VELOCITY = "velocity"
# Thickness of a hair's tip, as a fraction of its root's.
TIP = 0.35
# How much lighter (shade 1) or darker (shade -1) than the person's color a hair is, as a fraction.
SHADES = 0.35
# Hair whose color exceeds this value in every linear channel is gray; its single hairs range from
# dark to white, so their shades vary by GRAY_SHADES instead of SHADES.
GRAY = 0.15
GRAY_SHADES = 0.6


class StagedHair:
    """A character's hairs in Blender's scene, one curves object for the hairs of each mesh."""

    def __init__(self, character: Character, hair: GrownHair) -> None:
        scene = bpy.context.scene
        scene.cycles_curves.shape, scene.cycles_curves.subdivisions = "RIBBONS", 1
        materials = {mesh.name: character.materials[mesh.material] for mesh in hair.meshes}
        self._curves = [_make_curves(each, materials[each.source]) for each in hair.hairs]
        self._lengths = [each.points.shape[0] * each.points.shape[1] for each in hair.hairs]
        self._skin = hair_skin(character, hair)

    def pose(self, columns: Sequence[NDArray[np.float32]], bodies: Sequence[NDArray[np.float32]],
             hertz: float) -> list[NDArray[np.float32]]:
        """Pose the hairs on the posed body; return the positions (N, 3) of their points.

        ``columns`` are joint columns (4 J, 3) and ``bodies`` the body's vertices (V, 3), each at
        the time of the frame and, for motion blur, also as the shutter opens and as it closes.
        Positions are returned for each of these times. ``hertz`` times the displacement while the
        shutter is open is the velocity.
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
    """Set the values of an attribute of curves, which is added if missing."""
    attribute = curves.attributes.get(name) or curves.attributes.new(name, kind, domain)
    field = "vector" if kind == "FLOAT_VECTOR" else "value"
    attribute.data.foreach_set(field, np.asarray(values, np.float32).ravel())


def _hair_material(material: Material) -> bpy.types.Material:
    """Return a hair-fibre material in the color of a character's material, varied by ``shade``."""
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
