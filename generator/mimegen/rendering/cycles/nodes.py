"""Helpers for wiring Cycles' shader nodes. Runs in worker processes only."""

from typing import TypeAlias

import bpy
import numpy as np

from mimegen.base.srgb import decoded

Rgba = tuple[float, float, float, float]
Socket: TypeAlias = bpy.types.NodeSocket


def linear(color: str, share: float = 1.0) -> Rgba:
    """Return an sRGB color #rrggbb (IEC 61966-2-1) as linear RGB times ``share``, alpha 1."""
    coded = np.array([int(color[at:at + 2], 16) for at in (1, 3, 5)]) / 255
    light = decoded(coded) * share
    return (float(light[0]), float(light[1]), float(light[2]), 1.0)


class Nodes:
    """Adds and links nodes in the node tree of a material or world.

    The scene it is for will be rotated by minus ``turned`` radians about the world's Z axis;
    patterns in world coordinates are rotated to match.
    """

    def __init__(self, tree: bpy.types.NodeTree, turned: float = 0.0) -> None:
        self.tree = tree
        self._turned = turned

    def add(self, kind: str, **values: object) -> bpy.types.Node:
        """Add a node; ``values`` set its inputs by name, or link them if they are sockets."""
        node = self.tree.nodes.new(f"ShaderNode{kind}")
        for name, value in values.items():
            self.put(node.inputs[name.replace("_", " ")], value)
        return node

    def put(self, socket: Socket, value: object) -> None:
        """Set an input socket: link it if ``value`` is a socket, else set it to the constant."""
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        else:
            socket.default_value = value

    def blend(self, share: object, one: object, other: object,
              how: str = "MIX") -> Socket:
        """Return a mix of two colors, ``share`` 0 for ``one`` to 1 for ``other``."""
        mix = self.add("Mix")
        mix.data_type, mix.blend_type = "RGBA", how
        # A Mix node has one set of sockets for each type; these are the colors'.
        self.put(mix.inputs[0], share)
        self.put(mix.inputs[6], one)
        self.put(mix.inputs[7], other)
        return mix.outputs[2]

    def math(self, how: str, one: object, other: object = 0.0, third: object = 0.0
             ) -> Socket:
        """Return the result of a mathematical operation."""
        node = self.tree.nodes.new("ShaderNodeMath")
        node.operation = how
        for number, value in enumerate((one, other, third)):
            self.put(node.inputs[number], value)
        return node.outputs[0]

    def ramp(self, value: object, low: float, high: float) -> Socket:
        """Return 0 at ``low`` and beyond, 1 at ``high`` and beyond, smoothstep between."""
        node = self.add("MapRange", Value=value)
        node.interpolation_type = "SMOOTHSTEP"
        node.inputs["From Min"].default_value = low
        node.inputs["From Max"].default_value = high
        return node.outputs[0]

    def surface(self) -> Socket:
        """Return the texture coordinates on the surface, U and V in metres."""
        return self.tree.nodes.new("ShaderNodeTexCoord").outputs["UV"]

    def place(self) -> Socket:
        """Return the position in the object's local coordinates, in metres."""
        return self.tree.nodes.new("ShaderNodeTexCoord").outputs["Object"]

    def scattered(self) -> Socket:
        """Return the position in local coordinates, shifted by object so that copies differ."""
        where = self.tree.nodes.new("ShaderNodeObjectInfo").outputs["Location"]
        moved = self.add("VectorMath")
        moved.operation = "ADD"
        self.put(moved.inputs[0], self.place())
        self.put(moved.inputs[1], self.in_world(where, (3.7, 3.7, 3.7)))
        return moved.outputs[0]

    def stretched(self, vector: object, x: float, y: float, z: float) -> Socket:
        """Return a vector with its components multiplied by ``x``, ``y`` and ``z``."""
        return self.add("Mapping", Vector=vector, Scale=(x, y, z)).outputs[0]

    def in_world(self, vector: object, scale: tuple[float, float, float]
                 ) -> Socket:
        """Rotate a vector by ``turned`` about Z, into the scene's original world; scale it.

        The X and Y components of ``scale`` must be equal.
        """
        return self.add("Mapping", Vector=vector, Rotation=(0.0, 0.0, self._turned),
                        Scale=scale).outputs[0]

    def noise(self, vector: object, scale: float, detail: float = 2.0) -> Socket:
        """Return smooth noise, 0 to 1 around 0.5."""
        return self.add("TexNoise", Vector=vector, Scale=scale, Detail=detail).outputs[0]
