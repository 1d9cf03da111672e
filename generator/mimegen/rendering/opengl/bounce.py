"""Precompute a set's light from lamps, the sky and other surfaces on a grid of light probes.

Rays from each grid point find the cells of matter, or the sky, that it sees. Those cells scatter
the light that reaches them in turn, for two bounces. Each point stores its light as spherical
harmonics (Ramamoorthi and Hanrahan, An efficient representation for irradiance environment maps,
2001), between which shaders interpolate.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.glowing import passing
from mimegen.rendering.opengl.voxels import SIDES, SPREAD, Grid, Voxels

# The most powerful lamps, at most this many, are added by shaders one by one; also the size of the
# shaders' arrays. Called the first lamps below.
MAX_DIRECT_LAMPS = 8
# Factors from radiance harmonics of order 0, 1 and 2 to irradiance over pi: the clamped cosine's
# own harmonics (Ramamoorthi and Hanrahan 2001).
COSINE = np.array([1.0, *3 * [2 / 3], *5 * [1 / 4]])
# Matter within this many cells of a lamp is taken for its fixture and blocks none of its light.
FIXTURE = 2.5


@dataclass(frozen=True)
class BounceParameters:
    """Parameters of the light's precomputation."""

    # Rays from each grid point. In a closed room with a lamp the result is within 1 % of the closed
    # form (tests/rendering/opengl/test_set_light.py).
    rays: int = 128
    # The same as in the preview config, which drafts imitate.
    bounces: int = 2
    # A small lamp's light is smoothed over this fraction of the distance between grid points, as
    # a point right beside a lamp would be too bright for its whole cell.
    spread: float = 0.5
    # Distance in front of a surface, in cells of the grid of light, at which the light that reaches
    # the surface is read. Nearer, the surface's own cells darken it; farther, light leaks around
    # corners.
    before_surface: float = 0.35
    # Height above a glowing part, in cells of matter, up to which matter does not block its light:
    # there is the object that the part belongs to.
    before_glow: float = 0.9
    # Glowing parts that each grid point samples.
    glow_samples: int = 32


BOUNCE = BounceParameters()


@dataclass(frozen=True, eq=False)
class SetLight:
    """The light sources of a set, and what hides the sky outside of it.

    ``parts`` (L, 10) of lamps have a position (3), direction (3), power (3, RGB) and area;
    ``lamp_of`` (L,) is the number of each part's lamp. ``sky`` returns the sky's radiance by
    direction. ``glowing`` (G, 10) are such parts of glowing surfaces. ``screens`` (T, 3, 3) are
    glowing triangles outside of the set that hide the sky. ``far`` is other matter outside, which
    scatters its color times ``far_light`` (3,). ``above`` returns, for positions (P, 3), the
    fraction of Cycles' rays to lights that go to the sky's upper half. ``sun`` (3,) is the sun's
    irradiance on a surface facing it, ``sun_from`` (3,) the direction to the sun.
    """

    parts: FloatArray
    lamp_of: NDArray[np.int64]
    sky: Callable[[FloatArray], FloatArray]
    above: Callable[[FloatArray], FloatArray]
    sun: FloatArray
    sun_from: FloatArray
    glowing: FloatArray
    screens: FloatArray
    far: Voxels | None
    far_light: FloatArray


@dataclass(frozen=True, eq=False)
class Volume:
    """Light at the centres of a grid's cells, as spherical harmonics of radiance.

    ``harmonics`` (X Y Z, 9, 3) is the light from all directions; ``mirrored`` (X Y Z, 4, 3), of
    orders 0 and 1, is the part for mirroring surfaces, without any lamps. ``visible``
    (X Y Z, MAX_DIRECT_LAMPS) is the visible fraction of each of the first lamps;
    ``Spread.seen_by`` removes the light of these from ``harmonics``. ``cells`` (C,) are the cells
    of matter seen from the grid and ``sent`` (C, 6, 3) is the radiance that their sides scatter.
    """

    grid: Grid
    harmonics: NDArray[np.float32]
    mirrored: NDArray[np.float32]
    visible: NDArray[np.float32]
    cells: NDArray[np.int64]
    sent: NDArray[np.float32]

    def over_pi(self, places: FloatArray, normals: FloatArray) -> FloatArray:
        """Return irradiance over pi (N, 3) at positions (N, 3) on surfaces with normals (N, 3)."""
        weights = (_basis(normals) * COSINE).astype(np.float32)
        total = np.zeros((len(places), 3), np.float32)
        for cells, share in self._around(places):
            total += share[:, None] * np.einsum("nk,nkc->nc", weights, self.harmonics[cells])
        return np.maximum(total, 0.0)

    def _around(self, places: FloatArray) -> list[tuple[NDArray[np.int64], FloatArray]]:
        """Return the eight cells (N,) around positions with their trilinear weights (N,)."""
        grid = self.grid
        last = np.array(grid.shape) - 1
        at = np.clip((places - grid.corner) / grid.cell_m - 0.5, 0, last)
        low = np.minimum(at.astype(int), np.maximum(last - 1, 0))
        part = at - low
        found = []
        for corner in np.ndindex(2, 2, 2):
            x, y, z = np.minimum(low + corner, last).T
            share = np.where(corner, part, 1 - part).prod(axis=1)
            found.append(((x * grid.shape[1] + y) * grid.shape[2] + z, share))
        return found


@dataclass(frozen=True, eq=False)
class Spread:
    """A set's light after the last bounce.

    ``direct`` (P, 9, 3) is the part of it that comes directly from the first lamps.
    """

    whole: Voxels
    fill: "_Filling"
    volume: Volume
    direct: NDArray[np.float32]

    def seen_by(self, eye: FloatArray | None) -> Volume:
        """Return the light without the first lamps' direct light.

        Grid points hidden from an ``eye`` (3,) get their neighbours' light, so that light from the
        far side of a wall does not leak onto the side that the eye sees.
        """
        volume = self.volume
        shown = self.fill if eye is None else self.fill.seen(self.whole, eye)
        return replace(volume, harmonics=shown(volume.harmonics - self.fill(self.direct)),
                       mirrored=shown(volume.mirrored),
                       visible=shown(volume.visible[..., None])[..., 0])


def spread_light(whole: Voxels, casting: Voxels, light: SetLight, grid: Grid,
                 within: NDArray[np.bool_] | None = None) -> Spread:
    """Return the light in a set, without direct sunlight, at the centres of a grid's cells.

    Grid points not ``within`` (X Y Z,) the set get the light of their neighbours. ``whole`` is all
    matter; ``casting`` is the matter without walls and ceilings, which cast no shadows: lamps, the
    sun and a part of the sky shine through them.
    """
    places = grid.middles(np.arange(int(np.prod(grid.shape))))
    directions = even_directions(BOUNCE.rays)
    starts, along = np.repeat(places, BOUNCE.rays, axis=0), np.tile(directions, (len(places), 1))
    seen, _ = whole.trace(starts, along)
    open_sky = np.tile(light.sky(directions), (len(places), 1))
    sky = _from_beyond(light, seen, starts, along, open_sky)
    direct, others, visible = _from_lamps(casting, light, places, grid)
    through = _through_shell(casting, light, seen, starts, open_sky * (along[:, 2:] > 0))
    from_sky = _gathered(sky + through, directions)
    from_sky += others
    from_glow = _from_glow(casting.without_glow(), light, places)
    found, which = np.unique(seen[seen >= 0], return_inverse=True)
    fill = _Filling(whole, grid, places, within)
    sunny = _sunlight(casting, light, found, whole.facing[found])
    towards, is_open = along[seen >= 0], open_sides(whole, found)[which]
    shares, sides = _seen_sides(towards, is_open)
    thrown = np.zeros((len(along), 3), np.float32)

    def lit_by(sent: NDArray[np.float32]) -> Volume:
        """Return the light of sky, lamps and cells seen, whose sides send ``sent`` (C, 6, 3)."""
        thrown[seen >= 0] = sum(shares[:, [axis]] * sent[which, sides[:, axis]]
                                for axis in range(3))
        scattered, mirrored = (_gathered(light_in, directions) + from_glow
                               for light_in in (thrown, thrown + sky))
        return Volume(grid, fill(from_sky + direct + scattered), fill(mirrored[:, :4]), visible,
                      found, sent)

    # Before the first bounce, no matter scatters: there is only light from lamps, sky and glow.
    volume = lit_by(np.zeros((len(found), 6, 3), np.float32))
    for _ in range(BOUNCE.bounces):
        volume = lit_by(_scattered(whole, volume, found, sunny))
    return Spread(whole, fill, volume, direct)


def through_shell(above: FloatArray) -> FloatArray:
    """Return the fraction (P,) of the sky's light that walls and ceilings let through in Cycles.

    They cast no shadow there: rays sampled towards lights pass them, rays sampled by the cosine do
    not. The power heuristic (Veach and Guibas 1995) weights the former by a^2 / (a^2 + cos^2),
    where a is half of ``above`` (P,), the fraction of rays to lights that are spread over the sky's
    upper half. The mean weight is a^2 ln(1 + 1 / a^2).
    """
    squared = np.maximum((above / 2) ** 2, 1e-9)
    return np.asarray(squared * np.log(1 + 1 / squared))


def _from_beyond(light: SetLight, seen: NDArray[np.int64], starts: FloatArray, along: FloatArray,
                 sky: FloatArray) -> FloatArray:
    """Return the light along rays (N, 3) that hit no cell: ``sky`` (N, 3) or what hides it.

    Rays that hit glowing screens get 0, because glow is added separately.
    """
    left = np.flatnonzero(seen < 0)
    result = np.zeros(sky.shape)
    if len(light.screens):
        left = left[passing(light.screens, starts[left], along[left])]
    result[left] = sky[left]
    if light.far is not None:
        up = left[along[left, 2] > 0]
        met, _ = light.far.trace(starts[up], along[up])
        result[up[met >= 0]] = light.far.color[met[met >= 0]] * light.far_light
    return result


def _through_shell(casting: Voxels, light: SetLight, seen: NDArray[np.int64], starts: FloatArray,
                   above: FloatArray) -> FloatArray:
    """Return the sky's light ``above`` (N, 3) that passes the walls and ceilings that rays hit."""
    shell = (seen >= 0) & (casting.free.ravel()[seen] > 0) & above.any(axis=1)
    result = np.zeros(above.shape)
    result[shell] = through_shell(light.above(starts[shell]))[:, None] * above[shell]
    return result


def even_directions(count: int) -> FloatArray:
    """Return unit vectors (N, 3) spread evenly over all directions (Vogel 1979)."""
    number = np.arange(count) + 0.5
    up, turn = 1 - 2 * number / count, number * np.pi * (3.0 - 5**0.5)
    flat = np.sqrt(1 - up**2)
    return np.stack([flat * np.cos(turn), flat * np.sin(turn), up], axis=-1)


def _basis(directions: FloatArray) -> FloatArray:
    """Return the real spherical harmonics (N, 9) of orders 0 to 2."""
    x, y, z = directions.T
    return np.stack([
        np.full(len(directions), 0.282095), 0.488603 * y, 0.488603 * z, 0.488603 * x,
        1.092548 * x * y, 1.092548 * y * z, 0.315392 * (3 * z**2 - 1), 1.092548 * x * z,
        0.546274 * (x**2 - y**2)], axis=-1)


def _gathered(light: FloatArray | NDArray[np.float32], directions: FloatArray
              ) -> NDArray[np.float32]:
    """Return the harmonics (P, 9, 3) of light (P RAYS, 3) from directions (RAYS, 3)."""
    by_place = light.astype(np.float32).reshape(-1, BOUNCE.rays, 3)
    weights = (4 * np.pi / BOUNCE.rays * _basis(directions)).astype(np.float32)
    return np.asarray(np.einsum("rk,prc->pkc", weights, by_place, optimize=True))


def _from_lamps(casting: Voxels, light: SetLight, places: FloatArray, grid: Grid
                ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return the harmonics (P, 9, 3) of the first lamps, those of the others, and visibility.

    Visibility (P, MAX_DIRECT_LAMPS) is the fraction of a first lamp's light that arrives unblocked;
    it is 1 where the lamp sends no light.
    """
    direct, others = np.zeros((2, len(places), 9, 3), np.float32)
    sent, come = np.full((2, len(places), MAX_DIRECT_LAMPS), 1e-9, np.float32)
    nearest = BOUNCE.spread * float(grid.cell_m.min())
    for part, lamp in zip(light.parts, light.lamp_of, strict=True):
        at, facing, power, area = part[:3], part[3:6], part[6:9], part[9]
        away = at - places
        far = np.linalg.norm(away, axis=1)
        direction = away / np.maximum(far, 1e-6)[:, None]
        shone = np.maximum(-(direction @ facing), 0.0)
        before = np.flatnonzero(shone > 0)
        hit, _ = casting.trace(places[before], direction[before],
                               far[before] - FIXTURE * casting.cell_m)
        lit = before[hit < 0]
        strength = shone / np.pi / (far**2 + 0.3 * area + nearest**2)
        total = direct if lamp < MAX_DIRECT_LAMPS else others
        total[lit] += (_basis(direction[lit]) * strength[lit, None])[:, :, None] * power
        if lamp < MAX_DIRECT_LAMPS:
            sent[:, lamp] += strength
            come[lit, lamp] += strength[lit]
    return direct, others, come / sent


def _from_glow(dark: Voxels, light: SetLight, places: FloatArray) -> NDArray[np.float32]:
    """Return the harmonics (P, 9, 3) of glowing surfaces, sampling their parts by strength.

    ``dark`` is matter without the cells that glow: as a cell is thicker than a thin lamp, lamps
    would otherwise block each other's light at flat angles.
    """
    total = np.zeros((len(places), 9, 3), np.float32)
    if len(light.glowing) == 0:
        return total
    strengths = _glow_strengths(light.glowing, places)
    lit = np.flatnonzero(strengths.sum(axis=1) > 0)
    looked = light.glowing[_drawn(strengths[lit])]
    away = looked[..., :3] - places[lit, None]
    far, heights = np.linalg.norm(away, axis=-1), -(away * looked[..., 3:6]).sum(axis=-1)
    direction = away / np.maximum(far, 1e-6)[..., None]
    far *= 1.0 - np.minimum(BOUNCE.before_glow * dark.cell_m / heights, 1.0)
    samples = BOUNCE.glow_samples
    hit, _ = dark.trace(np.repeat(places[lit], samples, axis=0), direction.reshape(-1, 3),
                        far.ravel())
    basis = _basis(direction.reshape(-1, 3)).reshape(*direction.shape[:2], 9)
    colors = looked[..., 6:9] / looked[..., 6:9].sum(axis=-1, keepdims=True)
    each = strengths[lit].sum(axis=1)[:, None] / samples * (hit < 0).reshape(-1, samples)
    total[lit] = np.einsum("pnk,pnc->pkc", basis, each[..., None] * colors, optimize=True)
    return total


def _glow_strengths(parts: FloatArray, places: FloatArray) -> NDArray[np.float32]:
    """Return the unblocked light (P, G), summed over RGB, of parts (G, 10) at positions (P, 3).

    Parts are taken as disks, so that the light stays finite close to them.
    """
    strengths = np.zeros((len(places), len(parts)), np.float32)
    for number, part in enumerate(parts):
        away = part[:3] - places
        squared = (away**2).sum(axis=1)
        shone = np.maximum(-(away @ part[3:6]), 0.0) / np.sqrt(np.maximum(squared, 1e-9))
        strengths[:, number] = (part[6:9].sum() / np.pi * shone
                                / (squared + part[9] / np.pi))
    return strengths


def _drawn(strengths: NDArray[np.float32]) -> NDArray[np.int64]:
    """Draw ``BOUNCE.glow_samples`` parts for each position, in proportion to ``strengths`` (P, G).

    Sampling is stratified, with a shift that differs from position to position.
    """
    share = np.cumsum(strengths, axis=1, dtype=float)
    share /= share[:, -1:]
    row = np.arange(len(share))[:, None]
    shift = (row * SPREAD[0]) % 1.0
    wanted = (np.arange(BOUNCE.glow_samples) + shift) / BOUNCE.glow_samples
    found = np.searchsorted((share + row).ravel(), (wanted + row).ravel())
    return np.asarray(np.minimum(found.reshape(wanted.shape) - row * share.shape[1],
                                 share.shape[1] - 1))


def _sunlight(casting: Voxels, light: SetLight, cells: NDArray[np.int64],
              facing: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the sun's irradiance over pi (C, 6, 3) on the sides of cells.

    ``facing`` (C, 6, 3) are the normals of the sides' surfaces.
    """
    result = np.zeros((len(cells), 6, 3), np.float32)
    grid = casting.grid
    heights = facing @ light.sun_from
    for side, normal in enumerate(SIDES):
        lit = np.flatnonzero(heights[:, side] > 0)
        starts = grid.middles(cells[lit]) + 1.01 * grid.cell_m * normal
        hit, _ = casting.trace(starts, np.broadcast_to(light.sun_from, starts.shape))
        result[lit, side] = ((hit < 0) * heights[lit, side] / np.pi)[:, None] * light.sun
    return result


def _scattered(whole: Voxels, volume: Volume, cells: NDArray[np.int64], sunny: NDArray[np.float32]
             ) -> NDArray[np.float32]:
    """Return the radiance (C, 6, 3) that the sides of cells scatter, including sunlight."""
    middles = whole.grid.middles(cells)
    sent = np.empty((len(cells), 6, 3), np.float32)
    away = 0.5 * whole.cell_m + BOUNCE.before_surface * volume.grid.cell_m
    for side, normal in enumerate(SIDES):
        before = middles + away * normal
        lit = volume.over_pi(before, whole.facing[cells, side]) + sunny[:, side]
        sent[:, side] = whole.color[cells] * lit
    return sent


def open_sides(whole: Voxels, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which sides of cells (C, 6) have a free cell in front of them."""
    solid = np.pad(whole.free == 0.0, 1)
    at = np.stack(np.unravel_index(cells, whole.grid.shape), axis=-1) + 1
    before = at[:, None] + SIDES.astype(int)
    x, y, z = np.moveaxis(before, -1, 0)
    return np.asarray(~solid[x, y, z])


def _seen_sides(directions: FloatArray, is_open: NDArray[np.bool_]
                ) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the weights (N, 3) and numbers (N, 3) of the sides of a cell that each ray sees.

    ``is_open`` (N, 6) are the open sides of the cells hit; closed sides count only if no side that
    faces the ray is open.
    """
    sides = np.where(directions < 0, 0, 3) + np.arange(3)
    shares = directions**2 * (np.take_along_axis(is_open, sides, axis=1) + 1e-6)
    return (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32), sides


class _Filling:
    """Replaces the light of grid points inside matter by the mean of their neighbours'."""

    def __init__(self, whole: Voxels, grid: Grid, places: FloatArray,
                 within: NDArray[np.bool_] | None) -> None:
        cells, in_grid = whole.grid.cells(places)
        self._open = ~(in_grid & (whole.free.ravel()[cells] == 0.0))
        if within is not None:
            self._open &= within
        self._shape, self._places = grid.shape, places
        self._count()

    def _count(self) -> None:
        self._near = _neighbours(self._open.reshape(*self._shape, 1).astype(np.float32))

    def seen(self, whole: Voxels, eye: FloatArray) -> "_Filling":
        """Return a filling that also replaces the points that are hidden from an eye (3,)."""
        away = eye - self._places
        far = np.linalg.norm(away, axis=1)
        hit, _ = whole.trace(self._places, away / np.maximum(far, 1e-6)[:, None], far)
        chosen = copy(self)
        chosen._open = self._open & (hit < 0)
        chosen._count()
        return chosen

    def __call__(self, harmonics: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return harmonics (P, K, 3) with those of grid points inside matter replaced.

        Points without any usable neighbour keep their own.
        """
        values = (harmonics * self._open[:, None, None]).reshape(*self._shape, -1)
        known = (_neighbours(values) / np.maximum(self._near, 1.0)).reshape(harmonics.shape)
        alone = self._near.reshape(-1) == 0.0
        return np.where((self._open | alone)[:, None, None], harmonics, known).astype(np.float32)


def _neighbours(values: FloatArray) -> FloatArray:
    """Return, for each cell, the sum (X, Y, Z, K) over the 27 cells around and including it."""
    for axis in range(3):
        edges = [(0, 0)] * 4
        edges[axis] = (1, 1)
        padded = np.pad(values, edges)
        low, middle, high = (np.take(padded, range(start, start + values.shape[axis]), axis)
                             for start in range(3))
        values = low + middle + high
    return values
