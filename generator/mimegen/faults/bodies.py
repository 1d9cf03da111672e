"""Faults of the body: parts that are too long or too large, extra or missing fingers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.vectors import unit
from mimegen.characters.character import Mesh, Performance
from mimegen.characters.fingerprint import fingerprint
from mimegen.characters.surface import dense_weights
from mimegen.faults.acting import SIDES, Acting
from mimegen.faults.movement import Faulty
from mimegen.motion import Motion, Skeleton
from mimegen.motion.quaternions import FloatArray

SWELLING_PARTS = ("head", "left_hand", "right_hand", "chest")
# The order in which fingers go missing.
GOING = ("ring", "index", "pinky", "middle", "thumb")
# The fingers that are doubled, in order, and the double's displacement towards the index finger and
# out of the back of the hand, in widths of a finger.
DOUBLED = (("pinky", -1.0, 0.0), ("index", 0.9, 0.2), ("middle", 0.5, 0.5), ("ring", 0.5, 0.5),
           ("index", -0.5, 0.5))
# A vertex belongs to a finger if its skinning weight for it is above this.
OWN = 0.5
_Part = TypeVar("_Part")


def limb_stretched(acting: Acting) -> Faulty:
    """Lengthen both bones of a random arm, and the mesh around them."""
    side = str(acting.random.choice(SIDES))
    roles = [f"{side}_{part}" for part in ("upper_arm", "forearm", "hand")]
    heads = [acting.skeleton.heads[acting.joints[role]] for role in roles]
    arm = acting.below(acting.joints[roles[0]])

    def moved(points: FloatArray, weights: FloatArray) -> FloatArray:
        growth = sum(_along(points, start, end)[:, None] * acting.fault.value * (end - start)
                     for start, end in pairwise(heads))
        return np.asarray(points + weights[:, None] * growth)

    character, joints = acting.performance.character, len(acting.skeleton.names)
    own = np.isin(np.arange(joints), arm).astype(float)
    skeleton = Skeleton(acting.skeleton.names, acting.skeleton.parents,
                        moved(acting.skeleton.heads, own), moved(acting.skeleton.tails, own))
    meshes = [replace(mesh, vertices=moved(mesh.vertices, _weight(mesh, arm, joints)))
              for mesh in character.meshes]
    return _with_body(acting, skeleton, meshes), acting.record(
        joints=tuple(acting.name(role) for role in roles[:2]))


def _along(points: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the position along a bone of points (N, 3), from 0 at its start to 1 at its end."""
    bone = end - start
    along: FloatArray = np.clip((points - start) @ bone / (bone @ bone), 0.0, 1.0)
    return along


def swelling(acting: Acting) -> Faulty:
    """Enlarge the head, a hand or the chest, chosen at random, about its centre."""
    role = str(acting.random.choice([part for part in SWELLING_PARTS if part in acting.joints]))
    joint, count = acting.joints[role], len(acting.skeleton.names)
    part = [joint] if role == "chest" else acting.below(joint)
    centre = acting.skeleton.heads[joint]
    if role == "chest":
        centre = (centre + acting.skeleton.tails[joint]) / 2

    def swollen(points: FloatArray, weights: FloatArray) -> FloatArray:
        return np.asarray(points + acting.fault.value * weights[:, None] * (points - centre))

    inner = np.isin(np.arange(count), part[1:]).astype(float)
    skeleton = Skeleton(acting.skeleton.names, acting.skeleton.parents,
                        swollen(acting.skeleton.heads, inner), acting.skeleton.tails)
    meshes = [replace(mesh, vertices=swollen(mesh.vertices, _weight(mesh, part, count)))
              for mesh in acting.performance.character.meshes]
    return _with_body(acting, skeleton, meshes), acting.record(joints=(acting.name(role),))


def scale_wrong(acting: Acting) -> Faulty:
    """Make the whole person smaller, about the point of the floor below the first frame's root."""
    size = 1 - acting.fault.value
    start = acting.motion.root_positions[0] * np.array([1.0, 1.0, 0.0])
    meshes = [replace(mesh, vertices=mesh.vertices * size)
              for mesh in acting.performance.character.meshes]
    root = start + size * (acting.motion.root_positions - start)
    smaller = _with_body(acting, acting.skeleton.scaled(size), meshes)
    motion = Motion(smaller.motion.skeleton, acting.motion.fps, root, acting.motion.rotations)
    return Performance(smaller.character, motion), acting.record()


def fingers_missing(acting: Acting) -> Faulty:
    """Shrink fingers into their knuckles, one after another, on both hands."""
    meshes, count = list(acting.performance.character.meshes), len(acting.skeleton.names)
    gone: list[str] = []
    for side in SIDES:
        for finger, share in _one_after_another(GOING, acting.fault.value):
            joints = _finger(acting, side, finger)
            knuckle = acting.skeleton.heads[joints[0]]
            gone.append(acting.skeleton.names[joints[0]])
            meshes = [_drawn_to(mesh, knuckle, share * _weight(mesh, joints, count))
                      for mesh in meshes]
    return _with_body(acting, acting.skeleton, meshes), acting.record(joints=tuple(gone))


def _drawn_to(mesh: Mesh, place: FloatArray, shares: FloatArray) -> Mesh:
    return replace(mesh, vertices=mesh.vertices + shares[:, None] * (place - mesh.vertices))


def fingers_extra(acting: Acting) -> Faulty:
    """Add a double beside fingers, one after another, on both hands."""
    meshes = list(acting.performance.character.meshes)
    doubled: list[str] = []
    for side in SIDES:
        for (finger, across, out), share in _one_after_another(DOUBLED, acting.fault.value):
            joints = _finger(acting, side, finger)
            doubled.append(acting.skeleton.names[joints[0]])
            shift = _beside(acting, side, across, out)
            knuckle = acting.skeleton.heads[joints[0]]
            meshes = [_with_double(mesh, joints, len(acting.skeleton.names), knuckle, shift, share)
                      for mesh in meshes]
    return _with_body(acting, acting.skeleton, meshes), acting.record(joints=tuple(doubled))


def _one_after_another(parts: Sequence[_Part], count: float) -> Iterator[tuple[_Part, float]]:
    """Yield the first ``count`` parts, each with a fraction: 1, the last one the remainder."""
    for number, part in enumerate(parts):
        if count > number + 1e-9:
            yield part, min(count - number, 1.0)


def _finger(acting: Acting, side: str, finger: str) -> list[int]:
    """Return a finger's joints, the knuckle first. Raises RequestError if it has none."""
    knuckle = acting.joints.get(f"{side}_{finger}1")
    if knuckle is None:
        raise RequestError(f"{acting.performance.character.name}: {acting.fault.name} needs a"
                           f" skeleton with fingers; it has no {side} {finger} finger")
    return acting.below(knuckle)


def _beside(acting: Acting, side: str, across: float, out: float) -> FloatArray:
    """Return a displacement (3,), in metres, across the hand and out of its back.

    ``across`` (towards the index finger) and ``out`` are in widths of a finger.
    """
    heads = acting.skeleton.heads
    index, pinky = (heads[_finger(acting, side, finger)[0]] for finger in ("index", "pinky"))
    along = heads[acting.joints[f"{side}_index1"]] - heads[acting.joints[f"{side}_hand"]]
    back = unit(np.cross(along, index - pinky))
    width = (index - pinky) / 3
    outwards = back * float(np.linalg.norm(width)) * (1 if back[2] > 0 else -1)
    return np.asarray(across * width + out * outwards)


def _with_double(mesh: Mesh, joints: Sequence[int], count: int, knuckle: FloatArray,
                 shift: FloatArray, share: float) -> Mesh:
    """Return the mesh with a copy of a finger beside it, of ``share`` its size."""
    own = _weight(mesh, joints, count) > OWN
    faces = mesh.faces[np.all(own[mesh.faces] | (mesh.faces < 0), axis=1)]
    used = np.unique(faces[faces >= 0])
    if not len(used):
        return mesh
    number = np.full(len(mesh.vertices) + 1, -1, dtype=mesh.faces.dtype)
    number[used] = len(mesh.vertices) + np.arange(len(used))
    double = knuckle + share * (mesh.vertices[used] - knuckle) + shift
    chosen = np.flatnonzero(np.all(own[mesh.faces] | (mesh.faces < 0), axis=1))
    return replace(
        mesh, vertices=np.concatenate([mesh.vertices, double]),
        faces=np.concatenate([mesh.faces, number[faces]]),
        joints=np.concatenate([mesh.joints, mesh.joints[used]]),
        weights=np.concatenate([mesh.weights, mesh.weights[used]]),
        uvs=None if mesh.uvs is None else np.concatenate([mesh.uvs, mesh.uvs[chosen]]),
        attributes={name: np.concatenate([values, values[used]])
                    for name, values in mesh.attributes.items()})


def _weight(mesh: Mesh, joints: Sequence[int], count: int) -> FloatArray:
    """Return each vertex's summed skinning weight (V,) for some joints, of ``count`` in all."""
    weights = dense_weights(mesh.joints, mesh.weights, count)
    return np.asarray(weights[:, list(joints)].sum(axis=1))


def _with_body(acting: Acting, skeleton: Skeleton, meshes: Sequence[Mesh]) -> Performance:
    """Return the performance with the body's skeleton and meshes replaced."""
    old = acting.performance.character
    character = replace(old, skeleton=skeleton, meshes=tuple(meshes),
                        fingerprint=fingerprint(meshes, old.materials.values()))
    motion = Motion(skeleton, acting.motion.fps, acting.motion.root_positions,
                    acting.motion.rotations)
    return Performance(character, motion)
