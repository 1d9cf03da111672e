"""Assign vertices to 24 parts of the body, by their skin weights and positions at rest.

The parts and their numbers are those of DensePose (Güler, Neverova and Kokkinos 2018).
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Mesh
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

PARTS = (
    "torso back", "torso front", "right hand", "left hand", "left foot", "right foot",
    "right upper leg back", "left upper leg back", "right upper leg front",
    "left upper leg front", "right lower leg back", "left lower leg back",
    "right lower leg front", "left lower leg front", "left upper arm inside",
    "right upper arm inside", "left upper arm outside", "right upper arm outside",
    "left lower arm inside", "right lower arm inside", "left lower arm outside",
    "right lower arm outside", "right head", "left head",
)
"""The names of the parts. Numbers start at 1; 0 is no part."""

SEGMENTS = {
    "hips": "torso", "spine": "torso", "chest": "torso", "clavicle": "torso", "neck": "head",
    "head": "head", "upper_arm": "upper arm", "forearm": "lower arm", "hand": "hand",
    "thumb": "hand", "index": "hand", "middle": "hand", "ring": "hand", "pinky": "hand",
    "thigh": "upper leg", "shin": "lower leg", "foot": "foot", "toe": "foot",
}
# Length of the slices along a segment; each slice is divided at its own middle.
SLICE_M = 0.03
_BACK = np.array([0.0, 1, 0])
_LEFT = np.array([1.0, 0, 0])
_DOWN = np.array([0.0, 0, -1])


def joint_segments(skeleton: Skeleton, roles: Mapping[str, str]) -> list[str]:
    """Return the segment that each joint moves, such as ``left upper arm``.

    A joint without a role has its parent's segment; ``roles`` maps roles to joints' names.
    """
    of_joint = {joint: _segment(role) for role, joint in roles.items()}
    segments: list[str] = []
    for name, parent in zip(skeleton.names, skeleton.parents, strict=True):
        segments.append(of_joint.get(name) or (segments[parent] if parent >= 0 else "torso"))
    return segments


def _segment(role: str) -> str:
    side, _, rest = role.partition("_")
    sided = side in ("left", "right")
    segment = SEGMENTS[(rest if sided else role).rstrip("0123456789")]
    return f"{side} {segment}" if sided and segment != "torso" else segment


def vertex_parts(meshes: tuple[Mesh, ...], skeleton: Skeleton,
                 roles: Mapping[str, str]) -> NDArray[np.uint8]:
    """Return the part (V,) of every vertex of a character's meshes, in their order."""
    segments = joint_segments(skeleton, roles)
    names = sorted(set(segments))
    number = np.array([names.index(segment) for segment in segments])
    chosen = np.concatenate([_strongest(mesh, number, len(names)) for mesh in meshes])
    places = np.concatenate([mesh.vertices for mesh in meshes])
    parts = np.zeros(len(places), np.uint8)
    for each, name in enumerate(names):
        there = chosen == each
        if there.any():
            parts[there] = _parts_of(name, places[there], _bone(skeleton, segments, name))
    return parts


def _strongest(mesh: Mesh, number: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return the segment (V,) that each vertex follows most."""
    shares = np.zeros((len(mesh.vertices), count))
    # Sum weights by segment before choosing the largest, so that three joints of a finger together
    # can outweigh one joint of the palm.
    np.add.at(shares, (np.arange(len(shares))[:, None], number[mesh.joints]), mesh.weights)
    return np.asarray(shares.argmax(axis=1))


def _bone(skeleton: Skeleton, segments: list[str], name: str) -> FloatArray:
    """Return head and tail (2, 3) of a segment's first bone in the rest pose."""
    first = segments.index(name)
    return np.stack([skeleton.heads[first], skeleton.tails[first]])


def _parts_of(segment: str, places: FloatArray, bone: FloatArray) -> NDArray[np.uint8]:
    """Return the part (N,) of each position (N, 3) on a segment."""
    if segment in PARTS:
        return np.full(len(places), PARTS.index(segment) + 1, np.uint8)
    across, names = _halves(segment, bone)
    further = _beyond_middle(places, bone, across)
    first, second = (PARTS.index(name) + 1 for name in names)
    return np.where(further, first, second).astype(np.uint8)


def _halves(segment: str, bone: FloatArray) -> tuple[FloatArray, tuple[str, str]]:
    """Return the direction that divides a segment, and the names of the halves: ahead, behind."""
    if segment == "head":
        return _LEFT, ("left head", "right head")
    if not segment.endswith("arm"):
        return _BACK, (f"{segment} back", f"{segment} front")
    # Perpendicular to the arm in the frontal plane: towards the body if the arm hangs down, and
    # downwards if it is stretched out as in a T-pose.
    x, _, z = bone[1] - bone[0]
    inwards = np.array([z, 0.0, -x]) * (1.0 if segment.startswith("left") else -1.0)
    return (inwards if inwards.any() else _DOWN), (f"{segment} inside", f"{segment} outside")


def _beyond_middle(places: FloatArray, bone: FloatArray, across: FloatArray
                   ) -> NDArray[np.bool_]:
    """Return which positions (N, 3) are beyond the middle of their slice, in direction ``across``.
    """
    axis = (bone[1] - bone[0]) / max(float(np.linalg.norm(bone[1] - bone[0])), 1e-9)
    aside = places @ across
    slices = np.floor((places - bone[0]) @ axis / SLICE_M).astype(int)
    _, at = np.unique(slices, return_inverse=True)
    # The middle is that of the slice's extent, not the mean of its vertices, which are denser where
    # the mesh has detail.
    low, high = np.full(at.max() + 1, np.inf), np.full(at.max() + 1, -np.inf)
    np.minimum.at(low, at, aside)
    np.maximum.at(high, at, aside)
    return np.asarray(aside > ((low + high) / 2)[at])
