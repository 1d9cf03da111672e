"""Make an FBX file with two animation stacks: ``python tests/support/stacked_fbx.py FILE``.

``Person|nod`` has 20 frames at 24 fps, ``Person|bow`` 31. Needs Blender, so it runs in a process
of its own.
"""

import sys

import bpy

from mimegen.motion import standard_skeleton


def person() -> bpy.types.Object:
    made = bpy.data.objects.new("Person", bpy.data.armatures.new("Person"))
    bpy.context.collection.objects.link(made)
    bpy.context.view_layer.objects.active = made
    bpy.ops.object.mode_set(mode="EDIT")
    skeleton = standard_skeleton()
    for joint, name in enumerate(skeleton.names):
        bone = made.data.edit_bones.new(f"Actor:{name}")
        bone.head, bone.tail = skeleton.heads[joint], skeleton.tails[joint]
        if joint:
            bone.parent = made.data.edit_bones[int(skeleton.parents[joint])]
    bpy.ops.object.mode_set(mode="OBJECT")
    return made


def animate(figure: bpy.types.Object, name: str, joint: str, frames: int) -> None:
    figure.animation_data_create()
    figure.animation_data.action = bpy.data.actions.new(name)
    figure.animation_data.action.use_fake_user = True
    bone = figure.pose.bones[f"Actor:{joint}"]
    bone.rotation_mode = "XYZ"
    for frame in range(1, frames + 1):
        bone.rotation_euler = (0.01 * frame, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)


if __name__ == "__main__":
    bpy.ops.wm.read_factory_settings(use_empty=True)
    made = person()
    animate(made, "nod", "Head", 20)
    animate(made, "bow", "Spine", 31)
    bpy.ops.export_scene.fbx(filepath=sys.argv[1], bake_anim_use_nla_strips=False,
                             bake_anim_use_all_actions=True, add_leaf_bones=False,
                             object_types={"ARMATURE"})
