"""The directions that the light on the ground comes from: suns, lamps and the sky."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.grid import on_grid
from mimegen.base.vectors import direction_from
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.config import Light, WideSun

SUN_DIRECTIONS = 32
SKY_DIRECTIONS = 96
# Directions to lamps. The sine of their elevation is at least LOWEST_LAMP; their weights, 0 to 1,
# are stored in steps of 1 / WEIGHTS.
LAMP_DIRECTIONS = 64
LOWEST_LAMP = 0.05
WEIGHTS = 255
# Light from lower in the sky is left out: its shadows are long and too faint to be seen.
LOWEST_SKY_DEG = 12.0


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
    directions = [equally_weighted(sun_directions(light)),
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


def _axes(from_deg: tuple[float, float]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the direction (3,) to a sun, and two perpendicular to it: sideways and up."""
    azimuth = np.radians(from_deg[0])
    towards = direction_from(*from_deg)
    side = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    return towards, side, np.cross(towards, side)


def equally_weighted(towards: FloatArray) -> Directions:
    """Return directions (N, 3) with equal weights."""
    return Directions(towards, np.ones(len(towards), np.uint16))


def _cosine_weighted(towards: FloatArray) -> Directions:
    """Return directions weighted by the cosine of their light's angle to the ground's normal."""
    caught = np.maximum(towards[:, 2], LOWEST_LAMP)
    raised = np.column_stack([towards[:, :2], caught])
    return Directions(on_grid(raised), np.round(WEIGHTS * caught).astype(np.uint16))
