"""Faces of imported bodies: shape keys that are named like ARKit's 52 weights.

They are stored as attributes of meshes and are driven by the same joints as the faces of mimegen's
own people, so the same values drive both kinds of faces.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import product
from mimegen.characters.character import Character, Mesh, Places
from mimegen.characters.face_units import carriers, read_carriers, rotation_vectors
from mimegen.characters.lids import LID_AND_EYE_JOINTS, read_closed, read_gaze_angles
from mimegen.characters.surface import vertex_normals
from mimegen.faces.words import SIDES, arkit, units_file
from mimegen.motion.quaternions import FloatArray

# The prefix of attributes (V, 3) that hold a weight's displacements, in metres.
PREFIX = "arkit_"
# Smaller weights are ignored.
MIN_WEIGHT = 0.002
# Vertices nearer than this, in metres, share a normal.
SAME_M = 1e-5


def has_shapes(character: Character) -> bool:
    """Return whether a character has any of ARKit's shape keys."""
    return any(shapes_of(mesh) for mesh in character.meshes)


def all_shapes(character: Character) -> frozenset[str]:
    """Return the names of ARKit's weights for which any mesh of a character has shapes."""
    return frozenset(name for mesh in character.meshes for name in shapes_of(mesh))


def shapes_of(mesh: Mesh) -> tuple[str, ...]:
    """Return the names of ARKit's weights for which a mesh has shapes."""
    return tuple(name.removeprefix(PREFIX) for name in mesh.attributes if name.startswith(PREFIX))


@dataclass(frozen=True, eq=False)
class ShapeMove:
    """The effect of shape keys on a body's vertices or normals.

    ``carriers`` (C,), ``lid_and_eye_joints`` (4,) and ``head`` are joint indices. ``displacements``
    (K, N, 3) are those of ``rows`` (N,) by each of ``names``, in the frame of the head.
    """

    names: tuple[str, ...]
    carriers: NDArray[np.intp]
    lid_and_eye_joints: NDArray[np.intp]
    head: int
    rows: NDArray[np.intp]
    displacements: NDArray[np.float32]

    def apply(self, places: Places, columns: Places) -> None:
        """Move rows of ``places`` (V, 3), blended with joint columns (4 J, 3), in place."""
        blocks = columns.reshape(-1, 4, 3)
        head = np.asarray(blocks[self.head, :3], float)
        joints = [*self.carriers, *self.lid_and_eye_joints]
        own = np.swapaxes(np.asarray(blocks[joints, :3], float), 1, 2)
        turned = np.matmul(head, own)
        found = weights(read_carriers(turned[:-4]), np.degrees(rotation_vectors(turned[-4:])))
        moved = np.zeros(self.displacements.shape[1:], np.float32)
        for name, displacement in zip(self.names, self.displacements, strict=True):
            if found[name] > MIN_WEIGHT:
                moved += np.float32(found[name]) * displacement
        places[self.rows] += product(moved, head.astype(np.float32)).astype(places.dtype)


def weights(units: FloatArray, turns: FloatArray) -> Mapping[str, float]:
    """Return ARKit's weights, 0 to 1, by name.

    ``units`` (2, U) are the shape units' values; ``turns`` (4, 3) are the rotation vectors of the
    joints ``LID_AND_EYE_JOINTS``, in degrees.
    """
    known, names = arkit(), units_file().units
    both = {name: units[:, number] for number, name in enumerate(names)}
    found = {name: float(both[name].mean()) for name in known.middle}
    found |= {name + side: float(both[name][row]) for name in known.sided
              for row, side in enumerate(SIDES)}
    closed, looks = read_closed(turns), read_gaze_angles(turns)
    for row, side in enumerate(SIDES):
        found |= {name + side: float(closed[row] / size) for name, size in known.lids.items()}
        out = float(looks[row, 0]) * (1 if row == 0 else -1)
        seen = {"eyeLookUp": float(looks[row, 1]), "eyeLookDown": float(looks[row, 1]),
                "eyeLookOut": out, "eyeLookIn": -out}
        found |= {name + side: seen[name] / size for name, size in known.looks.items()}
    return {name: min(max(value, 0.0), 1.0) for name, value in found.items()}


def shown_units(units: FloatArray, shapes: Collection[str]) -> FloatArray:
    """Return the values (2, U + 1) that a face with some of ARKit's shapes shows.

    ``units`` (2, U + 1) drive it: those of the shape units and, last, the lids, on both sides.
    """
    known, shown = arkit(), np.zeros_like(units)
    for number, name in enumerate(units_file().units):
        if name in known.middle and name in shapes:
            shown[:, number] = np.clip(units[:, number].mean(), 0.0, 1.0)
        for row, side in enumerate(SIDES):
            if name in known.sided and name + side in shapes:
                shown[row, number] = np.clip(units[row, number], 0.0, 1.0)
    for row, side in enumerate(SIDES):
        ends = [size for name, size in known.lids.items() if name + side in shapes]
        shown[row, -1] = np.clip(units[row, -1], min([0.0, *ends]), max([0.0, *ends]))
    return shown


def shape_moves(character: Character, meshes: Sequence[Mesh],
                normals: bool = False) -> tuple[ShapeMove, ...]:
    """Return the effect of shape keys on meshes, concatenated; see ``face_moves``."""
    index = character.skeleton.index
    names = tuple(dict.fromkeys(name for mesh in meshes for name in shapes_of(mesh)))
    if not names or carriers()[0] not in index:
        return ()
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    parts = [(start, _displacements(mesh, names))
             for mesh, start in zip(meshes, starts, strict=False) if shapes_of(mesh)]
    if normals:
        parts += [(starts[-1] + start, _turns(mesh, names)) for mesh, start in zip(
            meshes, starts, strict=False) if shapes_of(mesh)]
    moving = [np.flatnonzero(np.abs(one).max(axis=(0, 2)) > 0) for _, one in parts]
    rows = np.concatenate([start + own for (start, _), own in zip(parts, moving, strict=True)])
    displacements = np.concatenate(
        [one[:, own] for (_, one), own in zip(parts, moving, strict=True)], axis=1)
    own, lid_and_eye_joints = (np.array([index[name] for name in of])
                               for of in (carriers(), LID_AND_EYE_JOINTS))
    head = int(character.skeleton.parents[own[0]])
    return (ShapeMove(names, own, lid_and_eye_joints, head, rows, displacements),)


def _displacements(mesh: Mesh, names: Sequence[str]) -> NDArray[np.float32]:
    """Return the shapes' displacements (K, V, 3) of a mesh's vertices."""
    none = np.zeros_like(mesh.vertices)
    return np.stack([mesh.attributes.get(PREFIX + name, none) for name in names]
                    ).astype(np.float32)


def _turns(mesh: Mesh, names: Sequence[str]) -> NDArray[np.float32]:
    """Return the shapes' changes (K, V, 3) of a mesh's normals; texture seams stay closed."""
    welded, faces = _welded(mesh)
    rest = vertex_normals(mesh.vertices[welded], faces)
    number = np.searchsorted(welded, _first(mesh))
    displacements = _displacements(mesh, names)
    turned = np.zeros_like(displacements)
    for shape in np.flatnonzero(np.abs(displacements).max(axis=(1, 2)) > 0):
        now = vertex_normals(mesh.vertices[welded] + displacements[shape, welded], faces)
        turned[shape] = (now - rest)[number]
    return turned


@lru_cache(maxsize=8)
def _first(mesh: Mesh) -> NDArray[np.intp]:
    """Return for each vertex (V,) the first vertex at the same position."""
    places = np.round(mesh.vertices / SAME_M).astype(np.int64)
    _, first, number = np.unique(places, axis=0, return_index=True, return_inverse=True)
    return np.asarray(first[number.ravel()], np.intp)


def _welded(mesh: Mesh) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return the vertices (W,) that are left when coincident ones are merged, and the faces.

    The faces' indices refer to the merged vertices.
    """
    first = _first(mesh)
    kept = np.unique(first)
    faces = np.where(mesh.faces >= 0, np.searchsorted(kept, first[mesh.faces]), -1)
    return kept, faces.astype(np.int32)
