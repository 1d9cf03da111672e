"""Shadows of sun and sky on distant objects, by depth maps from the sun and five sky directions.

Outside the region of the precomputed light there is no grid of light and no fine shadow map of the
sun. Without these maps, tree crowns and stands there would have no shadows and look flat.
"""

from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import direction_from
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.light import depth_map, give
from mimegen.rendering.opengl.shaders import SHADOW_FRAGMENT, SHADOW_VERTEX
from mimegen.rendering.opengl.view import to_sun
from mimegen.scenery.layout import box_corners

# The six maps are tiles of one texture, 3 x 2 of them, each CELLS x CELLS.
CELLS = 1024
TILES = (3, 2)
# Objects farther from the origin than this have no shadow, in metres.
REACH_M = 80.0
# Objects up to this far inside the region also cast shadows on those outside, in metres.
WITHIN_M = 4.0
# The sampled sky directions (azimuth, elevation): straight up, and four sides at the elevation that
# most of the sky's light comes from.
SKY_DEG = ((0.0, 90.0), (110.0, 30.0), (200.0, 30.0), (290.0, 30.0), (20.0, 30.0))

FAR = """
uniform sampler2DShadow far_map;
uniform mat4 to_far[6];
uniform vec3 far_ways[6];

// Whether a point is visible from one of the directions; it is shifted by about two cells, so that
// no surface hides itself.
float seen_along(int number, vec3 place, vec3 normal) {
    vec3 lift = 0.35 * far_ways[number] + 0.15 * normal;
    vec3 at = (to_far[number] * vec4(place + lift, 1.0)).xyz;
    vec2 tile = vec2(number % 3, number / 3);
    float seen = textureLod(far_map, vec3((0.5 * at.xy + 0.5 + tile) / vec2(3.0, 2.0),
                                          0.5 * at.z + 0.5), 0.0);
    return max(abs(at.x), abs(at.y)) < 0.99 ? seen : 1.0;
}

// The fractions of the sky and of the sun that distant objects see; 1 for near objects.
vec2 far_seen(vec3 place, vec3 normal) {
    float beyond = beyond_walls(in_set(place));
    vec2 seen = vec2(1.0);
    for (int i = none; i < int(beyond > 0.0); i++) {
        vec2 sky = vec2(1e-4);
        for (int k = 1 + none; k < 6; k++)
            sky += (max(dot(normal, far_ways[k]), 0.0) + 0.1)
                * vec2(seen_along(k, place, normal), 1.0);
        seen = mix(seen, vec2(sky.x / sky.y, seen_along(0, place, normal)), beyond);
    }
    return seen;
}
"""


def far_values(context: moderngl.Context, casting: NDArray[np.float32], region: FloatArray,
               from_world: FloatArray, sun_from: FloatArray
               ) -> tuple[moderngl.Texture, dict[str, Any]]:
    """Return the texture of the maps and the shaders' uniform values; no values if nothing is far.

    ``casting`` (N, 3) are the corners of triangles in world coordinates. ``region`` (2, 3) is the
    box of the precomputed light, in the coordinates into which ``from_world`` (4, 4) transforms.
    """
    far = _far(casting, region, from_world)
    drawn = depth_map(context, (CELLS * TILES[0], CELLS * TILES[1]) if len(far) else (1, 1))
    directions = np.stack([sun_from, *_sky_directions()])
    if len(far) == 0:
        return drawn, {}
    matrices = [to_sun(_box(far), direction, 1.0)[0] for direction in directions]
    _draw(context, drawn, far, matrices)
    return drawn, {"far_ways": directions, "to_far": np.stack(matrices).swapaxes(1, 2)}


def _draw(context: moderngl.Context, drawn: moderngl.Texture, far: NDArray[np.float32],
          matrices: list[FloatArray]) -> None:
    """Draw the depths of distant triangles, one tile for each matrix."""
    target = context.framebuffer(depth_attachment=drawn)
    target.use()
    target.clear()
    program = context.program(SHADOW_VERTEX, SHADOW_FRAGMENT)
    corners = context.vertex_array(program, [(context.buffer(far.tobytes()), "3f", "place")])
    context.enable_only(moderngl.DEPTH_TEST)
    for number, matrix in enumerate(matrices):
        target.viewport = (CELLS * (number % TILES[0]), CELLS * (number // TILES[0]), CELLS, CELLS)
        give(program, {"to_shadow": matrix})
        corners.render()


def _far(casting: NDArray[np.float32], region: FloatArray, from_world: FloatArray
         ) -> NDArray[np.float32]:
    """Return the corners (N, 3) of triangles outside the region, or inside near its border.

    The result is empty if no triangle is more than 1 m outside.
    """
    first = casting[::3] @ from_world[:2, :3].T.astype(np.float32) + from_world[:2, 3]
    beyond = np.maximum(region[0, :2] - first, first - region[1, :2]).max(axis=1)
    kept = beyond > -WITHIN_M
    if not (beyond > 1.0).any():
        return np.zeros((0, 3), np.float32)
    kept &= np.abs(casting[::3, :2]).max(axis=1) < REACH_M
    return np.asarray(casting.reshape(-1, 9)[kept].reshape(-1, 3))


def _box(corners: NDArray[np.float32]) -> FloatArray:
    """Return the eight corners (8, 3) of the bounding box of positions (N, 3), clipped to REACH_M.

    Clipping is needed for seas, which reach to the horizon.
    """
    most = np.full(3, REACH_M)
    low, high = np.maximum(corners.min(axis=0), -most), np.minimum(corners.max(axis=0), most)
    return box_corners(low, high)


def _sky_directions() -> FloatArray:
    """Return the unit vectors (5, 3) towards the sampled directions of the sky."""
    return np.stack([direction_from(turn, rise) for turn, rise in SKY_DEG])
