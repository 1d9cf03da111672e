"""The light that reaches a performer in a set: from lamps, and from its sky and surfaces."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mimegen.base.vectors import product
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.bounce import SINGLE
from mimegen.rendering.opengl.set_build import build_set, triangles
from mimegen.rendering.opengl.set_light import (
    lamp_parts,
    moved,
    set_from_world,
    set_volume,
)
from mimegen.scenery.job import SetJob
from mimegen.scenery.scenery import Scenery
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig

# The six directions for which light is computed: up, down and four sides.
FACING = np.array([[0, 0, 1], [0, 0, -1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], float)
# Heights above the world's origin at which light is computed, in metres: knees and chest.
HEIGHTS = (0.5, 1.3)
# Number of points of the grid of light, roughly.
PLACES = 400


@dataclass(frozen=True, eq=False)
class Reaching:
    """The light that reaches a performer.

    ``flows`` (N, 3) is the irradiance from lamps in directions ``ways`` (N, 3), on surfaces facing
    them. ``rest`` (6, 3) is the irradiance over pi on surfaces facing ``FACING``, of all light that
    does not come directly from lamps or the sun.
    """

    ways: FloatArray
    flows: FloatArray
    rest: FloatArray


def reaching_light(scenery: Scenery, config: RenderConfig) -> Reaching:
    """Return the light that reaches a performer at the world's origin, inside all of a set's walls.
    """
    inside = Camera((0.0, -0.5, HEIGHTS[1]), (1.0, 0.0, 0.0, 0.0), 50.0, 16, 16)
    job = SetJob(scenery, inside, config, Path())
    built = build_set(job)
    _, volume = set_volume(job, triangles(built.shell), triangles(built.inner), PLACES)
    own = set_from_world(scenery)
    places = [np.tile(moved(np.array([0.0, 0.0, height]), own), (len(FACING), 1))
              for height in HEIGHTS]
    rest = np.mean([volume.over_pi(place, FACING @ own[:3, :3].T) for place in places], axis=0)
    return Reaching(*_beams(scenery), rest)


def _beams(scenery: Scenery) -> tuple[FloatArray, FloatArray]:
    """Return the directions (N, 3) to lamps' parts, and the irradiance (N, 3) facing them."""
    parts, lamps = lamp_parts(scenery)
    # The volume of light already holds the lamps after the first ones.
    parts = parts[lamps < SINGLE]
    away = parts[:, :3] - [0.0, 0.0, np.mean(HEIGHTS)]
    far = np.linalg.norm(away, axis=1, keepdims=True)
    ways = away / far
    shone = np.maximum(-(ways * parts[:, 3:6]).sum(axis=1), 0.0)[:, None]
    return ways, parts[:, 6:9] * shone / np.pi / (far**2 + 0.3 * parts[:, 9:])


def on_sides(ways: FloatArray, flows: FloatArray) -> FloatArray:
    """Return the irradiance over pi (6, 3) on ``FACING`` of ``flows`` (N, 3) from ``ways``."""
    return product(np.maximum(product(FACING, ways.T), 0.0), flows) / np.pi
