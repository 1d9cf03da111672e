"""Pose and render figures in Blender, frame by frame."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from mimegen.characters.arkit_shapes import PREFIX
from mimegen.characters.character import Character, Mesh
from mimegen.characters.grown_hair import grown_hair
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.cycles.hairs import VELOCITY, StagedHair
from mimegen.rendering.cycles.materials import make_material
from mimegen.rendering.cycles.render import PictureReader, apply_sampling, apply_shutter
from mimegen.rendering.cycles.scene import (
    place_camera,
    reset_scene,
    set_light,
    set_photo_sky,
    set_world,
)
from mimegen.rendering.cycles.wrinkles import wrinkled_skin
from mimegen.shots.camera import Camera
from mimegen.shots.closeup import shows_faces
from mimegen.shots.config import Light, RenderConfig
from mimegen.shots.crop import Region, is_empty, seen_region
from mimegen.shots.pixels import to_straight_srgb
from mimegen.shots.seen_shadow import mean_shadow, seen_shadow
from mimegen.shots.shadow import GroundShadow, ground_shadow
from mimegen.shots.shadow_light import sun_directions
from mimegen.shots.skinning import body_skin, posed_points
from mimegen.shots.surface_points import surface_matrix
from mimegen.store.frames import Frame

# How far beyond the sun's shadow a shadow catcher is still darkened by the blocked sky, in metres.
CATCHER_PADDING_M = 0.5
# By number of channels: Blender's attribute type, and the name of the field of its values.
ATTRIBUTE_KINDS = {
    1: ("FLOAT", "value"), 2: ("FLOAT2", "vector"), 3: ("FLOAT_VECTOR", "vector"),
    4: ("FLOAT_COLOR", "color"),
}


class _StagedBody:
    """One character's meshes in Blender's scene."""

    def __init__(self, character: Character, config: RenderConfig) -> None:
        materials = {name: make_material(made, config.photo)
                     for name, made in character.materials.items()}
        hair = grown_hair(character, config.photo.hairs if config.photo is not None else 0)
        self._meshes = [None if mesh.name in hair.hidden else
                        _make_mesh(mesh, materials[mesh.material]) for mesh in hair.meshes]
        self._wrinkled = wrinkled_skin(
            character, self._meshes, config.photo) if shows_faces(config) else None
        self._lengths = [len(mesh.vertices) for mesh in hair.meshes]
        self._hair = StagedHair(character, hair) if hair.hairs else None
        # Turns displacements while the shutter is open into velocities: Blender's frame rate over
        # the shutter's length in frames.
        self._hertz = bpy.context.scene.render.fps / (
            config.shutter.frames if config.shutter is not None else 1.0)
        self._skin = body_skin(character, hair.meshes)
        self.surface = surface_matrix(character, config.shadow.cell_m)

    def pose(self, columns: NDArray[np.float32], *ends: NDArray[np.float32]
             ) -> NDArray[np.float32]:
        """Pose the meshes by joint columns (4 J, 3); return the positions (N, 3) of all vertices.

        For motion blur, ``ends`` are the joint columns as the shutter opens and as it closes; the
        result then holds the vertices at these times too.
        """
        posed, *apart = (self._skin.posed(each) for each in (columns, *ends))
        first = 0
        for mesh, length in zip(self._meshes, self._lengths, strict=True):
            own = slice(first, first + length)
            first = own.stop
            if mesh is None:
                continue
            mesh.vertices.foreach_set("co", posed[own].ravel())
            if apart:
                velocities = (apart[1][own] - apart[0][own]) * np.float32(self._hertz)
                mesh.attributes[VELOCITY].data.foreach_set("vector", velocities.ravel())
            mesh.update()
        if self._wrinkled is not None:
            self._wrinkled.pose(columns)
        hairs = [] if self._hair is None else self._hair.pose(
            (columns, *ends), (posed, *apart), self._hertz)
        return np.concatenate([posed, *apart, *hairs])


class FigureStage:
    """Characters in a scene lit by a render config; made once, posed and rendered many times."""

    def __init__(self, characters: Sequence[Character], config: RenderConfig,
                 world: Path | None = None) -> None:
        reset_scene()
        _light(config, world)
        apply_sampling(config.sampling)
        apply_shutter(config.shutter)
        self.config = config
        self.fingerprints = [character.fingerprint for character in characters]
        self._bodies = [_StagedBody(character, config) for character in characters]
        if config.shadow.kind == "catcher":
            _add_ground(config.shadow.plane_size_m).is_shadow_catcher = True
        elif config.light.ground_albedo > 0:
            ground = _add_ground(config.shadow.plane_size_m)
            ground.data.materials.append(_matt(config.light.ground_albedo))
            ground.visible_camera = False
        if config.ground_hides:
            _hide_below(_add_ground(config.shadow.plane_size_m))
        self._outline = np.empty((0, 3), np.float32)
        self._shadows: tuple[GroundShadow, ...] = ()

    def suits(self, characters: Sequence[Character], config: RenderConfig) -> bool:
        """Whether this stage was made for these characters and this config."""
        wanted = [character.fingerprint for character in characters]
        return self.fingerprints == wanted and self.config == config

    def pose(self, *moments: Sequence[NDArray[np.float32]]) -> None:
        """Pose the figures by their joint columns (4 J, 3), as ``joint_columns`` returns them.

        ``moments`` holds the columns of every figure for each time: the time of the frame alone,
        or, for motion blur, the time of the frame, of the shutter opening and of it closing.
        """
        by_body = zip(self._bodies, *moments, strict=True)
        self._outline = np.concatenate([body.pose(*columns) for body, *columns in by_body])
        self._shadows = ()
        if self.config.shadow.kind == "projected":
            self._shadows = tuple(map(self._shadow, moments))

    def _shadow(self, columns: Sequence[NDArray[np.float32]]) -> GroundShadow:
        points = np.concatenate([posed_points(body.surface, own)
                                 for body, own in zip(self._bodies, columns, strict=True)])
        return ground_shadow(points, self.config.light, self.config.shadow.cell_m)

    def picture(self, camera: Camera, reader: PictureReader) -> Frame:
        """Render the posed figures and their shadow as a camera sees them."""
        place_camera(camera)
        region = self._region(camera)
        size = (camera.width, camera.height)
        shadow, shadow_at = mean_shadow([seen_shadow(each, camera, self.config.shadow.strength)
                                         for each in self._shadows], size)
        figure = np.zeros((0, 0, 4), np.uint8)
        if not is_empty(region):
            figure = to_straight_srgb(reader.render(region))
        return Frame(size, figure, region[:2], shadow, shadow_at)

    def _region(self, camera: Camera) -> Region:
        """Return the region of the picture outside which every pixel is transparent."""
        if not self.config.crop:
            return 0, 0, camera.width, camera.height
        points = self._outline.astype(float)
        if self.config.shadow.kind == "catcher":
            points = np.concatenate([points, *_landings(points, self.config.light)])
        return seen_region(points, camera)


def _light(config: RenderConfig, world: Path | None) -> None:
    """Light figures by the environment map alone, or else by the config's suns and sky.

    With a ``photo`` config, a studio light replaces the plain sky.
    """
    if config.world is not None and world is not None:
        set_world(world, config.world.turn_deg, config.world.balance)
        return
    set_light(config.light)
    if config.photo is not None:
        set_photo_sky(config.photo, config.light)


def _landings(points: FloatArray, light: Light) -> Iterator[FloatArray]:
    """Yield the shadows of points (N, 3) on the ground along sun directions, padded on each side.

    A fourth of the sampled directions on the sun's disc are used.
    """
    around = np.array([[1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]]) * CATCHER_PADDING_M
    for direction in sun_directions(light)[::4]:
        landed = points - np.maximum(points[:, 2:], 0.0) * (direction / direction[2])
        landed[:, 2] = 0.0
        for shift in around:
            yield landed + shift


def _make_mesh(mesh: Mesh, material: bpy.types.Material) -> bpy.types.Mesh:
    """Add a mesh in its rest pose to the scene."""
    made = bpy.data.meshes.new(mesh.name)
    corners = np.where(mesh.faces[:, 3] >= 0, 4, 3)
    used = np.arange(4) < corners[:, None]
    made.vertices.add(len(mesh.vertices))
    made.loops.add(int(corners.sum()))
    made.polygons.add(len(mesh.faces))
    made.vertices.foreach_set("co", mesh.vertices.astype(np.float32).ravel())
    made.loops.foreach_set("vertex_index", mesh.faces[used])
    made.polygons.foreach_set("loop_start", np.cumsum(corners) - corners)
    made.polygons.foreach_set("use_smooth", np.ones(len(mesh.faces), np.bool_))
    if mesh.uvs is not None:
        layer = made.uv_layers.new(name="uv")
        layer.uv.foreach_set("vector", mesh.uvs[used].astype(np.float32).ravel())
    made.update(calc_edges=True)
    made.validate()
    for name, values in mesh.attributes.items():
        if name.startswith(PREFIX):
            continue
        kind, field = ATTRIBUTE_KINDS[values.shape[1] if values.ndim > 1 else 1]
        attribute = made.attributes.new(name, kind, "POINT")
        attribute.data.foreach_set(field, values.astype(np.float32).ravel())
    if bpy.context.scene.render.use_motion_blur:
        made.attributes.new(VELOCITY, "FLOAT_VECTOR", "POINT")
    made.materials.append(material)
    placed = bpy.data.objects.new(mesh.name, made)
    bpy.context.scene.collection.objects.link(placed)
    if mesh.subdivide:
        smoother = placed.modifiers.new("subdivide", "SUBSURF")
        smoother.levels = smoother.render_levels = mesh.subdivide
    return made


def _add_ground(size_m: float) -> bpy.types.Object:
    """Add a square plane at Z = 0; Blender's default material makes it matt and light gray."""
    half = size_m / 2
    plane = bpy.data.meshes.new("ground")
    plane.from_pydata(
        [(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [], [(0, 1, 2, 3)]
    )
    ground = bpy.data.objects.new("ground", plane)
    bpy.context.scene.collection.objects.link(ground)
    return ground


def _hide_below(ground: bpy.types.Object) -> None:
    """Make the ground hide everything below it from the camera, and affect no light."""
    ground.is_holdout = True
    for kind in ("diffuse", "glossy", "transmission", "volume_scatter", "shadow"):
        setattr(ground, f"visible_{kind}", False)


def _matt(albedo: float) -> bpy.types.Material:
    """Return a diffuse (Lambertian) material that reflects the fraction ``albedo`` of the light."""
    made = bpy.data.materials.new("matt")
    made.use_nodes = True
    nodes = made.node_tree.nodes
    diffuse = nodes.new("ShaderNodeBsdfDiffuse")
    diffuse.inputs["Color"].default_value = (albedo, albedo, albedo, 1.0)
    made.node_tree.links.new(diffuse.outputs[0], nodes["Material Output"].inputs["Surface"])
    return made
