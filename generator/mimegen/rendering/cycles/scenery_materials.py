"""Cycles materials for sets: pattern, gloss, glow and transparency."""

import bpy

from mimegen.rendering.cycles.nodes import Nodes
from mimegen.rendering.cycles.set_patterns import PATTERNS, cords, make_wet
from mimegen.scenery.materials import SetMaterial


def make_material(name: str, material: SetMaterial, turned: float = 0.0) -> bpy.types.Material:
    """Return the Blender material for ``material``; ``turned`` is as in ``Nodes``."""
    made = bpy.data.materials.new(name)
    # Do not sample glowing surfaces as lights: lamps light the set instead, with less noise.
    made.cycles.emission_sampling = "NONE"
    made.use_nodes = True
    nodes = Nodes(made.node_tree, turned)
    shader = made.node_tree.nodes["Principled BSDF"]
    color, height = PATTERNS[material.pattern](nodes, material)
    if material.glow > 0:
        glow = nodes.add("Emission", Color=color, Strength=material.glow)
        nodes.put(made.node_tree.nodes["Material Output"].inputs["Surface"], glow.outputs[0])
        return made
    values = {"Base Color": color, "Roughness": material.roughness, "Metallic": material.metallic,
              "Coat Weight": material.coat, "Coat Roughness": 0.12, "Alpha": material.opacity,
              "Sheen Weight": material.sheen}
    for socket, value in values.items():
        nodes.put(shader.inputs[socket], value)
    if height is not None and material.bump > 0:
        bump = nodes.add("Bump", Strength=min(material.bump, 1.0), Height=height,
                         Distance=0.01 * max(material.bump, 1.0))
        nodes.put(shader.inputs["Normal"], bump.outputs[0])
    if material.pattern == "shore":
        make_wet(nodes, shader)
    if material.pattern == "net":
        nodes.put(shader.inputs["Alpha"], nodes.math("MULTIPLY", cords(nodes, material),
                                                     material.opacity))
    return made
