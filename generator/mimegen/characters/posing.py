"""The surface of a body in a pose: linear blend skinning, and the corrections on top of it.

The corrections move the face, swell the arms, fold creases and press soft parts, in this order. All
code that draws or measures a posed surface takes its vertices from here.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mimegen.characters.arkit_shapes import ShapeMove, shape_moves
from mimegen.characters.character import (
    Character,
    Mesh,
    Places,
    joint_transforms,
    posed_vertices,
)
from mimegen.characters.face_units import FaceMove, face_moves
from mimegen.characters.folds import Fold, folds_of
from mimegen.characters.press_points import presses_of
from mimegen.characters.presses import Presses
from mimegen.characters.swells import Swell, swells_of
from mimegen.motion.quaternions import FloatArray


class Corrections(NamedTuple):
    """Corrections of blended vertices (V, 3), which are those of several meshes, concatenated."""

    swells: tuple[Swell, ...] = ()
    folds: tuple[Fold, ...] = ()
    presses: Presses | None = None
    faces: tuple[FaceMove | ShapeMove, ...] = ()

    def apply(self, places: Places, columns: Places) -> None:
        """Correct vertices (V, 3) that were blended with joint columns (4 J, 3), in place."""
        for face in self.faces:
            face.apply(places, columns)
        for swell in self.swells:
            swell.apply(places, columns)
        for fold in self.folds:
            fold.press(places, columns)
        if self.presses is not None:
            self.presses.apply(places, columns)


def corrections_of(character: Character, meshes: Sequence[Mesh] | None = None,
                   normals: bool = False) -> Corrections:
    """Return the corrections of a character's meshes, or of ``meshes`` in their place.

    With ``normals``, the array to correct has the meshes' normals after all vertices; the face's
    corrections then apply to them, too.
    """
    posed = character.meshes if meshes is None else meshes
    return Corrections(swells_of(character, posed), folds_of(character, posed),
                       presses_of(character, posed), face_moves(character, posed, normals)
                       + shape_moves(character, posed, normals))


@lru_cache(maxsize=12)
def _own_corrections(character: Character) -> Corrections:
    return corrections_of(character)


def posed_meshes(character: Character, positions: FloatArray,
                 rotations: FloatArray) -> list[FloatArray]:
    """Return the positions (V, 3) of each mesh's vertices in one frame, with all corrections.

    ``positions`` (J, 3) and ``rotations`` (J, 4) are the frame's global pose.
    """
    meshes = [posed_vertices(mesh, character.skeleton, positions, rotations)
              for mesh in character.meshes]
    matrices, shifts = joint_transforms(character.skeleton, positions, rotations)
    columns = np.concatenate([np.swapaxes(matrices, -1, -2), shifts[:, None]], axis=1)
    places = np.concatenate(meshes)
    _own_corrections(character).apply(places, columns.reshape(-1, 3))
    return np.split(places, np.cumsum([len(mesh) for mesh in meshes])[:-1])
