"""The light that reaches a performer in a set: from lamps, and from its sky and surfaces."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mimegen.base.vectors import product
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.bounce import MAX_DIRECT_LAMPS
from mimegen.rendering.opengl.set_build import build_set, triangles
from mimegen.rendering.opengl.set_lamps import lamp_parts
from mimegen.rendering.opengl.set_light import set_volume
from mimegen.rendering.opengl.set_matter import moved, set_from_world
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
class IncidentLight:
    """The light that reaches a performer.

    ``irradiances`` (N, 3) come from lamps in ``directions`` (N, 3), on surfaces facing them.
    ``ambient`` (6, 3) is the irradiance over pi on surfaces facing ``FACING``, of all light that
    does not come directly from lamps or the sun.
    """

    directions: FloatArray
    irradiances: FloatArray
    ambient: FloatArray


def incident_light(scenery: Scenery, config: RenderConfig) -> IncidentLight:
    """Return the light that reaches a performer at the world's origin, inside all of a set's walls.
    """
    inside = Camera((0.0, -0.5, HEIGHTS[1]), (1.0, 0.0, 0.0, 0.0), 50.0, 16, 16)
    job = SetJob(scenery, inside, config, Path())
    built = build_set(job)
    _, volume = set_volume(job, triangles(built.shell), triangles(built.inner), PLACES)
    own = set_from_world(scenery)
    places = [np.tile(moved(np.array([0.0, 0.0, height]), own), (len(FACING), 1))
              for height in HEIGHTS]
    ambient = np.mean([volume.over_pi(place, FACING @ own[:3, :3].T) for place in places], axis=0)
    return IncidentLight(*_beams(scenery), ambient)


def _beams(scenery: Scenery) -> tuple[FloatArray, FloatArray]:
    """Return the directions (N, 3) to lamps' parts, and the irradiance (N, 3) facing them."""
    parts, lamps = lamp_parts(scenery)
    # The volume of light already holds the lamps after the first ones.
    parts = parts[lamps < MAX_DIRECT_LAMPS]
    away = parts[:, :3] - [0.0, 0.0, np.mean(HEIGHTS)]
    far = np.linalg.norm(away, axis=1, keepdims=True)
    directions = away / far
    shone = np.maximum(-(directions * parts[:, 3:6]).sum(axis=1), 0.0)[:, None]
    return directions, parts[:, 6:9] * shone / np.pi / (far**2 + 0.3 * parts[:, 9:])


def on_sides(directions: FloatArray, irradiances: FloatArray) -> FloatArray:
    """Return the irradiance over pi (6, 3) on ``FACING`` of light (N, 3) from ``directions``."""
    return product(np.maximum(product(FACING, directions.T), 0.0), irradiances) / np.pi
