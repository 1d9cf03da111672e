"""The light of a set's sky and sun, and of the ground that they light."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mimegen.base.easing import ramp
from mimegen.base.vectors import direction_from
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.bounce import even_directions
from mimegen.rendering.opengl.clouds import COLOR as CLOUD
from mimegen.rendering.opengl.clouds import cloud_shares
from mimegen.rendering.opengl.set_colors import linear, mean_color
from mimegen.scenery.job import SetJob
from mimegen.scenery.layout import world_from_set
from mimegen.scenery.materials import SetMaterial
from mimegen.scenery.scenery import Scenery

# The sine of the elevation at which the horizon's color has faded into the zenith's; as in the
# node tree of Cycles' sky (rendering/cycles/scenery.py).
FADED = 0.45
# Number of directions for integrals over the open sky.
SKY_DIRECTIONS = 512


def sky_colors(scenery: Scenery) -> list[FloatArray]:
    """Return the sky's radiance (3,) at the zenith, at the horizon and below the horizon."""
    sky = scenery.sky
    return [sky.strength * linear(color) for color in (sky.zenith, sky.horizon, sky.ground)]


def radiance(job: SetJob) -> Callable[[FloatArray], FloatArray]:
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
    directions = even_directions(SKY_DIRECTIONS)
    up = np.maximum(directions[:, 2], 0.0)
    return np.asarray(up @ _above(scenery, directions) / up.sum())


def _lit_ground(job: SetJob, ground: SetMaterial) -> FloatArray:
    """Return the radiance (3,) of level ground under the sun and the open sky."""
    sun = job.scenery.sun.strength * linear(job.scenery.sun.color)
    height = direction_from(*job.config.light.sun_from_deg)[2]
    return np.asarray(mean_color(ground) * (sun * height / np.pi + _open_up(job.scenery)))


def sky_halves(scenery: Scenery) -> tuple[float, float]:
    """Return the mean radiance of the sky's upper and lower half, without clouds or set."""
    zenith, horizon, below = (float(color.mean()) for color in sky_colors(scenery))
    return (1 - FADED / 2) * zenith + FADED / 2 * horizon, below


def open_sky(job: SetJob) -> dict[str, Any]:
    """Return the irradiance over pi on surfaces facing up and down, outside of walls.

    The result is the shaders' uniform values.
    """
    under = radiance(job)(np.array([[0.0, 0.0, -1.0]]))[0]
    if not job.scenery.floors:
        # Distant objects at a shore are taken to have as much land as sea around them.
        for shore in (look for look in job.scenery.materials.values() if look.pattern == "shore"):
            under = (under + _lit_ground(job, shore)) / 2
    return {"open_up": _open_up(job.scenery), "open_down": under}
