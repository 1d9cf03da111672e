"""Write VRM animations: glTF files of the humanoid bones' rotations, without a body.

Format: glTF 2.0 with ``VRMC_vrm_animation`` 1.0. Y up, facing +Z, metres; at rest a T pose in which
all rotations are identity.
"""

import json
import struct
from typing import Any

import numpy as np

from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.axes import with_y_up
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.roles import find_roles
from mimegen.writers.onskeleton import leg, on_skeleton

BONES = {"hips": "hips", "spine1": "spine", "spine2": "chest", "chest": "upperChest",
         "neck1": "neck", "head": "head"}
PARTS = {"clavicle": "Shoulder", "upper_arm": "UpperArm", "forearm": "LowerArm", "hand": "Hand",
         "thigh": "UpperLeg", "shin": "LowerLeg", "foot": "Foot", "toe": "Toes"}
FINGERS = {"thumb": ("Thumb", ("Metacarpal", "Proximal", "Distal")),
           **{name: (called, ("Proximal", "Intermediate", "Distal")) for name, called in
              (("index", "Index"), ("middle", "Middle"), ("ring", "Ring"), ("pinky", "Little"))}}
FLOAT = 5126
JSON_CHUNK = b"JSON"
BIN_CHUNK = b"BIN\0"


def vrm_bones() -> dict[str, str]:
    """Return role -> humanoid bone of VRM 1.0."""
    bones = dict(BONES)
    for side in ("left", "right"):
        bones |= {f"{side}_{part}": f"{side}{called}" for part, called in PARTS.items()}
        for finger, (called, parts) in FINGERS.items():
            bones |= {f"{side}_{finger}{number}": f"{side}{called}{part}"
                      for number, part in enumerate(parts, start=1)}
    return bones


def to_vrma(motion: Motion) -> bytes:
    """Return a motion as a VRM animation."""
    roles = find_roles(motion.skeleton).joints
    standard = standard_skeleton()
    own = find_roles(standard).joints
    put = on_skeleton(motion, roles, standard.scaled(leg(motion.skeleton, roles)
                                                     / leg(standard, own)), own)
    bones = {own[role]: bone for role, bone in vrm_bones().items() if role in own}
    kept = [number for number, name in enumerate(put.skeleton.names) if name in bones]
    names = [bones[put.skeleton.names[number]] for number in kept]
    return _glb(put, kept, names)


def _glb(motion: Motion, kept: list[int], names: list[str]) -> bytes:
    skeleton = motion.skeleton
    above = [_above(skeleton, joint, kept) for joint in kept]
    heads = with_y_up(skeleton.heads)
    turns = _turned(motion.global_pose.rotations)
    data = bytearray()
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "mimegen"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [], "bufferViews": [], "accessors": [], "buffers": [],
        "extensionsUsed": ["VRMC_vrm_animation"],
        "extensions": {"VRMC_vrm_animation": {"specVersion": "1.0", "humanoid": {"humanBones": {
            name: {"node": number} for number, name in enumerate(names)}}}}}
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    times = _accessor(document, data, (np.arange(motion.frames) / motion.fps)[:, None], "SCALAR")
    for number, joint in enumerate(kept):
        parent = above[number]
        place = heads[joint] - (heads[kept[parent]] if parent >= 0 else 0.0)
        node: dict[str, Any] = {"name": names[number], "translation": place.tolist()}
        children = [child for child, over in enumerate(above) if over == number]
        document["nodes"].append(node | ({"children": children} if children else {}))
        local = turns[:, joint] if parent < 0 else quaternions.multiply(
            quaternions.conjugate(turns[:, kept[parent]]), turns[:, joint])
        values = np.roll(quaternions.without_flips(local), -1, axis=1)
        moves = [("rotation", values, "VEC4")]
        if parent < 0:
            moves.append(("translation", with_y_up(motion.root_positions), "VEC3"))
        for path, found, kind in moves:
            channels.append({"sampler": len(samplers), "target": {"node": number, "path": path}})
            samplers.append({"input": times, "output": _accessor(document, data, found, kind),
                             "interpolation": "LINEAR"})
    document["animations"] = [{"name": "motion", "channels": channels, "samplers": samplers}]
    document["buffers"] = [{"byteLength": len(data)}]
    return _chunks(document, bytes(data))


def _above(skeleton: Skeleton, joint: int, kept: list[int]) -> int:
    """Return the index among ``kept`` of a joint's nearest kept ancestor, -1 if there is none."""
    parent = int(skeleton.parents[joint])
    while parent >= 0 and parent not in kept:
        parent = int(skeleton.parents[parent])
    return kept.index(parent) if parent >= 0 else -1


def _turned(turns: FloatArray) -> FloatArray:
    """Return rotations w x y z in axes with Y up."""
    return np.concatenate([turns[..., :1], with_y_up(turns[..., 1:])], axis=-1)


def _accessor(document: dict[str, Any], data: bytearray, values: FloatArray, kind: str) -> int:
    packed = np.ascontiguousarray(values, "<f4")
    document["bufferViews"].append({"buffer": 0, "byteOffset": len(data),
                                    "byteLength": packed.nbytes})
    document["accessors"].append({
        "bufferView": len(document["bufferViews"]) - 1, "componentType": FLOAT,
        "count": len(values), "type": kind, "min": packed.min(axis=0).tolist(),
        "max": packed.max(axis=0).tolist()})
    data.extend(packed.tobytes())
    return len(document["accessors"]) - 1


def _chunks(document: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    whole = struct.pack("<I", len(text)) + JSON_CHUNK + text + struct.pack(
        "<I", len(data)) + BIN_CHUNK + data
    return b"glTF" + struct.pack("<II", 2, 12 + len(whole)) + whole
