"""Sample the motion of an FBX, glTF or USD file: ``fbx.py IN OUT [TAKE]``.

Blender, or a Python that has bpy, runs this as a file in a separate process, so it imports nothing
from mimegen. OUT becomes a NumPy archive: ``header`` is JSON text; ``parents`` (J,), ``rest``
(J, 4, 4) and ``pose`` (F, J, 4, 4) are the joints in Blender's world coordinates (Z up).
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]

# Greatest frame rate (Hz) sampled.
MAX_RATE = 1000.0
# Least rate (Hz) for which evenly spaced keys of glTF count as frames; sparser keys are an
# animator's.
MIN_RATE = 10.0
# Rates of video are these divided by 1.001. Rounding error of times, in seconds.
VIDEO_RATES = (24, 30, 48, 60, 120, 240)
ROUNDED_S = 1e-3
# Bytes at the start of a USD text file in which the rate is searched for.
HEAD = 65536
# Most poses of single bones: 20 minutes of 65 bones at 120 fps.
MAX_POSES = 10_000_000


def sample_motion(path: Path, take: str | None) -> tuple[Header, Arrays]:
    """Import a file and sample the armature that its action moves, at the rate of its keys.

    The action is the one with most curves, or ``take``. The header has ``takes`` (names of the
    file's animation stacks), ``take`` (the one sampled, or None), ``fps``, ``scene_fps``,
    ``joints``, and ``left_out``: other armatures that the action moves. Raises RuntimeError if
    Blender cannot read the file.
    """
    _import(path)
    armatures = [o for o in bpy.data.objects if o.type == "ARMATURE" and o.data.bones]
    takes = [action for action in bpy.data.actions if _curves(action)]
    scene = bpy.context.scene
    scene_fps = scene.render.fps / scene.render.fps_base
    header: Header = {"takes": [action.name for action in takes], "take": None, "joints": [],
                      "fps": scene_fps, "scene_fps": scene_fps, "left_out": []}
    chosen = [action for action in takes if take in (None, action.name)]
    if not armatures:
        return header, {}
    if not chosen:
        return header, _skeleton(max(armatures, key=lambda a: len(a.data.bones)), header)
    action = max(chosen, key=lambda a: len(_curves(a)))
    armature = max(armatures, key=lambda a: (_slot(a, action) is not None, len(a.data.bones)))
    for thing in bpy.data.objects:
        slot = _slot(thing, action)
        if slot is not None:
            thing.animation_data.action = action
            thing.animation_data.action_slot = slot
    header["left_out"] = [a.name for a in armatures if a is not armature and _slot(a, action)]
    arrays = _skeleton(armature, header)
    gltf = path.suffix.lower() != ".fbx" and not path.suffix.lower().startswith(".usd")
    moments, rate = _moments(action, scene_fps, MAX_POSES // len(header["joints"]), gltf)
    header.update(take=action.name, fps=rate or scene_fps, keys_have_rate=rate is not None)
    return header, arrays | {"pose": _sampled(armature, header["joints"], moments)}


def _skeleton(armature: Any, header: Header) -> Arrays:
    """Return parents and rest pose of an armature's bones, and write their names in the header."""
    bones = list(armature.data.bones)
    number = {bone.name: i for i, bone in enumerate(bones)}
    header["joints"] = list(number)
    return {"parents": np.array([number[b.parent.name] if b.parent else -1 for b in bones]),
            "rest": np.array([armature.matrix_world @ bone.matrix_local for bone in bones])}


def _import(path: Path) -> None:
    """Import a file without its meshes into an empty scene."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.suffix.lower() == ".fbx":
        bpy.ops.wm.fbx_import(filepath=str(path))
    elif path.suffix.lower().startswith(".usd"):
        # Blender reads time codes as frames but ignores their rate, so it is set here.
        found = re.search(rb"timeCodesPerSecond\s*=\s*(\d+(?:\.\d+)?)", path.read_bytes()[:HEAD])
        rate = float(found[1]) if found else 0.0
        if 1.0 <= rate <= MAX_RATE:
            bpy.context.scene.render.fps = round(rate)
            bpy.context.scene.render.fps_base = round(rate) / rate
        bpy.ops.wm.usd_import(filepath=str(path), import_meshes=False, import_materials=False,
                              import_cameras=False, import_lights=False)
    else:
        bpy.ops.import_scene.gltf(filepath=str(path), disable_bone_shape=True)
    for mesh in [o for o in bpy.data.objects if o.type == "MESH"]:
        bpy.data.objects.remove(mesh)


def _curves(action: Any) -> list[Any]:
    """Return all curves of an action, of all its slots."""
    return [curve for layer in action.layers for strip in layer.strips
            for bag in strip.channelbags for curve in bag.fcurves]


def _slot(thing: Any, action: Any) -> Any:
    """Return the slot of an action that moves an object, or None."""
    if thing.animation_data is None:
        return None
    name = f"OB{thing.name}"
    return next((slot for slot in action.slots if slot.identifier == name), None)


def _moments(action: Any, scene_fps: float, most: int, gltf: bool
             ) -> tuple[NDArray[np.float64], float | None]:
    """Return the scene frames (F,) to sample at, and the rate of the keys; None for the scene's.

    Recordings may have keys between the frames of the scene's rate; then the keys' rate counts.
    Sparser keys are an animator's and are sampled at the scene's rate. In glTF, which has no scene
    rate, evenly spaced keys of ``MIN_RATE`` or more count too. Raises RuntimeError for more than
    ``most`` frames, and for times that are NaN or infinite.
    """
    keys: list[NDArray[np.float64]] = []
    for curve in _curves(action):
        found = np.empty(len(curve.keyframe_points) * 2, dtype=np.float32)
        curve.keyframe_points.foreach_get("co", found)
        keys.append(found[::2].astype(float))
    times: NDArray[np.float64] = np.unique(np.round(np.concatenate(keys), 3)).astype(float)
    if not np.isfinite(times).all():
        raise RuntimeError("its keys are at times that are not numbers")
    if len(times) < 2:
        return times, None
    gaps = np.diff(times)
    usual = float(np.median(gaps))
    even = np.abs(gaps - usual) < 0.05 * usual
    # Times are rounded, so the rate is found from all even gaps together.
    rate = _common_rate(int(even.sum()), float(gaps[even].sum()) / scene_fps)
    dense = rate > 1.01 * scene_fps or (gltf and rate >= MIN_RATE)
    from_keys = dense and bool(np.mean(even) > 0.8)
    rate = min(rate, MAX_RATE) if from_keys else scene_fps
    count = int(np.floor((times[-1] - times[0]) / scene_fps * rate + 1e-3)) + 1
    if count > most:
        raise RuntimeError(f"its keys span {count} frames, more than {most}: cut it into shorter"
                           " takes")
    return np.asarray(times[0] + np.arange(count) * scene_fps / rate, dtype=float), (
        rate if from_keys else None)


def _common_rate(steps: int, seconds: float) -> float:
    """Return the frames per second of ``steps`` that last ``seconds``, rounded to milliseconds.

    If a whole number, or a rate of video such as 30/1.001, fits within the rounding, it is taken.
    """
    rate = steps / seconds
    near = min((float(round(rate)), *(one / 1.001 for one in VIDEO_RATES)),
               key=lambda one: abs(one - rate))
    return near if near and abs(steps / near - seconds) < ROUNDED_S else rate


def _sampled(armature: Any, names: list[str], moments: NDArray[np.float64]) -> NDArray[Any]:
    """Return the bones' matrices (F, J, 4, 4) in world coordinates at scene frames (F,)."""
    poses = np.empty((len(moments), len(names), 4, 4))
    bones = [armature.pose.bones[name] for name in names]
    for frame, moment in enumerate(moments):
        whole = int(np.floor(moment))
        bpy.context.scene.frame_set(whole, subframe=float(moment - whole))
        poses[frame] = np.array(armature.matrix_world) @ np.array([b.matrix for b in bones])
    return poses


def main(source: Path, target: Path, take: str | None) -> None:
    """Read ``source`` and write the archive ``target``."""
    header, arrays = sample_motion(source, take)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    archive: dict[str, Any] = arrays | {"header": text}
    with target.open("wb") as opened:
        np.savez(opened, **archive)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
