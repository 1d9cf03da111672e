"""Ground truth drawn by OpenGL: depth, normals, labels and movement at pixel centres."""

import moderngl
import numpy as np

from mimegen.groundtruth.surface import PosedScene
from mimegen.groundtruth.visible_surface import Floats, SeenSurface
from mimegen.rendering.opengl.body import texture
from mimegen.rendering.opengl.context import checked
from mimegen.rendering.opengl.light import give, uniform
from mimegen.rendering.opengl.view import to_picture
from mimegen.shots.camera import Camera
from mimegen.shots.crop import Region, is_empty, seen_region

MAX_DISTANCE_M = 200.0

VERTEX = """\
#version 330
uniform mat4 to_picture;
uniform vec3 eye, ahead;
in vec3 place, normal, following, preceding, labels;
in vec2 uv;
out vec3 turned, later, earlier;
out float depth;
flat out vec3 label;
out vec2 on;
void main() {
    gl_Position = to_picture * vec4(place, 1.0);
    turned = normal;
    later = following;
    earlier = preceding;
    depth = dot(place - eye, ahead);
    label = labels;
    on = uv;
}
"""

FRAGMENT = """\
#version 330
uniform int has_holes;
uniform sampler2D image;
in vec3 turned, later, earlier;
in float depth;
flat in vec3 label;
in vec2 on;
layout(location = 0) out vec4 surface;
layout(location = 1) out vec4 next_place;
layout(location = 2) out vec4 last_place;
layout(location = 3) out vec4 shown;
void main() {
    if (has_holes == 1 && texture(image, on).a < 0.5) discard;
    surface = vec4((gl_FrontFacing ? 1.0 : -1.0) * normalize(turned), depth);
    next_place = vec4(later, 1.0);
    last_place = vec4(earlier, 1.0);
    shown = vec4(label / 255.0, 1.0);
}
"""


class OpenGLSurfaceRenderer:
    """Draws ground truth of a scene's figures; made once for many frames and cameras."""

    def __init__(self, context: moderngl.Context, scene: PosedScene) -> None:
        self._context, self._scene = context, scene
        self._program = context.program(VERTEX, FRAGMENT)
        size = 12 * len(scene.surface.persons)
        names = ("place", "normal", "following", "preceding")
        self._buffers = {name: context.buffer(reserve=size, dynamic=True) for name in names}
        labels = context.buffer(scene.surface.labels.astype("f4").tobytes())
        uvs = context.buffer(scene.surface.uvs.astype("f4").tobytes())
        index = context.buffer(scene.surface.triangles.astype("i4").tobytes())
        self._vertices = context.vertex_array(
            self._program, [*((self._buffers[name], "3f", name) for name in names),
                            (labels, "3f", "labels"), (uvs, "2f", "uv")], index)
        self._images = [texture(context, cutout.image) for cutout in scene.surface.cutouts]
        uniform(self._program, "image").value = 0
        self._targets = _PassTargets(context)

    def render(self, frame: int, camera: Camera) -> SeenSurface:
        """Return what a camera sees of the figures in a frame."""
        places = self._scene.vertices(frame)
        region = seen_region(places.astype(float), camera)
        if is_empty(region):
            return SeenSurface.nothing()
        for name, values in (("place", places), ("normal", self._scene.normals(frame)),
                             ("following", self._scene.vertices(frame + 1)),
                             ("preceding", self._scene.vertices(frame - 1))):
            self._buffers[name].write(np.ascontiguousarray(values, "f4"))
        return self._draw(camera, region)

    def _draw_triangles(self) -> None:
        """Draw all triangles; those with holes are drawn mesh by mesh, each with its picture."""
        first, count = 0, len(self._scene.surface.triangles)
        holes = uniform(self._program, "has_holes")
        for cutout, image in zip(self._scene.surface.cutouts, self._images, strict=True):
            holes.value = 0
            self._vertices.render(first=3 * first, vertices=3 * (cutout.first - first))
            holes.value = 1
            image.use(0)
            self._vertices.render(first=3 * cutout.first, vertices=3 * (cutout.end - cutout.first))
            first = cutout.end
        holes.value = 0
        self._vertices.render(first=3 * first, vertices=3 * (count - first))

    def _draw(self, camera: Camera, region: Region) -> SeenSurface:
        self._targets.begin((region[2] - region[0], region[3] - region[1]))
        give(self._program, view_values(camera, region, MAX_DISTANCE_M))
        # The picture's rows run downwards, which reverses the orientation of every face.
        self._context.front_face = "cw"
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._draw_triangles()
        surface, later, earlier, shown = self._targets.read()
        checked(self._context)
        nothing = shown[..., 3] == 0
        return SeenSurface(region, np.where(nothing, np.float32(np.inf), surface[..., 3]),
                           surface[..., :3], np.round(shown[..., :3] * 255).astype(np.uint8),
                           later[..., :3], earlier[..., :3])


def view_values(camera: Camera, region: Region, farthest_m: float) -> dict[str, object]:
    """Return the shaders' uniform values for a region of a camera's picture."""
    ahead = camera.rays(np.array([camera.width, camera.height]) / 2)
    return {"to_picture": to_picture(camera, region, farthest_m),
            "eye": np.array(camera.position), "ahead": ahead}


class _PassTargets:
    """The render targets: four float pictures without multisampling, remade if the size changes."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._size = (0, 0)

    def begin(self, size: tuple[int, int]) -> None:
        """Prepare and clear targets of ``size`` (width, height)."""
        if size != self._size:
            self._size = size
            layers = [self._context.renderbuffer(size, 4, dtype="f4") for _ in range(4)]
            self._drawn = self._context.framebuffer(
                layers, self._context.depth_renderbuffer(size))
        self._drawn.use()
        self._drawn.clear()

    def read(self) -> list[Floats]:
        """Return the pictures (h, w, 4)."""
        width, height = self._size
        return [np.frombuffer(self._drawn.read(components=4, attachment=number, dtype="f4"),
                              np.float32).reshape(height, width, 4) for number in range(4)]
