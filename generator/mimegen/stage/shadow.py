"""The figure's soft shadow on the ground Z = 0, from posed geometry instead of traced light.

Dense points on the figure's surface are projected onto the ground along many directions, over
the sun's disc and over the sky. A cell of the ground misses the light of a direction when a point
lands in it; the mean over all directions is the share of light that is missing. Penumbrae that
grow with height and the darkening around feet follow from that by themselves.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse

from mimegen.characters.character import Character, Mesh
from mimegen.motion.quaternions import FloatArray
from mimegen.stage.camera import Camera
from mimegen.stage.config import Light
from mimegen.stage.frames import ByteArray
from mimegen.stage.skinning import SkinMatrix, skin_matrix

# Points closer together than this share of a cell count once.
VOXEL_CELLS = 0.625
SUN_DIRECTIONS = 32
SKY_DIRECTIONS = 96
# Light from lower in the sky is left out: its shadows are long and too faint to be seen.
LOWEST_SKY_DEG = 12.0
SUN_BLUR_CELLS = 0.8
SKY_BLUR_M = 0.06
# Ground far from the camera is seen at a glance: samples of it down one pixel.
SAMPLES_DOWN = 4
# Ground around the sun's shadow on which the sky's is still drawn, and how far both may reach.
SURROUNDINGS_M = 0.7
FARTHEST_M = 8.0
FAINTEST = 1.0 / 255.0


@dataclass(frozen=True, eq=False)
class GroundShadow:
    """The share of the ground's light that is missing: ``missing`` (ny, nx), 0 to 1.

    The centre of cell (0, 0) lies at X Y ``corner`` metres; cells are ``cell_m`` wide.
    """

    missing: NDArray[np.float32]
    corner: tuple[float, float]
    cell_m: float


def surface_matrix(character: Character, cell_m: float) -> SkinMatrix:
    """Return the skin matrix (P, 4 J) of points that cover the figure densely enough for cells.

    No two neighbouring points are farther apart than about three quarters of a cell at rest.
    """
    joints = len(character.skeleton.names)
    parts = [
        _barycentric_points(mesh, cell_m) @ skin_matrix(mesh, joints) for mesh in character.meshes
    ]
    return sparse.csr_matrix(sparse.vstack(parts, format="csr"), dtype=np.float32)


def _barycentric_points(mesh: Mesh, cell_m: float) -> SkinMatrix:
    """Return the matrix (P, V) of a mesh's vertices and of further points inside its triangles."""
    quads = mesh.faces[mesh.faces[:, 3] >= 0]
    triangles = np.concatenate([mesh.faces[:, :3], quads[:, [0, 2, 3]]])
    corners = mesh.vertices[triangles]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max(axis=1)
    parts = np.ceil(edges / (0.75 * cell_m)).astype(int)
    count = len(mesh.vertices)
    matrices = [sparse.identity(count, dtype=np.float32, format="csr")]
    for number in np.unique(parts[parts > 1]):
        inside = _lattice(int(number))
        chosen = triangles[parts == number]
        columns = np.repeat(chosen, len(inside), axis=0)
        values = np.tile(inside, (len(chosen), 1))
        rows = np.repeat(np.arange(len(columns)), 3)
        matrices.append(sparse.csr_matrix(
            (values.ravel().astype(np.float32), (rows, columns.ravel())),
            shape=(len(columns), count),
        ))
    return sparse.vstack(matrices, format="csr")


def _lattice(parts: int) -> FloatArray:
    """Return barycentric coordinates (N, 3) of a triangle's lattice without its corners."""
    first, second = np.meshgrid(np.arange(parts + 1), np.arange(parts + 1))
    third = parts - first - second
    lattice = np.stack([first, second, third], axis=-1)[third >= 0]
    return np.asarray(lattice[lattice.max(axis=1) < parts] / parts)


def ground_shadow(points: NDArray[np.float32], light: Light, cell_m: float) -> GroundShadow:
    """Return the shadow of surface points (P, 3) in metres under ``light``, at full strength."""
    sun = sun_directions(light)
    sky = sky_directions()
    points = _thinned(points, VOXEL_CELLS * cell_m)
    heights = np.maximum(points[:, 2], 0.0)
    corner, shape = _grid(points[:, :2], heights, sun, cell_m)
    cells = (points[:, :2] - np.array(corner, np.float32)) / np.float32(cell_m) + np.float32(0.5)
    heights = heights / np.float32(cell_m)
    from_sun = ndimage.gaussian_filter(_mean_cover(cells, heights, sun, shape), SUN_BLUR_CELLS)
    from_sky = ndimage.gaussian_filter(_mean_cover(cells, heights, sky, shape),
                                       SKY_BLUR_M / cell_m)
    sun_share = _sun_share(light)
    faded = _faded_rim(shape, cell_m)
    missing = sun_share * from_sun + (1.0 - sun_share) * from_sky * faded
    middle = (corner[0] + cell_m / 2, corner[1] + cell_m / 2)
    return GroundShadow(missing, middle, cell_m)


def _faded_rim(shape: tuple[int, int], cell_m: float) -> NDArray[np.float32]:
    """Return weights (ny, nx) that fall smoothly from 1 to 0 at the grid's rim."""
    along_y, along_x = (
        np.minimum(np.arange(size), np.arange(size)[::-1]) * cell_m / SURROUNDINGS_M
        for size in shape
    )
    ramps = np.clip(along_y, 0, 1)[:, None] * np.clip(along_x, 0, 1)
    return np.asarray(ramps * ramps * (3.0 - 2.0 * ramps), np.float32)


def _thinned(points: NDArray[np.float32], voxel_m: float) -> NDArray[np.float32]:
    """Return the centres of the voxels, aligned to the world, in which points lie."""
    voxels = np.floor(points / np.float32(voxel_m)).astype(np.int64)
    first = voxels.min(axis=0)
    shape = tuple(voxels.max(axis=0) - first + 1)
    taken = np.zeros(shape, np.bool_)
    taken[tuple((voxels - first).T)] = True
    centres = np.stack(np.nonzero(taken), axis=-1) + first + 0.5
    return np.asarray(centres * voxel_m, np.float32)


def _sun_share(light: Light) -> float:
    """Return the sun's share of the irradiance on open ground; a sky of radiance L gives pi L."""
    sun = light.sun_strength * np.sin(np.radians(light.sun_from_deg[1]))
    sky = np.pi * light.sky_strength * float(np.mean(light.sky_color))
    return float(sun / max(sun + sky, 1e-9))


def sun_directions(light: Light) -> FloatArray:
    """Return directions (N, 3) to points spread evenly over the sun's disc (Vogel 1979)."""
    azimuth, elevation = np.radians(light.sun_from_deg)
    number = np.arange(SUN_DIRECTIONS) + 0.5
    radius = np.tan(np.radians(light.sun_size_deg) / 2) * np.sqrt(number / SUN_DIRECTIONS)
    turn = number * np.pi * (3.0 - 5**0.5)
    towards = np.array([
        np.sin(azimuth) * np.cos(elevation), -np.cos(azimuth) * np.cos(elevation),
        np.sin(elevation),
    ])
    side = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    up = np.cross(towards, side)
    spread = radius[:, None] * (np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * up)
    directions = towards + spread
    directions[:, 2] = np.maximum(directions[:, 2], np.sin(np.radians(3.0)))
    return np.asarray(directions)


def sky_directions() -> FloatArray:
    """Return directions (M, 3) spread over the upper hemisphere with density as their cosine."""
    number = np.arange(SKY_DIRECTIONS) + 0.5
    highest = np.cos(np.radians(LOWEST_SKY_DEG)) ** 2
    flat_squared = highest * number / SKY_DIRECTIONS
    turn = number * np.pi * (3.0 - 5**0.5)
    flat = np.sqrt(flat_squared)
    return np.stack([flat * np.cos(turn), flat * np.sin(turn), np.sqrt(1 - flat_squared)], axis=-1)


def _grid(places: NDArray[np.float32], heights: NDArray[np.float32],
          sun: FloatArray, cell_m: float) -> tuple[tuple[float, float], tuple[int, int]]:
    """Return corner and shape of the ground grid, aligned to whole cells so nothing flickers."""
    bounds = []
    for axis in range(2):
        along = np.ascontiguousarray(places[:, axis])
        low, high = along.min(), along.max()
        middle = (low + high) / 2
        for direction in sun:
            landed = along - heights * np.float32(direction[axis] / direction[2])
            low, high = min(low, landed.min()), max(high, landed.max())
        low = max(low - SURROUNDINGS_M, middle - FARTHEST_M)
        high = min(high + SURROUNDINGS_M, middle + FARTHEST_M)
        bounds.append((int(np.floor(low / cell_m)), int(np.ceil(high / cell_m))))
    (left, right), (front, back) = bounds
    return (left * cell_m, front * cell_m), (back - front + 1, right - left + 1)


def _mean_cover(cells: NDArray[np.float32], heights: NDArray[np.float32], directions: FloatArray,
                shape: tuple[int, int]) -> NDArray[np.float32]:
    """Return for every corner between four cells the share of directions that cover it.

    A point covers its whole cell, which widens shapes by half a cell; a corner counts as covered
    where all four cells about it are, which takes that back.
    """
    rows, columns = shape
    x, y = np.ascontiguousarray(cells.T)
    total = np.zeros(rows * columns, np.float32)
    for direction in directions:
        x_shift, y_shift = (direction[:2] / direction[2]).astype(np.float32)
        column = (x - heights * x_shift).astype(np.int32)
        row = (y - heights * y_shift).astype(np.int32)
        inside = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
        covered = np.zeros(rows * columns, np.bool_)
        covered[(row * columns + column)[inside]] = True
        total[:-columns - 1] += (covered[:-columns - 1] & covered[1:-columns]
                                 & covered[columns:-1] & covered[columns + 1:])
    return total.reshape(shape) / np.float32(len(directions))


def seen_shadow(shadow: GroundShadow, camera: Camera,
                strength: float) -> tuple[ByteArray, tuple[int, int]]:
    """Return the shadow as a camera sees it, cropped: (h, w) of 0 to 255, and its left upper pixel.

    ``strength`` scales it: 0 none, 1 as dark as geometry and light make it.
    """
    left, top, right, bottom = _seen_bounds(shadow, camera, strength)
    across = np.arange(left, right, dtype=np.float32) + np.float32(0.5)
    rows = (bottom - top) * SAMPLES_DOWN
    down = top + (np.arange(rows, dtype=np.float32)[:, None] + np.float32(0.5)) / SAMPLES_DOWN
    column, row, below = (a * across + b * down + c for a, b, c in _to_cells(shadow, camera))
    ahead = below > 1e-6
    below = np.where(ahead, below, 1.0)
    places = np.where(ahead, [row / below, column / below], -10.0)
    samples = ndimage.map_coordinates(shadow.missing, places, order=1, mode="constant")
    seen = samples.reshape(bottom - top, SAMPLES_DOWN, right - left).mean(axis=1)
    return np.round(np.clip(seen * strength, 0, 1) * 255).astype(np.uint8), (left, top)


def _to_cells(shadow: GroundShadow, camera: Camera) -> NDArray[np.float32]:
    """Return the homography (3, 3) from pixels x y 1 to ground cells, column row 1.

    Its third output is negative for pixels above the horizon.
    """
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    rays = camera.rays(corners)
    to_rays = np.stack([rays[1] - rays[0], rays[2] - rays[0], rays[0]], axis=1)
    x, y, height = camera.position
    to_ground = np.array([
        [height, 0.0, shadow.corner[0] - x], [0.0, height, shadow.corner[1] - y],
        [0.0, 0.0, -shadow.cell_m],
    ])
    return np.asarray(to_ground @ to_rays, np.float32)


def _seen_bounds(shadow: GroundShadow, camera: Camera,
                 strength: float) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom pixels (ends exclusive) of what can be seen of it."""
    rows, columns = np.nonzero(shadow.missing * strength > FAINTEST / 2)
    if len(rows) == 0:
        return 0, 0, 0, 0
    flat = np.stack([columns, rows, np.zeros_like(rows)], axis=-1) * shadow.cell_m
    seen = camera.project(flat + np.array([*shadow.corner, 0.0]))
    seen = seen[seen[:, 2] > 0.1]
    if len(seen) == 0:
        return 0, 0, 0, 0
    size = np.array([camera.width, camera.height])
    low = np.clip(np.floor(seen[:, :2].min(axis=0)) - 2, 0, size).astype(int)
    high = np.clip(np.ceil(seen[:, :2].max(axis=0)) + 2, 0, size).astype(int)
    if (high <= low).any():
        return 0, 0, 0, 0
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])
