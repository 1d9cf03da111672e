"""Trace rays through a set's cells from the surface that each pixel of a picture sees.

The 16 pixels of each 4 x 4 block trace different rays; results are then averaged over neighbouring
pixels that lie on the same surface, as judged by depth.
"""

from collections.abc import Mapping
from typing import Any

import moderngl
import numpy as np

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.light import give, uniform
from mimegen.rendering.opengl.shaders import WHOLE_VERTEX
from mimegen.rendering.opengl.voxels import Grid
from mimegen.shots.camera import Camera

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

# Functions for the position and normal that a pixel sees, and for positions in the grid of cells.
PLACES = DEPTHS + """\
uniform vec3 corner, eye;
uniform mat3 to_world, to_grid;
uniform vec2 size;
uniform float cell_m, focal, before;
// Always 0: keeps compilers from unrolling loops.
uniform int none;

// The position of a pixel's surface in camera axes: x to the right, y down, z ahead.
vec3 place_at(ivec2 pixel) {
    return depth_at(pixel) * vec3((vec2(pixel) + 0.5 - 0.5 * size) / focal, 1.0);
}

// The step to the next pixel along an axis, from whichever neighbour is nearer in depth: that one
// lies on the same surface.
vec3 slope(ivec2 pixel, vec3 place, ivec2 step) {
    vec3 last = place - place_at(pixel - step), next = place_at(pixel + step) - place;
    return abs(last.z) < abs(next.z) ? last : next;
}

// The position and normal, in world coordinates, of the surface that this pixel sees.
vec3 place_seen(out vec3 normal) {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec3 seen = place_at(pixel);
    normal = to_world * normalize(cross(slope(pixel, seen, ivec2(0, 1)),
                                        slope(pixel, seen, ivec2(1, 0))));
    return eye + to_world * seen;
}

vec3 cell_at(vec3 place) { return (to_grid * place - corner) / cell_m; }

int number_of_pixel() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    return (pixel.x & 3) + 4 * (pixel.y & 3);
}
"""

MEAN_FRAGMENT = DEPTHS + """\
uniform sampler2D noisy_first, noisy_rest;

// The inverse of depth is linear over a plane's pixels; of the two steps along an axis, the smaller
// one stays on the same surface.
float step_of(float last, float here, float next) {
    return abs(here - last) < abs(next - here) ? here - last : next - here;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy), most = textureSize(depths, 0) - 1;
    const ivec2 X = ivec2(1, 0), Y = ivec2(0, 1);
    float here = 1.0 / depth_at(pixel), all = 0.0;
    vec2 steps = vec2(
        step_of(1.0 / depth_at(pixel - X), here, 1.0 / depth_at(pixel + X)),
        step_of(1.0 / depth_at(pixel - Y), here, 1.0 / depth_at(pixel + Y)));
    first = rest = vec4(0.0);
    for (int y = -2; y < 2; y++) {
        for (int x = -2; x < 2; x++) {
            ivec2 at = clamp(pixel + ivec2(x, y), ivec2(0), most);
            float there = here + dot(steps, vec2(at - pixel));
            float same = clamp(1.0 - 20.0 * abs(depth_at(at) * there - 1.0), 0.001, 1.0);
            first += same * texelFetch(noisy_first, at, 0);
            rest += same * texelFetch(noisy_rest, at, 0);
            all += same;
        }
    }
    first /= all;
    rest /= all;
}
"""


def in_grid(grid: Grid, to_grid: FloatArray) -> dict[str, Any]:
    """Return the shaders' uniform values for a grid of cubes.

    ``to_grid`` (4, 4) transforms world coordinates into the grid's coordinates.
    """
    return {"to_grid": to_grid[:3, :3].T, "corner": grid.corner - to_grid[:3, 3],
            "cell_m": float(grid.cell_m[0])}


class PixelRays:
    """A camera's pixels, from whose surfaces rays are traced; draw the depths into it first."""

    def __init__(self, context: moderngl.Context, camera: Camera, near_far: tuple[float, float]
                 ) -> None:
        self.context, self._size = context, (camera.width, camera.height)
        self._depth = context.depth_texture(self._size)
        self._depth.compare_func = ""
        self._depth.filter = moderngl.NEAREST, moderngl.NEAREST
        self._drawn = context.framebuffer(depth_attachment=self._depth)
        axes = quaternions.to_matrices(np.array(camera.rotation)) * [1.0, -1.0, -1.0]
        self._values: dict[str, Any] = {
            "size": np.array(self._size), "near_far": np.array(near_far), "to_world": axes.T,
            "focal": camera.focal_pixels, "eye": np.array(camera.position)}

    def start(self) -> None:
        """Clear the depth picture and make it the target of the following drawing."""
        self._drawn.use()
        self._drawn.clear()

    def found(self, fragment: str, reads: dict[str, moderngl.Texture3D], values: dict[str, Any]
              ) -> tuple[moderngl.Texture, moderngl.Texture]:
        """Run a fragment shader for each pixel; return its outputs averaged over neighbours.

        ``fragment`` is the shader, with outputs ``first`` and ``rest``; ``reads`` are its textures
        and ``values`` its uniform values.
        """
        self.context.enable_only(moderngl.NOTHING)
        return self._meant(self._pass(WHOLE_VERTEX, fragment, {"depths": self._depth, **reads},
                                      values))

    def _meant(self, noisy: tuple[moderngl.Texture, moderngl.Texture]
               ) -> tuple[moderngl.Texture, moderngl.Texture]:
        reads = {"depths": self._depth, "noisy_first": noisy[0], "noisy_rest": noisy[1]}
        return self._pass(WHOLE_VERTEX, MEAN_FRAGMENT, reads, {})

    def _pass(self, vertex: str, fragment: str,
              reads: Mapping[str, moderngl.Texture | moderngl.Texture3D], values: dict[str, Any]
              ) -> tuple[moderngl.Texture, moderngl.Texture]:
        program = self.context.program(vertex, fragment)
        give(program, self._values | values)
        for unit, (name, texture) in enumerate(reads.items()):
            uniform(program, name).value = unit
            texture.use(unit)
        drawn = (self.context.texture(self._size, 4, dtype="f2"),
                 self.context.texture(self._size, 4, dtype="f2"))
        target = self.context.framebuffer(drawn)
        target.use()
        target.clear()
        self.context.vertex_array(program, []).render(moderngl.TRIANGLES, vertices=3)
        return drawn
