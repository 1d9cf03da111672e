"""Blender materials for every kind of ``Material``. Runs in worker processes only."""

import bpy

from mimegen.characters.character import Material


def make_material(material: Material) -> bpy.types.Material:
    """Return the Blender material of a character's material."""
    made = bpy.data.materials.new(material.name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    color = material.parameters["color"]
    shader.inputs["Base Color"].default_value = (*color, 1.0)
    shader.inputs["Roughness"].default_value = 0.5
    return made
