"""Cycles' shader nodes, wired in few words. Runs in worker processes only."""

from typing import TypeAlias

import bpy
import numpy as np

from mimegen.base.srgb import decoded

Rgba = tuple[float, float, float, float]
Socket: TypeAlias = bpy.types.NodeSocket


def linear(color: str, share: float = 1.0) -> Rgba:
    """Return #rrggbb, sRGB (IEC 61966-2-1), as linear light times ``share``."""
    coded = np.array([int(color[at:at + 2], 16) for at in (1, 3, 5)]) / 255
    light = decoded(coded) * share
    return (float(light[0]), float(light[1]), float(light[2]), 1.0)


class Nodes:
    """A material's node tree while it is being wired.

    The scene that it is for will be turned by minus ``turned`` radians about the world's Z.
    """

    def __init__(self, tree: bpy.types.NodeTree, turned: float = 0.0) -> None:
        self.tree = tree
        self._turned = turned

    def add(self, kind: str, **values: object) -> bpy.types.Node:
        """Add a node; ``values`` are its sockets' (sockets linked, the rest set) by name."""
        node = self.tree.nodes.new(f"ShaderNode{kind}")
        for name, value in values.items():
            self.put(node.inputs[name.replace("_", " ")], value)
        return node

    def put(self, socket: Socket, value: object) -> None:
        """Link a socket into another, or set its value."""
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        else:
            socket.default_value = value

    def blend(self, share: object, one: object, other: object,
              how: str = "MIX") -> Socket:
        """Return the color between ``one`` and ``other``."""
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
        """Return 0 below ``low``, 1 above ``high``, smooth between."""
        node = self.add("MapRange", Value=value)
        node.interpolation_type = "SMOOTHSTEP"
        node.inputs["From Min"].default_value = low
        node.inputs["From Max"].default_value = high
        return node.outputs[0]

    def surface(self) -> Socket:
        """Return the place on the surface, U and V in metres."""
        return self.tree.nodes.new("ShaderNodeTexCoord").outputs["UV"]

    def place(self) -> Socket:
        """Return the place in the object's own frame in metres."""
        return self.tree.nodes.new("ShaderNodeTexCoord").outputs["Object"]

    def scattered(self) -> Socket:
        """Return the place in the object's own frame, moved so that copies differ."""
        where = self.tree.nodes.new("ShaderNodeObjectInfo").outputs["Location"]
        moved = self.add("VectorMath")
        moved.operation = "ADD"
        self.put(moved.inputs[0], self.place())
        self.put(moved.inputs[1], self.in_world(where, (3.7, 3.7, 3.7)))
        return moved.outputs[0]

    def stretched(self, vector: object, x: float, y: float, z: float) -> Socket:
        """Return a vector multiplied by axes."""
        return self.add("Mapping", Vector=vector, Scale=(x, y, z)).outputs[0]

    def in_world(self, vector: object, scale: tuple[float, float, float]
                 ) -> Socket:
        """Return a vector of the turned scene in the world, times ``scale``, X like Y."""
        return self.add("Mapping", Vector=vector, Rotation=(0.0, 0.0, self._turned),
                        Scale=scale).outputs[0]

    def noise(self, vector: object, scale: float, detail: float = 2.0) -> Socket:
        """Return smooth noise, 0 to 1 around 0.5."""
        return self.add("TexNoise", Vector=vector, Scale=scale, Detail=detail).outputs[0]
