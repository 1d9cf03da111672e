"""Faces that move: joints of lids, eyes, brows, lips and jaw, for people that mimegen builds.

They are added to a finished character when it performs. Where flesh belongs is told from its place
about eyes and mouth, upper from lower lip by the way along the skin. What shapes a
face can make follows the action units of Ekman and Friesen (1978).
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from mimegen.base.decisions import largest, nearest
from mimegen.base.easing import ramp
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, Vector, read_yaml_once
from mimegen.characters.character import Character, Mesh, Performance
from mimegen.characters.fingerprint import fingerprint
from mimegen.characters.rounding import rounded_mesh, rounded_skeleton
from mimegen.characters.surface import dense_weights, neighbour_average, smoothed
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded

SIDED = ("Eye", "Lid", "LowerLid", "Brow", "Mouth")
INFLUENCES = 6
# How far lips go along with their own joints; the rest stays with the head, or with the jaw.
LIP_SHARE = 0.8
LOOKS = ("look_left", "look_up")
# Meshes that grow on the face and go where its skin goes. Steps between places of the skin are
# smoothed along hairs and along what is raised, so never from one lip to the other.
GROWN = ("beard", "beard_strands")
SMOOTHED = 8


class FaceJoint(Strict):
    """A joint of the face: what it hangs on, and what it turns about."""

    parent: Literal["Head", "Jaw"]
    about: Literal["eye"] | Vector


class FaceFile(Strict):
    """The file rigs/faces/face.yaml, which explains its parts."""

    joints: dict[str, FaceJoint]
    channels: dict[str, dict[str, Vector]]
    lids_follow: float


def face_file() -> FaceFile:
    """Return rigs/faces/face.yaml."""
    return read_yaml_once(data_file("rigs/faces/face.yaml"), FaceFile)


class _Measures(NamedTuple):
    """The middle between the eyes (3,), the left eyeball's (3,), its radius, the head's unit."""

    middle: FloatArray
    eye: FloatArray
    radius: float
    unit: float

    def local(self, vertices: FloatArray) -> FloatArray:
        """Return places (V, 3) from the middle between the eyes, in units."""
        return np.asarray((vertices - self.middle) / self.unit)


def expressed(performance: Performance, values: Mapping[str, FloatArray]) -> Performance:
    """Return a performance whose face moves: ``values`` (F,) by channel of rigs/faces/face.yaml.

    Characters that mimegen did not build have no such face and stay as they are.
    """
    character = with_face(performance.character)
    skeleton, motion = character.skeleton, performance.motion
    names = skeleton.names[len(performance.character.skeleton.names):]
    turns = [quaternions.from_rotation_vectors(np.deg2rad(_turn(name, values))) for name in names]
    if not turns:
        return performance
    rotations = np.concatenate([motion.rotations, np.stack(turns, axis=1)], axis=1)
    return Performance(character, rounded(
        Motion(skeleton, motion.fps, motion.root_positions, rotations)))


def _turn(name: str, values: Mapping[str, FloatArray]) -> FloatArray:
    """Return a face joint's rotation vectors (F, 3) in degrees."""
    side, part = _parted(name)
    mirror = np.array([1.0, side, side]) if side else np.ones(3)
    total = np.zeros((len(next(iter(values.values()))), 3))
    for channel, turned in face_file().channels.items():
        if part in turned:
            total += values[channel][:, None] * np.array(turned[part]) * mirror
    left, up = (values[name] for name in LOOKS)
    if part == "Eye":
        total += np.stack([-up, np.zeros_like(up), left], axis=1)
    if part in ("Lid", "LowerLid"):
        # Shut lids meet wherever the eyes look.
        total[:, 0] -= face_file().lids_follow * up * (1 - np.clip(values["closed"], 0.0, 1.0))
    return total


def _parted(name: str) -> tuple[float, str]:
    """Return the side, 1 left, -1 right, 0 none, and the part that a face joint is of."""
    for prefix, side in (("Left", 1.0), ("Right", -1.0)):
        if name.startswith(prefix):
            return side, name.removeprefix(prefix)
    return 0.0, name


def has_face(character: Character) -> bool:
    """Say whether a character has eyes and lips that mimegen knows."""
    meshes = {mesh.name: mesh for mesh in character.meshes}
    return "eyes" in meshes and "lips" in getattr(meshes.get("skin"), "attributes", {})


@lru_cache(maxsize=8)
def with_face(character: Character) -> Character:
    """Return a character with joints of the face, at the end of the skeleton.

    Without a face that mimegen knows it is returned as it is.
    """
    if not has_face(character):
        return character
    meshes = {mesh.name: mesh for mesh in character.meshes}
    measures = _measured(meshes["eyes"], meshes["skin"])
    skeleton = rounded_skeleton(_with_joints(character.skeleton, measures))
    fields = {"skin": _skin_fields(meshes["skin"], measures),
              "eyes": _eye_fields(meshes["eyes"]),
              "brows": _brow_fields(meshes["brows"], measures),
              "lashes": _lid_fields(meshes["lashes"], measures, lash=True)}
    moved = {name: _moved(meshes[name], own, skeleton) for name, own in fields.items()}
    moved |= {name: _grown(meshes[name], moved["skin"], skeleton)
              for name in GROWN if name in meshes}
    made = tuple(moved.get(mesh.name, mesh) for mesh in character.meshes)
    return replace(character, skeleton=skeleton, meshes=made,
                   fingerprint=fingerprint(made, character.materials.values()))


def _measured(eyes: Mesh, skin: Mesh) -> _Measures:
    left = eyes.vertices[eyes.vertices[:, 0] > 0]
    eye = (left.max(axis=0) + left.min(axis=0)) / 2
    radius = float(np.ptp(left[:, 2]) / 2)
    eye[1] = left[:, 1].min() + radius
    middle = eye * np.array([0.0, 1.0, 1.0])
    return _Measures(middle, eye, radius, float(skin.vertices[:, 2].max() - eye[2]))


def _with_joints(skeleton: Skeleton, measures: _Measures) -> Skeleton:
    names, parents, heads = list(skeleton.names), list(skeleton.parents), list(skeleton.heads)
    for part, joint in face_file().joints.items():
        for side in (1.0, -1.0) if part in SIDED else (0.0,):
            name = {1.0: "Left", -1.0: "Right", 0.0: ""}[side] + part
            mirror = np.array([side or 1.0, 1.0, 1.0])
            about = measures.eye if joint.about == "eye" else (
                measures.middle + measures.unit * np.array(joint.about))
            parents.append(names.index(joint.parent))
            names.append(name)
            heads.append(about * mirror)
    tails = np.concatenate([skeleton.tails, heads[len(skeleton.names):]])
    return Skeleton(tuple(names), np.array(parents, dtype=skeleton.parents.dtype),
                    np.array(heads), tails)


Fields = dict[str, FloatArray]


def _skin_fields(skin: Mesh, measures: _Measures) -> Fields:
    return (_lid_fields(skin, measures) | _brow_fields(skin, measures)
            | _mouth_fields(skin, measures))


def _eye_fields(eyes: Mesh) -> Fields:
    left = eyes.vertices[:, 0] > 0
    return {"LeftEye": left.astype(float), "RightEye": (~left).astype(float)}


def _lid_fields(mesh: Mesh, measures: _Measures, lash: bool = False) -> Fields:
    """Return how far lids (V,) follow theirs: the margin wholly, corners and folds not at all."""
    fields: Fields = {}
    for side, prefix in ((1.0, "Left"), (-1.0, "Right")):
        x, y, z = ((mesh.vertices * np.array([side, 1.0, 1.0]) - measures.eye) / measures.radius).T
        height = np.degrees(np.arctan2(z, -y))
        away = np.sqrt(x * x + y * y + z * z)
        here = np.clip(1 - ((x - 0.22) / 1.22) ** 2, 0.0, 1.0) * (y < 0.3)
        here = here if lash else here * ramp(away, 1.7, 1.3)
        upper = np.ones_like(x) if lash else ramp(height, 62.0, 24.0) * (height > -10)
        lower = np.zeros_like(x) if lash else ramp(height, -75.0, -34.0) * (height <= -10)
        fields |= {f"{prefix}Lid": here * upper, f"{prefix}LowerLid": here * lower}
    return fields


def _brow_fields(mesh: Mesh, measures: _Measures) -> Fields:
    """Return how far the forehead (V,) follows the brows; its middle follows both."""
    x, y, z = measures.local(mesh.vertices).T
    there = (ramp(z, 0.03, 0.13) * ramp(z, 0.62, 0.26) * ramp(np.abs(x), 0.72, 0.42)
             * ramp(y, 0.6, 0.3))
    left = ramp(x, -0.12, 0.12)
    return {"LeftBrow": there * left, "RightBrow": there * (1 - left)}


def _mouth_fields(skin: Mesh, measures: _Measures) -> Fields:
    """Return how far skin (V,) follows jaw, lips and the corners of the mouth."""
    x, y, z = measures.local(skin.vertices).T
    lips = skin.attributes["lips"] > 0.5
    corner = int(np.argmax(np.where(lips, x, -np.inf)))
    lower = _lower_share(skin, np.stack([x, y, z], axis=1), lips)
    front = ramp(y, 0.75, 0.2) * ramp(z, 0.0, -0.25)
    wide = np.exp(-(x / (0.8 * x[corner])) ** 2)
    near = ramp(np.abs(z - z[corner]), 0.24, 0.07) * ramp(y, 0.35, 0.15) * wide
    fields: Fields = {}
    for side, name in ((1.0, "LeftMouth"), (-1.0, "RightMouth")):
        away = np.hypot((side * x - x[corner]) / 0.19, (z - z[corner]) / 0.24)
        fields[name] = np.exp(-away**2) * ramp(y, 0.5, 0.2) * ramp(side * x, -0.02, 0.12)
    # What the corners take along the lips have not: both lips leave together.
    free = 1 - np.minimum(fields["LeftMouth"] + fields["RightMouth"], 1.0)
    lip = LIP_SHARE * near * free
    return fields | {"UpperLip": lip * (1 - lower), "LowerLip": lip * lower,
                     "Jaw": np.maximum(front * free - lip, 0.0) * lower}


def _lower_share(skin: Mesh, places: FloatArray, lips: NDArray[np.bool_]) -> FloatArray:
    """Return how far skin (V,) belongs to the lower lip, 0 to 1: by the way along the skin."""
    middle = np.flatnonzero(lips & (np.abs(places[:, 0]) < 0.03))
    height = places[middle, 2]
    share = (height - height.min()) / np.ptp(height)
    between = np.abs(share - 0.5) < 0.25
    parting = share[between][np.argmax(places[middle[between], 1])]
    seeds = [int(some[np.argmin(places[some, 1])])
             for some in (middle[share > parting + 0.15], middle[share < parting - 0.15])]
    upper_way, lower_way = dijkstra(_edges(skin), indices=seeds, limit=3 * 0.12)
    ways = np.minimum(np.stack([upper_way, lower_way]), 10.0)
    return np.asarray(ramp((ways[0] - ways[1]) / (ways[0] + ways[1]), -0.08, 0.08))


def _edges(mesh: Mesh) -> sparse.csr_matrix:
    """Return the lengths (V, V) of a mesh's edges, in metres, both ways."""
    fourth = np.where(mesh.faces[:, 3:] < 0, mesh.faces[:, 2:3], mesh.faces[:, 3:])
    faces = np.concatenate([mesh.faces[:, :3], fourth], axis=1)
    pairs = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    far = np.linalg.norm(mesh.vertices[pairs[:, 0]] - mesh.vertices[pairs[:, 1]], axis=1)
    count = len(mesh.vertices)
    one_way = sparse.coo_matrix((far, (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return (one_way + one_way.T).tocsr()


def _grown(mesh: Mesh, skin: Mesh, skeleton: Skeleton) -> Mesh:
    """Return a mesh that follows the head as one that follows the face like the skin below it."""
    weights = dense_weights(skin.joints, skin.weights, len(skeleton.names))
    below = weights[nearest(skin.vertices, mesh.vertices)]
    below = smoothed(below, neighbour_average(mesh.faces, len(mesh.vertices)), SMOOTHED)
    return _moved(mesh, {name: below[:, number] for name, number in skeleton.index.items()
                         if _parted(name)[1] in face_file().joints}, skeleton)


def _moved(mesh: Mesh, fields: Fields, skeleton: Skeleton) -> Mesh:
    """Return a mesh whose weight on the head is shared with the joints of the face."""
    weights = dense_weights(mesh.joints, mesh.weights, len(skeleton.names))
    head = skeleton.index["Head"]
    whole = np.sum([*fields.values()], axis=0)
    share = weights[:, head] / np.maximum(whole, 1.0)
    for name, field in fields.items():
        weights[:, skeleton.index[name]] += share * field
    weights[:, head] -= share * whole
    joints = largest(weights, INFLUENCES)
    values = np.maximum(np.take_along_axis(weights, joints, axis=1), 0.0)
    return rounded_mesh(replace(mesh, joints=joints.astype(np.int32),
                                weights=values / values.sum(axis=1, keepdims=True)))
