"""A set's own light: its sun, sky and lamps, and the precomputed light they give.

Light is computed in the set's own coordinates, because most walls and objects are parallel to
their axes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.easing import ramp
from mimegen.base.vectors import direction_from, unit
from mimegen.characters.colors import to_linear
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.bounce import (
    MAX_DIRECT_LAMPS,
    SetLight,
    Spread,
    Volume,
    even_directions,
    spread_light,
)
from mimegen.rendering.opengl.clouds import COLOR as CLOUD
from mimegen.rendering.opengl.clouds import cloud_shares
from mimegen.rendering.opengl.glowing import glowing_parts, screens
from mimegen.rendering.opengl.light_choice import nearby, rays_to_sky
from mimegen.rendering.opengl.voxels import ColoredTriangles, Grid, Voxels, matter_of
from mimegen.scenery.job import SetJob
from mimegen.scenery.layout import wall_panels, world_from_set
from mimegen.scenery.light import Lamp
from mimegen.scenery.materials import SetMaterial
from mimegen.scenery.scenery import Scenery


@dataclass(frozen=True)
class LightResolution:
    """How finely a set's light is computed. Lengths are in metres.

    Chosen so that a set costs one to five seconds of a core; ``benchmarks/draft.py sets`` measures
    the areas that then agree with Cycles (``docs/research/draft.md``).
    """

    # Larger lamps are divided into parts of this size, but into no more than ``most_lamp_parts``.
    # ``hidden_part_m`` is the finer size for computing what blocks lamps.
    lamp_part_m: float = 1.5
    hidden_part_m: float = 0.7
    most_lamp_parts: int = 64
    # Outdoors, light is computed this far around the performer and this high; indoors, up to the
    # walls.
    outdoors_m: float = 24.0
    outdoors_height_m: float = 10.0
    # Cells of matter that block light: their approximate number, and the smallest side of a cell.
    cells: int = 250_000
    least_cell_m: float = 0.12
    # The same for the finer cells through which each pixel traces rays to lamps.
    fine_cells: int = 900_000
    least_fine_cell_m: float = 0.08
    # Points of the grid of light: approximate number, and least distance.
    places: int = 4000
    least_place_m: float = 0.5
    # Number of directions for integrals over the open sky.
    sky_directions: int = 512
    # Objects outside the region hide the sky up to this distance, in this many coarse cells.
    far_m: float = 80.0
    far_cells: int = 100_000


RESOLUTION = LightResolution()
# Triangles facing down below this height, in metres, belong to things lying on the ground, such as
# mats and lines.
ON_GROUND_M = 0.05
# The sine of the elevation at which the horizon's color has faded into the zenith's; as in the
# node tree of Cycles' sky (rendering/cycles/scenery.py).
FADED = 0.45
# Mean fraction of the second color by pattern; 0.45 for those not listed.
SECOND_SHARE = {"plain": 0.0, "shore": 0.0, "net": 0.0, "outdoors": 0.5, "cloth": 0.6}


def linear(color: str) -> FloatArray:
    """Return #rrggbb as linear RGB (3,)."""
    return np.array(to_linear(color))


def sky_colors(scenery: Scenery) -> list[FloatArray]:
    """Return the sky's radiance (3,) at the zenith, at the horizon and below the horizon."""
    sky = scenery.sky
    return [sky.strength * linear(color) for color in (sky.zenith, sky.horizon, sky.ground)]


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
    low, high = _region(scenery)
    grid = _grid(low - 1e-3, high + 1e-3, RESOLUTION.cells, RESOLUTION.least_cell_m, spare=1)
    within = matter_of(inner, grid)
    casting = within.voxels()
    whole = casting if not shell else within.with_more(matter_of(shell, grid)).voxels()
    return Cells(whole, casting, inner)


def set_volume(job: SetJob, shell: Mapping[str, NDArray[np.float32]],
               inner: Mapping[str, NDArray[np.float32]], most: int = RESOLUTION.places
               ) -> tuple[Cells, Volume]:
    """Return a set's matter and the light in it, for the job's camera.

    ``shell`` and ``inner`` are triangles (T, 3, 3) by material, in world coordinates; the results
    are in the set's own. The grid of light has about ``most`` points.
    """
    digest = _digest(job, shell, inner)
    cells, spread = _spread(_Lit(f"{digest} {most}", job, shell, inner, most))
    return cells, spread.seen_by(moved(np.array(job.camera.position), set_from_world(job.scenery)))


@dataclass(frozen=True)
class _Lit:
    """The input of the light's computation; equal if the digests are equal."""

    digest: str
    job: SetJob = field(compare=False)
    shell: Mapping[str, NDArray[np.float32]] = field(compare=False)
    inner: Mapping[str, NDArray[np.float32]] = field(compare=False)
    most: int = field(compare=False)


@lru_cache(maxsize=1)
def _spread(lit: _Lit) -> tuple[Cells, Spread]:
    """Compute the light; the result is kept for cameras that leave out the same walls and objects.
    """
    scenery, own = lit.job.scenery, set_from_world(lit.job.scenery)
    inner = _moved(lit.inner, own)
    surfaces = surfaces_of(scenery, inner)
    cells = set_cells(scenery, surfaces_of(scenery, _moved(lit.shell, own)), surfaces)
    places = _even(*_region(scenery), lit.most)
    light = _light(lit.job, inner, surfaces)
    return cells, spread_light(cells.whole, cells.casting, light, places,
                               _within(scenery, places))


def _digest(job: SetJob, shell: Mapping[str, NDArray[np.float32]],
            inner: Mapping[str, NDArray[np.float32]]) -> str:
    """Return a digest of the set, the config's light and the triangles by material."""
    digest = sha256(job.scenery.model_dump_json().encode())
    digest.update(job.config.light.model_dump_json().encode())
    for part in (shell, inner):
        digest.update(repr([(name, part[name].shape) for name in part]).encode())
        for corners in part.values():
            digest.update(corners.tobytes())
    return digest.hexdigest()


def set_from_world(scenery: Scenery) -> FloatArray:
    """Return the matrix (4, 4) from world coordinates to the set's."""
    return np.asarray(np.linalg.inv(world_from_set(scenery)))


def moved(places: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return positions (..., 3) transformed by a matrix (4, 4)."""
    return np.asarray(places @ matrix[:3, :3].T + matrix[:3, 3])


def _moved(triangles: Mapping[str, NDArray[np.float32]], matrix: FloatArray
           ) -> dict[str, NDArray[np.float32]]:
    return {name: moved(corners.astype(float), matrix).astype(np.float32)
            for name, corners in triangles.items()}


def fine_matter(scenery: Scenery, things: Sequence[ColoredTriangles]
               ) -> tuple[Grid, NDArray[np.float32]]:
    """Return the finer cells of objects that block lamps: their grid, and ``Voxels.free`` of it.

    Both are in the set's own coordinates.
    """
    low, high = _region(scenery)
    grid = _grid(low - 1e-3, high + 1e-3, RESOLUTION.fine_cells, RESOLUTION.least_fine_cell_m,
                 spare=1)
    return grid, matter_of(things, grid).free()


def _within(scenery: Scenery, grid: Grid) -> NDArray[np.bool_]:
    """Return which points of a grid (P,) lie under a ceiling; all of them if there is none."""
    places = grid.middles(np.arange(int(np.prod(grid.shape))))
    if not scenery.ceilings:
        return np.ones(len(places), np.bool_)
    under = [((places[:, :2] > plane.corners[0]) & (places[:, :2] < plane.corners[1])).all(axis=1)
             for plane in scenery.ceilings]
    return np.asarray(np.any(under, axis=0))


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


def mean_color(material: SetMaterial) -> FloatArray:
    """Return the mean color that a material scatters, or emits if it glows.

    Only diffuse reflection counts, so metals scatter nothing: without caustics, Cycles' rays do not
    follow mirror reflections after they were scattered once.
    """
    color = linear(material.color)
    second = linear(material.second) if material.second else 0.6 * color
    color = color + SECOND_SHARE.get(material.pattern, 0.45) * (second - color)
    return np.asarray((material.glow or 1.0 - material.metallic) * color)


def _region(scenery: Scenery) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper corner (3,) of the region of the precomputed light.

    They are in the set's coordinates. The region is the box of the walls or, outdoors, one around
    the performer.
    """
    panels = wall_panels(scenery)
    if not panels:
        middle, reach = np.array(scenery.performer_at), RESOLUTION.outdoors_m
        return (np.array([*middle - reach, 0.0]),
                np.array([*middle + reach, RESOLUTION.outdoors_height_m]))
    corners = moved(np.concatenate([panel.corners for panel in panels]), set_from_world(scenery))
    low, high = corners.min(axis=0), corners.max(axis=0)
    return np.array([*low[:2], min(low[2], 0.0)]), high


def _grid(low: FloatArray, high: FloatArray, most: int, least_m: float, spare: int) -> Grid:
    """Return a grid of about ``most`` cubes from ``low`` to ``high``, padded by ``spare`` cubes."""
    cell = max(least_m, float((high - low).prod() / most) ** (1 / 3))
    shape = np.ceil((high - low) / cell).astype(int) + 2 * spare
    return Grid(low - spare * cell, np.full(3, cell), (int(shape[0]), int(shape[1]), int(shape[2])))


def _even(low: FloatArray, high: FloatArray, most: int) -> Grid:
    """Return a grid of about ``most`` nearly cubic cells that fill the region exactly."""
    cell = max(RESOLUTION.least_place_m, float((high - low).prod() / most) ** (1 / 3))
    shape = np.maximum(np.round((high - low) / cell), 2).astype(int)
    return Grid(low, (high - low) / shape, (int(shape[0]), int(shape[1]), int(shape[2])))


def _light(job: SetJob, triangles: Mapping[str, NDArray[np.float32]],
           surfaces: Sequence[ColoredTriangles]) -> SetLight:
    scenery = job.scenery
    sun = scenery.sun.strength * linear(scenery.sun.color)
    own = set_from_world(scenery)
    sun_from = own[:3, :3] @ direction_from(*job.config.light.sun_from_deg)
    parts, lamp_of = lamp_parts(scenery, RESOLUTION.hidden_part_m)
    parts[:, :3], parts[:, 3:6] = moved(parts[:, :3], own), parts[:, 3:6] @ own[:3, :3].T
    glowing = [(float(mean_color(look).mean()), triangles[name])
               for name, look in scenery.materials.items() if look.glow > 0 and name in triangles]
    upper, lower = _sky_halves(scenery)
    to_sky = rays_to_sky(np.pi * (upper + lower) / 2, float(sun.mean() * sun_from[2]),
                         nearby(parts, glowing))

    def above(places: FloatArray) -> FloatArray:
        """Return the fraction of light rays to the sky's upper half, by its share of the light."""
        return to_sky(places) * upper / max(upper + lower, 1e-9)

    sky = _sky(job)
    # Distant objects that hide the sky are lit like a sphere in the open: a quarter of the sun's
    # irradiance over pi, and the mean of the sky's radiance.
    far_light = sun / (4 * np.pi) + sky(even_directions(RESOLUTION.sky_directions)).mean(axis=0)
    return SetLight(parts, lamp_of, sky, above, sun, sun_from, glowing_parts(surfaces),
                 screens(surfaces, *_region(scenery)), _far(scenery, surfaces), far_light)


def _far(scenery: Scenery, surfaces: Sequence[ColoredTriangles]) -> Voxels | None:
    """Return coarse cells of objects outside the region of light; None indoors or without any."""
    low, high = _region(scenery)
    beyond = [replace(surface, triangles=_outside(surface.triangles, low, high))
              for surface in surfaces if not surface.glows]
    beyond = [surface for surface in beyond if len(surface.triangles)]
    if not beyond or wall_panels(scenery):
        return None
    corners = np.concatenate([surface.triangles.reshape(-1, 3) for surface in beyond])
    middle = (low + high) / 2
    least, most = (np.clip(edge, middle - RESOLUTION.far_m, middle + RESOLUTION.far_m)
                   for edge in (corners.min(axis=0), corners.max(axis=0)))
    grid = _grid(least, most, RESOLUTION.far_cells, RESOLUTION.least_place_m, spare=1)
    return matter_of(beyond, grid).voxels()


def _outside(triangles: NDArray[np.float32], low: FloatArray, high: FloatArray
             ) -> NDArray[np.float32]:
    """Return the triangles (T, 3, 3) that lie outside of a box and reach above the ground.

    ``low`` and ``high`` (3,) are the box's corners.
    """
    outside = ((triangles.max(axis=1) < low) | (triangles.min(axis=1) > high)).any(axis=1)
    return np.asarray(triangles[outside & (triangles[..., 2].max(axis=1) > ON_GROUND_M)])


def _sky(job: SetJob) -> Callable[[FloatArray], FloatArray]:
    """Return a function from directions (N, 3), in the set's coordinates, to radiance (N, 3).

    It is the sky's radiance and, below the horizon, the ground's.
    """
    scenery = job.scenery
    below = sky_colors(scenery)[2]
    if scenery.floors:
        below = _lit_ground(job, scenery.materials[scenery.floors[0].material])
    to_world = world_from_set(scenery)[:3, :3]

    def sky(directions: FloatArray) -> FloatArray:
        """Return the radiance (N, 3) in directions (N, 3)."""
        above = _above(scenery, directions @ to_world.T)
        return np.asarray(np.where(directions[:, 2:] < 0, below, above))

    return sky


def _above(scenery: Scenery, directions: FloatArray) -> FloatArray:
    """Return the radiance (N, 3) of the sky and its clouds in directions (N, 3) of the world."""
    zenith, horizon, _ = sky_colors(scenery)
    clear = horizon + ramp(directions[:, 2:], 0.0, FADED) * (zenith - horizon)
    if scenery.sky.clouds == 0:
        return np.asarray(clear)
    clouded = scenery.sky.clouds * cloud_shares(directions)[:, None]
    return np.asarray(clear + clouded * (scenery.sky.strength * np.array(CLOUD) - clear))


def _open_up(scenery: Scenery) -> FloatArray:
    """Return the irradiance over pi (3,) of the open sky on a surface facing up."""
    directions = even_directions(RESOLUTION.sky_directions)
    up = np.maximum(directions[:, 2], 0.0)
    return np.asarray(up @ _above(scenery, directions) / up.sum())


def _lit_ground(job: SetJob, ground: SetMaterial) -> FloatArray:
    """Return the radiance (3,) of level ground under the sun and the open sky."""
    sun = job.scenery.sun.strength * linear(job.scenery.sun.color)
    height = direction_from(*job.config.light.sun_from_deg)[2]
    return np.asarray(mean_color(ground) * (sun * height / np.pi + _open_up(job.scenery)))


def _sky_halves(scenery: Scenery) -> tuple[float, float]:
    """Return the mean radiance of the sky's upper and lower half, without clouds or set."""
    zenith, horizon, below = (float(color.mean()) for color in sky_colors(scenery))
    return (1 - FADED / 2) * zenith + FADED / 2 * horizon, below


def open_sky(job: SetJob) -> dict[str, Any]:
    """Return the irradiance over pi on surfaces facing up and down, outside of walls.

    The result is the shaders' uniform values.
    """
    under = _sky(job)(np.array([[0.0, 0.0, -1.0]]))[0]
    if not job.scenery.floors:
        # Distant objects at a shore are taken to have as much land as sea around them.
        for shore in (look for look in job.scenery.materials.values() if look.pattern == "shore"):
            under = (under + _lit_ground(job, shore)) / 2
    return {"open_up": _open_up(job.scenery), "open_down": under}


def lamp_values(scenery: Scenery) -> dict[str, Any]:
    """Return the first lamps as the shaders' uniform values, in world coordinates.

    These are each lamp's centre, direction, two vectors from the centre to its sides, its radiance,
    and the numbers of parts along its sides: 16 in all, as nearly square as possible.
    """
    matrix = world_from_set(scenery)
    lamps = _by_power(scenery)[:MAX_DIRECT_LAMPS]
    table, counts = np.zeros((MAX_DIRECT_LAMPS, 5, 3)), np.ones((MAX_DIRECT_LAMPS, 2))
    for number, lamp in enumerate(lamps):
        start, direction, side, other = _frame(lamp, matrix)
        longer = np.clip(np.round(np.log2(lamp.size[0] / lamp.size[1]) / 2), -2, 2)
        counts[number] = 2.0 ** (2 + longer), 2.0 ** (2 - longer)
        radiance = lamp.watts * linear(lamp.color) / (np.pi * lamp.size[0] * lamp.size[1])
        table[number] = (start, direction, lamp.size[0] / 2 * side, lamp.size[1] / 2 * other,
                         radiance)
    names = ("lamp_at", "lamp_way", "lamp_side", "lamp_other", "lamp_light")
    return {"lamps": len(lamps), "lamp_parts": counts} | dict(
        zip(names, table.swapaxes(0, 1), strict=True))


def _by_power(scenery: Scenery) -> list[Lamp]:
    return sorted(scenery.lamps, key=lambda lamp: -lamp.watts)


def lamp_parts(scenery: Scenery, size: float = RESOLUTION.lamp_part_m
               ) -> tuple[FloatArray, NDArray[np.int64]]:
    """Divide lamps into parts (L, 10); return these and the numbers (L,) of their lamps.

    Sides of parts are at most ``size`` metres, or longer if there would be too many parts. Lamps
    are numbered by decreasing power. A part has a position, direction, power (RGB) and area.
    """
    matrix, size = world_from_set(scenery), _part_size(scenery, size)
    lamps = [_parts(lamp, matrix, size) for lamp in _by_power(scenery)]
    return np.reshape([part for parts in lamps for part in parts], (-1, 10)), np.repeat(
        np.arange(len(lamps)), [len(parts) for parts in lamps])


def _part_size(scenery: Scenery, size: float = RESOLUTION.lamp_part_m) -> float:
    """Return ``size``, enlarged until the first lamps have at most ``most_lamp_parts`` parts."""
    lamps = _by_power(scenery)[:MAX_DIRECT_LAMPS]
    while sum(int(np.prod(_counts(lamp, size))) for lamp in lamps) > RESOLUTION.most_lamp_parts:
        size *= 1.2
    return size


def _counts(lamp: Lamp, part_m: float) -> list[int]:
    """Return the number of parts along each of a lamp's two sides."""
    return [int(np.ceil(size / part_m)) for size in lamp.size]


def _frame(lamp: Lamp, matrix: FloatArray) -> tuple[FloatArray, ...]:
    """Return a lamp's centre, its direction and the directions of its two sides, each (3,)."""
    start, end = ((matrix @ [*point, 1.0])[:3] for point in (lamp.at, lamp.to))
    direction = unit(end - start)
    is_vertical = abs(direction[2]) > 0.999
    side = np.array([1.0, 0.0, 0.0]) if is_vertical else unit(np.cross(direction, [0, 0, 1]))
    return start, direction, side, np.cross(direction, side)


def _parts(lamp: Lamp, matrix: FloatArray, part_m: float) -> list[FloatArray]:
    start, direction, side, other = _frame(lamp, matrix)
    counts = _counts(lamp, part_m)
    shares = [(np.arange(count) + 0.5) / count - 0.5 for count in counts]
    parts = counts[0] * counts[1]
    power = lamp.watts * linear(lamp.color) / parts
    area = lamp.size[0] * lamp.size[1] / parts
    return [
        np.array([*start + x * lamp.size[0] * side + y * lamp.size[1] * other,
                  *direction, *power, area])
        for x in shares[0] for y in shares[1]
    ]


def light_texture(volume: Volume) -> tuple[tuple[int, int, int], bytes]:
    """Return size and content (RGBA half floats) of the light's texture: 12 volumes along Z.

    For each of red, green and blue, two volumes hold harmonics 0 to 3 and 4 to 7 of
    ``volume.harmonics``. One holds harmonic 8 of all three. Three, one for each color, hold
    ``volume.mirrored``, and two hold ``volume.visible``.
    """
    x, y, z = volume.grid.shape
    scattered = volume.harmonics.reshape(x, y, z, 9, 3)
    eight = scattered[..., :8, :].transpose(0, 1, 2, 4, 3).reshape(x, y, z, 6, 4)
    last = np.pad(scattered[..., 8:, :], [*[(0, 0)] * 4, (0, 1)])
    mirrored = volume.mirrored.reshape(x, y, z, 4, 3).swapaxes(3, 4)
    visible = volume.visible.reshape(x, y, z, 2, 4)
    parts = np.concatenate([eight, last, mirrored, visible], axis=3).transpose(3, 2, 1, 0, 4)
    return (x, y, len(parts) * z), np.ascontiguousarray(parts, np.float16).tobytes()


def volume_values(volume: Volume, scenery: Scenery) -> dict[str, Any]:
    """Return the position and size of a set's volume of light, as the shaders' uniform values."""
    grid = volume.grid
    return {"to_set": set_from_world(scenery),
            "volume_corner": grid.corner, "volume_size": grid.cell_m * grid.shape,
            "volume_cell": grid.cell_m, "volume_places": np.array(grid.shape)}
