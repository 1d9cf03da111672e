"""Build an empty set, without figures, and render it with a shot's camera."""

import io
import math
from collections.abc import Mapping

import bpy

# isort: split
# Blender's other modules are found only after bpy.
import bmesh
import mathutils
import numpy as np
from PIL import Image

from mimegen.base.files import publish
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.cycles.nodes import Nodes, linear
from mimegen.rendering.cycles.render import PictureReader, apply_sampling
from mimegen.rendering.cycles.scene import place_camera, reset_scene, set_light
from mimegen.rendering.cycles.scenery_materials import make_material
from mimegen.scenery.job import SetJob
from mimegen.scenery.layout import (
    PlacedShape,
    WallPanel,
    faces_camera,
    in_view,
    lay_out,
    panel_frame,
    visible_pieces,
    wall_panels,
    world_from_set,
)
from mimegen.scenery.light import Lamp, Sky
from mimegen.scenery.meshes import ShapeMesh, joined
from mimegen.scenery.objects import Box, Cylinder, Extrude, Solid
from mimegen.scenery.scenery import Plane, Scenery
from mimegen.scenery.shapes import mesh_of
from mimegen.shots.config import RenderConfig

# Edges between faces at a larger angle than this are shaded sharp, and beveled if a shape says so.
SHARP_RAD = math.radians(35.0)
# Shapes out of view with at most this many faces are joined into one mesh per material.
PLAIN_FACES = 100


def render_set(job: SetJob, reader: PictureReader) -> None:
    """Render a set as the shot's camera sees it and publish the sRGB PNG at ``job.target``.

    Walls and objects between the camera and the performer are left out. For speed, the whole scene
    with camera and light is rotated so that the set's axes are the world's: long objects at an
    angle to the axes have overlapping bounding boxes, which slows ray tracing several times.
    """
    turned = math.radians(job.scenery.turn_deg)
    stage_set(job, turned)
    _turn_everything(-turned)
    bpy.ops.render.render()
    packed = io.BytesIO()
    Image.fromarray(reader.displayed()).save(packed, "PNG")
    publish(job.target, packed.getvalue(), makes_folder=False)


def stage_set(job: SetJob, turned: float = 0.0) -> None:
    """Build and light a set in an empty scene, and place the shot's camera.

    If the scene is going to be rotated by minus ``turned`` radians about Z, patterns in world
    coordinates are made to match.
    """
    reset_scene()
    place_camera(job.camera)
    scene = bpy.context.scene
    # The horizon lies beyond the usual clipping distance.
    scene.camera.data.clip_end = 20000.0
    build_set(job, turned)
    light_set(job.scenery, job.config, turned)
    apply_sampling(job.config.set_sampling)
    scene.cycles.sample_clamp_indirect = 4.0
    scene.cycles.blur_glossy = 0.5
    scene.render.film_transparent = False


def _turn_everything(turn: float) -> None:
    """Rotate all objects, lights and cameras by ``turn`` radians about the world's Z axis."""
    matrix = mathutils.Matrix.Rotation(turn, 4, "Z")
    for one in bpy.context.scene.objects:
        one.matrix_basis = matrix @ one.matrix_basis


def build_set(job: SetJob, turned: float = 0.0) -> None:
    """Build floors, walls, ceilings and objects, leaving out those that block the camera's view."""
    scenery = job.scenery
    materials = {name: make_material(name, look, turned)
                 for name, look in scenery.materials.items()}
    matrix = world_from_set(scenery)
    for floor in scenery.floors:
        _add_plane(floor, materials[floor.material], matrix, down=False)
    for ceiling in scenery.ceilings:
        if job.camera.position[2] < ceiling.height:
            _add_plane(ceiling, materials[ceiling.material], matrix, down=True)
    for panel in wall_panels(scenery):
        if faces_camera(panel, job.camera):
            _add_wall(panel, materials[panel.material])
    _add_pieces(visible_pieces(lay_out(scenery), job.camera), materials, job)


def _add_pieces(pieces: list[PlacedShape], materials: Mapping[str, bpy.types.Material],
                job: SetJob) -> None:
    """Add pieces; copies share a mesh, and simple pieces out of the camera's view are joined.

    Joining speeds up the tracing of indirect light past, say, a thousand seats behind the camera.
    """
    outlines: dict[int, ShapeMesh] = {}
    meshes: dict[tuple[int, str], bpy.types.Mesh] = {}
    unseen: dict[str, list[tuple[ShapeMesh, FloatArray]]] = {}
    for piece, is_shown in zip(pieces, in_view(pieces, job.camera).tolist(), strict=True):
        key, made_of = (id(piece.shape), piece.material), job.scenery.materials[piece.material]
        if key[0] not in outlines:
            outlines[key[0]] = mesh_of(piece.shape)
        outline = outlines[key[0]]
        # Nets are not joined: their cords, which cast shadows, follow the mesh's local axes.
        if not is_shown and len(outline.faces) <= PLAIN_FACES and made_of.pattern != "net":
            unseen.setdefault(piece.material, []).append((outline, piece.matrix))
            continue
        if key not in meshes:
            meshes[key] = _solid_mesh(piece.shape, outline, materials[piece.material])
        _add_object(meshes[key], piece.matrix)
    for name, placed in unseen.items():
        _add_object(_smooth(_blender_mesh(joined(placed), materials[name])), np.eye(4))


def _solid_mesh(shape: Solid, outline: ShapeMesh, material: bpy.types.Material) -> bpy.types.Mesh:
    made = _blender_mesh(outline, material)
    if isinstance(shape, (Box, Cylinder, Extrude)) and shape.bevel > 0:
        _bevel(made, shape.bevel)
    return _smooth(made)


def _smooth(made: bpy.types.Mesh) -> bpy.types.Mesh:
    made.polygons.foreach_set("use_smooth", np.ones(len(made.polygons), dtype=bool))
    made.set_sharp_from_angle(angle=SHARP_RAD)
    return made


def _blender_mesh(mesh: ShapeMesh, material: bpy.types.Material) -> bpy.types.Mesh:
    made = bpy.data.meshes.new(material.name)
    sizes = [len(face) for face in mesh.faces]
    made.vertices.add(len(mesh.vertices))
    made.loops.add(sum(sizes))
    made.polygons.add(len(sizes))
    # The same as from_pydata but with arrays, which takes a third of the time.
    made.vertices.foreach_set("co", mesh.vertices.astype(np.float32).ravel())
    made.polygons.foreach_set("loop_start", np.cumsum([0, *sizes[:-1]], dtype=np.int32))
    made.loops.foreach_set("vertex_index", np.concatenate(mesh.faces).astype(np.int32))
    made.update(calc_edges=True)
    made.materials.append(material)
    layer = made.uv_layers.new()
    layer.uv.foreach_set("vector", mesh.texture_coordinates().astype(np.float32).ravel())
    if mesh.offshore is not None:
        stored = made.attributes.new("offshore", "FLOAT", "POINT")
        stored.data.foreach_set("value", mesh.offshore.astype(np.float32))
    return made


def _bevel(mesh: bpy.types.Mesh, width: float) -> None:
    work = bmesh.new()
    work.from_mesh(mesh)
    sharp = [edge for edge in work.edges
             if len(edge.link_faces) == 2 and edge.calc_face_angle() > SHARP_RAD]
    bmesh.ops.bevel(work, geom=sharp, offset=width, segments=4 if width > 0.02 else 2,
                    profile=0.5, affect="EDGES", clamp_overlap=True)
    work.to_mesh(mesh)
    work.free()


def _add_object(mesh: bpy.types.Mesh, matrix: FloatArray) -> bpy.types.Object:
    added = bpy.data.objects.new(mesh.name, mesh)
    added.matrix_world = mathutils.Matrix(matrix.tolist())
    bpy.context.scene.collection.objects.link(added)
    return added


def _add_plane(plane: Plane, material: bpy.types.Material, matrix: FloatArray,
               down: bool) -> None:
    (x0, y0), (x1, y1) = plane.corners
    corners = np.array([[x0, y0, 0], [x1, y0, 0], [x1, y1, 0], [x0, y1, 0]], dtype=float)
    face = (3, 2, 1, 0) if down else (0, 1, 2, 3)
    lift = np.eye(4)
    lift[2, 3] = plane.height
    added = _add_object(_blender_mesh(ShapeMesh(corners, (face,)), material), matrix @ lift)
    # Ceilings cast no shadow, so sun and sky light a room through its ceiling, as on a film set.
    added.visible_shadow = not down


def _add_wall(panel: WallPanel, material: bpy.types.Material) -> None:
    frame, local = panel_frame(panel)
    added = _add_object(_blender_mesh(ShapeMesh(local, ((0, 1, 2, 3),)), material), frame)
    added.visible_shadow = False


def light_set(scenery: Scenery, config: RenderConfig, turned: float) -> None:
    """Light the set by its own sky, lamps and sun; the sun's direction comes from the config."""
    set_light(config.light.model_copy(update={
        "sun_strength": scenery.sun.strength, "sun_size_deg": scenery.sun.size_deg,
        "rim_strength": 0.0}))
    bpy.data.lights["sun"].color = linear(scenery.sun.color)[:3]
    _set_sky(scenery.sky, turned)
    matrix = world_from_set(scenery)
    for lamp in scenery.lamps:
        _add_lamp(lamp, matrix)


def _add_lamp(lamp: Lamp, matrix: FloatArray) -> None:
    made = bpy.data.lights.new("lamp", "AREA")
    made.shape, (made.size, made.size_y) = "RECTANGLE", lamp.size
    made.energy, made.color = lamp.watts, linear(lamp.color)[:3]
    added = bpy.data.objects.new("lamp", made)
    at, to = (matrix @ [*point, 1.0] for point in (lamp.at, lamp.to))
    added.location = at[:3]
    added.rotation_mode = "QUATERNION"
    added.rotation_quaternion = mathutils.Vector((to - at)[:3]).to_track_quat("-Z", "Y")
    added.visible_camera = False
    bpy.context.scene.collection.objects.link(added)


def _set_sky(sky: Sky, turned: float) -> None:
    world = bpy.data.worlds.new("set sky")
    bpy.context.scene.world = world
    world.use_nodes = True
    # This sky has no sun disc, so a coarse map is enough to sample it; a fine one takes seconds.
    world.cycles.sampling_method, world.cycles.sample_map_resolution = "MANUAL", 64
    nodes = Nodes(world.node_tree, turned)
    way = nodes.tree.nodes.new("ShaderNodeTexCoord").outputs["Generated"]
    rise = nodes.add("SeparateXYZ", Vector=way).outputs["Z"]
    above = nodes.blend(nodes.ramp(rise, 0.0, 0.45), linear(sky.horizon), linear(sky.zenith))
    if sky.clouds > 0:
        drift = nodes.noise(nodes.in_world(way, (2.0, 2.0, 9.0)), 1.6, 6.0)
        share = nodes.math("MULTIPLY", nodes.ramp(drift, 0.5, 0.72), sky.clouds)
        above = nodes.blend(share, above, (0.95, 0.96, 1.0, 1.0))
    color = nodes.blend(nodes.ramp(rise, -0.001, 0.0), linear(sky.ground), above)
    background = world.node_tree.nodes["Background"]
    nodes.put(background.inputs["Color"], color)
    background.inputs["Strength"].default_value = sky.strength
