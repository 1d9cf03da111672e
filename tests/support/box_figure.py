"""A person of boxes as a GLB file, written with NumPy alone; needs no Blender.

Each box follows one bone. Positions are in metres, Y up; the figure faces +Z, its left is +X.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import glb_files

Point = tuple[float, float, float]
Bone = tuple[str | None, Point, Point, float]
"""Parent, start, end, and half the width of its box."""
Thing = tuple[str, str, Point, Point, float]
"""A mesh of its own that follows a bone: name, bone, start, end, and half its width."""

HEAD_TOP_M, SOLES_M = 1.75, 0.0
BONES: dict[str, Bone] = {
    "Hips": (None, (0, 1.0, 0), (0, 1.1, 0), 0.14),
    "Spine": ("Hips", (0, 1.1, 0), (0, 1.25, 0), 0.13),
    "Spine1": ("Spine", (0, 1.25, 0), (0, 1.45, 0), 0.15),
    "Neck": ("Spine1", (0, 1.45, 0), (0, 1.55, 0), 0.05),
    "Head": ("Neck", (0, 1.55, 0), (0, HEAD_TOP_M, 0), 0.09),
}
for side, x in (("Left", 1), ("Right", -1)):
    BONES |= {
        f"{side}Shoulder": ("Spine1", (x * 0.03, 1.42, 0), (x * 0.18, 1.42, 0), 0.05),
        f"{side}Arm": (f"{side}Shoulder", (x * 0.18, 1.42, 0), (x * 0.46, 1.42, 0), 0.045),
        f"{side}ForeArm": (f"{side}Arm", (x * 0.46, 1.42, 0), (x * 0.71, 1.42, 0), 0.04),
        f"{side}Hand": (f"{side}ForeArm", (x * 0.71, 1.42, 0), (x * 0.88, 1.42, 0), 0.04),
        f"{side}UpLeg": ("Hips", (x * 0.1, 0.95, 0), (x * 0.1, 0.52, 0), 0.07),
        f"{side}Leg": (f"{side}UpLeg", (x * 0.1, 0.52, 0), (x * 0.1, 0.09, 0), 0.055),
        f"{side}Foot": (f"{side}Leg", (x * 0.1, 0.09, 0), (x * 0.1, 0.03, 0.13), 0.03),
        f"{side}ToeBase": (f"{side}Foot", (x * 0.1, 0.03, 0.13), (x * 0.1, 0.03, 0.2), 0.03),
    }
TAIL: dict[str, Bone] = {"Tail1": ("Hips", (0, 1.0, -0.12), (0, 0.7, -0.4), 0.04),
                         "Tail2": ("Tail1", (0, 0.7, -0.4), (0, 0.2, -0.7), 0.04)}


def write_figure(path: Path, bones: Mapping[str, Bone] = BONES, things: Sequence[Thing] = (),
                 materials: Sequence[Mapping[str, Any]] = (), unit: float = 1.0,
                 of_thing: int = 0, color: Sequence[float] | None = None) -> Path:
    """Write the figure, with its things in the hand or on the head.

    ``materials`` are glTF's; the first is the body's, number ``of_thing`` that of things. ``color``
    (4,) is stored at every vertex.
    """
    order, made = [*bones], _Buffer()
    nodes: list[dict[str, Any]] = [
        {"name": name, "translation": [unit * (a - b) for a, b in zip(
            start, bones[parent][1] if parent else (0, 0, 0), strict=True)],
         "children": [order.index(child) for child in order if bones[child][0] == name]}
        for name, (parent, start, _, _) in bones.items()]
    for node in nodes:
        if not node["children"]:
            del node["children"]
    inverse = np.tile(np.eye(4, dtype="<f4"), (len(order), 1, 1))
    inverse[:, 3, :3] = [-unit * np.array(bones[name][1]) for name in order]
    parts = [("Body", [(order.index(name), *bone[1:]) for name, bone in bones.items()])]
    parts += [(name, [(order.index(bone), start, end, half)])
              for name, bone, start, end, half in things]
    meshes = []
    for name, boxes in parts:
        primitive = made.primitive(boxes, unit, color)
        if materials:
            primitive["material"] = 0 if name == "Body" else of_thing
        meshes.append({"name": name, "primitives": [primitive]})
        nodes.append({"name": name, "mesh": len(meshes) - 1, "skin": 0})
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "nodes": nodes, "meshes": meshes,
        "scenes": [{"nodes": [order.index("Hips"), *range(len(order), len(nodes))]}],
        "skins": [{"joints": [*range(len(order))], "inverseBindMatrices": made.add(
            inverse.reshape(-1, 16), "f", "MAT4")}],
        **({"materials": [*materials]} if materials else {}),
        "accessors": made.accessors, "bufferViews": made.views,
        "buffers": [{"byteLength": len(made.data)}]}
    return glb_files.write(path, json.loads(json.dumps(document)), made.data)


class _Buffer:
    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, values: np.ndarray[Any, Any], kind: str, width: str) -> int:
        self.views.append({"buffer": 0, "byteOffset": len(self.data),
                           "byteLength": values.nbytes})
        self.data += values.tobytes()
        self.accessors.append({
            "bufferView": len(self.views) - 1, "count": len(values), "type": width,
            "componentType": {"f": 5126, "H": 5123, "I": 5125}[kind],
            "min": np.atleast_1d(values.min(axis=0)).tolist(),
            "max": np.atleast_1d(values.max(axis=0)).tolist()})
        return len(self.accessors) - 1

    def primitive(self, boxes: Sequence[tuple[int, Point, Point, float]], unit: float,
                  color: Sequence[float] | None) -> dict[str, Any]:
        corners = np.concatenate([box(start, end, half) for _, start, end, half in boxes])
        joints = np.zeros((len(corners), 4), "<u2")
        joints[:, 0] = np.repeat([joint for joint, *_ in boxes], 24)
        weights = np.tile(np.array([1, 0, 0, 0], "<f4"), (len(corners), 1))
        quads = np.arange(len(corners), dtype="<u4").reshape(-1, 4)
        attributes = {"POSITION": self.add((unit * corners).astype("<f4"), "f", "VEC3"),
                      "JOINTS_0": self.add(joints, "H", "VEC4"),
                      "WEIGHTS_0": self.add(weights, "f", "VEC4")}
        if color is not None:
            colors = np.tile(np.array(color, "<f4"), (len(corners), 1))
            attributes["COLOR_0"] = self.add(colors, "f", "VEC4")
        return {"attributes": attributes, "indices": self.add(
            quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1), "I", "SCALAR")}


def box(start: Point, end: Point, half: float) -> np.ndarray[Any, Any]:
    """Return the corners (24, 3) of the six faces of a box along a line."""
    line = np.subtract(end, start)
    aside = np.cross(line, (0, 0, 1.0) if abs(line[2]) < np.abs(line).max() else (0, 1.0, 0))
    aside = half * aside / np.linalg.norm(aside)
    ahead = half * np.cross(line, aside) / np.linalg.norm(line) / half
    ring = [-aside - ahead, aside - ahead, aside + ahead, ahead - aside]
    low, high = [np.add(start, each) for each in ring], [np.add(end, each) for each in ring]
    faces = [low[::-1], high, *([low[i], low[i - 3], high[i - 3], high[i]] for i in range(4))]
    return np.concatenate([np.array(face) for face in faces])
