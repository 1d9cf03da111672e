"""Light figures by an environment picture: adjust its exposure, white balance and rotation.

Cycles traces the picture itself. For projected shadows, drafts and sets, which cannot, its main
light becomes a sun.
"""

from dataclasses import dataclass

import numpy as np

from mimegen.base.angles import wrapped_deg
from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.base.vectors import product
from mimegen.compositing.color import LUMINANCE
from mimegen.motion.quaternions import FloatArray
from mimegen.plan.lighting import MIN_SKY, azimuth_elevation, rounded, spread_deg, tint_of
from mimegen.rendering.surroundings import EnvironmentMap
from mimegen.shots.config import Light, RenderConfig, World

# Fraction of the light's color that a camera's white balance removes, as in a photograph.
BALANCED = 0.85
# To find the main light, cones of this half-angle in all directions are compared. The main light is
# the light within MAIN_DEG of the brightest cone's axis that exceeds the brightness of the ring
# between RING_DEG around it. In degrees.
CONE_DEG = 15.0
MAIN_DEG = 25.0
RING_DEG = (25.0, 60.0)
# Lowest mean brightness of a picture that counts as a light, and the lowest fraction of a picture's
# light that comes from above the horizon.
DARKEST = 1e-6
MIN_FROM_ABOVE = 0.01


@dataclass(frozen=True, eq=False)
class _Cells:
    """A picture's cells: unit vectors (N, 3) towards them, solid angles (N,), flows (N, 3)."""

    towards: FloatArray
    solid: FloatArray
    flows: FloatArray

    def mean(self, chosen: FloatArray) -> FloatArray:
        """Return the mean light (3,) of cells by weights (N,)."""
        return np.asarray(product(chosen, self.flows) / max(float((chosen * self.solid).sum()),
                                                            1e-9))


def lit_by(config: RenderConfig, name: str, found: EnvironmentMap, from_deg: float | None
           ) -> RenderConfig:
    """Return a config whose figures are lit by a picture, at the same mean brightness as before.

    The picture is rotated so that its main light comes from azimuth ``from_deg``, or if that is
    None, from the azimuth of the config's sun. Raises RequestError for a black picture, and for one
    without light from above.
    """
    cells = _cells(found.light)
    _check_light(cells, name)
    if config.light.ground_albedo > 0:
        cells = _above(cells)
    balance = _balance(cells, _fluence(config.light))
    cells = _Cells(cells.towards, cells.solid, cells.flows * balance)
    main = _main_light(cells)
    azimuth, elevation = azimuth_elevation(main @ cells.towards)
    wanted = config.light.sun_from_deg[0] if from_deg is None else from_deg
    light = _light(config.light, cells, main, (wanted, elevation))
    world = World.model_validate({
        "picture": name, "sha256": file_hash(found.file), "suffix": found.file.suffix.lower(),
        "turn_deg": wrapped_deg(wanted - azimuth), "balance": balance.tolist(),
        "file": found.file.resolve()})
    return config.model_copy(update={"light": light, "world": world})


def _check_light(cells: _Cells, name: str) -> None:
    bright = _luminance(cells.flows)
    if bright.sum() / (4 * np.pi) < DARKEST:
        raise RequestError(f"--light {name}: the picture is black")
    if bright[cells.towards[:, 2] > 0].sum() < MIN_FROM_ABOVE * bright.sum():
        raise RequestError(f"--light {name}: the picture has no light above the horizon; expected"
                           " the sky in its upper half")


def _above(cells: _Cells) -> _Cells:
    """Return the cells above the horizon; a real ground hides the others from figures."""
    chosen = cells.towards[:, 2] > 0
    return _Cells(cells.towards[chosen], cells.solid[chosen], cells.flows[chosen])


def _cells(light: FloatArray) -> _Cells:
    """Return the cells of an equirectangular picture, whose middle lies at +X as in Blender."""
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
    """Return the light of suns and sky summed over all directions that reach a figure."""
    lamps = light.lamps.strength if light.lamps is not None else light.rim_strength
    below = 0.0 if light.ground_albedo > 0 else light.ground_share
    halves = np.array(light.sky_color) + below * np.array(light.ground_color or light.sky_color)
    return float(light.sun_strength + lamps
                 + 2 * np.pi * light.sky_strength * _luminance(halves))


def _balance(cells: _Cells, fluence: float) -> FloatArray:
    """Return the factors for linear red, green and blue, to four digits."""
    own = cells.flows.sum(axis=0)
    gray = float(_luminance(own))
    color = np.maximum(own / gray, 0.02) ** -BALANCED
    scaled = color * fluence / float(_luminance(own * color))
    return np.array([float(f"{factor:.4g}") for factor in scaled])


def _main_light(cells: _Cells) -> FloatArray:
    """Return the light (N,) of each cell that belongs to the main light from above."""
    bright = _luminance(cells.flows)
    above = np.flatnonzero(cells.towards[:, 2] > 0)
    in_cone = product(cells.towards[above], cells.towards.T) > np.cos(np.radians(CONE_DEG))
    best = cells.towards[above[int(np.argmax((in_cone * bright).sum(axis=1)))]]
    away = np.degrees(np.arccos(np.clip(product(cells.towards, best), -1, 1)))
    ring = (away > RING_DEG[0]) & (away < RING_DEG[1]) & (cells.towards[:, 2] > 0)
    around = bright[ring].sum() / max(float(cells.solid[ring].sum()), 1e-9)
    more = np.where(away < MAIN_DEG, np.maximum(bright - around * cells.solid, 0.0), 0.0)
    # A uniformly bright sky still needs a direction: take its brightest cone, at very low strength.
    return np.asarray(more if more.sum() > 0 else np.where(away < CONE_DEG, bright, 0.0) * 1e-3)


def _light(light: Light, cells: _Cells, main: FloatArray, from_deg: tuple[float, float]) -> Light:
    """Return a picture's light as one sun and a sky of two colors."""
    bright = np.maximum(_luminance(cells.flows), 1e-12)
    color = product(main / bright, cells.flows)
    rest = 1.0 - main / bright
    above, below = (cells.mean(rest * half) for half in (
        cells.towards[:, 2] > 0, cells.towards[:, 2] <= 0))
    sky = max(float(_luminance(above)), MIN_SKY)
    return light.model_copy(update={
        "sun_strength": rounded(main.sum()), "sun_from_deg": from_deg,
        "sun_size_deg": max(spread_deg(cells.towards, main), 1.0), "sun_color": tint_of(color),
        "lamps": None, "rim_strength": 0.0, "sky_strength": round(sky, 3),
        "sky_color": tint_of(above), "ground_share": 1.0,
        "ground_color": tuple(np.round(below / sky, 3).tolist())})
