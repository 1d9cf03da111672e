"""A set's own light: its sun, sky and lamps, and the precomputed light they give.

Light is computed in the set's own coordinates, because most walls and objects are parallel to
their axes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import direction_from
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.bounce import (
    SetLight,
    Spread,
    Volume,
    even_directions,
    spread_light,
)
from mimegen.rendering.opengl.glowing import glowing_parts, screens
from mimegen.rendering.opengl.light_choice import nearby, rays_to_sky
from mimegen.rendering.opengl.set_colors import linear, mean_color
from mimegen.rendering.opengl.set_lamps import HIDDEN_PART_M, lamp_parts
from mimegen.rendering.opengl.set_matter import (
    Cells,
    all_moved,
    even_grid,
    far_matter,
    light_region,
    moved,
    set_cells,
    set_from_world,
    surfaces_of,
    under_ceiling,
)
from mimegen.rendering.opengl.set_sky import SKY_DIRECTIONS, radiance, sky_halves
from mimegen.rendering.opengl.voxels import ColoredTriangles
from mimegen.scenery.job import SetJob
from mimegen.scenery.scenery import Scenery

# Approximate number of points of the grid of light.
PLACES = 4000


def set_volume(job: SetJob, shell: Mapping[str, NDArray[np.float32]],
               inner: Mapping[str, NDArray[np.float32]], most: int = PLACES
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
    inner = all_moved(lit.inner, own)
    surfaces = surfaces_of(scenery, inner)
    cells = set_cells(scenery, surfaces_of(scenery, all_moved(lit.shell, own)), surfaces)
    places = even_grid(*light_region(scenery), lit.most)
    light = _light(lit.job, inner, surfaces)
    return cells, spread_light(cells.whole, cells.casting, light, places,
                               under_ceiling(scenery, places))


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


def _light(job: SetJob, triangles: Mapping[str, NDArray[np.float32]],
           surfaces: Sequence[ColoredTriangles]) -> SetLight:
    scenery = job.scenery
    sun = scenery.sun.strength * linear(scenery.sun.color)
    own = set_from_world(scenery)
    sun_from = own[:3, :3] @ direction_from(*job.config.light.sun_from_deg)
    parts, lamp_of = lamp_parts(scenery, HIDDEN_PART_M)
    parts[:, :3], parts[:, 3:6] = moved(parts[:, :3], own), parts[:, 3:6] @ own[:3, :3].T
    glowing = [(float(mean_color(look).mean()), triangles[name])
               for name, look in scenery.materials.items() if look.glow > 0 and name in triangles]
    upper, lower = sky_halves(scenery)
    to_sky = rays_to_sky(np.pi * (upper + lower) / 2, float(sun.mean() * sun_from[2]),
                         nearby(parts, glowing))

    def above(places: FloatArray) -> FloatArray:
        """Return the fraction of light rays to the sky's upper half, by its share of the light."""
        return to_sky(places) * upper / max(upper + lower, 1e-9)

    sky = radiance(job)
    # Distant objects that hide the sky are lit like a sphere in the open: a quarter of the sun's
    # irradiance over pi, and the mean of the sky's radiance.
    far_light = sun / (4 * np.pi) + sky(even_directions(SKY_DIRECTIONS)).mean(axis=0)
    return SetLight(parts, lamp_of, sky, above, sun, sun_from, glowing_parts(surfaces),
                    screens(surfaces, *light_region(scenery)), far_matter(scenery, surfaces),
                    far_light)


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
