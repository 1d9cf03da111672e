"""A set's matter, which blocks and reflects light, in cells.

All is in the set's own coordinates, because most walls and objects are parallel to their axes.
The numbers are chosen so that a set's light costs one to five seconds of a core;
``benchmarks/draft.py sets`` measures the areas that then agree with Cycles
(``docs/research/draft.md``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.set_colors import mean_color
from mimegen.rendering.opengl.voxels import ColoredTriangles, Grid, Voxels, matter_of
from mimegen.scenery.layout import wall_panels, world_from_set
from mimegen.scenery.scenery import Scenery

# Outdoors, light is computed this far around the performer and this high, in metres; indoors, up to
# the walls.
OUTDOORS_M = 24.0
OUTDOORS_HEIGHT_M = 10.0
# Cells of matter that block light: their approximate number, and the smallest side of a cell.
CELLS = 250_000
MIN_CELL_M = 0.12
# The same for the finer cells through which each pixel traces rays to lamps.
FINE_CELLS = 900_000
MIN_FINE_CELL_M = 0.08
# The least distance of points of the grid of light.
MIN_PLACE_M = 0.5
# Objects outside the region hide the sky up to this distance, in this many coarse cells.
FAR_M = 80.0
FAR_CELLS = 100_000
# Triangles facing down below this height, in metres, belong to things lying on the ground, such as
# mats and lines.
ON_GROUND_M = 0.05


@dataclass(frozen=True, eq=False)
class Cells:
    """A set's matter in its own coordinates.

    ``whole`` is all matter; ``casting`` is that which casts shadows, without walls and ceilings.
    ``things`` are the surfaces of the latter.
    """

    whole: Voxels
    casting: Voxels
    things: Sequence[ColoredTriangles]


def set_cells(scenery: Scenery, shell: Sequence[ColoredTriangles], inner: Sequence[ColoredTriangles]
             ) -> Cells:
    """Return the matter of surfaces, which are in the set's own coordinates.

    ``shell`` are walls and ceilings, which cast no shadows, ``inner`` is everything else.
    """
    low, high = light_region(scenery)
    grid = _grid(low - 1e-3, high + 1e-3, CELLS, MIN_CELL_M, spare=1)
    within = matter_of(inner, grid)
    casting = within.voxels()
    whole = casting if not shell else within.with_more(matter_of(shell, grid)).voxels()
    return Cells(whole, casting, inner)


def fine_matter(scenery: Scenery, things: Sequence[ColoredTriangles]
               ) -> tuple[Grid, NDArray[np.float32]]:
    """Return the finer cells of objects that block lamps: their grid, and ``Voxels.free`` of it.

    Both are in the set's own coordinates.
    """
    low, high = light_region(scenery)
    grid = _grid(low - 1e-3, high + 1e-3, FINE_CELLS, MIN_FINE_CELL_M,
                 spare=1)
    return grid, matter_of(things, grid).free()


def surfaces_of(scenery: Scenery, triangles: Mapping[str, NDArray[np.float32]]
               ) -> list[ColoredTriangles]:
    """Return the surfaces that block light: triangles (T, 3, 3) of opaque materials except nets."""
    materials = {name: scenery.materials[name] for name in triangles}
    return [ColoredTriangles(_lying(triangles[name]), mean_color(look), look.glow > 0)
            for name, look in materials.items() if look.opacity == 1.0 and look.pattern != "net"]


def _lying(triangles: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return triangles (T, 3, 3); those on the ground that face down are flipped to face up.

    Cells of matter are filled on the inner side of a surface. For mats and lines on the ground,
    that is the ground below and not the space above.
    """
    one, two = triangles[:, 1, :2] - triangles[:, 0, :2], triangles[:, 2, :2] - triangles[:, 0, :2]
    down = one[:, 0] * two[:, 1] < one[:, 1] * two[:, 0]
    turned = down & (triangles[..., 2].max(axis=1) < ON_GROUND_M)
    return np.where(turned[:, None, None], triangles[:, ::-1], triangles)


def light_region(scenery: Scenery) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper corner (3,) of the region of the precomputed light.

    They are in the set's coordinates. The region is the box of the walls or, outdoors, one around
    the performer.
    """
    panels = wall_panels(scenery)
    if not panels:
        middle, reach = np.array(scenery.performer_at), OUTDOORS_M
        return (np.array([*middle - reach, 0.0]),
                np.array([*middle + reach, OUTDOORS_HEIGHT_M]))
    corners = moved(np.concatenate([panel.corners for panel in panels]), set_from_world(scenery))
    low, high = corners.min(axis=0), corners.max(axis=0)
    return np.array([*low[:2], min(low[2], 0.0)]), high


def even_grid(low: FloatArray, high: FloatArray, most: int) -> Grid:
    """Return a grid of about ``most`` nearly cubic cells that fill the region exactly."""
    cell = max(MIN_PLACE_M, float((high - low).prod() / most) ** (1 / 3))
    shape = np.maximum(np.round((high - low) / cell), 2).astype(int)
    return Grid(low, (high - low) / shape, (int(shape[0]), int(shape[1]), int(shape[2])))


def under_ceiling(scenery: Scenery, grid: Grid) -> NDArray[np.bool_]:
    """Return which points of a grid (P,) lie under a ceiling; all of them if there is none."""
    places = grid.middles(np.arange(int(np.prod(grid.shape))))
    if not scenery.ceilings:
        return np.ones(len(places), np.bool_)
    under = [((places[:, :2] > plane.corners[0]) & (places[:, :2] < plane.corners[1])).all(axis=1)
             for plane in scenery.ceilings]
    return np.asarray(np.any(under, axis=0))


def far_matter(scenery: Scenery, surfaces: Sequence[ColoredTriangles]) -> Voxels | None:
    """Return coarse cells of objects outside the region of light; None indoors or without any."""
    low, high = light_region(scenery)
    beyond = [replace(surface, triangles=_outside(surface.triangles, low, high))
              for surface in surfaces if not surface.glows]
    beyond = [surface for surface in beyond if len(surface.triangles)]
    if not beyond or wall_panels(scenery):
        return None
    corners = np.concatenate([surface.triangles.reshape(-1, 3) for surface in beyond])
    middle = (low + high) / 2
    least, most = (np.clip(edge, middle - FAR_M, middle + FAR_M)
                   for edge in (corners.min(axis=0), corners.max(axis=0)))
    grid = _grid(least, most, FAR_CELLS, MIN_PLACE_M, spare=1)
    return matter_of(beyond, grid).voxels()


def _outside(triangles: NDArray[np.float32], low: FloatArray, high: FloatArray
             ) -> NDArray[np.float32]:
    """Return the triangles (T, 3, 3) that lie outside of a box and reach above the ground.

    ``low`` and ``high`` (3,) are the box's corners.
    """
    outside = ((triangles.max(axis=1) < low) | (triangles.min(axis=1) > high)).any(axis=1)
    return np.asarray(triangles[outside & (triangles[..., 2].max(axis=1) > ON_GROUND_M)])


def _grid(low: FloatArray, high: FloatArray, most: int, least_m: float, spare: int) -> Grid:
    """Return a grid of about ``most`` cubes from ``low`` to ``high``, padded by ``spare`` cubes."""
    cell = max(least_m, float((high - low).prod() / most) ** (1 / 3))
    shape = np.ceil((high - low) / cell).astype(int) + 2 * spare
    return Grid(low - spare * cell, np.full(3, cell), (int(shape[0]), int(shape[1]), int(shape[2])))


def set_from_world(scenery: Scenery) -> FloatArray:
    """Return the matrix (4, 4) from world coordinates to the set's."""
    return np.asarray(np.linalg.inv(world_from_set(scenery)))


def moved(places: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return positions (..., 3) transformed by a matrix (4, 4)."""
    return np.asarray(places @ matrix[:3, :3].T + matrix[:3, 3])


def all_moved(triangles: Mapping[str, NDArray[np.float32]], matrix: FloatArray
              ) -> dict[str, NDArray[np.float32]]:
    """Return triangles (T, 3, 3) by material transformed by a matrix (4, 4)."""
    return {name: moved(corners.astype(float), matrix).astype(np.float32)
            for name, corners in triangles.items()}
