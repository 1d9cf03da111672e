"""Ground truth as Cycles sees it: one ray through the middle of every pixel, no light."""

import bpy
import numpy as np
import OpenEXR

from mimegen.groundtruth.surface import PosedScene
from mimegen.groundtruth.visible_surface import Floats, SeenSurface
from mimegen.rendering.cycles.render import crop, passing_file
from mimegen.rendering.cycles.scene import place_camera, reset_scene
from mimegen.shots.camera import Camera
from mimegen.shots.crop import Region, is_empty, seen_region

# The attribute and pass of normals. Not "normal": Cycles uses that name for its own.
NORMAL = "turned"
VALUES = ("following", "preceding", "labels")


class CyclesSurfaceRenderer:
    """Renders ground truth of a scene's figures; made once for many frames and cameras."""

    def __init__(self, scene: PosedScene) -> None:
        begin_passes(VALUES)
        self._scene = scene
        self._mesh = _make_mesh(scene)
        self._reader = LayerReader()

    def render(self, frame: int, camera: Camera) -> SeenSurface:
        """Return what a camera sees of the figures in a frame."""
        places = self._scene.vertices(frame)
        region = seen_region(places.astype(float), camera)
        if is_empty(region):
            return SeenSurface.nothing()
        self._mesh.vertices.foreach_set("co", places.ravel())
        for name, values in ((NORMAL, self._scene.normals(frame)),
                             ("following", self._scene.vertices(frame + 1)),
                             ("preceding", self._scene.vertices(frame - 1))):
            self._mesh.attributes[name].data.foreach_set(
                "vector", np.asarray(values, np.float32).ravel())
        self._mesh.update()
        place_camera(camera)
        layers = self._reader.render(region)
        # A ray that passes a hole and hits nothing has still recorded the surface with the hole.
        there = np.isfinite(layers["Depth"])[..., None]
        return SeenSurface(region, layers["Depth"], np.where(there, unit_normals(layers),
                                                             np.float32(0)),
                           np.round(there * layers["labels"]).astype(np.uint8), layers["following"],
                           layers["preceding"])


def unit_normals(layers: dict[str, Floats]) -> Floats:
    """Return the pass of normals (h, w, 3) scaled to unit length; 0 if there is no surface.

    Interpolation between vertices makes the rendered normals shorter than 1.
    """
    normals = layers[NORMAL]
    lengths = np.linalg.norm(normals, axis=-1, keepdims=True)
    return np.asarray(normals / np.maximum(lengths, 1e-6), np.float32)


def begin_passes(values: tuple[str, ...]) -> bpy.types.Material:
    """Begin a scene that renders depth, normals and named vector attributes, one ray per pixel.

    Returns the material that outputs the attributes NORMAL and ``values`` of a mesh's vertices or
    faces as passes of the same names.
    """
    reset_scene()
    scene = bpy.context.scene
    cycles, layer = scene.cycles, bpy.context.view_layer
    cycles.samples, cycles.max_bounces = 1, 0
    cycles.use_adaptive_sampling = cycles.use_denoising = False
    # One ray through the centre of the pixel.
    cycles.pixel_filter_type, cycles.filter_width = "BOX", 0.01
    layer.use_pass_z = True
    material = bpy.data.materials.new("passes")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    for name in (NORMAL, *values):
        layer.aovs.add().name = name
        source = nodes.new("ShaderNodeAttribute")
        source.attribute_name = name
        output = nodes.new("ShaderNodeOutputAOV")
        output.aov_name = name
        links.new(_towards_ray(material, source) if name == NORMAL else source.outputs["Vector"],
                  output.inputs["Color"])
    return material


def _towards_ray(material: bpy.types.Material, source: bpy.types.Node) -> bpy.types.NodeSocket:
    """Return the source's vector, negated where a face is seen from behind."""
    nodes, links = material.node_tree.nodes, material.node_tree.links
    side, turn = nodes.new("ShaderNodeMapRange"), nodes.new("ShaderNodeVectorMath")
    side.inputs["To Min"].default_value, side.inputs["To Max"].default_value = 1.0, -1.0
    turn.operation = "SCALE"
    links.new(nodes.new("ShaderNodeNewGeometry").outputs["Backfacing"], side.inputs["Value"])
    links.new(source.outputs["Vector"], turn.inputs[0])
    links.new(side.outputs["Result"], turn.inputs["Scale"])
    return turn.outputs[0]


def _make_mesh(scene: PosedScene) -> bpy.types.Mesh:
    surface = scene.surface
    made = bpy.data.meshes.new("surface")
    made.vertices.add(len(surface.persons))
    made.loops.add(surface.triangles.size)
    made.polygons.add(len(surface.triangles))
    made.loops.foreach_set("vertex_index", surface.triangles.astype(np.int32).ravel())
    made.polygons.foreach_set("loop_start", np.arange(0, surface.triangles.size, 3))
    made.update(calc_edges=True)
    for name in (NORMAL, "following", "preceding"):
        made.attributes.new(name, "FLOAT_VECTOR", "POINT")
    labels = made.attributes.new("labels", "FLOAT_VECTOR", "FACE")
    of_faces = surface.labels[surface.triangles[:, 2]].astype(np.float32)
    labels.data.foreach_set("vector", of_faces.ravel())
    plain = bpy.data.materials["passes"]
    numbers = np.zeros(len(surface.triangles), np.int32)
    made.materials.append(plain)
    uvs = made.attributes.new("corner_uv", "FLOAT2", "POINT")
    uvs.data.foreach_set("vector", surface.uvs.astype(np.float32).ravel())
    for number, cutout in enumerate(surface.cutouts, 1):
        made.materials.append(_with_holes(plain.copy(), cutout.image))
        numbers[cutout.first:cutout.end] = number
    made.polygons.foreach_set("material_index", numbers)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("surface", made))
    return made


def _with_holes(material: bpy.types.Material, encoded: bytes) -> bpy.types.Material:
    """Make a material transparent where its picture's alpha is at most 0.5."""
    nodes, links = material.node_tree.nodes, material.node_tree.links
    image = bpy.data.images.new("holes", 1, 1)
    image.pack(data=encoded, data_len=len(encoded))
    image.source = "FILE"
    drawn, place = nodes.new("ShaderNodeTexImage"), nodes.new("ShaderNodeAttribute")
    drawn.image, place.attribute_name = image, "corner_uv"
    solid = nodes.new("ShaderNodeMath")
    solid.operation = "GREATER_THAN"
    solid.inputs[1].default_value = 0.5
    mix = nodes.new("ShaderNodeMixShader")
    links.new(place.outputs["Vector"], drawn.inputs["Vector"])
    links.new(drawn.outputs["Alpha"], solid.inputs[0])
    links.new(solid.outputs[0], mix.inputs[0])
    links.new(nodes.new("ShaderNodeBsdfTransparent").outputs[0], mix.inputs[1])
    links.new(nodes["Principled BSDF"].outputs[0], mix.inputs[2])
    links.new(mix.outputs[0], nodes["Material Output"].inputs["Surface"])
    return material


class LayerReader:
    """Renders all passes of a picture and reads them back through a file, in memory if possible."""

    def __init__(self) -> None:
        self._file = passing_file()

    def render(self, region: Region) -> dict[str, Floats]:
        """Return the passes of a region by name, top row first; depth is infinite at no surface."""
        scene = bpy.context.scene
        crop(scene.render, region)
        settings = scene.render.image_settings
        if bpy.app.version >= (5, 0):
            settings.media_type = "MULTI_LAYER_IMAGE"
        else:
            settings.file_format = "OPEN_EXR_MULTILAYER"
        settings.color_depth, settings.exr_codec = "32", "NONE"
        # Only a file written by the render operator itself has all passes.
        scene.render.filepath, scene.render.use_file_extension = str(self._file), False
        bpy.ops.render.render(write_still=True)
        parts = OpenEXR.File(str(self._file), separate_channels=True).parts
        return _layers({name: channel.pixels for part in parts
                        for name, channel in part.channels.items()})


def _layers(channels: dict[str, Floats]) -> dict[str, Floats]:
    """Return passes, (h, w) or (h, w, 3), from an EXR file's channels (h, w)."""
    found: dict[str, dict[str, Floats]] = {}
    for name, channel in channels.items():
        *_, layer, part = name.split(".")
        found.setdefault(layer, {})[part] = channel
    layers = {name: np.stack([parts[part] for part in "RGB"], axis=-1)
              for name, parts in found.items() if {*"RGB"} <= parts.keys()}
    there = found["Combined"]["A"] > 0.5
    return layers | {"Depth": np.where(there, found["Depth"]["Z"], np.float32(np.inf))}
