"""Draw the shadow on the ground, as cameras see it, with OpenGL."""

import moderngl
import numpy as np
from numpy.typing import NDArray

from mimegen.rendering.opengl.context import checked
from mimegen.rendering.opengl.light import give, uniform
from mimegen.rendering.opengl.shaders import WHOLE_VERTEX
from mimegen.shots.camera import Camera
from mimegen.shots.seen_shadow import pixel_filter, seen_bounds, to_cells
from mimegen.shots.shadow import GroundShadow

# Ground samples per pixel, as ``pixel_filter`` takes them; fewer than in final pictures.
SAMPLES = (1, 2)
FRAGMENT = """\
#version 330
uniform sampler2D missing;
uniform vec3 to_column, to_row, to_depth;
uniform vec2 corner;
uniform float strength;
uniform vec3 places[PLACES];
out float seen;
void main() {
    float sum = 0.0;
    for (int at = 0; at < PLACES; at++) {
        vec3 pixel = vec3(gl_FragCoord.xy + corner + places[at].xy, 1.0);
        float depth = dot(to_depth, pixel);
        vec2 cell = vec2(dot(to_column, pixel), dot(to_row, pixel)) / depth + 0.5;
        if (depth > 1e-6) sum += places[at].z * texture(missing, cell / textureSize(missing, 0)).r;
    }
    seen = clamp(sum * strength, 0.0, 1.0);
}
"""


class GroundPicture:
    """Draws a pose's shadow, equal to ``seen_shadow`` within 1 of 255."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        weights, offsets = pixel_filter(SAMPLES)
        fragment = FRAGMENT.replace("PLACES", str(len(weights)))
        self._program = context.program(WHOLE_VERTEX, fragment)
        give(self._program, {"places": np.column_stack([offsets, weights])})
        self._whole = context.vertex_array(self._program, [])
        self._size = (0, 0)

    def lay(self, shadow: GroundShadow) -> None:
        """Upload the shadow of another pose."""
        self._shadow = shadow
        rows, columns = shadow.missing.shape
        self._missing = self._context.texture(
            (columns, rows), 1, np.ascontiguousarray(shadow.missing).tobytes(), dtype="f4")
        self._missing.repeat_x = self._missing.repeat_y = False

    def seen(self, camera: Camera, strength: float) -> tuple[NDArray[np.uint8], tuple[int, int]]:
        """Return the shadow a camera sees, cropped (h, w), 0 to 255, and its upper left pixel."""
        left, top, right, bottom = seen_bounds(self._shadow, camera, strength)
        size = (right - left, bottom - top)
        if size[0] <= 0 or size[1] <= 0:
            return np.zeros((0, 0), np.uint8), (left, top)
        self._make_room(size)
        self._target.use()
        self._target.viewport = self._target.scissor = (0, 0, *size)
        to_column, to_row, to_depth = to_cells(self._shadow, camera)
        give(self._program, {"to_column": to_column, "to_row": to_row, "to_depth": to_depth,
                             "corner": np.array([left, top]), "strength": np.float32(strength)})
        self._missing.use(3)
        uniform(self._program, "missing").value = 3
        self._context.enable_only(moderngl.NOTHING)
        self._whole.render(moderngl.TRIANGLES, vertices=3)
        read = self._target.read((0, 0, *size), components=1, alignment=1)
        checked(self._context)
        return np.frombuffer(read, np.uint8).reshape(size[1], size[0]), (left, top)

    def _make_room(self, size: tuple[int, int]) -> None:
        if size[0] > self._size[0] or size[1] > self._size[1]:
            self._size = (max(size[0], self._size[0]), max(size[1], self._size[1]))
            self._target = self._context.framebuffer(self._context.renderbuffer(self._size, 1))
