"""The light that reaches a performer in a set, from its lamps, its sun, its sky and its things."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mimegen.base.vectors import product
from mimegen.motion.quaternions import FloatArray
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

# Up, down and to four sides.
FACING = np.array([[0, 0, 1], [0, 0, -1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], float)
# Where light is told, in metres: at knees and at the chest, at the world's origin.
HEIGHTS = (0.5, 1.3)
# At so many places light is followed.
PLACES = 400


@dataclass(frozen=True, eq=False)
class Reaching:
    """What comes from lamps along ``ways`` (N, 3), as irradiance ``flows`` (N, 3) across them.

    ``rest`` (6, 3) is the irradiance over pi on what faces ``FACING`` of all but lamps and sun.
    """

    ways: FloatArray
    flows: FloatArray
    rest: FloatArray


def reaching_light(scenery: Scenery, config: RenderConfig) -> Reaching:
    """Return the light that reaches who stands in the middle of a set with all of its walls."""
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
    """Return the directions (N, 3) to lamps' parts and their irradiance across (N, 3)."""
    parts, _ = lamp_parts(scenery)
    away = parts[:, :3] - [0.0, 0.0, np.mean(HEIGHTS)]
    far = np.linalg.norm(away, axis=1, keepdims=True)
    ways = away / far
    shone = np.maximum(-(ways * parts[:, 3:6]).sum(axis=1), 0.0)[:, None]
    return ways, parts[:, 6:9] * shone / np.pi / (far**2 + 0.3 * parts[:, 9:])


def on_sides(ways: FloatArray, flows: FloatArray) -> FloatArray:
    """Return the irradiance over pi (6, 3) on ``FACING`` of flows (N, 3) along ways (N, 3)."""
    return product(np.maximum(product(FACING, ways.T), 0.0), flows) / np.pi
