"""Reflections in a set's level floor: a second drawing of the set, mirrored below the floor.

Shaders sample that picture in the directions of a GGX lobe, whose visible facets are sampled as in
Heitz, Sampling the GGX distribution of visible normals, 2018.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.view import to_picture
from mimegen.scenery.materials import SetMaterial
from mimegen.shots.camera import Camera
from mimegen.shots.crop import Region

# Level surfaces lower than this, in metres, belong to the floor.
FLOOR_M = 0.05


@dataclass(frozen=True)
class MirrorParameters:
    """Which floors mirror, and how large the mirrored picture is."""

    # Least cosine between the normal and the vertical at which a triangle counts as level.
    level_cosine: float = 0.99
    # Rougher floors show no mirror image; they are lit by the grid of light only.
    roughest: float = 0.6
    # How far the mirrored picture extends beyond the camera's, at each side as a fraction of the
    # width and below as a fraction of the height: facets of a rough floor reflect what is there.
    aside: float = 0.2
    below: float = 0.7
    # Resolution relative to the camera's picture; less is enough, as reflections are blurred.
    resolution: float = 0.75
    # Shining floors below this area (square metres) are not worth a second drawing of the set.
    least_area_m2: float = 1.0


MIRROR = MirrorParameters()

# Sample a facet of a rough surface, GLSL 3.30.
FACET = """
// One of the visible facets, around an upward normal, chosen by two values from 0 to 1.
vec3 facet(vec3 view, float wide, vec2 share) {
    vec3 to = normalize(vec3(wide * view.xy, view.z));
    vec3 side = normalize(vec3(-to.y, to.x + 1e-6, 0.0)), other = cross(to, side);
    float far = sqrt(share.x), turn = 2.0 * PI * share.y;
    float a = far * cos(turn);
    float b = mix(sqrt(1.0 - a * a), far * sin(turn), 0.5 * (1.0 + to.z));
    vec3 found = a * side + b * other + sqrt(max(1.0 - a * a - b * b, 0.0)) * to;
    return normalize(vec3(wide * found.xy, max(found.z, 1e-4)));
}
"""

# Look up the set's reflection in the floor, by the mirrored picture and its depths, GLSL 3.30.
FLOOR = FACET + """
const int FACETS = 8;
uniform sampler2D floor_light, floor_depth;
uniform mat4 to_floor;
uniform vec2 floor_depths;
uniform float floor_texels, floor_level;

// Position in the mirrored picture of a point below the floor; z is its depth.
vec3 on_floor(vec3 place) {
    vec4 clip = to_floor * vec4(place, 1.0);
    return vec3(0.5 * clip.xy / max(clip.w, 1e-3) + 0.5, clip.w);
}

// The depth of the surface that the picture shows there.
float floor_depth_at(vec3 within) {
    float near = floor_depths.x, far = floor_depths.y;
    float depth = 2.0 * textureLod(floor_depth, within.xy, 0.0).r - 1.0;
    return 2.0 * far * near / (far + near - depth * (far - near));
}

// The light that the floor mirrors towards the viewer, with facets tilted by the slopes of waves; w
// is the fraction of it that the mirrored picture covers.
vec4 floor_mirrored(vec3 place, vec3 view, float roughness, vec2 slopes) {
    float wide = max(roughness * roughness, 0.0025), before = length(eye - place);
    vec3 here = on_floor(place);
    float behind = max(floor_depth_at(here) / here.z - 1.0, 0.0) * before;
    float blur = 2.0 * wide * view.z * behind / (before + behind) * floor_texels;
    float level = log2(max(blur, 1.0) / 2.0);
    vec2 pixel = mod(gl_FragCoord.xy, 2.0);
    float shift = 0.25 * pixel.x + 0.5 * pixel.y;
    vec4 sum = vec4(0.0);
    float all = 0.0;
    for (int i = none; i < FACETS; i++) {
        vec2 share = vec2((float(i) + 0.5) / float(FACETS), fract(float(i) * 0.618034 + shift));
        vec3 normal = normalize(facet(view, wide, share) + vec3(slopes, 0.0));
        vec3 way = reflect(-view, normal);
        if (way.z <= 0.0) continue;
        float squared = wide * wide;
        float lit = sqrt(squared + (1.0 - squared) * way.z * way.z);
        float seen = sqrt(squared + (1.0 - squared) * view.z * view.z);
        float weight = way.z * (seen + view.z) / (view.z * lit + way.z * seen)
            * (0.04 + 0.96 * grazing(dot(view, normal)));
        all += weight;
        way.z = -way.z;
        vec3 at_first = on_floor(place + behind * way);
        vec3 met = mix(eye, place + behind * way, floor_depth_at(at_first) / max(at_first.z, 1e-3));
        vec3 found = on_floor(place + length(met - place) * way);
        vec2 room = min(found.xy, 1.0 - found.xy);
        weight *= step(0.0, found.z) * smoothstep(0.0, 0.03, min(room.x, room.y));
        sum += weight * vec4(textureLod(floor_light, found.xy, max(level, 0.0)).rgb, 1.0);
    }
    return vec4(sum.rgb / max(sum.w, 1e-4), sum.w / max(all, 1e-4));
}
"""


class FloorMirror:
    """The textures of the mirrored picture, and the uniform values for looking into them."""

    def __init__(self, context: moderngl.Context, camera: Camera, farthest_m: float,
                 nearest_m: float) -> None:
        width, height = camera.width, camera.height
        self.region: Region = (-int(MIRROR.aside * width), 0, int((1 + MIRROR.aside) * width),
                               int((1 + MIRROR.below) * height))
        left, top, right, bottom = self.region
        size = (int(MIRROR.resolution * (right - left)), int(MIRROR.resolution * (bottom - top)))
        self._light = context.texture(size, 4, dtype="f2")
        self._depth = context.depth_texture(size)
        self._light.repeat_x = self._light.repeat_y = False
        self._depth.repeat_x = self._depth.repeat_y = False
        self._depth.compare_func = ""
        self._depth.filter = moderngl.NEAREST, moderngl.NEAREST
        self._drawn = context.framebuffer(self._light, self._depth)
        self.matrix = to_picture(camera, self.region, farthest_m, nearest_m)
        self._depths = np.array([nearest_m, farthest_m])
        self._texels = MIRROR.resolution * camera.focal_pixels

    def start(self) -> None:
        """Clear the mirrored picture and make it the target of the following drawing."""
        self._drawn.use()
        self._drawn.clear()

    def found_by(self, light_unit: int, depth_unit: int) -> dict[str, Any]:
        """Bind the textures to these texture units; return the shaders' uniform values."""
        self._light.build_mipmaps()
        self._light.filter = moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR
        self._light.use(light_unit)
        self._depth.use(depth_unit)
        return {"to_floor": self.matrix, "floor_depths": self._depths,
                "floor_texels": self._texels}


def mirrored_at(level: float) -> FloatArray:
    """Return the matrix (4, 4) that reflects points in the horizontal plane at height ``level``."""
    matrix = np.diag([1.0, 1.0, -1.0, 1.0])
    matrix[2, 3] = 2 * level
    return matrix


def mirror_level(parts: Mapping[str, NDArray[np.float32]], shining: Collection[str]) -> float:
    """Return the height, in metres, at which shining floors have the largest area.

    ``parts`` holds the corners (N, 15) of the triangles by material; ``shining`` are the names of
    the shining materials.
    """
    areas: dict[float, float] = {}
    for name in shining:
        triangles = parts[name][_level(parts[name])][:, :3].reshape(-1, 3, 3)
        for level, area in zip(triangles[:, 0, 2], _areas(triangles), strict=True):
            at = round(float(level), 2)
            areas[at] = areas.get(at, 0.0) + float(area)
    return max(areas, key=lambda level: areas[level])


def mirroring(parts: Mapping[str, NDArray[np.float32]], materials: Mapping[str, SetMaterial]
              ) -> set[str]:
    """Return the names of the materials whose floors mirror the set.

    ``parts`` holds the corners (N, 15) of the triangles by material. If any floor does, wet shores
    do too.
    """
    found = {name for name, corners in parts.items()
             if (materials[name].coat > 0 or materials[name].roughness < MIRROR.roughest)
             and materials[name].glow == 0 and _floor_area(corners) > MIRROR.least_area_m2}
    return found | {name for name in parts if found and materials[name].pattern == "shore"}


def _floor_area(corners: NDArray[np.float32]) -> float:
    """Return the total area, in square metres, of level triangles on the floor."""
    return float(_areas(corners[_level(corners)][:, :3].reshape(-1, 3, 3)).sum())


def _level(corners: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which corners (N,) belong to level triangles on the floor."""
    level = (corners[:, 2] < FLOOR_M) & (corners[:, 5] > MIRROR.level_cosine)
    return np.repeat(level.reshape(-1, 3).all(axis=1), 3)


def _areas(triangles: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the areas (T,) of triangles (T, 3, 3)."""
    first, second, third = triangles.swapaxes(0, 1)
    return np.asarray(np.linalg.norm(np.cross(second - first, third - first), axis=1) / 2)
