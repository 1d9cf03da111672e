"""The position and direction of a finished character's hair, read from its meshes."""

from typing import NamedTuple, Self

import numpy as np
from scipy.spatial import cKDTree

from mimegen.base.arrays import BoolArray, IndexArray
from mimegen.base.easing import ramp
from mimegen.base.vectors import unit
from mimegen.characters.character import Character, Mesh
from mimegen.characters.strands import sampled
from mimegen.motion.quaternions import FloatArray

# The largest distance between hair and skin, in metres; hanging hair is farther from it.
OFF_M = 0.02
# The largest number of rows of a sheet whose colors encode the rows.
MAX_ROWS = 40
# Azimuths that differ by less than this, in radians, belong to one column.
NEAR_RAD = 0.005
# No surface lies between neighbouring columns whose lengths differ by this factor, nor, where a cap
# has cut some away, between columns that are this far apart, in metres.
PARTED = 1.5
GAP_M = 0.035
# Strands that end higher above the eyes than this, in units (eyes to crown), end on the skin.
ENDS_UP = 0.3


class Skull(NamedTuple):
    """Measures of a head, relative to which hair is described.

    ``skin`` (V, 3) are the skin's vertices, ``eyes_z`` the height of the eyes, ``unit`` the height
    from the eyes to the crown, and ``centre`` (3,) the middle of the skull, in metres.
    """

    skin: FloatArray
    eyes_z: float
    unit: float
    centre: FloatArray


def skull_of(character: Character) -> Skull | None:
    """Return the measures of a character's skull; None for a character without skin and eyes."""
    meshes = {mesh.name: mesh.vertices for mesh in character.meshes}
    if not {"skin", "eyes"} <= set(meshes):
        return None
    skin, eyes_z = meshes["skin"], float(meshes["eyes"][:, 2].mean())
    size = float(skin[:, 2].max() - eyes_z)
    high = skin[skin[:, 2] > eyes_z + 0.2 * size]
    depth = (high[:, 1].max() + high[:, 1].min()) / 2
    return Skull(skin, eyes_z, size, np.array([0.0, depth, eyes_z + 0.15 * size]))


class StrandPoints(NamedTuple):
    """Points along hairs on a field: positions, outward and sideways directions, (P, N, 3) each.

    ``off`` (P, N) is their distance from the skin, in metres.
    """

    places: FloatArray
    out: FloatArray
    aside: FloatArray
    off: FloatArray


class HairField(NamedTuple):
    """A closed grid of positions (R, C, 3); each column is the path of hair from root to end.

    ``out`` (R, C, 3) are directions away from the head, ``off`` (R, C) is the distance from the
    skin and ``long`` (C,) each column's length, in metres. ``capped`` is true if some of the hair
    has been cut away under a cap.
    """

    places: FloatArray
    out: FloatArray
    off: FloatArray
    long: FloatArray
    capped: bool = False

    @classmethod
    def of(cls, mesh: Mesh, skull: Skull) -> Self:
        """Return the field of a mesh that is a closed grid, row by row, apart from hidden parts."""
        places = whole_grid(mesh)
        along = np.gradient(places, axis=0)
        around = np.roll(places, -1, axis=1) - np.roll(places, 1, axis=1)
        out = unit(np.cross(around, along) + 1e-9)
        middle = skull.centre if mesh.name == "hair" else places.mean(axis=1, keepdims=True)
        inward = np.sum(out * (places - middle), axis=-1, keepdims=True) < 0
        out = np.where(inward, -out, out)
        # The first row of most fields is a single point.
        out[0] = unit(out[1] + out[1].mean(axis=0))
        off = cKDTree(skull.skin).query(places.reshape(-1, 3))[0].reshape(places.shape[:2])
        capped = int((grid_numbers(mesh)[0] == 0).sum()) < places.shape[1]
        field = cls(places, out, np.minimum(off, OFF_M), _long(places), capped)
        return field._ending_on_skin(skull) if field.parted.any() else field

    def _ending_on_skin(self, skull: Skull) -> Self:
        """Return the field with its short strands, those before a parting, ending on the skin."""
        high = self.places[-1, :, 2] > skull.eyes_z + ENDS_UP * skull.unit
        down = ramp(np.linspace(0, 1, len(self.places)), 0.2, 1.0)
        pressed = self.off * high * down[:, None]
        places = self.places - pressed[..., None] * self.out
        return self._replace(places=places, off=self.off - pressed, long=_long(places))

    @property
    def parted(self) -> BoolArray:
        """A mask (C,) of the columns after which no surface leads to the next one."""
        after = np.roll(self.long, -1)
        longer = np.maximum(after, self.long) / np.maximum(np.minimum(after, self.long), 1e-6)
        apart = np.linalg.norm(np.roll(self.places, -1, axis=1) - self.places, axis=-1)
        return np.asarray((longer > PARTED) | (self.capped & (apart.max(axis=0) > GAP_M)))

    def roots(self, count: int, grows: FloatArray, draws: np.random.Generator
              ) -> tuple[FloatArray, FloatArray]:
        """Return ``count`` roots, spread over the surface in proportion to ``grows`` (R, C).

        A root is its position along the strand (N,), 0 to 1, and its fractional column (N,).
        """
        rows, columns = self.off.shape
        area = self._areas() * grows[:-1] * ~self.parted
        drawn = np.cumsum(area.ravel()) / area.sum()
        cells = np.searchsorted(drawn, (np.arange(count) + draws.random(count)) / count)
        row, column = np.divmod(np.minimum(cells, drawn.size - 1), columns)
        return (row + draws.random(count)) / (rows - 1), column + draws.random(count)

    def _areas(self) -> FloatArray:
        """Return the areas (R - 1, C) of the grid's cells, in m2."""
        down = np.diff(self.places, axis=0)
        around = (np.roll(self.places, -1, axis=1) - self.places)[:-1]
        return np.asarray(np.linalg.norm(np.cross(down, around), axis=-1))

    def length(self, column: FloatArray) -> FloatArray:
        """Return the lengths of the strands at columns (N,), in metres."""
        return np.maximum(np.interp(column, np.arange(len(self.long)), self.long), 0.01)

    def strand_points(self, along: FloatArray, column: FloatArray) -> StrandPoints:
        """Return the points at ``along`` (P, N), 0 to 1, of the strands at columns (N,).

        Beyond 1 the last segment is extended.
        """
        inside = np.clip(along, 0.0, 1.0)
        facts = np.concatenate([self.out, self.off[..., None]], axis=-1)
        found = sampled(facts, inside, column)
        places = sampled(self.places, np.maximum(along, 0.0), column)
        out = unit(found[..., :3])
        aside = unit(np.cross(np.gradient(places, axis=0), out) + 1e-9)
        return StrandPoints(places, out, aside, np.maximum(found[..., 3], 0.0))


def whole_grid(mesh: Mesh) -> FloatArray:
    """Return the positions (R, C, 3) of a mesh that is a closed grid, with cut-off parts filled in.

    Parts that a garment hides were cut off: at the bottom, where columns are extended straight, or
    at the top, where they are collapsed to their first position.
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

    For most kinds of hair they are decoded from the sheet's colors (see ``strand_colors``).
    """
    strand = mesh.attributes["strand"]
    shares, row = np.unique(np.round(strand[:, 2], 4), return_inverse=True)
    if mesh.name == "hair" and len(shares) <= MAX_ROWS:
        around = np.arctan2(strand[:, 1], strand[:, 0])
        return row, _numbered(np.where(around > np.pi - NEAR_RAD, -np.pi, around))
    return _walked_numbers(mesh)


def _numbered(values: FloatArray) -> IndexArray:
    """Return the rank (N,) of each value among the distinct ones, from the smallest on."""
    order = np.argsort(values)
    numbers = np.zeros(len(values), np.intp)
    numbers[order[1:]] = np.cumsum(np.diff(values[order]) > NEAR_RAD)
    return numbers


def _walked_numbers(mesh: Mesh) -> tuple[IndexArray, IndexArray]:
    """Return rows and columns, as ``grid_numbers``, of a grid whose first two rows are complete.

    It follows the faces: the last two corners of a face lie in the row above its first two.
    """
    columns = int(mesh.faces[0].max()) - 1
    row, column = (np.zeros(len(mesh.vertices), np.intp) for _ in range(2))
    column[:columns] = np.arange(columns)
    for face in mesh.faces:
        row[face[:2]], column[face[:2]] = row[face[[3, 2]]] + 1, column[face[[3, 2]]]
    return row, column


def _long(places: FloatArray) -> FloatArray:
    """Return the length of each column (C,) of positions (R, C, 3), in metres."""
    return np.asarray(np.linalg.norm(np.diff(places, axis=0), axis=-1).sum(axis=0))
