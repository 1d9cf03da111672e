"""Depth and normals of an empty set, without figures, drawn by OpenGL."""

import moderngl
import numpy as np

from mimegen.base.files import publish
from mimegen.groundtruth.job import GeometryJob
from mimegen.groundtruth.kinds import MIN_OPACITY
from mimegen.groundtruth.visible_surface import Floats, in_camera
from mimegen.rendering.opengl.context import checked
from mimegen.rendering.opengl.light import give, uniform
from mimegen.rendering.opengl.passes import view_values
from mimegen.rendering.opengl.scenery import MAX_DISTANCE_M
from mimegen.rendering.opengl.set_build import ATTRIBUTES, FORMAT, build_set
from mimegen.store.passes import pack_arrays

VERTEX = """\
#version 330
uniform mat4 to_picture;
uniform vec3 eye, ahead;
in vec3 place, normal;
in vec2 uv;
out vec3 turned;
out float depth;
out vec2 on;
void main() {
    gl_Position = to_picture * vec4(place, 1.0);
    turned = normal;
    depth = dot(place - eye, ahead);
    on = uv;
}
"""

FRAGMENT = """\
#version 330
uniform int net;
uniform vec2 size;
uniform float gap;
in vec3 turned;
in float depth;
in vec2 on;
out vec4 surface;
void main() {
    vec2 cord = fract(on / size);
    if (net == 1 && cord.x >= gap && cord.y >= gap) discard;
    surface = vec4((gl_FrontFacing ? 1.0 : -1.0) * normalize(turned), depth);
}
"""


def draw_geometry(context: moderngl.Context, job: GeometryJob) -> None:
    """Publish ``depth`` (H, W) and ``normals`` (H, W, 3) of a set, seen from the job's camera.

    Normals are in camera coordinates; depth is infinite where no surface is seen.
    """
    surface = _surface(context, job)
    nothing = ~surface[..., :3].any(axis=-1)
    depth = np.where(nothing, np.float32(np.inf), surface[..., 3])
    normals = in_camera(surface[..., :3], job.camera).astype(np.float16)
    publish(job.target, pack_arrays({"depth": depth, "normals": normals}),
            makes_folder=False)


def _surface(context: moderngl.Context, job: GeometryJob) -> Floats:
    """Return normals in world coordinates and depth (H, W, 4), all 0 where no surface is seen.

    Materials less opaque than MIN_OPACITY are left out.
    """
    camera = job.camera
    size = (camera.width, camera.height)
    target = context.framebuffer(context.renderbuffer(size, 4, dtype="f4"),
                                 context.depth_renderbuffer(size))
    target.use()
    target.clear()
    program = context.program(VERTEX, FRAGMENT)
    give(program, view_values(camera, (0, 0, *size), MAX_DISTANCE_M))
    context.front_face = "cw"
    context.enable_only(moderngl.DEPTH_TEST)
    for name, corners in build_set(job).parts():
        material = job.scenery.materials[name]
        if material.opacity < MIN_OPACITY:
            continue
        uniform(program, "net").value = int(material.pattern == "net")
        give(program, {"size": material.size, "gap": material.gap})
        buffer = context.buffer(np.ascontiguousarray(corners).tobytes())
        content = [(buffer, _used(program), *(name for name in ATTRIBUTES if name in program))]
        context.vertex_array(program, content).render()
    read = target.read(components=4, dtype="f4")
    checked(context)
    return np.frombuffer(read, np.float32).reshape(camera.height, camera.width, 4)


def _used(program: moderngl.Program) -> str:
    """Return the buffer layout of corners, skipping attributes that the program does not use."""
    parts = zip(FORMAT.split(), ATTRIBUTES, strict=True)
    return " ".join(part if name in program else f"{4 * int(part[0])}x" for part, name in parts)
