"""Characters: skinned meshes, their materials, and the skeleton that moves them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray

Places: TypeAlias = NDArray[np.float32] | FloatArray
"""Posed vertices (V, 3), or joint columns (4 J, 3), in single or double precision.
Joint columns hold four rows per joint: its transposed matrix and its shift. The product of a rest
position (x, y, z, 1) and these rows is its position in the pose (see ``joint_transforms``).
"""


@dataclass(frozen=True, eq=False)
class Material:
    """The material of a mesh; the renderer builds a shader from ``kind`` and ``parameters``.

    Colors are linear RGB, 0 to 1. ``image`` holds an encoded picture (PNG or JPEG) that is mapped
    by the mesh's texture coordinates; only bodies that users import have one.
    """

    name: str
    kind: str
    parameters: Mapping[str, float | str | tuple[float, ...]]
    image: bytes | None = None


@dataclass(frozen=True, eq=False)
class Mesh:
    """A skinned surface in the rest pose.

    ``vertices`` (V, 3) are in metres. ``faces`` (F, 4) are vertex indices, the last one -1 for a
    triangle. ``joints`` and ``weights`` (V, K) are for linear blend skinning; a vertex's weights
    sum to 1. ``uvs`` (F, 4, 2) are texture coordinates per corner, or None. ``attributes`` are
    further values per vertex, (V,) or (V, C), which the material's shader may use by name.
    ``subdivide`` is the number of subdivisions that smooth the mesh when it is rendered.
    """

    name: str
    vertices: FloatArray
    faces: NDArray[np.int32]
    joints: NDArray[np.int32]
    weights: FloatArray
    material: str
    uvs: FloatArray | None = None
    attributes: Mapping[str, FloatArray] = field(default_factory=dict)
    subdivide: int = 0


@dataclass(frozen=True, eq=False)
class Character:
    """A body with its outfit.

    ``fingerprint`` is a digest that changes whenever anything visible changes. ``swelling`` (W,) is
    how much the upper arms thicken when they point in each of W directions, as fractions of their
    thickness (``swells.py``); empty for bodies without it. ``age`` is in years, None if unknown.
    ``notes`` are the assumptions and doubts of an import; stored characters are without them.
    """

    name: str
    skeleton: Skeleton
    meshes: tuple[Mesh, ...]
    materials: Mapping[str, Material]
    fingerprint: str
    source: str
    licence: str
    swelling: tuple[float, ...] = ()
    age: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def soft(self) -> tuple[Mesh, ...]:
        """The meshes that deform when they are pressed: those of skin and cloth."""
        giving = {name for name, material in self.materials.items()
                  if material.kind in ("skin", "cloth")}
        return tuple(mesh for mesh in self.meshes if mesh.material in giving)

    @property
    def height(self) -> float:
        """The height of the highest vertex in the rest pose, in metres."""
        return float(max(mesh.vertices[:, 2].max() for mesh in self.meshes))


@dataclass(frozen=True, eq=False)
class Performance:
    """A motion performed by a character; the motion's skeleton is the character's."""

    character: Character
    motion: Motion


def joined_weights(meshes: Sequence[Mesh]) -> tuple[NDArray[np.int32], FloatArray]:
    """Return the joints and weights (V, K) of several meshes, concatenated and zero-padded to K."""
    wide = max(mesh.joints.shape[1] for mesh in meshes)
    joints, weights = (np.concatenate([np.pad(each, ((0, 0), (0, wide - each.shape[1])))
                                       for each in parts]) for parts in (
        [mesh.joints for mesh in meshes], [mesh.weights for mesh in meshes]))
    return joints, weights


def joint_transforms(skeleton: Skeleton, positions: FloatArray,
                     rotations: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return matrices (..., J, 3, 3) and shifts (..., J, 3) that map rest positions to a pose.

    A point p of joint j moves to ``matrices[j] @ p + shifts[j]``. ``positions`` (..., J, 3) and
    ``rotations`` (..., J, 4) are the global pose.
    """
    matrices = quaternions.to_matrices(rotations)
    return matrices, positions - np.einsum("...jab,jb->...ja", matrices, skeleton.heads)


def posed_vertices(mesh: Mesh, skeleton: Skeleton, positions: FloatArray,
                   rotations: FloatArray) -> FloatArray:
    """Return the positions (V, 3) of a mesh's vertices in one frame, by linear blend skinning.

    ``positions`` (J, 3) and ``rotations`` (J, 4) are the frame's global pose.
    """
    matrices, shifts = joint_transforms(skeleton, positions, rotations)
    blended = np.einsum("vk,vkab->vab", mesh.weights, matrices[mesh.joints])
    shift = np.einsum("vk,vka->va", mesh.weights, shifts[mesh.joints])
    return np.asarray(np.einsum("vab,vb->va", blended, mesh.vertices) + shift)
