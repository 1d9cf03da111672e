"""What metals mirror: rays from each of their pixels through a set's cells.

Light that is worked out once tells of each place how much comes from around, but not from where
in particular. Each pixel of a metal sends two rays along facets of its own roughness, those of four
by four together 32, and finds what the cells send that these meet.
"""

from collections.abc import Callable
from typing import Any

import moderngl

from mimegen.rendering.opengl.light_shaders import VOLUME
from mimegen.rendering.opengl.mirror import FACET
from mimegen.rendering.opengl.near_light import MEETING
from mimegen.rendering.opengl.pattern_shaders import SKY
from mimegen.rendering.opengl.pixel_rays import PLACES, PixelRays, in_grid
from mimegen.rendering.opengl.voxels import Grid
from mimegen.scenery.materials import SetMaterial

# Rays start so far before a surface, in cells: matter fills whole cells, also beside slopes.
BEFORE = 1.2
# Metals that are rougher mirror what is around.
ROUGHEST = 0.6

METAL_VERTEX = """\
#version 330
invariant gl_Position;
uniform mat4 to_picture;
in vec3 place, normal;
out vec3 at, facing;
void main() {
    gl_Position = to_picture * vec4(place, 1.0);
    at = place; facing = normal;
}
"""

METAL_FRAGMENT = PLACES + SKY + VOLUME + "const float PI = 3.14159265;" + FACET + MEETING + """
const int STEPS = 40, RAYS = 2;
uniform float roughness;
in vec3 at, facing;

// What comes from where a ray leads: what a cell sends; where that is not known what is around;
// beyond all cells the sky.
vec3 light_from(vec3 start, vec3 way) {
    float free;
    ivec3 cell;
    vec3 turned = to_grid * way;
    float gone = met(start, turned, 1e4, STEPS, free, cell);
    if (free > 0.5) return way.z > 0.0 ? sky_above(way) : open_down;
    vec4 found = sent_against(cell, turned, 0.0);
    vec3 around = volume_mirrored(at + cell_m * gone * way, way, 1.0);
    return found.w > 0.01 ? found.rgb / found.w : around;
}

void main() {
    vec3 normal = normalize(facing) * (gl_FrontFacing ? 1.0 : -1.0), view = normalize(eye - at);
    vec3 across = normalize(cross(normal, abs(normal.z) < 0.9 ? vec3(0.0, 0.0, 1.0)
                                                              : vec3(1.0, 0.0, 0.0)));
    mat3 own = mat3(across, cross(normal, across), normal);
    vec3 to = view * own, start = cell_at(at) + before * (to_grid * normal);
    mat3 turned = to_grid * own;
    float wide = max(roughness * roughness, 0.0025), squared = wide * wide, all = 1e-4;
    to.z = max(to.z, 0.01);
    float seen = sqrt(squared + (1.0 - squared) * to.z * to.z);
    vec3 sum = vec3(0.0);
    for (int i = none; i < RAYS; i++) {
        float number = float(number_of_pixel() * RAYS + i);
        vec2 share = vec2((number + 0.5) / float(16 * RAYS), fract(number * 0.618034));
        vec3 way = reflect(-to, facet(to, wide, share));
        if (way.z <= 0.0) continue;
        // Of facets that are seen so many are lit as well (Heitz 2014, heights correlated).
        float lit = sqrt(squared + (1.0 - squared) * way.z * way.z);
        float weight = way.z * (seen + to.z) / (to.z * lit + way.z * seen);
        // What cells send is blended between them by rays that start a cell apart.
        vec2 aside = fract(number * vec2(0.7548777, 0.5698403)) - 0.5;
        sum += weight * light_from(start + turned * vec3(aside, 0.0), own * way);
        all += weight;
    }
    first = rest = vec4(sum / all, 1.0);
}
"""


def is_metal(material: SetMaterial) -> bool:
    """Return whether rays tell what a material mirrors."""
    return (material.metallic > 0 and material.roughness < ROUGHEST and material.glow == 0
            and material.opacity == 1.0 and material.pattern != "net")


def metal_light(rays: PixelRays, maps: dict[str, moderngl.Texture3D], grid: Grid,
                values: dict[str, Any], draw: Callable[[moderngl.Program], None]
                ) -> moderngl.Texture:
    """Return the light that metals mirror, where A is not 0.

    ``draw`` draws them by a program; all else is as ``near_light`` has it.
    """
    return rays.drawn(METAL_VERTEX, METAL_FRAGMENT, maps, {
        **values, **in_grid(grid, values["to_set"]), "before": BEFORE}, draw)[0]
