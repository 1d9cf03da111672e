"""Fine shading by nearby objects: how they change the precomputed light at each pixel.

Points of the grid of light are half a metre to three metres apart. Each pixel sends rays of about
that length through finer cells of matter. A ray that hits an object takes the light that its cell
scatters; a ray that hits nothing takes the grid's light from its direction at the ray's end.
"""

from typing import Any

import moderngl
import numpy as np

from mimegen.rendering.opengl.bounce import Volume
from mimegen.rendering.opengl.light_shaders import VOLUME
from mimegen.rendering.opengl.pixel_rays import PLACES, PixelRays, in_grid
from mimegen.rendering.opengl.set_matter import Cells
from mimegen.rendering.opengl.voxels import Grid

# Rays start BEFORE cells in front of a surface and are REACH distances between grid points long.
BEFORE = 0.6
REACH = 1.5
# With cells larger than this, in metres, objects would darken surfaces merely beside them.
MAX_CELL_M = 0.4
# The value in the ``matter`` texture of cells of walls and glow. Rays stop there but then use the
# grid's light, which already includes these.
A_BIT = 0.25

# Trace a ray through a set's cells, GLSL 3.30.
MEETING = """
// The free distance of each cell; and the light that it sends to its six sides, as six volumes
// stacked along Z.
uniform sampler3D matter, sent;

// The length in cells that a ray reaches, within ``steps`` steps. ``free`` is 0.5 or more if it
// meets no matter; ``cell`` is the cell it meets.
float met(vec3 start, vec3 way, float reach, int steps, out float free, out ivec3 cell) {
    float gone = 0.0;
    ivec3 shape = textureSize(matter, 0);
    free = 9.0;
    for (int i = none; i < steps && gone < reach; i++) {
        cell = ivec3(floor(start + gone * way));
        if (any(lessThan(cell, ivec3(0))) || any(greaterThanEqual(cell, shape))) break;
        float around = texelFetch(matter, cell, 0).r;
        if (around < 0.5 && gone > 0.3) {
            free = around;
            break;
        }
        gone += max(around - 1.2, 0.5);
    }
    return min(gone, reach);
}

// The light that a cell sends against a direction, from the sides that face it.
vec3 sent_against(ivec3 cell, vec3 way) {
    ivec3 up = ivec3(0, 0, textureSize(matter, 0).z);
    vec3 sum = vec3(0.0);
    for (int axis = none; axis < 3; axis++)
        sum += way[axis] * way[axis]
            * texelFetch(sent, cell + (way[axis] < 0.0 ? axis : axis + 3) * up, 0).rgb;
    return sum;
}
"""

NEAR_FRAGMENT = PLACES + VOLUME + MEETING + """
const int STEPS = 16, RAYS = 2;
const float MOST = 1.3;
uniform float reach;

// One of a fixed set of directions above a normal, with a density proportional to the cosine.
vec3 way_above(vec3 normal, int number) {
    float k = float(number) + 0.5, turn = 2.39996323 * k, share = k / float(16 * RAYS);
    vec3 side = normalize(abs(normal.z) < 0.9 ? vec3(normal.y, -normal.x, 0.0)
                                              : vec3(0.0, normal.z, -normal.y));
    return mat3(side, cross(normal, side), normal)
        * vec3(sqrt(share) * vec2(cos(turn), sin(turn)), sqrt(1.0 - share));
}

// The light with nearby objects, as a fraction of the light of the grid alone.
void main() {
    vec3 facing, place = place_seen(facing);
    vec3 normal = to_grid * facing, here = in_set(place);
    vec3 start = cell_at(place) + before * normal, sum = vec3(0.0);
    for (int i = none; i < RAYS; i++) {
        float free;
        ivec3 cell;
        vec3 way = way_above(normal, number_of_pixel() * RAYS + i);
        float gone = met(start, way, reach, STEPS, free, cell);
        vec3 at = texel_of(here + cell_m * (gone * way + before * normal));
        if (free == 0.0) sum += sent_against(cell, way);
        else sum += harmonics(at, way, 1.0, 1.0);
    }
    vec3 open = harmonics(texel_of(here + 0.35 * volume_cell * normal), normal, 0.6667, 0.25);
    vec3 share = clamp(sum / float(RAYS) / max(open, 1e-4), 0.0, MOST);
    first = rest = vec4(mix(share, vec3(1.0), beyond_walls(here)), 1.0);
}
"""


def resolves_near_things(cells: Cells) -> bool:
    """Return whether a set's cells are fine enough for shading by nearby objects."""
    return cells.whole.cell_m < MAX_CELL_M


def cell_maps(context: moderngl.Context, cells: Cells, volume: Volume
              ) -> dict[str, moderngl.Texture3D]:
    """Return the textures that rays are traced in: ``matter``, and the light ``sent`` by its sides.
    """
    grid = cells.whole.grid
    matter = context.texture3d(grid.shape, 1, _matter(cells, volume), dtype="f2")
    x, y, z = grid.shape
    sent = context.texture3d((x, y, 6 * z), 4, _sent(cells, volume), dtype="f2")
    for texture in (matter, sent):
        texture.filter = moderngl.NEAREST, moderngl.NEAREST
    return {"matter": matter, "sent": sent}


def near_light(rays: PixelRays, maps: dict[str, moderngl.Texture3D], grid: Grid,
               values: dict[str, Any]) -> moderngl.Texture:
    """Return, for each pixel, the light with nearby objects as a fraction of the grid's light.

    ``maps`` are the textures of ``cell_maps`` and the ``volume`` texture; ``grid`` is the cells'
    grid. ``values`` are the uniform values of ``volume_values``.
    """
    reach = REACH * float(values["volume_cell"].max() / grid.cell_m[0])
    return rays.found(NEAR_FRAGMENT, maps, {
        **values, **in_grid(grid, values["to_set"]), "before": BEFORE, "reach": reach})[0]


def _matter(cells: Cells, volume: Volume) -> bytes:
    """Return the free distances of cells as half floats.

    Cells of objects seen from the grid of light are 0; walls, glow and unseen matter are A_BIT.
    """
    free = cells.whole.free.copy().ravel()
    known = np.zeros(len(free), np.bool_)
    known[volume.cells] = True
    things = known & (cells.casting.free.ravel() == 0) & ~cells.whole.glows
    free[(free == 0) & ~things] = A_BIT
    return np.ascontiguousarray(free.reshape(cells.whole.grid.shape).T, np.float16).tobytes()


def _sent(cells: Cells, volume: Volume) -> bytes:
    """Return the light that cells' sides send, as RGBA half floats, six volumes stacked along Z."""
    shape = cells.whole.grid.shape
    sent = np.zeros((int(np.prod(shape)), 6, 4), np.float16)
    sent[volume.cells, :, :3] = volume.sent
    return np.ascontiguousarray(sent.reshape(*shape, 6, 4).transpose(3, 2, 1, 0, 4)).tobytes()
