"""A set without anybody in it, drawn with a shot's own camera."""

import io
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.files import publish
from mimegen.base.vectors import unit
from mimegen.characters.colors import to_linear
from mimegen.motion.quaternions import FloatArray
from mimegen.stage.pixels import to_straight_srgb
from mimegen.stage.raster.light import give, light_values, uniform
from mimegen.stage.raster.set_shaders import SET_FRAGMENT, SET_VERTEX, SKY_FRAGMENT, SKY_VERTEX
from mimegen.stage.raster.shaders import SHADOW_FRAGMENT, SHADOW_VERTEX
from mimegen.stage.raster.soup import Corners, corners_of, rounded_box
from mimegen.stage.raster.view import to_picture, to_sun
from mimegen.stage.scenery.job import SetJob
from mimegen.stage.scenery.layout import (
    faces_camera,
    lay_out,
    panel_frame,
    visible_pieces,
    wall_panels,
    world_from_set,
)
from mimegen.stage.scenery.scenery import Box, Lamp, Plane, Scenery, SetMaterial, Solid
from mimegen.stage.scenery.shapes import ShapeMesh, mesh_of

# Each pixel is the mean of so many, across and down.
FINER = 2
SHADOW_CELLS = 2048
# How far around the performer things cast shadows.
SHADOW_REACH_M = 10.0
SHADOW_LIFT_M = 0.02
# How far above what it falls on the edge is that a shadow's softness is meant for.
SHADOW_HEIGHT_M = 0.6
MOST_LAMPS = 64
# Lamps larger than this are taken apart.
LAMP_PART_M = 3.0
# A shadow whose edge is softer than this is no more than haze.
HAZE_M = 0.5
FARTHEST_M = 20000.0
# What walls and a ceiling let in of sky and sun, and the light that they throw back and forth:
# tuned by eye and by the means of Cycles' pictures of four rooms.
SKY_INDOORS = 0.5
SUN_INDOORS = 0.75
INDOORS = 0.13
# Blender's names of patterns, as the shaders number them.
PATTERNS = ("plain", "wood", "planks", "tiles", "bricks", "cloth", "speckle", "sand", "stripes",
            "painting", "outdoors", "shore", "net")
ATTRIBUTES = ("place", "normal", "own", "scattered", "uv", "offshore")
FORMAT = "3f 3f 3f 3f 2f 1f"


@dataclass(frozen=True, eq=False)
class Built:
    """Triangle corners (N, 15) of each material, as the shaders take them.

    ``casting`` (N, 3) are the places of those that cast shadows.
    """

    by_material: dict[str, NDArray[np.float32]]
    casting: NDArray[np.float32]


def draw_set(context: moderngl.Context, job: SetJob) -> None:
    """Draw a set as the shot's camera sees it and publish the PNG, sRGB, at ``job.target``.

    Whatever stands between the camera and the performer is left out, as in a dollhouse.
    """
    packed = io.BytesIO()
    Image.fromarray(set_picture(context, job)).save(packed, "PNG")
    publish(job.target, packed.getvalue())


def set_picture(context: moderngl.Context, job: SetJob) -> NDArray[np.uint8]:
    """Return a set's picture (H, W, 3), sRGB bytes."""
    built = build_set(job)
    lit = _light(job)
    program = context.program(SET_VERTEX, SET_FRAGMENT)
    sun_map = _draw_sun_map(context, built.casting, lit)
    give(program, lit)
    _give_lamps(program, job.scenery)
    target = _target(context, job)
    _draw_sky(context, job)
    _draw_materials(context, job, program, built, sun_map)
    fine = np.frombuffer(target.read(components=4, dtype="f2"), np.float16)
    height, width = job.camera.height, job.camera.width
    light = np.clip(fine.astype(np.float32), 0.0, 1.0)
    mean = light.reshape(height, FINER, width, FINER, 4).mean(axis=(1, 3))
    mean[..., 3] = 1.0
    return to_straight_srgb(mean)[..., :3]


def build_set(job: SetJob) -> Built:
    """Build floors, walls, ceilings and objects, without what is in the camera's way."""
    scenery, matrix = job.scenery, world_from_set(job.scenery)
    parts: dict[str, list[NDArray[np.float32]]] = {}
    for floor in scenery.floors:
        parts.setdefault(floor.material, []).append(_level(floor, matrix, down=False))
    for ceiling in scenery.ceilings:
        if job.camera.position[2] < ceiling.height:
            parts.setdefault(ceiling.material, []).append(_level(ceiling, matrix, down=True))
    for panel in wall_panels(scenery):
        if faces_camera(panel, job.camera):
            frame, local = panel_frame(panel)
            made = corners_of(ShapeMesh(local, ((0, 1, 2, 3),))).in_world(frame)
            parts.setdefault(panel.material, []).append(made)
    casting = _add_pieces(job, parts)
    return Built({name: np.concatenate(made) for name, made in parts.items()}, casting)


def _add_pieces(job: SetJob, parts: dict[str, list[NDArray[np.float32]]]) -> NDArray[np.float32]:
    """Add the set's objects to the parts; return the places (N, 3) of what casts shadows."""
    shapes: dict[int, Corners] = {}
    casting = [np.zeros((0, 3), np.float32)]
    softness = np.radians(job.scenery.sun.size_deg)
    for piece in visible_pieces(lay_out(job.scenery), job.camera):
        if id(piece.shape) not in shapes:
            shapes[id(piece.shape)] = corners_of(_mesh(piece.shape))
        made = shapes[id(piece.shape)].in_world(piece.matrix)
        parts.setdefault(piece.material, []).append(made)
        hazy = float(made[:, 2].min()) * softness > HAZE_M
        if job.scenery.materials[piece.material].opacity == 1.0 and not hazy:
            casting.append(made[:, :3])
    return np.concatenate(casting)


def _mesh(shape: Solid) -> ShapeMesh:
    return rounded_box(shape) if isinstance(shape, Box) and shape.bevel > 0 else mesh_of(shape)


def _level(plane: Plane, matrix: FloatArray, down: bool) -> NDArray[np.float32]:
    (x0, y0), (x1, y1) = plane.corners
    corners = np.array([[x0, y0, 0], [x1, y0, 0], [x1, y1, 0], [x0, y1, 0]], dtype=float)
    face = (3, 2, 1, 0) if down else (0, 1, 2, 3)
    lift = np.eye(4)
    lift[2, 3] = plane.height
    return corners_of(ShapeMesh(corners, (face,))).in_world(matrix @ lift)


def _light(job: SetJob) -> dict[str, Any]:
    """Return the set's own light as what the shaders take."""
    scenery = job.scenery
    values = light_values(job.config.light)
    zenith, horizon, _ = _sky_colors(scenery)
    # The horizon's color reaches up to a quarter of the sky's area, weighted by height.
    above = 0.75 * zenith + 0.25 * horizon
    sun = scenery.sun.strength * _linear(scenery.sun.color)
    below = _from_below(scenery, sun, above)
    indoors = 0.0
    if scenery.ceilings:
        above, below, sun = SKY_INDOORS * above, SKY_INDOORS * below, SUN_INDOORS * sun
        indoors = INDOORS
    return values | {
        "sun": sun, "rim": np.zeros(3), "sky": above, "ground": below,
        "indoors": np.full(3, indoors), "eye": np.array(job.camera.position),
        "shadow_lift": SHADOW_LIFT_M,
        "sun_size": np.tan(np.radians(scenery.sun.size_deg / 2)) * SHADOW_HEIGHT_M,
    }


def _sky_colors(scenery: Scenery) -> list[FloatArray]:
    sky = scenery.sky
    return [sky.strength * _linear(color) for color in (sky.zenith, sky.horizon, sky.ground)]


def _from_below(scenery: Scenery, sun: FloatArray, sky: FloatArray) -> FloatArray:
    """Return the light that the floor throws back up; that of the sky's lower half without one."""
    if not scenery.floors:
        return _sky_colors(scenery)[2]
    floor = _linear(scenery.materials[scenery.floors[0].material].color)
    return np.asarray(floor * (0.8 * sun / np.pi + sky))


def _linear(color: str) -> FloatArray:
    return np.array(to_linear(color))


def _give_lamps(program: moderngl.Program, scenery: Scenery) -> None:
    """Give the shaders every lamp as small ones spread over it, each shining from its middle."""
    matrix = world_from_set(scenery)
    parts = [part for lamp in scenery.lamps for part in _lamp_parts(lamp, matrix)][:MOST_LAMPS]
    uniform(program, "lamps").value = len(parts)
    rest = np.zeros((MOST_LAMPS - len(parts), 10))
    table = np.concatenate([np.reshape(parts, (-1, 10)), rest]).astype("f4")
    for name, columns in (("at", slice(0, 3)), ("way", slice(3, 6)), ("power", slice(6, 9)),
                          ("area", slice(9, 10))):
        uniform(program, f"lamp_{name}").write(np.ascontiguousarray(table[:, columns]).tobytes())


def _lamp_parts(lamp: Lamp, matrix: FloatArray) -> list[FloatArray]:
    """Return place, direction, power and area (10,) of a lamp's parts."""
    start, end = ((matrix @ [*point, 1.0])[:3] for point in (lamp.at, lamp.to))
    way = unit(end - start)
    side = np.array([1.0, 0.0, 0.0]) if abs(way[2]) > 0.999 else unit(np.cross(way, [0, 0, 1]))
    other = np.cross(way, side)
    counts = [int(np.ceil(size / LAMP_PART_M)) for size in lamp.size]
    shares = [(np.arange(count) + 0.5) / count - 0.5 for count in counts]
    parts = counts[0] * counts[1]
    power = lamp.watts * _linear(lamp.color) / parts
    area = lamp.size[0] * lamp.size[1] / parts
    return [
        np.array([*start + x * lamp.size[0] * side + y * lamp.size[1] * other, *way, *power, area])
        for x in shares[0] for y in shares[1]
    ]


def _draw_sun_map(context: moderngl.Context, casting: NDArray[np.float32],
                  lit: dict[str, Any]) -> moderngl.Texture:
    """Draw how far the sun's light reaches; adds where that is to what the shaders take."""
    reach = SHADOW_REACH_M * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1)
                                       for z in (0, 0.5)])
    matrix, half = to_sun(reach, lit["sun_from"], 1.0)
    lit |= {"to_shadow": matrix, "shadow_spread": np.full(2, lit.pop("sun_size") / half / 2)}
    sun_map = context.depth_texture((SHADOW_CELLS, SHADOW_CELLS))
    sun_map.compare_func = "<="
    sun_map.repeat_x = sun_map.repeat_y = False
    target = context.framebuffer(depth_attachment=sun_map)
    target.use()
    target.clear()
    if len(casting):
        program = context.program(SHADOW_VERTEX, SHADOW_FRAGMENT)
        give(program, lit)
        context.enable_only(moderngl.DEPTH_TEST)
        context.vertex_array(program, [(context.buffer(casting.tobytes()), "3f", "place")]).render()
    return sun_map


def _target(context: moderngl.Context, job: SetJob) -> moderngl.Framebuffer:
    size = (FINER * job.camera.width, FINER * job.camera.height)
    target = context.framebuffer(context.renderbuffer(size, 4, dtype="f2"),
                                 context.depth_renderbuffer(size))
    target.use()
    target.clear()
    return target


def _draw_sky(context: moderngl.Context, job: SetJob) -> None:
    width, height = job.camera.width, job.camera.height
    pixels = np.array([[0, 0], [width, 0], [0, height], [width, height]], dtype=float)
    corners = 2 * pixels / [width, height] - 1
    content = np.column_stack([corners, job.camera.rays(pixels)]).astype("f4")
    program = context.program(SKY_VERTEX, SKY_FRAGMENT)
    sky = job.scenery.sky
    give(program, {"zenith": _linear(sky.zenith), "horizon": _linear(sky.horizon),
                   "below": _linear(sky.ground), "clouds": sky.clouds, "strength": sky.strength})
    context.enable_only(moderngl.NOTHING)
    context.vertex_array(program, [(context.buffer(content.tobytes()), "2f 3f", "corner", "ray")]
                         ).render(moderngl.TRIANGLE_STRIP)


def _draw_materials(context: moderngl.Context, job: SetJob, program: moderngl.Program,
                    built: Built, sun_map: moderngl.Texture) -> None:
    """Draw what is opaque, then what is not."""
    camera = job.camera
    whole = (0, 0, camera.width, camera.height)
    give(program, {"to_picture": to_picture(camera, whole, FARTHEST_M),
                   "picture_size": FINER * np.array(whole[2:])})
    sun_map.use(0)
    open_sky = context.texture((1, 1), 1, b"\xff")
    open_sky.use(1)
    uniform(program, "shadow_map").value, uniform(program, "open_sky").value = 0, 1
    context.front_face = "cw"
    context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
    materials = job.scenery.materials
    for name in sorted(built.by_material, key=lambda name: -materials[name].opacity):
        _give_material(program, materials[name])
        context.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        corners = context.buffer(np.ascontiguousarray(built.by_material[name]).tobytes())
        context.vertex_array(program, [(corners, FORMAT, *ATTRIBUTES)]).render()


def _give_material(program: moderngl.Program, material: SetMaterial) -> None:
    color = _linear(material.color)
    second = _linear(material.second) if material.second else 0.6 * color
    joint = 0.35 * (second if material.second else color)
    shore = material.pattern == "shore" and not material.second
    uniform(program, "pattern").value = PATTERNS.index(material.pattern)
    give(program, {
        "color": color, "second": _linear("#3aa6b0") if shore else second, "joint": joint,
        "size": material.size, "gap": material.gap, "coat": material.coat, "glow": material.glow,
        "opacity": material.opacity, "sheen": material.sheen,
        "shine": (material.roughness, 0.04, material.metallic),
    })
