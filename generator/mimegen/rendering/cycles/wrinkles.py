"""Face wrinkles in Cycles: a second skin material, used in the frames that have wrinkles."""

import bpy
import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Character, Material, Mesh
from mimegen.characters.face_lines import (
    CHART,
    DARKENED,
    DEPTH,
    Wrinkling,
    chart,
    darkest,
    groove_map,
    wrinkling_of,
)
from mimegen.rendering.cycles.materials import Shader, make_material
from mimegen.shots.config import Photo


class WrinkledSkin:
    """A skin mesh that switches to a wrinkled material in frames with wrinkles.

    In other frames it keeps its usual material and renders the same as without this class.
    """

    def __init__(self, mesh: bpy.types.Mesh, wrinkling: Wrinkling,
                 material: bpy.types.Material) -> None:
        self._mesh, self._wrinkling = mesh, wrinkling
        self._materials = (mesh.materials[0], material)

    def pose(self, columns: NDArray[np.float32]) -> None:
        """Set the wrinkles' depths for a frame's joint columns (4 J, 3)."""
        depths = self._wrinkling.depths(columns)
        self._mesh.materials[0] = self._materials[depths is not None]
        if depths is not None:
            self._mesh.attributes[DEPTH].data.foreach_set("value", depths)


def wrinkled_skin(character: Character, meshes: list[bpy.types.Mesh], photo: Photo | None
                  ) -> WrinkledSkin | None:
    """Return a character's wrinkling skin; None if the character has no wrinkles.

    ``meshes`` are Blender's meshes in the order of the character's.
    """
    wrinkling = wrinkling_of(character)
    if wrinkling is None:
        return None
    numbers = [mesh.name for mesh in character.meshes]
    skin, made = (each[numbers.index("skin")] for each in (character.meshes, meshes))
    _add_chart(made, skin)
    return WrinkledSkin(made, wrinkling, _wrinkled(character.materials[skin.material], photo))


def _add_chart(made: bpy.types.Mesh, skin: Mesh) -> None:
    made.attributes.new(CHART, "FLOAT_VECTOR", "POINT").data.foreach_set(
        "vector", np.pad(chart(skin), ((0, 0), (0, 1))).astype(np.float32).ravel())
    made.attributes.new(DEPTH, "FLOAT", "POINT")


def _wrinkled(material: Material, photo: Photo | None) -> bpy.types.Material:
    """Return a skin material with grooves scaled by the mesh's attribute of depths."""
    made = make_material(material, photo)
    shader = Shader(made.node_tree)
    grooves = shader.tree.nodes.new("ShaderNodeTexImage")
    grooves.image, grooves.extension = _map_image(), "CLIP"
    shader.feed(grooves.inputs["Vector"], shader.attribute(CHART, "Vector"))
    height = shader.math("MULTIPLY", grooves.outputs["Color"], shader.attribute(DEPTH))
    _darken(shader, height)
    _bump(shader, height)
    return made


def _map_image() -> bpy.types.Image:
    """Return the height map of grooves, in metres, as a Blender image."""
    heights = groove_map()
    rows, columns = heights.shape
    image = bpy.data.images.new("wrinkles", columns, rows, alpha=False, float_buffer=True)
    image.colorspace_settings.name = "Non-Color"
    pixels = np.ones((rows, columns, 4), np.float32)
    pixels[..., :3] = heights[..., None]
    image.pixels.foreach_set(pixels.ravel())
    image.update()
    return image


def _darken(shader: Shader, height: bpy.types.NodeSocket) -> None:
    """Darken the color where grooves are deep."""
    deep = shader.span(height, 0.0, -darkest())
    shader.tint(shader.mix(deep, (1.0, 1.0, 1.0), DARKENED))


def _bump(shader: Shader, height: bpy.types.NodeSocket) -> None:
    """Shade as if the grooves were there; the skin's finer bumps are applied on top."""
    node = shader.tree.nodes.new("ShaderNodeBump")
    node.inputs["Distance"].default_value = 1.0
    shader.feed(node.inputs["Height"], height)
    normal = shader.surface.inputs["Normal"]
    finer = normal.links[0].from_node.inputs["Normal"] if normal.is_linked else normal
    shader.feed(finer, node.outputs["Normal"])
