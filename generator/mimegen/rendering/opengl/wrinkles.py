"""Face wrinkles in OpenGL, drawn on the skin in frames that have any."""

from collections.abc import Sequence

import moderngl
import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Character, Mesh
from mimegen.characters.face_lines import (
    DARKENED,
    chart,
    darkest,
    groove_map,
    skin_of,
    wrinkling_of,
)
from mimegen.rendering.opengl.light import give, uniform
from mimegen.rendering.opengl.shaders import FIGURE_FRAGMENT, FIGURE_VERTEX

NUMBERS = "f4"
# The texture unit of the wrinkle map; others hold the sun's shadow map and meshes' textures.
UNIT = 3

_GIVEN = """\
in vec2 chart;
in float depth;
out vec2 on_map;
out float deep;
out vec3 at, facing;
void main() {
    on_map = chart;
    deep = depth;
    at = place;
    facing = normal;
"""

# Bump mapping after Mikkelsen (Bump mapping unparametrized surfaces on the GPU, 2010) scales the
# light that the skin scatters; grooves are darkened too.
_WRINKLED = """\
in vec2 on_map;
in float deep;
in vec3 at, facing;
uniform sampler2D grooves;
uniform vec3 sun_from, sun, rim_from, rim, sky, ground, darkened;
uniform float darkest;
float light_on(vec3 normal) {
    const vec3 SEEN = vec3(0.2126, 0.7152, 0.0722);
    return dot(sun, SEEN) * max(dot(normal, sun_from), 0.0)
        + dot(rim, SEEN) * max(dot(normal, rim_from), 0.0)
        + 3.14159265 * dot(mix(ground, sky, clamp(normal.z + 0.5, 0.0, 1.0)), SEEN);
}
vec3 wrinkled() {
    float height = deep * textureLod(grooves, on_map, 0.0).r;
    vec3 normal = normalize(facing), across = dFdx(at), down = dFdy(at);
    vec3 first = cross(down, normal), second = cross(normal, across);
    float size = dot(across, first);
    vec3 bumped = normalize(abs(size) * normal
                            - sign(size) * (dFdx(height) * first + dFdy(height) * second));
    float lighter = clamp(light_on(bumped) / light_on(normal), 0.4, 1.8);
    return lighter * mix(vec3(1.0), darkened, clamp(-height / darkest, 0.0, 1.0));
}
void main() {
"""


class BodyWrinkles:
    """The texture coordinates of a body's vertices in the wrinkle map, and a frame's depths.

    ``shown`` is whether the frame last posed has wrinkles. The object is false if the body can have
    none; then it has no buffers.
    """

    def __init__(self, context: moderngl.Context, character: Character,
                 meshes: Sequence[Mesh]) -> None:
        skin, self._wrinkling = skin_of(meshes), wrinkling_of(character)
        self.shown = False
        if skin is None or self._wrinkling is None:
            return
        ends = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
        first = int(ends[[mesh is skin for mesh in meshes].index(True)])
        places = np.full((ends[-1], 2), -1.0)
        places[first:first + len(skin.vertices)] = chart(skin)
        self._offset = np.dtype(NUMBERS).itemsize * first
        self.places = context.buffer(places.astype(NUMBERS).tobytes())
        self.depths = context.buffer(np.zeros(ends[-1], NUMBERS).tobytes(), dynamic=True)

    def __bool__(self) -> bool:
        """Return whether the body's skin can wrinkle at all."""
        return self._wrinkling is not None

    def pose(self, columns: NDArray[np.float32]) -> None:
        """Set the wrinkles' depths for a frame's joint columns (4 J, 3)."""
        depths = None if self._wrinkling is None else self._wrinkling.depths(columns)
        self.shown = depths is not None
        if depths is not None:
            self.depths.write(np.ascontiguousarray(depths, NUMBERS), offset=self._offset)


class WrinkleProgram:
    """The shader program for skin with wrinkles, and the texture of its wrinkle map."""

    def __init__(self, context: moderngl.Context) -> None:
        self.program = context.program(
            FIGURE_VERTEX.replace("void main() {\n", _GIVEN).lstrip(),
            FIGURE_FRAGMENT.replace("void main() {\n", _WRINKLED).replace(
                "vec3 color = matt;", "vec3 color = matt * wrinkled();"))
        give(self.program, {"darkened": DARKENED, "darkest": darkest()})
        uniform(self.program, "shadow_map").value = 0
        uniform(self.program, "grooves").value = UNIT
        heights = groove_map()
        rows, columns = heights.shape
        self._map = context.texture((columns, rows), 1, heights.tobytes(), dtype=NUMBERS)
        self._map.repeat_x = self._map.repeat_y = False

    def use(self) -> None:
        """Bind the wrinkle map to its texture unit."""
        self._map.use(UNIT)
