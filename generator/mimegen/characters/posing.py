"""Where a body's surface is in a pose: blended linearly, its face moved, then swollen, folded and
pressed.

All that draws or measures a surface has its places from here, so that all have the same.
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
    """What is done to blended vertices (V, 3), those of meshes one after another."""

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
    """Return the corrections of a character's meshes, or of others in their place.

    With ``normals`` those that the meshes' normals follow after all vertices are the face's too.
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
    """Return the places (V, 3) of each mesh's vertices in one frame.

    ``positions`` (J, 3) and ``rotations`` (J, 4) are the frame's global pose.
    """
    meshes = [posed_vertices(mesh, character.skeleton, positions, rotations)
              for mesh in character.meshes]
    matrices, shifts = joint_transforms(character.skeleton, positions, rotations)
    columns = np.concatenate([np.swapaxes(matrices, -1, -2), shifts[:, None]], axis=1)
    places = np.concatenate(meshes)
    _own_corrections(character).apply(places, columns.reshape(-1, 3))
    return np.split(places, np.cumsum([len(mesh) for mesh in meshes])[:-1])
