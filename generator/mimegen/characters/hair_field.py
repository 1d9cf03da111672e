"""Where a finished character's hair lies and which way it flows, read from its meshes."""

from typing import NamedTuple, Self

import numpy as np
from scipy.spatial import cKDTree

from mimegen.base.arrays import BoolArray, IndexArray
from mimegen.base.easing import ramp
from mimegen.base.vectors import unit
from mimegen.characters.character import Character, Mesh
from mimegen.characters.strands import sampled
from mimegen.motion.quaternions import FloatArray

# Hair stands off the skin by so much at most, in metres; what hangs is farther from it.
OFF_M = 0.02
# Sheets whose colors say their rows have so many at most.
MOST_ROWS = 40
# Directions about the head that differ by less are one column's.
NEAR_RAD = 0.005
# Columns beside each other of which one is so many times as long are no surface; nor are those so
# far apart somewhere, in metres, from which a cap took what is between.
PARTED = 1.5
GAP_M = 0.035
# Ways that end higher than this above the eyes, in units, end on the skin.
ENDS_UP = 0.3


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
    skin, and ``long`` (C,) how long each column is, in metres. Those ``capped`` may lack some.
    """

    places: FloatArray
    out: FloatArray
    off: FloatArray
    long: FloatArray
    capped: bool = False

    @classmethod
    def of(cls, mesh: Mesh, skull: Skull) -> Self:
        """Return the field of a mesh that is a closed grid, row after row, but for what is hidden.
        """
        places = whole_grid(mesh)
        along = np.gradient(places, axis=0)
        around = np.roll(places, -1, axis=1) - np.roll(places, 1, axis=1)
        out = unit(np.cross(around, along) + 1e-9)
        middle = skull.centre if mesh.name == "hair" else places.mean(axis=1, keepdims=True)
        inward = np.sum(out * (places - middle), axis=-1, keepdims=True) < 0
        out = np.where(inward, -out, out)
        # The first places of most fields are one.
        out[0] = unit(out[1] + out[1].mean(axis=0))
        off = cKDTree(skull.skin).query(places.reshape(-1, 3))[0].reshape(places.shape[:2])
        capped = int((grid_numbers(mesh)[0] == 0).sum()) < places.shape[1]
        field = cls(places, out, np.minimum(off, OFF_M), _long(places), capped)
        return field._ending_on_skin(skull) if field.parted.any() else field

    def _ending_on_skin(self, skull: Skull) -> Self:
        """Return a field whose short ways, those of hair before a parting, end on the skin."""
        high = self.places[-1, :, 2] > skull.eyes_z + ENDS_UP * skull.unit
        down = ramp(np.linspace(0, 1, len(self.places)), 0.2, 1.0)
        pressed = self.off * high * down[:, None]
        places = self.places - pressed[..., None] * self.out
        return self._replace(places=places, off=self.off - pressed, long=_long(places))

    @property
    def parted(self) -> BoolArray:
        """Say behind which columns (C,) no surface leads to the next."""
        after = np.roll(self.long, -1)
        longer = np.maximum(after, self.long) / np.maximum(np.minimum(after, self.long), 1e-6)
        apart = np.linalg.norm(np.roll(self.places, -1, axis=1) - self.places, axis=-1)
        return np.asarray((longer > PARTED) | (self.capped & (apart.max(axis=0) > GAP_M)))

    def roots(self, count: int, grows: FloatArray, draws: np.random.Generator
              ) -> tuple[FloatArray, FloatArray]:
        """Return ``count`` roots spread over the surface where it ``grows`` (R, C), 0 to 1.

        Each is a share of the way (N,) and a column (N,).
        """
        rows, columns = self.off.shape
        area = self._areas() * grows[:-1] * ~self.parted
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


def whole_grid(mesh: Mesh) -> FloatArray:
    """Return the places (R, C, 3) of a mesh that is a closed grid, with what was cut off it.

    What a garment hides was cut off: from below, where columns go straight on, or from above,
    where they have no length.
    """
    row, column = grid_numbers(mesh)
    places = np.full((row.max() + 1, column.max() + 1, 3), np.nan)
    places[row, column] = mesh.vertices
    first = np.isfinite(places[..., 0]).argmax(axis=0)
    above = np.arange(len(places))[:, None] < first
    places = np.where(above[..., None], places[first, np.arange(len(first))], places)
    for number in range(1, len(places)):
        absent = np.isnan(places[number, :, 0])
        on = 2 * places[number - 1] - places[max(number - 2, 0)]
        places[number, absent] = on[absent]
    return places


def grid_numbers(mesh: Mesh) -> tuple[IndexArray, IndexArray]:
    """Return the row and the column of each vertex (V,) of a grid of hair.

    The sheet of most kinds says them by its colors, as ``strand_colors`` does.
    """
    strand = mesh.attributes["strand"]
    shares, row = np.unique(np.round(strand[:, 2], 4), return_inverse=True)
    if mesh.name == "hair" and len(shares) <= MOST_ROWS:
        around = np.arctan2(strand[:, 1], strand[:, 0])
        return row, _numbered(np.where(around > np.pi - NEAR_RAD, -np.pi, around))
    return _walked_numbers(mesh)


def _numbered(values: FloatArray) -> IndexArray:
    """Return the number (N,) of each value among all that differ, from the least on."""
    order = np.argsort(values)
    numbers = np.zeros(len(values), np.intp)
    numbers[order[1:]] = np.cumsum(np.diff(values[order]) > NEAR_RAD)
    return numbers


def _walked_numbers(mesh: Mesh) -> tuple[IndexArray, IndexArray]:
    """Return what ``grid_numbers`` does for a grid whose first two rows are whole.

    Faces lead from a row to the next: their last two corners are above the first two.
    """
    columns = int(mesh.faces[0].max()) - 1
    row, column = (np.zeros(len(mesh.vertices), np.intp) for _ in range(2))
    column[:columns] = np.arange(columns)
    for face in mesh.faces:
        row[face[:2]], column[face[:2]] = row[face[[3, 2]]] + 1, column[face[[3, 2]]]
    return row, column


def _long(places: FloatArray) -> FloatArray:
    """Return how long each column of places (R, C, 3) is."""
    return np.asarray(np.linalg.norm(np.diff(places, axis=0), axis=-1).sum(axis=0))
