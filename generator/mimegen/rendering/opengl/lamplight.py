"""Visibility of a set's lamps for each pixel, by rays from the seen surface through the matter.

The grid of precomputed light is too coarse for the shadow that a car or a seat casts in a lamp's
light. The pixels of each 4 x 4 block sample different parts of each lamp, and share their results
with pixels of similar depth.
"""

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.bounce import FIXTURE
from mimegen.rendering.opengl.pixel_rays import PLACES, PixelRays, in_grid
from mimegen.rendering.opengl.voxels import Grid

# Distance in front of a surface at which rays start, in cells. Matter fills whole cells, even
# beside a slope, so nearer rays would start inside it.
BEFORE = 1.2

LOOK_FRAGMENT = PLACES + """\
const int STEPS = 40, PARTS = 16, LOOKS = 2;
uniform sampler3D matter;
uniform float fixture;
uniform int lamps;
uniform vec3 lamp_at[8], lamp_way[8], lamp_side[8], lamp_other[8];
// The numbers of parts along a lamp's two sides; their product is PARTS.
uniform vec2 lamp_parts[8];

// Whether a ray through the cells reaches the distance ``far`` without meeting matter, other than
// that in which it starts.
float comes(vec3 start, vec3 way, float far) {
    float gone = 0.0;
    ivec3 shape = textureSize(matter, 0);
    for (int i = none; i < STEPS && gone < far; i++) {
        ivec3 cell = ivec3(floor(start + gone * way));
        if (any(lessThan(cell, ivec3(0))) || any(greaterThanEqual(cell, shape))) return 1.0;
        float free = texelFetch(matter, cell, 0).r;
        if (free < 0.5 && gone > 0.3) return 0.0;
        gone += max(free - 1.2, 0.5);
    }
    return 1.0;
}

// Values from 0 to 1 that are spread evenly over neighbouring pixels (Jimenez, Next generation post
// processing in Call of Duty: Advanced Warfare, 2014).
float strewn(vec2 pixel) {
    return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}

// The centre of a lamp's part, from -1 to 1 along its sides.
vec2 part_at(int number, int part) {
    vec2 many = lamp_parts[number];
    float across = floor(float(part) / many.x);
    return 2.0 * (vec2(float(part) - across * many.x, across) + 0.5) / many - 1.0;
}

// The visible fraction of a lamp's light. Parts are sampled in proportion to their light at the
// point.
float lamp_seen(int number, vec3 place, vec3 start, vec3 normal, int which) {
    vec2 pixel = gl_FragCoord.xy;
    vec2 within = (2.0 * vec2(strewn(pixel), strewn(pixel.yx + 17.0)) - 1.0) / lamp_parts[number];
    float until[PARTS], all = 0.0, found = 0.0;
    for (int k = none; k < PARTS; k++) {
        vec2 at = part_at(number, k);
        vec3 way = lamp_at[number] + at.x * lamp_side[number] + at.y * lamp_other[number] - place;
        float squared = dot(way, way);
        all += max(dot(way, normal), 0.0) * max(-dot(way, lamp_way[number]), 0.0)
            / (squared * squared + 0.01);
        until[k] = all;
    }
    if (all < 1e-7) return 1.0;
    for (int i = none; i < LOOKS; i++) {
        float drawn = all * (float(which * LOOKS + i) + 0.5) / float(PARTS * LOOKS);
        int part = 0;
        for (int k = none; k < PARTS - 1; k++) part += until[k] < drawn ? 1 : 0;
        vec2 at = part_at(number, part);
        at += i == 0 ? within : -within;
        vec3 way = lamp_at[number] + at.x * lamp_side[number] + at.y * lamp_other[number] - place;
        float far = length(way);
        found += comes(start, to_grid * way / far, far / cell_m - fixture) / float(LOOKS);
    }
    return found;
}

void main() {
    vec3 normal, place = place_seen(normal);
    vec3 start = cell_at(place) + before * (to_grid * normal);
    int which = number_of_pixel();
    first = rest = vec4(1.0);
    for (int i = none; i < lamps; i++) {
        float found = lamp_seen(i, place, start, normal, (7 * which + 5 * i) & 15);
        if (i < 4) first[i] = found; else rest[i - 4] = found;
    }
}
"""


def lamps_seen(rays: PixelRays, grid: Grid, free: NDArray[np.float32], to_grid: FloatArray,
               lamps: dict[str, Any]) -> tuple[moderngl.Texture, moderngl.Texture]:
    """Return the visible fraction, 0 to 1, of each lamp in two RGBA pictures, four lamps in each.

    ``lamps`` are the uniform values of ``lamp_values``. ``free`` (X, Y, Z) is as in ``Voxels``;
    ``to_grid`` (4, 4) transforms world coordinates into the grid's coordinates.
    """
    cells = np.ascontiguousarray(free.T, np.float16)
    matter = rays.context.texture3d(grid.shape, 1, cells.tobytes(), dtype="f2")
    return rays.found(LOOK_FRAGMENT, {"matter": matter}, {
        **lamps, **in_grid(grid, to_grid), "before": BEFORE, "fixture": FIXTURE})
