"""Draw an empty set, without figures, with a shot's camera."""

import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import moderngl
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.files import publish
from mimegen.base.vectors import direction_from
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.bounce import Volume
from mimegen.rendering.opengl.context import checked
from mimegen.rendering.opengl.far_light import far_values
from mimegen.rendering.opengl.lamplight import lamps_seen
from mimegen.rendering.opengl.light import depth_map, give, uniform
from mimegen.rendering.opengl.lobes import CELLS, lobe_texture
from mimegen.rendering.opengl.mirror import (
    FLOOR_M,
    FloorMirror,
    mirror_level,
    mirrored_at,
    mirroring,
)
from mimegen.rendering.opengl.near_light import cell_maps, near_light, resolves_near_things
from mimegen.rendering.opengl.pixel_rays import PixelRays
from mimegen.rendering.opengl.set_build import ATTRIBUTES, FORMAT, BuiltSet, build_set, triangles
from mimegen.rendering.opengl.set_colors import linear
from mimegen.rendering.opengl.set_lamps import lamp_values
from mimegen.rendering.opengl.set_light import light_texture, set_volume, volume_values
from mimegen.rendering.opengl.set_matter import fine_matter, moved, set_from_world
from mimegen.rendering.opengl.set_shaders import (
    DEPTH_VERTEX,
    SET_VERTEX,
    SKY_FRAGMENT,
    SKY_VERTEX,
    ProgramKind,
    set_fragment,
)
from mimegen.rendering.opengl.set_sky import open_sky
from mimegen.rendering.opengl.shaders import SHADOW_FRAGMENT, SHADOW_VERTEX
from mimegen.rendering.opengl.view import to_picture, to_sun
from mimegen.rendering.opengl.voxels import ColoredTriangles
from mimegen.scenery.job import SetJob
from mimegen.scenery.materials import SetMaterial
from mimegen.shots.crop import Region
from mimegen.shots.pixels import to_straight_srgb

# The shaders' textures, in the order of their texture units.
SAMPLERS = ("shadow_map", "volume", "lobes", "near_shares", "lamps_first", "lamps_rest",
            "far_map", "net_map")
UNITS = {name: unit for unit, name in enumerate((*SAMPLERS, "floor_light", "floor_depth"))}
MAX_DISTANCE_M = 20000.0
# Nothing of a set is nearer to the camera, in metres. A near plane this far gives the depth buffer
# enough precision to separate the floor from things that lie on it.
NEAREST_M = 0.5


@dataclass(frozen=True)
class DrawingParameters:
    """How finely a set is drawn, and its sun's shadow."""

    # Each pixel is the mean of finer x finer pixels, each with this many samples at edges: 16 per
    # pixel, so that distant lines do not break up.
    finer: int = 2
    samples: int = 4
    # Width and height of the sun's shadow map, and its reach around the performer in metres.
    shadow_cells: int = 2048
    shadow_reach_m: float = 24.0
    # Distance in front of a surface, in metres, at which shadow is looked up, so that the surface
    # does not shade itself.
    shadow_lift_m: float = 0.02
    # All shadows are as soft as that of an edge at this height, in metres: that of chairs and
    # tables.
    shadow_height_m: float = 0.6


DRAWING = DrawingParameters()
# GL_CLIP_DISTANCE0, OpenGL's number of the first clipping plane.
CLIP_DISTANCE = 0x3000


def draw_set(context: moderngl.Context, job: SetJob) -> None:
    """Draw a set as the shot's camera sees it and publish the sRGB PNG at ``job.target``.

    Walls and objects between the camera and the performer are left out.
    """
    packed = io.BytesIO()
    Image.fromarray(set_picture(context, job)).save(packed, "PNG")
    publish(job.target, packed.getvalue(), makes_folder=False)


def set_picture(context: moderngl.Context, job: SetJob) -> NDArray[np.uint8]:
    """Return a set's picture (H, W, 3), sRGB bytes."""
    built = build_set(job)
    parts = _parts(context, job, built)
    lit = _light(job)
    sun_map, net_map = _draw_sun_maps(context, built, lit)
    # Keep references until the end: textures are freed on the GPU when Python frees them.
    read = {"shadow_map": sun_map, "net_map": net_map,
            **_read_of_light(context, job, built, parts, lit)}
    read["far_map"] = _far_map(context, job, built.casting, lit)
    for name, texture in read.items():
        texture.use(UNITS[name])
    shining = mirroring(built.inner, job.scenery.materials)
    if shining:
        lit["floor_level"] = mirror_level(built.inner, shining)
        mirror = _mirrored(context, job, parts, lit)
        lit |= mirror.found_by(UNITS["floor_light"], UNITS["floor_depth"])
    target = _Target(context, job)
    _draw(context, job, parts, lit, _View.of(job, shining))
    checked(context)
    return _mean(target.read(), job)


def _read_of_light(context: moderngl.Context, job: SetJob, built: BuiltSet,
                   parts: Sequence["_Part"], lit: dict[str, Any]
                   ) -> dict[str, moderngl.Texture | moderngl.Texture3D]:
    """Return the textures of a set's light by name; adds the light's uniform values to ``lit``."""
    cells, volume = set_volume(job, triangles(built.shell), triangles(built.inner))
    lit |= volume_values(volume, job.scenery) | lamp_values(job.scenery) | open_sky(job)
    lit["looked_near"] = float(resolves_near_things(cells))
    light_map, lobe_map = _light_maps(context, volume)
    read: dict[str, moderngl.Texture | moderngl.Texture3D] = {
        "volume": light_map, "lobes": lobe_map}
    rays = _pixel_rays(context, job, parts)
    if resolves_near_things(cells):
        maps = {**cell_maps(context, cells, volume), "volume": light_map}
        read["near_shares"] = near_light(rays, maps, cells.whole.grid, lit)
    if job.scenery.lamps:
        read["lamps_first"], read["lamps_rest"] = _lamps_seen(rays, job, cells.things)
    return read


def _far_map(context: moderngl.Context, job: SetJob, casting: NDArray[np.float32],
             lit: dict[str, Any]) -> moderngl.Texture:
    """Return the shadow maps for distant objects; adds their uniform values to ``lit``."""
    region = np.stack([lit["volume_corner"], lit["volume_corner"] + lit["volume_size"]])
    drawn, values = far_values(context, casting, region, lit["to_set"], lit["sun_from"])
    lit |= values
    return drawn


def _light_maps(context: moderngl.Context, volume: Volume
                ) -> tuple[moderngl.Texture3D, moderngl.Texture]:
    """Return the textures of the precomputed light and of the reflection lobes."""
    size, content = light_texture(volume)
    light_map = context.texture3d(size, 4, content, dtype="f2")
    light_map.repeat_x = light_map.repeat_y = light_map.repeat_z = False
    lobe_map = context.texture((CELLS, CELLS), 4, lobe_texture(), dtype="f2")
    lobe_map.repeat_x = lobe_map.repeat_y = False
    return light_map, lobe_map


def _mean(content: bytes, job: SetJob) -> NDArray[np.uint8]:
    """Average the finer pixels, RGBA half floats, into a picture (H, W, 3) of sRGB bytes."""
    height, width = job.camera.height, job.camera.width
    light = np.frombuffer(content, np.float16).astype(np.float32)
    finer = light.reshape(height, DRAWING.finer, width, DRAWING.finer, 4)
    mean = np.clip(finer.mean(axis=(1, 3)), 0.0, 1.0)
    mean[..., 3] = 1.0
    return to_straight_srgb(mean)[..., :3]


def _light(job: SetJob) -> dict[str, Any]:
    """Return the shaders' uniform values for the set's sun and sky, and for the camera."""
    scenery = job.scenery
    sky = scenery.sky
    return {
        "sun_from": direction_from(*job.config.light.sun_from_deg),
        "sun": scenery.sun.strength * linear(scenery.sun.color),
        "zenith": linear(sky.zenith), "horizon": linear(sky.horizon),
        "below": linear(sky.ground), "clouds": sky.clouds, "strength": sky.strength,
        "outdoors_share": float(not scenery.ceilings),
        "picture_size": DRAWING.finer * np.array([job.camera.width, job.camera.height]),
        "eye": np.array(job.camera.position), "shadow_lift": DRAWING.shadow_lift_m,
        "sun_size": np.tan(np.radians(scenery.sun.size_deg / 2)) * DRAWING.shadow_height_m,
    }


def _draw_sun_maps(context: moderngl.Context, built: BuiltSet, lit: dict[str, Any]
                   ) -> list[moderngl.Texture]:
    """Draw the sun's shadow maps: one of solid objects, one of nets.

    Adds the maps' matrix and softness, and the fraction that nets cover, to ``lit``.
    """
    reach = DRAWING.shadow_reach_m * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1)
                                       for z in (0, 0.5)])
    matrix, half = to_sun(reach, lit["sun_from"], 1.0)
    lit |= {"to_shadow": matrix, "shadow_spread": np.full(2, lit.pop("sun_size") / half / 2),
            "net_cover": built.net_cover}
    return [_sun_map(context, lit, corners) for corners in (built.casting, built.nets)]


def _sun_map(context: moderngl.Context, lit: dict[str, Any], casting: NDArray[np.float32]
             ) -> moderngl.Texture:
    size = DRAWING.shadow_cells if len(casting) else 1
    sun_map = depth_map(context, (size, size))
    target = context.framebuffer(depth_attachment=sun_map)
    target.use()
    target.clear()
    if len(casting):
        program = context.program(SHADOW_VERTEX, SHADOW_FRAGMENT)
        give(program, lit)
        context.enable_only(moderngl.DEPTH_TEST)
        context.vertex_array(program, [(context.buffer(casting.tobytes()), "3f", "place")]).render()
    return sun_map


class _Target:
    """The multisampled render target, so that thin lines do not break up."""

    def __init__(self, context: moderngl.Context, job: SetJob) -> None:
        size = (DRAWING.finer * job.camera.width, DRAWING.finer * job.camera.height)
        samples = min(DRAWING.samples, context.max_samples)
        self._context = context
        self._drawn = context.framebuffer(
            context.renderbuffer(size, 4, samples=samples, dtype="f2"),
            context.depth_renderbuffer(size, samples=samples))
        self._mean = context.framebuffer(context.renderbuffer(size, 4, dtype="f2"))
        self._drawn.use()
        self._drawn.clear()

    def read(self) -> bytes:
        """Return the pixels, as RGBA half floats, with samples averaged."""
        self._context.copy_framebuffer(self._mean, self._drawn)
        return bytes(self._mean.read(components=4, dtype="f2"))


@dataclass(frozen=True, eq=False)
class _View:
    """How the set is drawn: into a region of the picture, upright or mirrored in the floor.

    The materials named in ``shining`` show the floor's mirror image. Nothing below the height
    ``lowest`` is drawn.
    """

    region: Region
    to_picture: FloatArray
    eye: FloatArray
    upright: bool
    shining: Collection[str] = ()
    lowest: float = -MAX_DISTANCE_M

    @classmethod
    def of(cls, job: SetJob, shining: Collection[str]) -> "_View":
        """Return the upright view of the job's whole picture."""
        camera = job.camera
        whole = (0, 0, camera.width, camera.height)
        return cls(whole, to_picture(camera, whole, MAX_DISTANCE_M, NEAREST_M),
                   np.array(camera.position), upright=True, shining=shining)


def _mirrored(context: moderngl.Context, job: SetJob, parts: Sequence["_Part"],
              lit: dict[str, Any]) -> FloorMirror:
    """Draw the set mirrored in the floor, without anything below FLOOR_M above the floor."""
    mirror = FloorMirror(context, job.camera, MAX_DISTANCE_M, NEAREST_M)
    mirror.start()
    matrix = mirrored_at(lit["floor_level"])
    eye = moved(np.array(job.camera.position), matrix)
    view = _View(mirror.region, mirror.matrix @ matrix, eye, upright=False,
                 lowest=lit["floor_level"] + FLOOR_M)
    _draw(context, job, parts, lit, view)
    return mirror


def _pixel_rays(context: moderngl.Context, job: SetJob, parts: Sequence["_Part"]) -> PixelRays:
    """Return pixel rays for the camera, with the depths of solid parts drawn."""
    rays = PixelRays(context, job.camera, (NEAREST_M, MAX_DISTANCE_M))
    rays.start()
    context.front_face = "cw"
    context.enable_only(moderngl.DEPTH_TEST)
    view = {"to_picture": _View.of(job, ()).to_picture, "lowest": -MAX_DISTANCE_M}
    _draw_depths(context, view, parts)
    return rays


def _lamps_seen(rays: PixelRays, job: SetJob, things: Sequence[ColoredTriangles]
                ) -> tuple[moderngl.Texture, moderngl.Texture]:
    """Return pictures of the visible fraction of each lamp, for the surface at each pixel."""
    grid, free = fine_matter(job.scenery, things)
    return lamps_seen(rays, grid, free, set_from_world(job.scenery), lamp_values(job.scenery))


def _draw(context: moderngl.Context, job: SetJob, parts: Sequence["_Part"], lit: dict[str, Any],
          view: _View) -> None:
    _draw_sky(context, job, view)
    _draw_materials(context, bool(job.scenery.lamps), parts, lit, view)


def _draw_sky(context: moderngl.Context, job: SetJob, view: _View) -> None:
    left, top, right, bottom = view.region
    pixels = np.array([[left, top], [right, top], [left, bottom], [right, bottom]], dtype=float)
    corners = 2 * (pixels - [left, top]) / [right - left, bottom - top] - 1
    rays = job.camera.rays(pixels) * ([1, 1, 1] if view.upright else [1, 1, -1])
    content = np.column_stack([corners, rays]).astype("f4")
    program = context.program(SKY_VERTEX, SKY_FRAGMENT)
    give(program, _light(job))
    context.enable_only(moderngl.NOTHING)
    context.vertex_array(program, [(context.buffer(content.tobytes()), "2f 3f", "corner", "ray")]
                         ).render(moderngl.TRIANGLE_STRIP)


class _Part(NamedTuple):
    """All triangle corners of one material, in an OpenGL buffer."""

    name: str
    material: SetMaterial
    corners: moderngl.Buffer

    @property
    def solid(self) -> bool:
        """Whether the material is opaque and has no holes."""
        return self.material.opacity == 1.0 and self.material.pattern != "net"


def _parts(context: moderngl.Context, job: SetJob, built: BuiltSet) -> list[_Part]:
    """Return the parts in drawing order: by decreasing opacity, nets after solid ones."""
    parts = [_Part(name, job.scenery.materials[name], context.buffer(corners.tobytes()))
             for name, corners in built.parts()]
    return sorted(parts, key=lambda part: (-part.material.opacity, not part.solid))


def _draw_materials(context: moderngl.Context, by_lamps: bool, parts: Sequence[_Part],
                    lit: dict[str, Any], view: _View) -> None:
    seen = lit | {"to_picture": view.to_picture, "eye": view.eye,
                  "lowest": view.lowest}
    context.front_face = "cw" if view.upright else "ccw"
    context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
    context.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
    context.depth_func = "<="
    if not view.upright:
        context.enable_direct(CLIP_DISTANCE)
    context.fbo.color_mask = False, False, False, False
    _draw_depths(context, seen, parts)
    context.fbo.color_mask = True, True, True, True
    for part in parts:
        name, material, corners = part
        # Nets write no depth, so that what is behind them shows through, whichever is drawn first.
        context.fbo.depth_mask = material.pattern != "net"
        program = _program(context, ProgramKind(material.pattern, material.glow > 0, by_lamps,
                                                name in view.shining, "far_ways" in lit,
                                                lit["clouds"] > 0))
        give(program, seen)
        give(program, {"looked": float(view.upright and part.solid)})
        _give_material(program, material)
        context.vertex_array(program, [_layout(program, corners)]).render()
    context.fbo.depth_mask = True
    context.depth_func = "<"
    context.disable_direct(CLIP_DISTANCE)


def _draw_depths(context: moderngl.Context, seen: dict[str, Any], parts: Sequence[_Part]) -> None:
    """Draw only the depths of solid parts."""
    program = context.program(DEPTH_VERTEX, SHADOW_FRAGMENT)
    give(program, seen)
    for part in parts:
        if part.solid:
            context.vertex_array(program, [_layout(program, part.corners)]).render()


def _layout(program: moderngl.Program, buffer: moderngl.Buffer) -> tuple[Any, ...]:
    """Return a vertex layout for the corners, skipping attributes that a program does not use."""
    used = [name in program for name in ATTRIBUTES]
    sizes = [part if use else f"{4 * int(part[0])}x"
             for part, use in zip(FORMAT.split(), used, strict=True)]
    names = [name for name, use in zip(ATTRIBUTES, used, strict=True) if use]
    return (buffer, " ".join(sizes), *names)


@lru_cache(maxsize=64)
def _program(context: moderngl.Context, kind: ProgramKind) -> moderngl.Program:
    """Return the program for a kind of surface, compiled once per context."""
    program = context.program(SET_VERTEX, set_fragment(kind))
    for name, unit in UNITS.items():
        if name in program:
            uniform(program, name).value = unit
    return program


def _give_material(program: moderngl.Program, material: SetMaterial) -> None:
    color = linear(material.color)
    second = linear(material.second) if material.second else 0.6 * color
    joint = 0.35 * (second if material.second else color)
    shore = material.pattern == "shore" and not material.second
    give(program, {
        "color": color, "second": linear("#3aa6b0") if shore else second, "joint": joint,
        "size": material.size, "gap": material.gap, "coat": material.coat, "glow": material.glow,
        "opacity": material.opacity, "sheen": material.sheen,
        "shine": (material.roughness, 0.04, material.metallic),
    })
