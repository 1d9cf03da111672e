"""Draw figures with OpenGL: posed once per frame, then drawn for each camera."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Character
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.body import DrawnPart, RasterBody
from mimegen.rendering.opengl.context import checked
from mimegen.rendering.opengl.ground import GroundPicture
from mimegen.rendering.opengl.light import give, light_values, uniform
from mimegen.rendering.opengl.shaders import (
    FIGURE_FRAGMENT,
    FIGURE_VERTEX,
    MEAN_FRAGMENT,
    SHADOW_FRAGMENT,
    SHADOW_VERTEX,
    WHOLE_VERTEX,
)
from mimegen.rendering.opengl.view import to_picture, to_sun
from mimegen.rendering.opengl.wrinkles import WrinkleProgram
from mimegen.shots.camera import Camera
from mimegen.shots.closeup import shows_faces
from mimegen.shots.config import RenderConfig
from mimegen.shots.crop import Region, is_empty, roughly_seen_region
from mimegen.shots.pixels import halves_to_straight_srgb
from mimegen.shots.shadow import ground_shadow
from mimegen.shots.skinning import posed_points
from mimegen.store.frames import Frame

# Pictures are drawn at this multiple of their width and height, then reduced by MEAN_FRAGMENT,
# which requires 2. For triangles smaller than pixels, Mesa's software rendering takes half as long
# this way as with multisampling.
FINER = 2
# Width and height of the sun's shadow map.
SHADOW_CELLS = 512
# For a figure's shadow on itself: the distance from the surface at which it is looked up, and the
# radius of its penumbra, in metres.
LIFT_M = 0.012
PENUMBRA_M = 0.012
MAX_DISTANCE_M = 200.0
# Two triangles at Z = 0, which hide the parts of figures below the ground.
GROUND = 100.0 * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, -1, 0], [1, 1, 0], [-1, 1, 0]],
                          np.float32)
LOOK_FORMAT = "3f 3f 3f"


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A part of a body with its vertex arrays.

    ``seen`` draws it into pictures and ``lit`` into the sun's shadow map; ``wrinkled`` is used
    instead of ``seen`` in frames with wrinkles.
    """

    seen: moderngl.VertexArray
    lit: moderngl.VertexArray
    part: DrawnPart
    body: RasterBody
    wrinkled: moderngl.VertexArray | None = None

    @property
    def now(self) -> moderngl.VertexArray:
        """The vertex array to draw into pictures in the frame last posed."""
        wrinkles = self.body.wrinkles
        return self.wrinkled if self.wrinkled and wrinkles and wrinkles.shown else self.seen


class RasterStage:
    """Characters lit by a render config; made once, posed and drawn many times."""

    def __init__(self, context: moderngl.Context, characters: Sequence[Character],
                 config: RenderConfig) -> None:
        self._context, self.config = context, config
        self._fingerprints = [character.fingerprint for character in characters]
        self._bodies = [RasterBody(context, character, config.shadow.cell_m, shows_faces(config))
                        for character in characters]
        self._programs = {name: _figure_program(context, name) for name in ("PLAIN", "TEXTURED")}
        self._wrinkles = None
        if any(body.wrinkles is not None for body in self._bodies):
            self._wrinkles = WrinkleProgram(context)
            self._programs["WRINKLED"] = self._wrinkles.program
        self._shadow_program = context.program(SHADOW_VERTEX, SHADOW_FRAGMENT)
        self._ground = context.vertex_array(
            self._shadow_program, [(context.buffer(GROUND.tobytes()), "3f", "place")])
        self._drawn = [self._ready(body, part) for body in self._bodies for part in body.parts]
        self._map = context.depth_texture((SHADOW_CELLS, SHADOW_CELLS))
        self._map.compare_func = "<="
        self._map_target = context.framebuffer(depth_attachment=self._map)
        self._light = light_values(config.light)
        self._targets = _ShotTargets(context)
        self._outline = np.empty((3, 0), np.float32)
        self._shadow = GroundPicture(context)

    def suits(self, characters: Sequence[Character], config: RenderConfig) -> bool:
        """Whether this stage was made for these characters and this config."""
        wanted = [character.fingerprint for character in characters]
        return self._fingerprints == wanted and self.config == config

    def pose(self, columns: Sequence[NDArray[np.float32]]) -> None:
        """Pose each figure by its ``columns`` (4 J, 3), as ``joint_columns`` returns them."""
        posed = list(zip(self._bodies, columns, strict=True))
        # Axis by axis: numpy is slow over the short side of (N, 3).
        self._outline = np.concatenate([body.pose(own).T for body, own in posed], axis=1)
        self._draw_sun_map()
        points = np.concatenate([posed_points(body.surface, own) for body, own in posed])
        self._shadow.lay(ground_shadow(points, self.config.light, self.config.shadow.cell_m))

    def picture(self, camera: Camera) -> Frame:
        """Draw the posed figures and their shadow as a camera sees them."""
        whole = (0, 0, camera.width, camera.height)
        region = roughly_seen_region(self._outline, camera) if self.config.crop else whole
        shadow, shadow_at = self._shadow.seen(camera, self.config.shadow.strength)
        figure = np.zeros((0, 0, 4), np.uint8)
        if not is_empty(region):
            figure = halves_to_straight_srgb(self._draw(camera, region))
        return Frame(whole[2:], figure, region[:2], shadow, shadow_at)

    def _ready(self, body: RasterBody, part: DrawnPart) -> _Drawn:
        program = self._programs["PLAIN" if part.uvs is None else "TEXTURED"]
        content = [(body.places, "3f", "place"), (body.normals, "3f", "normal"),
                   (body.looks, LOOK_FORMAT, "color", "glow", "shine")]
        if part.uvs is not None:
            content.append((part.uvs, "2f", "uv"))
        return _Drawn(
            self._context.vertex_array(program, content, part.index),
            self._context.vertex_array(self._shadow_program, [content[0]], part.index), part, body,
            self._wrinkled(body, part, content))

    def _wrinkled(self, body: RasterBody, part: DrawnPart, content: list[Any]
                  ) -> moderngl.VertexArray | None:
        """Return the vertex array of the part with the skin, for frames with wrinkles.

        Returns None if the body has no wrinkles or the part does not contain the skin.
        """
        if body.wrinkles is None or part.two_sided or part.uvs is not None:
            return None
        content = [*content, (body.wrinkles.places, "2f", "chart"),
                   (body.wrinkles.depths, "1f", "depth")]
        return self._context.vertex_array(self._programs["WRINKLED"], content, part.index)

    def _draw_sun_map(self) -> None:
        """Draw the sun's shadow map, for the figures' shadows on themselves and each other."""
        matrix, half = to_sun(self._outline.T.astype(float), self._light["sun_from"], 2 * LIFT_M)
        spread = np.full(2, PENUMBRA_M / half / 2)
        for program in self._programs.values():
            give(program, self._light | {
                "to_shadow": matrix, "shadow_spread": spread, "shadow_lift": LIFT_M})
        give(self._shadow_program, {"to_shadow": matrix})
        self._map_target.use()
        self._map_target.clear()
        self._context.front_face = "ccw"
        for drawn in self._drawn:
            self._context.enable_only(_tests(drawn.part))
            drawn.lit.render()

    def _draw(self, camera: Camera, region: Region) -> NDArray[np.float16]:
        """Draw a region of the picture: premultiplied linear RGBA (h, w, 4), top row first."""
        size = (region[2] - region[0], region[3] - region[1])
        self._targets.begin(size)
        matrix = to_picture(camera, region, MAX_DISTANCE_M)
        for program in self._programs.values():
            give(program, {"to_picture": matrix, "eye": np.array(camera.position)})
        # The picture's rows run downwards, which reverses the orientation of every face.
        self._context.front_face = "cw"
        self._map.use(0)
        if self._wrinkles is not None:
            self._wrinkles.use()
        if self.config.ground_hides:
            self._hide_below(matrix)
        for drawn in self._drawn:
            self._context.enable_only(_tests(drawn.part))
            if drawn.part.image is not None:
                drawn.part.image.use(1)
            drawn.now.render()
        return self._targets.read(size)

    def _hide_below(self, to_picture: FloatArray) -> None:
        """Draw the ground as transparent, so that its depth hides everything below it."""
        give(self._shadow_program, {"to_shadow": to_picture})
        self._context.enable_only(moderngl.DEPTH_TEST)
        self._ground.render()


def _tests(part: DrawnPart) -> int:
    return moderngl.DEPTH_TEST | (0 if part.two_sided else moderngl.CULL_FACE)


class _ShotTargets:
    """The render targets, grown as needed: the finer picture, and the reduced one."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._program = context.program(WHOLE_VERTEX, MEAN_FRAGMENT)
        uniform(self._program, "fine").value = 2
        self._whole = context.vertex_array(self._program, [])
        self._size = (0, 0)

    def begin(self, size: tuple[int, int]) -> None:
        """Prepare a transparent picture of ``size`` (width, height)."""
        if size[0] > self._size[0] or size[1] > self._size[1]:
            self._grow((max(size[0], self._size[0]), max(size[1], self._size[1])))
        self._drawn.use()
        self._drawn.viewport = self._drawn.scissor = (0, 0, FINER * size[0], FINER * size[1])
        self._drawn.clear()

    def read(self, size: tuple[int, int]) -> NDArray[np.float16]:
        """Reduce the finer picture and return it: premultiplied linear RGBA (h, w, 4)."""
        self._mean.use()
        self._mean.viewport = self._mean.scissor = (0, 0, *size)
        uniform(self._program, "size").value = size
        self._fine.use(2)
        self._context.enable_only(moderngl.NOTHING)
        self._whole.render(moderngl.TRIANGLES, vertices=3)
        read = self._mean.read((0, 0, *size), components=4, dtype="f2", alignment=1)
        checked(self._context)
        return np.frombuffer(read, np.float16).reshape(size[1], size[0], 4)

    def _grow(self, size: tuple[int, int]) -> None:
        context = self._context
        self._size = (-(-size[0] // 64) * 64, -(-size[1] // 64) * 64)
        fine = (FINER * self._size[0], FINER * self._size[1])
        self._fine = context.texture(fine, 4, dtype="f2")
        self._drawn = context.framebuffer(self._fine, context.depth_renderbuffer(fine))
        self._mean = context.framebuffer(context.renderbuffer(self._size, 4, dtype="f2"))


def _figure_program(context: moderngl.Context, name: str) -> moderngl.Program:
    define = f"#version 330\n#define {name}\n"
    program = context.program(FIGURE_VERTEX.replace("#version 330\n", define, 1).lstrip(),
                              FIGURE_FRAGMENT.replace("#version 330\n", define, 1).lstrip())
    for sampler, unit in (("shadow_map", 0), ("image", 1)):
        if sampler in program:
            uniform(program, sampler).value = unit
    return program
