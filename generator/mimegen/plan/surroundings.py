"""Figures lit by a picture of all that is around them: exposed, balanced and turned.

Cycles traces the picture itself. Its main light is a sun for whatever cannot: projected shadows,
drafts and sets.
"""

from dataclasses import dataclass

import numpy as np

from mimegen.base.angles import half_turn
from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.base.vectors import product
from mimegen.compositing.color import LUMINANCE
from mimegen.motion.quaternions import FloatArray
from mimegen.plan.lighting import LEAST_SKY, rounded, spread_deg, stands, tint_of
from mimegen.rendering.surroundings import Surroundings
from mimegen.shots.config import Light, RenderConfig, World

# How much of the color of a picture's light a camera's white balance takes out, as in photo.
BALANCED = 0.85
# The main light is looked for in cones this wide to all sides, and is what is brighter in the best
# one's surroundings than the ring around it.
CONE_DEG = 15.0
MAIN_DEG = 25.0
RING_DEG = (25.0, 60.0)
# The darkest picture whose light is taken for light.
DARKEST = 1e-6


@dataclass(frozen=True, eq=False)
class _Cells:
    """A picture's cells: unit vectors (N, 3) to them, solid angles (N,), light that comes (N, 3).
    """

    towards: FloatArray
    solid: FloatArray
    flows: FloatArray

    def mean(self, chosen: FloatArray) -> FloatArray:
        """Return the mean light (3,) of cells by weights (N,)."""
        return np.asarray(product(chosen, self.flows) / max(float((chosen * self.solid).sum()),
                                                            1e-9))


def lit_by(config: RenderConfig, name: str, found: Surroundings, from_deg: float | None
           ) -> RenderConfig:
    """Return a config whose figures a picture lights, as bright as they were on average.

    It is turned so that its main light comes ``from_deg``, without that from where the config's
    sun is. Raises RequestError for a picture without light.
    """
    cells = _cells(found.light)
    total = _luminance(cells.flows).sum() / (4 * np.pi)
    if total < DARKEST:
        raise RequestError(f"--light {name}: the picture is black")
    balance = _balance(cells, _fluence(config.light))
    cells = _Cells(cells.towards, cells.solid, cells.flows * balance)
    main = _main_light(cells)
    azimuth, elevation = stands(main @ cells.towards)
    wanted = config.light.sun_from_deg[0] if from_deg is None else from_deg
    light = _light(config.light, cells, main, (wanted, elevation))
    world = World.model_validate({
        "picture": name, "sha256": file_hash(found.file), "suffix": found.file.suffix.lower(),
        "turn_deg": half_turn(wanted - azimuth), "balance": balance.tolist(),
        "file": found.file.resolve()})
    return config.model_copy(update={"light": light, "world": world})


def _cells(light: FloatArray) -> _Cells:
    """Return the cells of an equirectangular picture, whose middle Blender has at +X."""
    rows, columns = light.shape[:2]
    up = ((np.arange(rows) + 0.5) / rows - 0.5) * np.pi
    around = (0.5 - (np.arange(columns) + 0.5) / columns) * 2 * np.pi
    rise, turn = (grid.ravel() for grid in np.meshgrid(up, around, indexing="ij"))
    towards = np.stack([np.cos(turn) * np.cos(rise), np.sin(turn) * np.cos(rise), np.sin(rise)],
                       axis=1)
    solid = np.cos(rise) * np.pi / rows * 2 * np.pi / columns
    return _Cells(towards, solid, light.reshape(-1, 3) * solid[:, None])


def _luminance(light: FloatArray) -> FloatArray:
    return np.asarray((light * LUMINANCE).sum(axis=-1))


def _fluence(light: Light) -> float:
    """Return the light of suns and sky that comes from all sides together."""
    lamps = light.lamps.strength if light.lamps is not None else light.rim_strength
    halves = np.array(light.sky_color) + light.ground_share * np.array(
        light.ground_color or light.sky_color)
    return float(light.sun_strength + lamps
                 + 2 * np.pi * light.sky_strength * _luminance(halves))


def _balance(cells: _Cells, fluence: float) -> FloatArray:
    """Return by what linear red, green and blue are multiplied, to four digits."""
    own = cells.flows.sum(axis=0)
    gray = float(_luminance(own))
    color = np.maximum(own / gray, 0.02) ** -BALANCED
    scaled = color * fluence / float(_luminance(own * color))
    return np.array([float(f"{factor:.4g}") for factor in scaled])


def _main_light(cells: _Cells) -> FloatArray:
    """Return how much light (N,) comes from each cell that belongs to the main light from above."""
    bright = _luminance(cells.flows)
    above = np.flatnonzero(cells.towards[:, 2] > 0)
    in_cone = product(cells.towards[above], cells.towards.T) > np.cos(np.radians(CONE_DEG))
    best = cells.towards[above[int(np.argmax((in_cone * bright).sum(axis=1)))]]
    away = np.degrees(np.arccos(np.clip(product(cells.towards, best), -1, 1)))
    ring = (away > RING_DEG[0]) & (away < RING_DEG[1]) & (cells.towards[:, 2] > 0)
    around = bright[ring].sum() / max(float(cells.solid[ring].sum()), 1e-9)
    more = np.where(away < MAIN_DEG, np.maximum(bright - around * cells.solid, 0.0), 0.0)
    # A sky that is equally bright everywhere still has a brightest place.
    return np.asarray(more if more.sum() > 0 else np.where(away < CONE_DEG, bright, 0.0) * 1e-3)


def _light(light: Light, cells: _Cells, main: FloatArray, from_deg: tuple[float, float]) -> Light:
    """Return a picture's light as one sun and a sky of two colors."""
    bright = np.maximum(_luminance(cells.flows), 1e-12)
    color = product(main / bright, cells.flows)
    rest = 1.0 - main / bright
    above, below = (cells.mean(rest * half) for half in (
        cells.towards[:, 2] > 0, cells.towards[:, 2] <= 0))
    sky = max(float(_luminance(above)), LEAST_SKY)
    return light.model_copy(update={
        "sun_strength": rounded(main.sum()), "sun_from_deg": from_deg,
        "sun_size_deg": max(spread_deg(cells.towards, main), 1.0), "sun_color": tint_of(color),
        "lamps": None, "rim_strength": 0.0, "sky_strength": round(sky, 3),
        "sky_color": tint_of(above), "ground_share": 1.0,
        "ground_color": tuple(np.round(below / sky, 3).tolist())})
