"""Faces in motion: joints of lids and eyes, and those that carry shape units (`face_units.py`).

They are added when a character that mimegen built performs. `faces/words.py` defines the words that
control a face.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.decisions import largest, nearest
from mimegen.base.easing import ramp
from mimegen.base.grid import on_grid
from mimegen.characters.arkit_joints import eyes_turn, head_of, with_shape_joints
from mimegen.characters.arkit_shapes import all_shapes, has_shapes, shown_units
from mimegen.characters.character import Character, Mesh, Performance
from mimegen.characters.face_units import (
    POINTS,
    SHARES,
    carried,
    carriers,
    read_carriers,
    units_bake,
)
from mimegen.characters.fingerprint import fingerprint
from mimegen.characters.lids import LID_AND_EYE_JOINTS, LIDS, PARTS, face_file, read_closed
from mimegen.characters.rounding import rounded_mesh, rounded_skeleton
from mimegen.characters.surface import dense_weights, neighbour_average, smoothed
from mimegen.faces.words import CLOSED, LOOKS, SIDES, shaped, units_file
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded

# The largest number of joints that a vertex follows.
INFLUENCES = 6
# The direction of the eyes at rest.
AHEAD = np.array([0.0, -1.0, 0.0])
# Meshes that grow on the face and follow its skin. Differences between neighbouring positions of
# the skin are smoothed along hairs and along raised skin, so never from one lip to the other.
GROWN = ("beard", "beard_strands")
SMOOTHED = 8
# Meshes that shape units move like the NEAREST points of the skin.
ON_SKIN = ("brows", "lashes", *GROWN)
NEAREST = 3
# The largest difference in metres by which corners of one face of a beard may drop as the jaw
# opens.
TORN_M = 0.006
# Meshes whose hairs move as a whole.
HAIRS = ("beard_strands",)
SOFTEST_M = 0.001


class _Measures(NamedTuple):
    """The centre (3,) and the radius of the left eyeball, in metres."""

    eye: FloatArray
    radius: float


def expressed(performance: Performance, values: Mapping[str, FloatArray]) -> Performance:
    """Return a performance whose face moves.

    ``values`` (F,) are by word, as `faces/words.py` defines them. Imported characters have such a
    face if they have ARKit's shape keys; other characters are returned unchanged.
    """
    character = with_face(performance.character)
    if character is performance.character:
        return performance
    skeleton, motion = character.skeleton, performance.motion
    units = shaped(values, motion.frames)
    lids = [_rotation_vectors(side, part, units, values) for side in SIDES for part in PARTS]
    vectors = np.concatenate([np.deg2rad(np.stack(lids, axis=1)), carried(units, motion.frames)],
                             axis=1)
    names = [*(side + part for side in SIDES for part in PARTS), *carriers()]
    rotations = np.tile(quaternions.IDENTITY, (motion.frames, len(skeleton.names), 1))
    rotations[:, :motion.rotations.shape[1]] = motion.rotations
    rotations[:, [skeleton.index[name] for name in names]] = (
        quaternions.from_rotation_vectors(vectors))
    return Performance(character, rounded(
        Motion(skeleton, motion.fps, motion.root_positions, rotations)))


def _rotation_vectors(side: str, part: str, units: Mapping[tuple[str, str], FloatArray],
                      values: Mapping[str, FloatArray]) -> FloatArray:
    """Return the rotation vectors (F, 3) of an eye or a lid, in degrees."""
    closed = units[CLOSED, side]
    left, up = (values.get(name, np.zeros_like(closed)) for name in LOOKS)
    if part == "Eye":
        return np.stack([-up, np.zeros_like(up), left], axis=1)
    mirror = np.array([1, 1, 1] if side == SIDES[0] else [1, -1, -1])
    total = closed[:, None] * np.array(face_file().closed[part]) * mirror
    # Closed lids meet in the same place wherever the eyes look.
    total[:, 0] -= face_file().lids_follow * up * (1 - np.clip(closed, 0.0, 1.0))
    return np.asarray(total)


def face_of(character: Character, rotations: FloatArray) -> FloatArray:
    """Return the values (2, U + 1) of the units and, last, the lids, on the left and right side.

    ``rotations`` (J, 4) are global, of one frame. All values are NaN for a character without a
    face. Units for which an imported character has no shape are 0.
    """
    skeleton = character.skeleton
    names = [*carriers(), *LID_AND_EYE_JOINTS]
    if not all(name in skeleton.index for name in names):
        return np.full((2, len(units_file().units) + 1), np.nan)
    head = quaternions.conjugate(rotations[head_of(skeleton)])
    local = quaternions.multiply(head, rotations[[skeleton.index[name] for name in names]])
    closed = read_closed(np.degrees(quaternions.to_rotation_vectors(local[-4:])))
    units = read_carriers(quaternions.to_matrices(local[:-4]))
    driven = np.concatenate([units, closed[:, None]], axis=1)
    shapes = all_shapes(character)
    return shown_units(driven, shapes) if shapes else driven


def gaze_of(character: Character, rotations: FloatArray) -> FloatArray:
    """Return the directions (2, 3) of the left and the right eye, as unit vectors in the world.

    ``rotations`` (J, 4) are global, of one frame. All values are NaN for a character whose eyes do
    not turn.
    """
    skeleton = character.skeleton
    names = [f"{side}{PARTS[0]}" for side in SIDES]
    if not all(name in skeleton.index for name in names) or (
            has_shapes(character) and not eyes_turn(character)):
        return np.full((2, 3), np.nan)
    eyes = rotations[[skeleton.index[name] for name in names]]
    return np.asarray(quaternions.rotate(eyes, np.tile(AHEAD, (2, 1))))


def has_face(character: Character) -> bool:
    """Return whether a character has a face that moves: mimegen's own, or ARKit's shape keys."""
    return _is_own(character) or has_shapes(character)


def _is_own(character: Character) -> bool:
    """Return whether a character has the eyes and lips of bodies that mimegen builds."""
    meshes = {mesh.name: mesh for mesh in character.meshes}
    return "eyes" in meshes and "lips" in getattr(meshes.get("skin"), "attributes", {})


@lru_cache(maxsize=8)
def with_face(character: Character) -> Character:
    """Return a character with joints of the face at the end of its skeleton.

    A character without a face that mimegen knows is returned unchanged.
    """
    if not _is_own(character):
        return with_shape_joints(character) if has_shapes(character) else character
    meshes = {mesh.name: mesh for mesh in character.meshes}
    measures = _measured(meshes["eyes"])
    skeleton = rounded_skeleton(_with_joints(character.skeleton, measures))
    fields = {"skin": _lid_fields(meshes["skin"], measures),
              "eyes": _eye_fields(meshes["eyes"]),
              "lashes": _lid_fields(meshes["lashes"], measures, lash=True)}
    moved = {name: _moved(meshes[name], own, skeleton) for name, own in fields.items()}
    moved |= {name: _grown(meshes[name], moved["skin"], skeleton)
              for name in GROWN if name in meshes}
    moved |= {name: _on_skin(moved.get(name, meshes[name]), meshes["skin"])
              for name in ON_SKIN if name in meshes}
    made = tuple(moved.get(mesh.name, mesh) for mesh in character.meshes)
    return replace(character, skeleton=skeleton, meshes=made,
                   fingerprint=fingerprint(made, character.materials.values()))


def _on_skin(mesh: Mesh, skin: Mesh) -> Mesh:
    """Return a mesh that units move like the skin around each of its vertices.

    A hair moves as a whole, like the skin that is nearest to any of its vertices, so that a hair
    that hangs over the mouth stays with the upper lip.
    """
    away, near = scipy.spatial.cKDTree(skin.vertices).query(mesh.vertices, k=NEAREST)
    roots = _roots(mesh, away[:, 0])
    away, near = away[roots], near[roots]
    shares = 1 / (away + SOFTEST_M) ** 2
    points = skin.attributes[POINTS][near]
    shares = on_grid(shares / shares.sum(axis=1, keepdims=True))
    return replace(_parted(mesh, points.astype(np.intp), shares), attributes={
        **mesh.attributes, POINTS: points, SHARES: shares})


def _parted(mesh: Mesh, points: NDArray[np.intp], shares: FloatArray) -> Mesh:
    """Return a beard without the faces between the lips, which an open jaw would stretch."""
    if mesh.name not in GROWN:
        return mesh
    moved = np.sum([units_bake().moved("jawOpen", side) for side in SIDES], axis=0)
    falls = (shares * moved[points, 2]).sum(axis=1)
    corners = np.where(mesh.faces < 0, mesh.faces[:, :1], mesh.faces)
    whole = np.ptp(falls[corners], axis=1) < TORN_M
    return replace(mesh, faces=mesh.faces[whole],
                   uvs=None if mesh.uvs is None else mesh.uvs[whole])


def _roots(mesh: Mesh, away: FloatArray) -> NDArray[np.intp]:
    """Return for each vertex (V,) the vertex of its hair with the least distance ``away`` (V,).

    In meshes that are no hairs, each vertex stands for itself.
    """
    if mesh.name not in HAIRS:
        return np.arange(len(away))
    corners = np.where(mesh.faces < 0, mesh.faces[:, :1], mesh.faces)
    pairs = np.stack([corners, np.roll(corners, -1, axis=1)], axis=-1).reshape(-1, 2)
    joined = scipy.sparse.coo_matrix((np.ones(len(pairs)), pairs.T), shape=(len(away), len(away)))
    _, hair = scipy.sparse.csgraph.connected_components(joined, directed=False)
    order = np.lexsort([on_grid(away), hair])
    first = order[np.unique(hair[order], return_index=True)[1]]
    return np.asarray(first[hair], np.intp)


def _measured(eyes: Mesh) -> _Measures:
    """Return the measures of the left eyeball, from the mesh of both."""
    left = eyes.vertices[eyes.vertices[:, 0] > 0]
    eye = (left.max(axis=0) + left.min(axis=0)) / 2
    radius = float(np.ptp(left[:, 2]) / 2)
    eye[1] = left[:, 1].min() + radius
    return _Measures(eye, radius)


def _with_joints(skeleton: Skeleton, measures: _Measures) -> Skeleton:
    """Return a skeleton with joints for eyes and lids, and with carriers of units at the head."""
    head = skeleton.index["Head"]
    mirrors = (np.ones(3), np.array([-1.0, 1.0, 1.0]))
    eyes = [measures.eye * mirror for mirror in mirrors for _ in PARTS]
    names = tuple(side + part for side in SIDES for part in PARTS) + carriers()
    heads = np.concatenate([eyes, np.tile(skeleton.heads[head], (len(carriers()), 1))])
    parents = np.full(len(names), head, skeleton.parents.dtype)
    return Skeleton(skeleton.names + names, np.concatenate([skeleton.parents, parents]),
                    np.concatenate([skeleton.heads, heads]),
                    np.concatenate([skeleton.tails, heads]))


Fields = dict[str, FloatArray]


def _eye_fields(eyes: Mesh) -> Fields:
    """Return which vertices (V,) follow the left and which the right eye, 0 or 1."""
    left = eyes.vertices[:, 0] > 0
    return {"LeftEye": left.astype(float), "RightEye": (~left).astype(float)}


def _lid_fields(mesh: Mesh, measures: _Measures, lash: bool = False) -> Fields:
    """Return how far vertices (V,) follow each lid: margins fully, corners and folds not at all."""
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


def _grown(mesh: Mesh, skin: Mesh, skeleton: Skeleton) -> Mesh:
    """Return a mesh that followed the head alone, following the face like the skin below it."""
    weights = dense_weights(skin.joints, skin.weights, len(skeleton.names))
    below = weights[nearest(skin.vertices, mesh.vertices)]
    below = smoothed(below, neighbour_average(mesh.faces, len(mesh.vertices)), SMOOTHED)
    return _moved(mesh, {name: below[:, number] for name, number in skeleton.index.items()
                         if name.endswith(LIDS)}, skeleton)


def _moved(mesh: Mesh, fields: Fields, skeleton: Skeleton) -> Mesh:
    """Return a mesh whose weight on the head is shared with the face's joints, by ``fields``."""
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
