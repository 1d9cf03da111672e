"""Compare VRM figures of another writer with the figure that they were made from.

The writer is the VRM Add-on for Blender, from the package bpy-vrm-format (MIT or GPL): first ``pip
install --no-deps bpy-vrm-format``. The woman is exported as GLB, written by the add-on as VRM 0 and
VRM 1, and all three perform the same takes; the distance of their joints is printed.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import mimegen as mg
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.roles import find_roles

ACTIONS = ("boxing", "sit_down", "wave")
FPS = 12.0
# Run by a process of its own, because the add-on changes Blender's state.
WRITE = """
import sys
import bpy
bpy.ops.preferences.addon_enable(module="io_scene_vrm")
for one in list(bpy.data.objects):
    bpy.data.objects.remove(one)
source, version, target = sys.argv[-3:]
bpy.ops.import_scene.gltf(filepath=source)
[armature] = [one for one in bpy.data.objects if one.type == "ARMATURE"]
armature.animation_data_clear()
for bone in armature.pose.bones:
    bone.matrix_basis.identity()
armature.data.vrm_addon_extension.spec_version = version
bones = getattr(bpy.ops.vrm, f"assign_vrm{version[0]}_humanoid_human_bones_automatically")
bones(armature_object_name=armature.name)
armature.data.vrm_addon_extension.vrm1.meta.authors.add().value = "mimegen"
assert bpy.ops.export_scene.vrm(filepath=target) == {"FINISHED"}
"""


def main() -> None:
    """Print the distances of joints, in millimetres."""
    with tempfile.TemporaryDirectory() as folder:
        for figure, vrm in written(Path(folder)):
            for action in ACTIONS:
                apart = distances(action, figure, vrm)
                print(f"{vrm.name} {action}: {len(apart)} joints, mean"
                      f" {1000 * np.mean([*apart.values()]):.3f} mm, largest"
                      f" {1000 * max(map(np.max, apart.values())):.1f} mm")


def written(folder: Path) -> list[tuple[Path, Path]]:
    """Return the woman as GLB, and the VRM 0 and VRM 1 that the add-on writes of her."""
    figure = mg.take("wave", fps=FPS).on("woman").save(folder / "woman.glb")
    targets = {version: folder / f"woman_{version[0]}.vrm" for version in ("0.0", "1.0")}
    for version, target in targets.items():
        subprocess.run([sys.executable, "-c", WRITE, str(figure), version, str(target)], check=True,
                       stdout=subprocess.DEVNULL)
    return [(Path(figure), target) for target in targets.values()]


def distances(action: str, figure: Path, vrm: Path) -> dict[str, FloatArray]:
    """Return, by role, the distance (F,) in metres of a joint of both performances."""
    one, other = (joints_by_role(action, file) for file in (figure, vrm))
    return {role: np.linalg.norm(one[role] - other[role], axis=1)
            for role in sorted({*one} & {*other})}


def joints_by_role(action: str, file: Path) -> dict[str, FloatArray]:
    """Return the positions (F, 3) of each role's joint when a figure performs an action."""
    performed = mg.take(action, fps=FPS).on(file)
    roles = find_roles(performed.motion().skeleton, file=file.name).joints
    positions, names = performed.positions(), list(performed.joints)
    return {role: positions[:, names.index(joint)] for role, joint in roles.items()}


if __name__ == "__main__":
    main()
