"""Where a finished character's hair lies and which way it flows, read from its meshes."""

from typing import NamedTuple, Self

import numpy as np
from scipy.spatial import cKDTree

from mimegen.base.vectors import unit
from mimegen.characters.character import Character, Mesh
from mimegen.characters.strands import sampled
from mimegen.motion.quaternions import FloatArray

# Hair stands off the skin by so much at most, in metres; what hangs is farther from it.
OFF_M = 0.02


class Skull(NamedTuple):
    """What hair is measured against: the ``skin`` (V, 3), the eyes' height, the skull's middle."""

    skin: FloatArray
    eyes_z: float
    unit: float
    centre: FloatArray


def skull_of(character: Character) -> Skull | None:
    """Return the measures of a character's skull; None for one without skin and eyes."""
    meshes = {mesh.name: mesh.vertices for mesh in character.meshes}
    if not {"skin", "eyes"} <= set(meshes):
        return None
    skin, eyes_z = meshes["skin"], float(meshes["eyes"][:, 2].mean())
    size = float(skin[:, 2].max() - eyes_z)
    high = skin[skin[:, 2] > eyes_z + 0.2 * size]
    depth = (high[:, 1].max() + high[:, 1].min()) / 2
    return Skull(skin, eyes_z, size, np.array([0.0, depth, eyes_z + 0.15 * size]))


class Way(NamedTuple):
    """Points along hairs (P, N, 3) on a field, with what is there."""

    places: FloatArray
    out: FloatArray
    aside: FloatArray
    off: FloatArray


class HairField(NamedTuple):
    """A closed grid of places (R, C, 3), each column the way of hair from its root to its end.

    ``out`` (R, C, 3) are directions away from the head, ``off`` (R, C) how far places are from the
    skin, and ``long`` (C,) how long each column is, in metres.
    """

    places: FloatArray
    out: FloatArray
    off: FloatArray
    long: FloatArray

    @classmethod
    def of(cls, mesh: Mesh, skull: Skull) -> Self:
        """Return the field of a mesh that is a closed grid, row after row."""
        columns = int(mesh.faces[0].max()) - 1
        places = mesh.vertices.reshape(-1, columns, 3)
        along = np.gradient(places, axis=0)
        around = np.roll(places, -1, axis=1) - np.roll(places, 1, axis=1)
        out = unit(np.cross(around, along) + 1e-9)
        middle = skull.centre if mesh.name == "hair" else places.mean(axis=1, keepdims=True)
        inward = np.sum(out * (places - middle), axis=-1, keepdims=True) < 0
        off = cKDTree(skull.skin).query(places.reshape(-1, 3))[0].reshape(places.shape[:2])
        steps = np.linalg.norm(np.diff(places, axis=0), axis=-1)
        return cls(places, np.where(inward, -out, out), np.minimum(off, OFF_M), steps.sum(axis=0))

    def roots(self, count: int, grows: FloatArray, draws: np.random.Generator
              ) -> tuple[FloatArray, FloatArray]:
        """Return ``count`` roots spread over the surface where it ``grows`` (R, C), 0 to 1.

        Each is a share of the way (N,) and a column (N,).
        """
        rows, columns = self.off.shape
        area = self._areas() * grows[:-1]
        drawn = np.cumsum(area.ravel()) / area.sum()
        cells = np.searchsorted(drawn, (np.arange(count) + draws.random(count)) / count)
        row, column = np.divmod(np.minimum(cells, drawn.size - 1), columns)
        return (row + draws.random(count)) / (rows - 1), column + draws.random(count)

    def _areas(self) -> FloatArray:
        down = np.diff(self.places, axis=0)
        around = (np.roll(self.places, -1, axis=1) - self.places)[:-1]
        return np.asarray(np.linalg.norm(np.cross(down, around), axis=-1))

    def length(self, column: FloatArray) -> FloatArray:
        """Return how long the way of columns (N,) is, in metres."""
        return np.maximum(np.interp(column, np.arange(len(self.long)), self.long), 0.01)

    def way(self, along: FloatArray, column: FloatArray) -> Way:
        """Return what is at shares of the way (P, N) along columns (N,); it goes on at the end."""
        inside = np.clip(along, 0.0, 1.0)
        facts = np.concatenate([self.out, self.off[..., None]], axis=-1)
        found = sampled(facts, inside, column)
        places = sampled(self.places, np.maximum(along, 0.0), column)
        out = unit(found[..., :3])
        aside = unit(np.cross(np.gradient(places, axis=0), out) + 1e-9)
        return Way(places, out, aside, np.maximum(found[..., 3], 0.0))
