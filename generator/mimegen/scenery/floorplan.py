"""Floor plan of a set: which objects occupy which squares, up to a person's height."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import product
from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.layout import (
    PERFORMER_LOW,
    PlacedShape,
    WallPanel,
    laid_objects,
    turned_boxes,
    wall_panels,
    world_from_set,
)
from mimegen.scenery.meshes import in_world, smooth_line
from mimegen.scenery.objects import Arc, Curtain, Extrude, HangingSheet, Island, Solid, Tube
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shapes import bounds_of, mesh_of
from mimegen.scenery.swept import CELL_M, Cells

# Surfaces up to GROUND_M above the floor, and at most SUNKEN_M below it, count as ground.
GROUND_M = float(PERFORMER_LOW[2])
SUNKEN_M = 0.1
# Number of horizontal directions that bound the outline of round shapes.
DIRECTIONS = 16
# Spacing, and largest number per side, of sample points on bars, cloths and outlines.
SAMPLE_SPACING_M = 0.04
MAX_POINTS = 400
# Shapes that are hollow or thin seen from above: only their surface occupies floor.
HOLLOW = (Tube, Arc, Curtain, HangingSheet, Extrude)

# Overlaps below this are rounding: a shape that only touches a square does not occupy it.
LAST_BITS_M = 1e-6

Mask = NDArray[np.bool_]


class LaidSet:
    """A set laid out in the world: ``pieces``, their ``boxes`` (N, 8, 3) and ``owners``.

    ``owners`` maps the ``whole`` of a piece to its object and copy, both as indices.
    """

    def __init__(self, scenery: Scenery) -> None:
        self.scenery = scenery
        self.pieces: list[PlacedShape] = []
        self.owners: dict[int, tuple[int, int]] = {}
        for number, pieces in enumerate(laid_objects(scenery)):
            wholes = dict.fromkeys(piece.whole for piece in pieces)
            self.owners |= {whole: (number, copy) for copy, whole in enumerate(wholes)}
            self.pieces += pieces
        self.boxes = turned_boxes(self.pieces)

    def between(self, low_m: float, high_m: float, reach: int) -> list[PlacedShape]:
        """Return the pieces that may reach into a range of heights within ``reach`` squares of the
        performer.
        """
        low, high = self.boxes.min(axis=1), self.boxes.max(axis=1)
        room = reach * CELL_M
        near = ((high[:, 2] > low_m) & (low[:, 2] < high_m)
                & (low[:, :2] < room).all(axis=1) & (high[:, :2] > -room).all(axis=1))
        return [self.pieces[place] for place in np.flatnonzero(near).tolist()]


@dataclass(frozen=True)
class PlacedThing:
    """One copy of an object, by object index and copy index.

    ``volume`` is that of the pieces near the performer, in cubic metres.
    """

    number: int
    copy: int
    volume: float


@dataclass(frozen=True, eq=False)
class FloorPlan:
    """The squares within ``reach`` of the performer.

    ``taken`` (M, 2) are the occupied squares and ``takers`` (M,) the index of the object in
    ``things`` that occupies each. ``walls`` and ``carried`` are masks (2 ``reach``, 2 ``reach``),
    Y first, of squares with a wall and with ground; ``carried`` is None if the ground is unknown.
    """

    reach: int
    things: tuple[PlacedThing, ...]
    taken: Cells
    takers: NDArray[np.intp]
    walls: Mask
    carried: Mask | None


def floor_plan(laid: LaidSet, top_m: float, reach: int) -> FloorPlan:
    """Return the floor plan of a set around its performer, from the ground up to ``top_m``.

    ``reach`` is in squares of ``CELL_M``.
    """
    things: list[PlacedThing] = []
    cells, takers = [np.zeros((0, 2), np.intp)], [np.zeros(0, np.intp)]
    for whole, pieces in _by_object(laid.between(GROUND_M, top_m, reach)).items():
        found = np.concatenate([_squares(piece, GROUND_M, top_m, reach) for piece in pieces])
        if len(found):
            takers.append(np.full(len(found), len(things)))
            cells.append(found)
            things.append(PlacedThing(*laid.owners[whole], round(sum(map(_volume, pieces)), 3)))
    return FloorPlan(reach, tuple(things), np.concatenate(cells), np.concatenate(takers),
                     _walls(laid.scenery, top_m, reach), _carried(laid, reach))


def _by_object(pieces: list[PlacedShape]) -> dict[int, list[PlacedShape]]:
    found: dict[int, list[PlacedShape]] = {}
    for piece in pieces:
        found.setdefault(piece.whole, []).append(piece)
    return found


def _volume(piece: PlacedShape) -> float:
    low, high = bounds_of(piece.shape)
    return float(np.prod(high - low) * abs(np.linalg.det(piece.matrix[:3, :3])))


def _squares(piece: PlacedShape, low_m: float, high_m: float, reach: int) -> Cells:
    if isinstance(piece.shape, HOLLOW):
        return _within_reach(_surface_squares(piece, low_m, high_m), reach)
    points = _slab(piece, low_m, high_m)
    return _hull_squares(points, _level_axes(piece), reach) if len(points) else \
        np.zeros((0, 2), np.intp)


def _within_reach(cells: Cells, reach: int) -> Cells:
    return np.asarray(cells[((cells >= -reach) & (cells < reach)).all(axis=1)])


def _slab(piece: PlacedShape, low_m: float, high_m: float) -> FloatArray:
    """Return points (N, 2) whose hull is a convex piece's outline between two heights."""
    mesh = mesh_of(piece.shape)
    points = in_world(mesh, piece.matrix)
    if low_m <= points[:, 2].min() and points[:, 2].max() <= high_m:
        return np.asarray(points[:, :2])
    edges = np.array([pair for face in mesh.faces
                      for pair in zip(face, (*face[1:], face[0]), strict=True)])
    start, end = points[edges[:, 0]], points[edges[:, 1]]
    kept = [points[(points[:, 2] >= low_m) & (points[:, 2] <= high_m), :2]]
    for height in (low_m, high_m):
        crosses = (start[:, 2] < height) != (end[:, 2] < height)
        first, last = start[crosses], end[crosses]
        share = (height - first[:, 2:]) / (last[:, 2:] - first[:, 2:])
        kept.append((first + share * (last - first))[:, :2])
    return np.concatenate(kept)


def _level_axes(piece: PlacedShape) -> FloatArray:
    """Return horizontal unit vectors (N, 2): normals of a piece's sides, and evenly spaced ones."""
    turn = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS
    around = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    sides = piece.matrix[:3, :3].T
    own = np.cross(np.roll(sides, -1, axis=0), np.roll(sides, -2, axis=0))[:, :2]
    own = own[np.linalg.norm(own, axis=1) > 1e-6]
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    return np.concatenate([around, own, -own])


def _hull_squares(points: FloatArray, axes: FloatArray, reach: int) -> Cells:
    """Return the squares (N, 2) that intersect the hull of points (M, 2), tested along axes (K, 2).
    """
    low, high = (np.clip(np.floor(edge / CELL_M), -reach, reach - 1).astype(np.intp)
                 for edge in (points.min(axis=0), points.max(axis=0)))
    cells = np.stack(np.meshgrid(*map(np.arange, low, high + 1)), axis=-1).reshape(-1, 2)
    furthest = product(points, axes.T).max(axis=0) + CELL_M / 2 * np.abs(axes).sum(axis=1)
    middles = product((cells + 0.5) * CELL_M, axes.T)
    return np.asarray(cells[(middles < furthest - LAST_BITS_M).all(axis=1)])


def _surface_squares(piece: PlacedShape, low_m: float, high_m: float) -> Cells:
    """Return the squares (N, 2) below the surface of a piece between two heights."""
    points = _on_surface(piece.shape) @ piece.matrix[:3, :3].T + piece.matrix[:3, 3]
    kept = points[(points[:, 2] >= low_m) & (points[:, 2] <= high_m), :2]
    return np.asarray(np.unique(np.floor((kept + LAST_BITS_M) / CELL_M).astype(np.intp), axis=0))


def _on_surface(shape: Solid) -> FloatArray:
    """Return sample points (N, 3) on a shape's faces; of faces with over four corners, none."""
    mesh = mesh_of(shape)
    corners = [mesh.vertices[list(face)] for face in mesh.faces if len(face) <= 4]
    quads = np.array([face if len(face) == 4 else [*face, face[-1]] for face in corners])
    across, along = (np.linalg.norm(quads[:, one] - quads[:, other], axis=1).max()
                     for one, other in ((1, 0), (3, 0)))
    counts = [min(int(np.ceil(size / SAMPLE_SPACING_M)), MAX_POINTS) for size in (across, along)]
    shares = [np.linspace(0, 1, count + 1)[:, None, None] for count in counts]
    near = quads[:, 0] + shares[0] * (quads[:, 1] - quads[:, 0])
    far = quads[:, 3] + shares[0] * (quads[:, 2] - quads[:, 3])
    return np.asarray((near + shares[1][:, None] * (far - near)).reshape(-1, 3))


def _walls(scenery: Scenery, top_m: float, reach: int) -> Mask:
    cells = [wall_squares(panel) for panel in wall_panels(scenery)
             if panel.corners[:, 2].max() > GROUND_M and panel.corners[:, 2].min() < top_m]
    return _mask(np.concatenate([np.zeros((0, 2), np.intp), *cells]), reach)


def wall_squares(panel: WallPanel) -> Cells:
    """Return the squares (N, 2) on which a wall stands."""
    start, end = panel.corners[0, :2], panel.corners[1, :2]
    steps = int(np.ceil(np.linalg.norm(end - start) / SAMPLE_SPACING_M)) + 1
    line = start + np.linspace(0, 1, steps)[:, None] * (end - start)
    return np.asarray(np.unique(np.floor((line + LAST_BITS_M) / CELL_M).astype(np.intp), axis=0))


def _mask(cells: Cells, reach: int) -> Mask:
    mask = np.zeros((2 * reach, 2 * reach), bool)
    inside = _within_reach(cells, reach) + reach
    mask[inside[:, 1], inside[:, 0]] = True
    return mask


def _carried(laid: LaidSet, reach: int) -> Mask | None:
    """Return the mask of squares with ground; None if there is none under the performer."""
    carried = np.zeros((2 * reach, 2 * reach), bool)
    for cells in _ground(laid, reach):
        carried |= _mask(cells, reach)
        if carried.all():
            break
    return carried if carried[reach - 1:reach + 1, reach - 1:reach + 1].all() else None


def _ground(laid: LaidSet, reach: int) -> Iterator[Cells]:
    """Yield the squares (N, 2) of floors, of objects as low as the ground, and of islands."""
    matrix = world_from_set(laid.scenery)
    for floor in laid.scenery.floors:
        if -SUNKEN_M <= floor.height <= GROUND_M:
            (x0, y0), (x1, y1) = floor.corners
            outline = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
            yield _inside(outline @ matrix[:2, :2].T + matrix[:2, 3], reach)
    for piece in laid.between(-SUNKEN_M, GROUND_M, reach):
        if isinstance(piece.shape, Island):
            coast = smooth_line(piece.shape.outline, 12, closed=True)
            yield _inside(coast @ piece.matrix[:2, :2].T + piece.matrix[:2, 3], reach)
        elif turned_boxes([piece])[..., 2].max() <= GROUND_M:
            yield _squares_below(piece, reach)


def _squares_below(piece: PlacedShape, reach: int) -> Cells:
    points = in_world(mesh_of(piece.shape), piece.matrix)[:, :2]
    if isinstance(piece.shape, Extrude):
        return _inside(points[:len(points) // 2], reach)
    return _hull_squares(points, _level_axes(piece), reach)


def _all_squares(reach: int) -> Cells:
    ways = np.arange(-reach, reach)
    return np.asarray(np.stack(np.meshgrid(ways, ways), axis=-1).reshape(-1, 2))


def _inside(outline: FloatArray, reach: int) -> Cells:
    """Return the squares (N, 2) whose centers are within an outline (M, 2), by the even-odd rule.
    """
    cells = _all_squares(reach)
    x, y = ((cells + 0.5) * CELL_M).T[..., None]
    start, end = outline, np.roll(outline, -1, axis=0)
    rise = end[:, 1] - start[:, 1]
    passed = (start[:, 1] > y) != (end[:, 1] > y)
    crossing = start[:, 0] + (y - start[:, 1]) / np.where(rise == 0, 1.0, rise) * (
        end[:, 0] - start[:, 0])
    return np.asarray(cells[(passed & (x < crossing)).sum(axis=1) % 2 == 1])
