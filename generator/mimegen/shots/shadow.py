"""The figure's soft shadow on the ground Z = 0, computed from posed geometry without ray tracing.

Dense points on the figure's surface are projected onto the ground along many directions, over
the sun's disc and over the sky. A cell of the ground misses the light of a direction if a point
lands in it; the mean over all directions is the missing fraction of light. Penumbrae that grow
with height and the darkening around feet follow from this.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.arrays import ByteArray
from mimegen.base.easing import smoothstep
from mimegen.base.grid import on_grid
from mimegen.base.vectors import direction_from, product
from mimegen.characters.character import Character, Mesh
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import Camera
from mimegen.shots.config import Light, WideSun
from mimegen.shots.skinning import SkinMatrix, skin_matrix

# Points within a voxel of this size, in cells, are merged before they are projected.
VOXEL_CELLS = 0.625
# The greatest height of such a voxel, in metres.
TALLEST_VOXEL_M = 0.2
# Points within a voxel of this size at rest, in cells, are merged for all poses.
SAME_CELLS = 0.1
SUN_DIRECTIONS = 32
SKY_DIRECTIONS = 96
# Directions to lamps. The sine of their elevation is at least LOWEST_LAMP; their weights, 0 to 1,
# are stored in steps of 1 / WEIGHTS.
LAMP_DIRECTIONS = 64
LOWEST_LAMP = 0.05
WEIGHTS = 255
# Light from lower in the sky is left out: its shadows are long and too faint to be seen.
LOWEST_SKY_DEG = 12.0
# Standard deviations of the blur of the sun's and of the sky's shadow.
SUN_BLUR_CELLS = 0.5
SKY_BLUR_M = 0.06
# The sky's shadow is soft, so its cells need to be no finer than this, and they are always at least
# FEWER times as wide as the sun's.
SKY_CELL_M = 0.02
FEWER = 2
# Samples of the ground per pixel, across and down; more down, as the ground is seen at an angle.
SAMPLES = (4, 6)
# Full width of the pixel filter. Measured: Cycles' filter width of 1.5 is its radius.
FILTER_PIXELS = 3.0
# How far beyond the sun's shadow the sky's is drawn, and how far from the figure's centre the
# shadow may reach.
SURROUNDINGS_M = 0.7
MAX_DISTANCE_M = 8.0
# The smallest visible step of a shadow.
FAINTEST = 1.0 / 255.0
# Directions processed at a time; more would not fit in the processor's cache.
TOGETHER = 16
# Filters' weights are rounded to multiples of this, to be equal on all machines.
WEIGHT = 2.0**-30


class Directions(NamedTuple):
    """Directions ``towards`` (N, 3) light, and their integer ``weights`` (N,)."""

    towards: FloatArray
    weights: NDArray[np.uint16]


class ShadowSun(NamedTuple):
    """A sun, or lamps: their ``share`` of the irradiance on open ground, 0 to 1, and directions."""

    share: float
    directions: Directions

    @property
    def towards(self) -> FloatArray:
        """The directions (N, 3) that its light comes from."""
        return self.directions.towards


@dataclass(frozen=True, eq=False)
class GroundShadow:
    """The fraction of the ground's light that is missing: ``missing`` (ny, nx), 0 to 1.

    The centre of cell (0, 0) is at X Y ``corner``, in metres; cells are ``cell_m`` wide.
    """

    missing: NDArray[np.float32]
    corner: tuple[float, float]
    cell_m: float


def surface_matrix(character: Character, cell_m: float) -> SkinMatrix:
    """Return the skin matrix (P, 4 J) of points that cover the figure's surface without gaps.

    In the rest pose, neighbouring points are at most about three quarters of a cell apart.
    """
    joints = len(character.skeleton.names)
    parts = [_voxel_matrix(_barycentric_points(mesh, cell_m), mesh, SAME_CELLS * cell_m)
             @ skin_matrix(mesh, joints) for mesh in character.meshes]
    return scipy.sparse.csr_matrix(scipy.sparse.vstack(parts, format="csr"), dtype=np.float32)


def _voxel_matrix(points: SkinMatrix, mesh: Mesh, voxel_m: float) -> SkinMatrix:
    """Return one row of a matrix (P, V) for each voxel that its points lie in at rest."""
    voxels = np.floor(points @ mesh.vertices / voxel_m).astype(np.int64)
    voxels -= voxels.min(axis=0)
    wide, high = (voxels[:, 1:].max(axis=0) + 1).tolist()
    _, first = np.unique((voxels[:, 0] * wide + voxels[:, 1]) * high + voxels[:, 2],
                         return_index=True)
    return points[np.sort(first)]


def _barycentric_points(mesh: Mesh, cell_m: float) -> SkinMatrix:
    """Return the matrix (P, V) from a mesh's vertices to these and to points on its triangles."""
    quads = mesh.faces[mesh.faces[:, 3] >= 0]
    triangles = np.concatenate([mesh.faces[:, :3], quads[:, [0, 2, 3]]])
    corners = mesh.vertices[triangles]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max(axis=1)
    parts = np.ceil(edges / (0.75 * cell_m)).astype(int)
    count = len(mesh.vertices)
    matrices = [scipy.sparse.identity(count, dtype=np.float32, format="csr")]
    for number in np.unique(parts[parts > 1]):
        inside = _lattice(int(number))
        chosen = triangles[parts == number]
        columns = np.repeat(chosen, len(inside), axis=0)
        values = np.tile(inside, (len(chosen), 1))
        rows = np.repeat(np.arange(len(columns)), 3)
        matrices.append(scipy.sparse.csr_matrix(
            (values.ravel().astype(np.float32), (rows, columns.ravel())),
            shape=(len(columns), count),
        ))
    return scipy.sparse.vstack(matrices, format="csr")


def _lattice(parts: int) -> FloatArray:
    """Return barycentric coordinates (N, 3) of a lattice on a triangle, without its corners.

    Each edge is divided into ``parts``.
    """
    first, second = np.meshgrid(np.arange(parts + 1), np.arange(parts + 1))
    third = parts - first - second
    lattice = np.stack([first, second, third], axis=-1)[third >= 0]
    return np.asarray(lattice[lattice.max(axis=1) < parts] / parts)


def ground_shadow(points: NDArray[np.float32], light: Light, cell_m: float) -> GroundShadow:
    """Return the shadow of surface points (P, 3) in metres under ``light``, at full strength."""
    many = max(FEWER, round(SKY_CELL_M / cell_m))
    # Axis by axis: numpy is slow over the short side of (N, 3).
    axes = np.ascontiguousarray(points.T)
    coarse = _thinned(axes, 3 * (VOXEL_CELLS * many * cell_m,))
    suns = suns_of(light)
    corner, shape = _grid(coarse, np.concatenate([sun.towards for sun in suns]), many * cell_m)
    sky = _mean_cover(coarse, _equally_weighted(sky_directions()), corner, many * cell_m, shape)
    from_sky = _blurred(sky, SKY_BLUR_M / (many * cell_m))
    faded = from_sky * _faded_rim(shape, many * cell_m)
    missing = (1.0 - sun_share(light)) * _finer(faded, many)
    for sun in suns:
        cover = _mean_cover(axes, sun.directions, corner, cell_m, shape, many)
        missing = sun.share * _blurred(cover, SUN_BLUR_CELLS) + missing
    return GroundShadow(missing, (corner[0] + cell_m / 2, corner[1] + cell_m / 2), cell_m)


def _blurred(layer: NDArray[np.float32], sigma: float) -> NDArray[np.float32]:
    """Return a layer blurred by a Gaussian, with equal results on every machine.

    The same as ``scipy.ndimage.gaussian_filter``, except that weights are rounded, because
    exponentials differ in their last bits between CPUs.
    """
    reach = int(4 * sigma + 0.5)
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights = on_grid(bell / bell.sum(), WEIGHT)
    for axis in (0, 1):
        layer = scipy.ndimage.correlate1d(layer, weights, axis)
    return layer


def _faded_rim(shape: tuple[int, int], cell_m: float) -> NDArray[np.float32]:
    """Return weights (ny, nx) that fall smoothly from 1 to 0 at the grid's rim."""
    along_y, along_x = (
        np.minimum(np.arange(size), np.arange(size)[::-1]) * cell_m / SURROUNDINGS_M
        for size in shape
    )
    ramps = np.asarray(np.clip(along_y, 0, 1)[:, None] * np.clip(along_x, 0, 1), float)
    return np.asarray(smoothstep(ramps), np.float32)


def _thinned(axes: Iterable[NDArray[np.float32]], voxel: tuple[float, ...]
             ) -> NDArray[np.float32]:
    """Return the centres (3, N) of the voxels that contain points (3, P).

    ``voxel`` is a voxel's size along each axis; voxels are aligned to the origin.
    """
    voxels = [np.floor(axis / np.float32(size)).astype(np.intp)
              for axis, size in zip(axes, voxel, strict=True)]
    first = [int(axis.min()) for axis in voxels]
    shape = tuple(int(axis.max()) - low + 1 for axis, low in zip(voxels, first, strict=True))
    numbers = voxels[0] - first[0]
    for axis, low, size in zip(voxels[1:], first[1:], shape[1:], strict=True):
        numbers = numbers * size + (axis - low)
    taken = np.zeros(np.prod(shape), np.bool_)
    taken[numbers] = True
    cells = np.unravel_index(np.flatnonzero(taken), shape)
    centres = [((axis + low + 0.5) * size).astype(np.float32)
               for axis, low, size in zip(cells, first, voxel, strict=True)]
    return np.stack(centres)


def sun_share(light: Light) -> float:
    """Return the fraction of the irradiance on open ground that comes from suns.

    A sky of radiance L gives an irradiance of pi L.
    """
    return sum(sun.share for sun in suns_of(light))


def suns_of(light: Light) -> list[ShadowSun]:
    """Return the sun, and lamps if there are any."""
    lamps = [] if light.lamps is None else [light.lamps]
    suns = [WideSun(strength=light.sun_strength, from_deg=light.sun_from_deg,
                    size_deg=light.sun_size_deg, color=light.sun_color), *lamps]
    flows = [sun.strength * float(np.mean(sun.color)) * float(np.sin(np.radians(sun.from_deg[1])))
             for sun in suns]
    sky = np.pi * light.sky_strength * float(np.mean(light.sky_color))
    directions = [_equally_weighted(sun_directions(light)),
                  *(_cosine_weighted(cone(lamp)) for lamp in lamps)]
    return [ShadowSun(float(flow / max(sum(flows) + sky, 1e-9)), ways)
            for flow, ways in zip(flows, directions, strict=True)]


def cone(sun: WideSun) -> FloatArray:
    """Return unit vectors (N, 3) spread evenly over the solid angle of a wide sun, as in Cycles."""
    number = np.arange(LAMP_DIRECTIONS) + 0.5
    along = 1 - number / LAMP_DIRECTIONS * (1 - np.cos(np.radians(sun.size_deg) / 2))
    turn = number * np.pi * (3.0 - 5**0.5)
    towards, side, up = _axes(sun.from_deg)
    aside = np.sqrt(1 - along**2)[:, None] * (
        np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * up)
    return np.asarray(along[:, None] * towards + aside)


def _axes(from_deg: tuple[float, float]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the direction (3,) to a sun, and two perpendicular to it: sideways and up."""
    azimuth = np.radians(from_deg[0])
    towards = direction_from(*from_deg)
    side = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    return towards, side, np.cross(towards, side)


def _equally_weighted(towards: FloatArray) -> Directions:
    return Directions(towards, np.ones(len(towards), np.uint16))


def _cosine_weighted(towards: FloatArray) -> Directions:
    """Return directions weighted by the cosine of their light's angle to the ground's normal."""
    caught = np.maximum(towards[:, 2], LOWEST_LAMP)
    raised = np.column_stack([towards[:, :2], caught])
    return Directions(on_grid(raised), np.round(WEIGHTS * caught).astype(np.uint16))


def sun_directions(light: Light) -> FloatArray:
    """Return directions (N, 3) to points spread evenly over the sun's disc."""
    return disc(light.sun_from_deg, light.sun_size_deg)


def disc(from_deg: tuple[float, float], size_deg: float) -> FloatArray:
    """Return directions (N, 3) to points spread evenly over a disc in the sky (Vogel 1979)."""
    number = np.arange(SUN_DIRECTIONS) + 0.5
    radius = np.tan(np.radians(size_deg) / 2) * np.sqrt(number / SUN_DIRECTIONS)
    turn = number * np.pi * (3.0 - 5**0.5)
    towards, side, up = _axes(from_deg)
    spread = radius[:, None] * (np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * up)
    directions = towards + spread
    directions[:, 2] = np.maximum(directions[:, 2], np.sin(np.radians(3.0)))
    return on_grid(directions)


def sky_directions() -> FloatArray:
    """Return directions (M, 3) over the upper hemisphere, with a density of the cosine to Z.

    Directions lower than LOWEST_SKY_DEG are left out.
    """
    number = np.arange(SKY_DIRECTIONS) + 0.5
    highest = np.cos(np.radians(LOWEST_SKY_DEG)) ** 2
    flat_squared = highest * number / SKY_DIRECTIONS
    turn = number * np.pi * (3.0 - 5**0.5)
    flat = np.sqrt(flat_squared)
    return on_grid(np.stack([flat * np.cos(turn), flat * np.sin(turn), np.sqrt(1 - flat_squared)],
                            axis=-1))


def _grid(axes: NDArray[np.float32], sun: FloatArray,
          cell_m: float) -> tuple[tuple[float, float], tuple[int, int]]:
    """Return corner and shape of the ground's grid, aligned to whole cells to avoid flicker."""
    heights = np.maximum(axes[2], 0.0)
    bounds = []
    for axis, along in enumerate(axes[:2]):
        low, high = float(along.min()), float(along.max())
        middle = (low + high) / 2
        for direction in sun:
            landed = along - heights * np.float32(direction[axis] / direction[2])
            low, high = min(low, float(landed.min())), max(high, float(landed.max()))
        low = max(low - SURROUNDINGS_M, middle - MAX_DISTANCE_M)
        high = min(high + SURROUNDINGS_M, middle + MAX_DISTANCE_M)
        bounds.append((int(np.floor(low / cell_m)), int(np.ceil(high / cell_m))))
    (left, right), (front, back) = bounds
    return (left * cell_m, front * cell_m), (back - front + 1, right - left + 1)


def _mean_cover(axes: NDArray[np.float32], directions: Directions, corner: tuple[float, float],
                cell_m: float, shape: tuple[int, int], finer: int = 1) -> NDArray[np.float32]:
    """Return the fraction of light blocked by points (3, P), at the corners between cells.

    ``shape`` counts cells that are ``finer`` times as wide. A point covers its whole cell, which
    widens shapes by half a cell on each side. To undo this, a corner counts as covered only if all
    four cells around it are.
    """
    rows, columns = shape[0] * finer, shape[1] * finer
    towards, weights = directions
    shifts = (towards[:, :2] / towards[:, 2:]).astype(np.float32)
    middle = shifts.mean(axis=0)
    x, y, heights = _landed(axes, middle, np.abs(shifts - middle).max(), cell_m)
    x, y = (x - np.float32(corner[0] / cell_m - 0.5), y - np.float32(corner[1] / cell_m - 0.5))
    total = np.zeros(rows * columns, np.float32)
    parts = -(-len(shifts) // TOGETHER)
    for some, weighed in zip(np.array_split(shifts - middle, parts),
                             np.array_split(weights, parts), strict=True):
        covered = _covered(x, y, heights, some, (rows, columns))
        all_four = (covered[:, :-columns - 1] & covered[:, 1:-columns]
                    & covered[:, columns:-1] & covered[:, columns + 1:])
        if (weighed == 1).all():
            total[:-columns - 1] += np.add.reduce(all_four.view(np.uint8), 0, np.uint8)
        else:
            total[:-columns - 1] += (all_four * weighed[:, None]).sum(axis=0, dtype=np.uint16)
    return total.reshape(rows, columns) / np.float32(weights.sum())


def _covered(x: NDArray[np.float32], y: NDArray[np.float32], heights: NDArray[np.float32],
             shifts: NDArray[np.float32], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return the cells (S, rows * columns) that points land in, for each of the shifts (S, 2).

    Points are given in cells; a shift is the horizontal displacement per unit of height.
    """
    rows, columns = shape
    column = (x - heights * shifts[:, :1]).astype(np.int32)
    row = (y - heights * shifts[:, 1:]).astype(np.int32)
    cell = row * columns + column + rows * columns * np.arange(len(shifts), dtype=np.int32)[:, None]
    # Negative indices become large as unsigned integers, so one comparison tests both ends.
    inside = (column.view(np.uint32) < columns) & (row.view(np.uint32) < rows)
    covered = np.zeros((len(shifts), rows * columns), np.bool_)
    covered.reshape(-1)[cell[inside]] = True
    return covered


def _landed(axes: NDArray[np.float32], shift: NDArray[np.float32], spread: float,
            cell_m: float) -> NDArray[np.float32]:
    """Return x and y of points (3, P) projected onto the ground along ``shift``, and their heights.

    The result (3, N) is in cells. Points that land together for all shifts within ``spread`` of
    ``shift`` are merged.
    """
    heights = np.maximum(axes[2], 0.0)
    landed = [*(along - heights * by for along, by in zip(axes, shift, strict=False)), heights]
    wide = VOXEL_CELLS * cell_m
    tall = min(max(wide, wide / max(spread, 1e-6)), TALLEST_VOXEL_M)
    return _thinned(landed, (wide, wide, tall)) / np.float32(cell_m)


def _finer(layer: NDArray[np.float32], times: int) -> NDArray[np.float32]:
    """Return a layer resampled to ``times`` as many cells along both sides, bilinearly."""
    along_y, along_x = ((np.arange(size * times) + 0.5) / times - 0.5 for size in layer.shape)
    places = np.meshgrid(along_y, along_x, indexing="ij")
    return np.asarray(scipy.ndimage.map_coordinates(layer, places, order=1, mode="nearest"))


def seen_shadow(shadow: GroundShadow, camera: Camera, strength: float,
                samples: tuple[int, int] = SAMPLES) -> tuple[ByteArray, tuple[int, int]]:
    """Return the shadow a camera sees, cropped (h, w), 0 to 255, and its upper left pixel.

    ``strength`` scales it: 0 is no shadow, 1 is as dark as computed. ``samples`` is the number of
    samples of the ground per pixel, across and down.
    """
    left, top, right, bottom = seen_bounds(shadow, camera, strength)
    weights, offsets = pixel_filter(samples)
    seen = np.zeros((bottom - top, right - left), np.float32)
    columns = np.arange(left, right, dtype=np.float32) + np.float32(0.5)
    rows = np.arange(top, bottom, dtype=np.float32)[:, None] + np.float32(0.5)
    homography = to_cells(shadow, camera)
    for weight, (aside, below) in zip(weights, offsets, strict=True):
        column, row, depth = (a * (columns + aside) + b * (rows + below) + c
                              for a, b, c in homography)
        ahead = depth > 1e-6
        depth = np.where(ahead, depth, 1.0)
        places = np.where(ahead, [row / depth, column / depth], -10.0)
        seen += weight * scipy.ndimage.map_coordinates(shadow.missing, places, order=1,
                                                       mode="constant")
    return np.round(np.clip(seen * strength, 0, 1) * 255).astype(np.uint8), (left, top)


def mean_shadow(seen: Sequence[tuple[ByteArray, tuple[int, int]]], size: tuple[int, int]
                ) -> tuple[ByteArray, tuple[int, int]]:
    """Return the mean of shadows in a picture of ``size`` (width, height), cropped.

    Each shadow, and the result, is an array and its upper left pixel. A single one is returned
    unchanged.
    """
    if len(seen) == 1:
        return seen[0]
    whole = np.zeros((size[1], size[0]), np.uint16)
    for shadow, (left, top) in seen:
        whole[top:top + shadow.shape[0], left:left + shadow.shape[1]] += shadow
    rows, columns = (np.flatnonzero(whole.any(axis=axis)) for axis in (1, 0))
    if len(rows) == 0:
        return np.zeros((0, 0), np.uint8), (0, 0)
    left, top = int(columns[0]), int(rows[0])
    part = whole[top:rows[-1] + 1, left:columns[-1] + 1]
    return ((part + len(seen) // 2) // len(seen)).astype(np.uint8), (left, top)


def pixel_filter(samples: tuple[int, int]
                 ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return weights (N,) and offsets x y (N, 2), in pixels, of the samples for one pixel.

    They follow Cycles' pixel filter, a Blackman-Harris window (Harris 1978), as figures do.
    """
    across, down = ((np.arange(count) + 0.5) / count - 0.5 for count in samples)
    x, y = (grid.ravel() for grid in np.meshgrid(across, down))
    weights = _blackman_harris(x) * _blackman_harris(y)
    return (np.asarray(on_grid(weights / weights.sum(), WEIGHT), np.float32),
            (FILTER_PIXELS * np.stack([x, y], axis=-1)).astype(np.float32))


def _blackman_harris(place: FloatArray) -> FloatArray:
    turns = 2.0 * np.pi * (place[:, None] + 0.5) * np.arange(4)
    return product(np.cos(turns), [0.35875, -0.48829, 0.14128, -0.01168])


def to_cells(shadow: GroundShadow, camera: Camera) -> NDArray[np.float32]:
    """Return the homography (3, 3) from pixels (x, y, 1) to cells of the ground (column, row, 1).

    Its third component is negative for pixels above the horizon.
    """
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    rays = camera.rays(corners)
    to_rays = np.stack([rays[1] - rays[0], rays[2] - rays[0], rays[0]], axis=1)
    x, y, height = camera.position
    to_ground = np.array([
        [height, 0.0, shadow.corner[0] - x], [0.0, height, shadow.corner[1] - y],
        [0.0, 0.0, -shadow.cell_m],
    ])
    return np.asarray(product(to_ground, to_rays), np.float32)


def seen_bounds(shadow: GroundShadow, camera: Camera,
                strength: float) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom pixels (ends exclusive) of the visible shadow."""
    dark = shadow.missing * strength > FAINTEST / 2
    rows = np.flatnonzero(dark.any(axis=1))
    if len(rows) == 0:
        return 0, 0, 0, 0
    # The ends of each row bound the shadow, unless some of it is behind the camera.
    ends = [dark[rows].argmax(axis=1), dark.shape[1] - 1 - dark[rows, ::-1].argmax(axis=1)]
    seen = _projected(shadow, camera, np.tile(rows, 2), np.concatenate(ends))
    if (seen[:, 2] <= 0.1).any():
        seen = _projected(shadow, camera, *np.nonzero(dark))
        seen = seen[seen[:, 2] > 0.1]
    if len(seen) == 0:
        return 0, 0, 0, 0
    size = np.array([camera.width, camera.height])
    low = np.clip(np.floor(seen[:, :2].min(axis=0)) - 2, 0, size).astype(int)
    high = np.clip(np.ceil(seen[:, :2].max(axis=0)) + 2, 0, size).astype(int)
    if (high <= low).any():
        return 0, 0, 0, 0
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _projected(shadow: GroundShadow, camera: Camera, rows: NDArray[np.intp],
               columns: NDArray[np.intp]) -> FloatArray:
    flat = np.stack([columns, rows, np.zeros_like(rows)], axis=-1) * shadow.cell_m
    return camera.project(flat + np.array([*shadow.corner, 0.0]))
