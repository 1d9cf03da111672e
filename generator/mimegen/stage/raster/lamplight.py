"""How much each pixel sees of a set's lamps: rays from its place through the set's matter.

Places of light lie too far apart to tell what a car or a seat hides of a lamp. Pixels of four by
four look at parts of each lamp and share what they find where they are as far away.
"""

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from mimegen.motion import quaternions
from mimegen.stage.camera import Camera
from mimegen.stage.raster.bounce import FIXTURE
from mimegen.stage.raster.light import give, uniform
from mimegen.stage.raster.shaders import WHOLE_VERTEX
from mimegen.stage.raster.voxels import Grid

# Rays start so far before a surface, in cells: matter fills whole cells, also beside slopes.
BEFORE = 1.2

DEPTHS = """\
#version 330
uniform sampler2D depths;
uniform vec2 near_far;
layout(location = 0) out vec4 first;
layout(location = 1) out vec4 rest;
float depth_at(ivec2 pixel) {
    ivec2 most = textureSize(depths, 0) - 1;
    float depth = 2.0 * texelFetch(depths, clamp(pixel, ivec2(0), most), 0).r - 1.0;
    return 2.0 * near_far.x * near_far.y
        / (near_far.y + near_far.x - depth * (near_far.y - near_far.x));
}
"""

LOOK_FRAGMENT = DEPTHS + """\
const int STEPS = 40, PARTS = 16, LOOKS = 2;
uniform sampler3D matter;
uniform vec3 corner, eye;
uniform mat3 to_world;
uniform vec2 size;
uniform float cell_m, focal, before, fixture;
uniform int none, lamps;
uniform vec3 lamp_at[8], lamp_way[8], lamp_side[8], lamp_other[8];
// Along its sides a lamp has so many parts, PARTS in all.
uniform vec2 lamp_parts[8];

// As the camera sees it: x to the right, y down, z ahead.
vec3 place_at(ivec2 pixel) {
    return depth_at(pixel) * vec3((vec2(pixel) + 0.5 - 0.5 * size) / focal, 1.0);
}

// Along an axis the neighbour that is nearer in depth lies on the same surface.
vec3 slope(ivec2 pixel, vec3 place, ivec2 step) {
    vec3 last = place - place_at(pixel - step), next = place_at(pixel + step) - place;
    return abs(last.z) < abs(next.z) ? last : next;
}

// Whether a ray through the cells comes so far and meets no matter but that it starts in.
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

// Shares of one by which pixels differ evenly (Jimenez, Next generation post processing in Call of
// Duty: Advanced Warfare, 2014).
float strewn(vec2 pixel) {
    return fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715))));
}

// Where the middle of a lamp's part lies, from -1 to 1 along its sides.
vec2 part_at(int number, int part) {
    vec2 many = lamp_parts[number];
    float across = floor(float(part) / many.x);
    return 2.0 * (vec2(float(part) - across * many.x, across) + 0.5) / many - 1.0;
}

// The share of a lamp's light that comes: a lamp's parts are looked at as often as they shine.
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
        found += comes(start, way / far, far / cell_m - fixture) / float(LOOKS);
    }
    return found;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec3 seen = place_at(pixel);
    vec3 normal = to_world * normalize(cross(slope(pixel, seen, ivec2(0, 1)),
                                             slope(pixel, seen, ivec2(1, 0))));
    vec3 place = eye + to_world * seen;
    vec3 start = (place - corner) / cell_m + before * normal;
    int which = (pixel.x & 3) + 4 * (pixel.y & 3);
    first = rest = vec4(1.0);
    for (int i = none; i < lamps; i++) {
        float found = lamp_seen(i, place, start, normal, (7 * which + 5 * i) & 15);
        if (i < 4) first[i] = found; else rest[i - 4] = found;
    }
}
"""

MEAN_FRAGMENT = DEPTHS + """\
uniform sampler2D noisy_first, noisy_rest;
void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy), most = textureSize(depths, 0) - 1;
    float here = depth_at(pixel), all = 0.0;
    first = rest = vec4(0.0);
    for (int y = -2; y < 2; y++) {
        for (int x = -2; x < 2; x++) {
            ivec2 at = clamp(pixel + ivec2(x, y), ivec2(0), most);
            float same = clamp(1.0 - 20.0 * abs(depth_at(at) / here - 1.0), 0.001, 1.0);
            first += same * texelFetch(noisy_first, at, 0);
            rest += same * texelFetch(noisy_rest, at, 0);
            all += same;
        }
    }
    first /= all;
    rest /= all;
}
"""


class LampsSeen:
    """How much each pixel of a camera's picture sees of lamps, by the depths drawn into it."""

    def __init__(self, context: moderngl.Context, camera: Camera, grid: Grid,
                 free: NDArray[np.float32], near_far: tuple[float, float]) -> None:
        self._context, self._size = context, (camera.width, camera.height)
        self._depth = context.depth_texture(self._size)
        self._depth.compare_func = ""
        self._depth.filter = moderngl.NEAREST, moderngl.NEAREST
        self._drawn = context.framebuffer(depth_attachment=self._depth)
        cells = np.ascontiguousarray(free.T, np.float16)
        self._matter = context.texture3d(grid.shape, 1, cells.tobytes(), dtype="f2")
        self._matter.filter = moderngl.NEAREST, moderngl.NEAREST
        axes = quaternions.to_matrices(np.array(camera.rotation)) * [1.0, -1.0, -1.0]
        self._values: dict[str, Any] = {
            "size": np.array(self._size), "near_far": np.array(near_far), "to_world": axes.T,
            "focal": camera.focal_pixels, "eye": np.array(camera.position), "before": BEFORE,
            "fixture": FIXTURE, "corner": grid.corner, "cell_m": float(grid.cell_m[0])}

    def start(self) -> None:
        """Draw depths into it from now on."""
        self._drawn.use()
        self._drawn.clear()

    def found(self, lamps: dict[str, Any]) -> tuple[moderngl.Texture, moderngl.Texture]:
        """Return how much of ``lamps`` (``lamp_values``) is seen, 0 to 1, four in a picture."""
        self._context.enable_only(moderngl.NOTHING)
        self._values |= lamps
        first, rest = self._pass(LOOK_FRAGMENT, {"depths": self._depth, "matter": self._matter})
        return self._pass(MEAN_FRAGMENT, {
            "depths": self._depth, "noisy_first": first, "noisy_rest": rest})

    def _pass(self, fragment: str, reads: dict[str, moderngl.Texture | moderngl.Texture3D]
              ) -> tuple[moderngl.Texture, moderngl.Texture]:
        program = self._context.program(WHOLE_VERTEX, fragment)
        give(program, self._values)
        for unit, (name, texture) in enumerate(reads.items()):
            uniform(program, name).value = unit
            texture.use(unit)
        drawn = (self._context.texture(self._size, 4, dtype="f2"),
                 self._context.texture(self._size, 4, dtype="f2"))
        self._context.framebuffer(drawn).use()
        self._context.vertex_array(program, []).render(moderngl.TRIANGLES, vertices=3)
        return drawn
