"""Make rigged files to import back: ``python tests/support/imported_figure.py FOLDER``.

The figure is the standard skeleton with a capsule around every bone. Runs in a process of its
own, because it needs Blender.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import bpy
import mathutils
import numpy as np
from PIL import Image

from mimegen.characters.character import Character
from mimegen.motion import standard_skeleton
from mimegen.pages.preview import capsule_body


def picture() -> Image.Image:
    """Return a picture whose alpha is zero everywhere: opaque bodies must not vanish by it."""
    pixels = np.zeros((8, 8, 4), dtype=np.uint8)
    pixels[:4, :, 0] = 200
    pixels[4:, :, 2] = 200
    return Image.fromarray(pixels)


def armature(character: Character) -> bpy.types.Object:
    made = bpy.data.objects.new("Armature", bpy.data.armatures.new("Armature"))
    bpy.context.collection.objects.link(made)
    bpy.context.view_layer.objects.active = made
    bpy.ops.object.mode_set(mode="EDIT")
    skeleton = character.skeleton
    for joint, name in enumerate(skeleton.names):
        bone = made.data.edit_bones.new(f"mixamorig:{name}")
        bone.head, bone.tail = skeleton.heads[joint], skeleton.tails[joint]
        if joint:
            bone.parent = made.data.edit_bones[int(skeleton.parents[joint])]
    bpy.ops.object.mode_set(mode="OBJECT")
    return made


def body(character: Character, rig: bpy.types.Object) -> None:
    """Make one object of all meshes, each face with its material."""
    data = bpy.data.meshes.new("Body")
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in character.meshes)])
    faces = [[int(v + start) for v in face if v >= 0]
             for mesh, start in zip(character.meshes, starts, strict=False) for face in mesh.faces]
    vertices = np.concatenate([mesh.vertices for mesh in character.meshes])
    data.from_pydata(vertices.tolist(), [], faces)
    data.uv_layers.new(name="UVMap")
    data.shade_smooth()
    names = sorted({mesh.material for mesh in character.meshes})
    for name in names:
        data.materials.append(plain(character, name))
    slots = [names.index(mesh.material) for mesh in character.meshes for _ in mesh.faces]
    data.polygons.foreach_set("material_index", slots)
    made = bpy.data.objects.new("Body", data)
    bpy.context.collection.objects.link(made)
    for name in character.skeleton.names:
        made.vertex_groups.new(name=f"mixamorig:{name}")
    for mesh, start in zip(character.meshes, starts, strict=False):
        for vertex, place in zip(*np.nonzero(mesh.weights), strict=True):
            group = made.vertex_groups[int(mesh.joints[vertex, place])]
            group.add([int(start + vertex)], float(mesh.weights[vertex, place]), "ADD")
    made.parent = rig
    made.modifiers.new("Armature", "ARMATURE").object = rig


def plain(character: Character, name: str) -> bpy.types.Material:
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    color = cast(tuple[float, ...], character.materials[name].parameters["color"])
    surface = made.node_tree.nodes["Principled BSDF"]
    surface.inputs["Base Color"].default_value = (*color, 1.0)
    surface.inputs["Roughness"].default_value = 0.25
    return made


def figure() -> tuple[bpy.types.Object, Character]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    character = capsule_body(standard_skeleton())
    rig = armature(character)
    body(character, rig)
    return rig, character


def ball(name: str, place: tuple[float, float, float]) -> bpy.types.Object:
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.1, segments=9, ring_count=5, location=place)
    bpy.context.object.name = name
    return bpy.context.object


def as_it_is(rig: bpy.types.Object) -> None:
    """Change nothing."""


def with_company(rig: bpy.types.Object) -> None:
    """Add a floor and a hat, control bones, a bone above the hips, and a picture."""
    bpy.ops.mesh.primitive_plane_add(size=10)
    bpy.context.object.name = "Floor"
    hat = ball("Hat", (0, 0, 1.8))
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "mixamorig:Head"
    bpy.context.view_layer.update()
    hat.matrix_world.translation = (0, 0, 1.8)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for name, place in (("Root", (0, 0, 0)), ("FootCtrl", (0.3, 0, 0))):
        bone = bones.new(name)
        bone.head, bone.tail = place, (place[0], 0.2, 0)
    bones["mixamorig:Hips"].parent = bones["Root"]
    bpy.ops.object.mode_set(mode="OBJECT")
    shirt = bpy.data.materials["shirt"].node_tree
    node = shirt.nodes.new("ShaderNodeTexImage")
    encoded = io.BytesIO()
    picture().save(encoded, "PNG")
    node.image = bpy.data.images.new("stripes", 8, 8)
    node.image.pack(data=encoded.getvalue(), data_len=len(encoded.getvalue()))
    node.image.source = "FILE"
    shirt.links.new(node.outputs["Color"], shirt.nodes["Principled BSDF"].inputs["Base Color"])


def lying_in_inches(rig: bpy.types.Object) -> None:
    rig.rotation_euler = (0.0, np.pi / 2, np.pi / 2)
    rig.scale = (39.37, 39.37, 39.37)


def mirrored(rig: bpy.types.Object) -> None:
    """Mirror in X; the sides' names no longer fit, as in careless exports."""
    rig.scale = (-1.0, 1.0, 1.0)


def without_body(rig: bpy.types.Object) -> None:
    for made in list(rig.children):
        bpy.data.objects.remove(made)


def unbound(rig: bpy.types.Object) -> None:
    for made in list(rig.children):
        made.modifiers.clear()
        made.vertex_groups.clear()
        made.parent = None


def without_skeleton(rig: bpy.types.Object) -> None:
    unbound(rig)
    bpy.data.objects.remove(rig)


# Shape keys by name: which part of the head moves (to the left, forward and up of its middle), and
# how far; all in metres. -Y is forward.
SHAPES: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "jawOpen": ((0, -0.1, -0.06), (0, 0, -0.02)),
    "eyeBlink_L": ((0.03, -0.1, 0.06), (0, 0, -0.01)),
    "EyeBlinkRight": ((-0.03, -0.1, 0.06), (0, 0, -0.01)),
    "mouthSmileLeft": ((0.04, -0.1, -0.03), (0.01, 0, 0.01)),
    "browInnerUp": ((0, -0.1, 0.08), (0, 0, 0.015)),
    "somethingElse": ((0, 0.1, 0), (0, 0.1, 0)),
}


def with_face(rig: bpy.types.Object) -> None:
    """Give the body's head a grid of a face, and shape keys that are called as ARKit's weights."""
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.12, segments=24, ring_count=16)
    face = bpy.context.object
    face.name = "Face"
    middle = rig.data.bones["mixamorig:Head"].head_local + mathutils.Vector((0, 0, 0.1))
    for vertex in face.data.vertices:
        vertex.co += middle
    face.vertex_groups.new(name="mixamorig:Head").add(range(len(face.data.vertices)), 1.0, "ADD")
    face.parent = rig
    face.modifiers.new("Armature", "ARMATURE").object = rig
    face.shape_key_add(name="Basis", from_mix=False)
    for name, (where, way) in SHAPES.items():
        key = face.shape_key_add(name=name, from_mix=False)
        for number, point in enumerate(face.data.vertices):
            if (point.co - middle - mathutils.Vector(where)).length < 0.05:
                key.data[number].co = point.co + mathutils.Vector(way)


FILES: dict[str, Callable[[bpy.types.Object], None]] = {
    "plain.glb": as_it_is, "plain.fbx": as_it_is, "company.glb": with_company,
    "company.fbx": with_company, "company.gltf": with_company, "inches.fbx": lying_in_inches,
    "mirrored.glb": mirrored, "arkit.glb": with_face,
    "arkit.fbx": with_face, "no_body.glb": without_body, "unbound.fbx": unbound,
    "no_skeleton.glb": without_skeleton,
}


def main(folder: Path) -> None:
    for name, change in FILES.items():
        rig, _ = figure()
        change(rig)
        target = str(folder / name)
        if name.endswith(".fbx"):
            bpy.ops.export_scene.fbx(filepath=target, path_mode="COPY", embed_textures=True)
        else:
            kind = "GLB" if name.endswith(".glb") else "GLTF_SEPARATE"
            bpy.ops.export_scene.gltf(filepath=target, export_format=kind)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
