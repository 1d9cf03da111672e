"""Write a motion as FBX, GLB or USD: ``export.py IN.npz OUT``, in a separate process.

Run as a file by Blender's program or by a Python that has bpy, so it imports nothing from mimegen.
IN is the archive that ``writers/scene.py`` packs.
"""

import json
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy_extras.anim_utils import action_ensure_channelbag_for_slot
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

LINEAR = 1
MIN_BONE_M = 1e-3
MIN_TAIL_M = np.array([0.0, 0.0, 2e-3])


def main(source: Path, target: Path) -> None:
    """Build the scene and write it."""
    with np.load(source, allow_pickle=False) as packed:
        arrays: Arrays = {name: packed[name] for name in packed.files}
    header = json.loads(arrays.pop("header").tobytes())
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = _armature(header, arrays)
    for number, mesh in enumerate(header["meshes"]):
        _skinned_mesh(armature, header["names"], mesh, arrays, number)
    _animate(armature, header, arrays)
    _set_rate(header["fps"], target.suffix)
    if target.suffix == ".fbx":
        bpy.ops.export_scene.fbx(
            filepath=str(target), add_leaf_bones=False, bake_anim_use_all_actions=False,
            bake_anim_use_nla_strips=False, bake_anim_simplify_factor=0.0,
            bake_anim_force_startend_keying=True,
        )
    elif target.suffix.startswith(".usd"):
        bpy.ops.wm.usd_export(filepath=str(target), export_animation=True, export_armatures=True,
                              only_deform_bones=False, export_materials=False,
                              convert_orientation=True, export_global_up_selection="Y",
                              export_global_forward_selection="NEGATIVE_Z")
    else:
        bpy.ops.export_scene.gltf(filepath=str(target), export_format="GLB",
                                  export_optimize_animation_size=False)


def _set_rate(fps: float, suffix: str) -> None:
    """Set the scene's frames per second: an integer, and the base by which it is divided."""
    render = bpy.context.scene.render
    render.fps = max(1, round(fps))
    # Blender's GLB exporter multiplies by the base instead of dividing.
    render.fps_base = fps / render.fps if suffix == ".glb" else render.fps / fps


def _armature(header: dict[str, Any], arrays: Arrays) -> Any:
    data = bpy.data.armatures.new(header["name"])
    armature = bpy.data.objects.new(header["name"], data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in zip(header["names"], arrays["parents"], arrays["heads"],
                                        arrays["tails"], strict=True):
        bone = data.edit_bones.new(name)
        # Blender deletes bones without length.
        short = np.linalg.norm(tail - head) < MIN_BONE_M
        bone.head, bone.tail = head, head + MIN_TAIL_M if short else tail
        bone.parent = data.edit_bones[header["names"][parent]] if parent >= 0 else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def _skinned_mesh(armature: Any, joints: list[str], described: dict[str, Any], arrays: Arrays,
                  number: int) -> None:
    vertices, faces = arrays[f"{number}_vertices"], arrays[f"{number}_faces"]
    mesh = bpy.data.meshes.new(described["name"])
    mesh.from_pydata(vertices.tolist(), [],
                     [[int(i) for i in face if i >= 0] for face in faces])
    material = bpy.data.materials.new(described["name"])
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*described["color"], 1.0)
    mesh.materials.append(material)
    placed = bpy.data.objects.new(described["name"], mesh)
    bpy.context.scene.collection.objects.link(placed)
    placed.parent = armature
    modifier = placed.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    groups = [placed.vertex_groups.new(name=name) for name in joints]
    followed, weights = arrays[f"{number}_joints"], arrays[f"{number}_weights"]
    for vertex, column in zip(*np.nonzero(weights > 1e-6), strict=True):
        groups[followed[vertex, column]].add([int(vertex)], float(weights[vertex, column]), "ADD")


def _animate(armature: Any, header: dict[str, Any], arrays: Arrays) -> None:
    """Add keyframes for every bone in every frame.

    At rest, bones have axes B of their own, while mimegen's joint frames are parallel to the
    world's: a local rotation q becomes B^-1 q B.
    """
    frames = len(arrays["root_positions"])
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, frames - 1
    action = bpy.data.actions.new(header["name"])
    armature.animation_data_create().action = action
    slot = action.slots.new(id_type="OBJECT", name=armature.name)
    armature.animation_data.action_slot = slot
    curves = action_ensure_channelbag_for_slot(action, slot).fcurves
    for joint, name in enumerate(header["names"]):
        axes = np.array(armature.data.bones[name].matrix_local)[:3, :3]
        path = armature.pose.bones[name].path_from_id("rotation_quaternion")
        local = arrays["rotations"][:, joint]
        turned = np.concatenate([local[:, :1], local[:, 1:] @ axes], axis=1)
        _key(curves, path, turned)
        if arrays["parents"][joint] < 0:
            path = armature.pose.bones[name].path_from_id("location")
            _key(curves, path, (arrays["root_positions"] - arrays["heads"][joint]) @ axes)


def _key(curves: Any, path: str, values: NDArray[Any]) -> None:
    moments = np.arange(len(values))
    for index, column in enumerate(values.T):
        curve = curves.new(path, index=index)
        curve.keyframe_points.add(len(moments))
        curve.keyframe_points.foreach_set("co", np.stack([moments, column], axis=1).ravel())
        curve.keyframe_points.foreach_set("interpolation",
                                          np.full(len(moments), LINEAR, np.int32))
        curve.update()


if __name__ == "__main__":
    # Blender's program has its own arguments before "--".
    given = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    main(Path(given[0]), Path(given[1]))
