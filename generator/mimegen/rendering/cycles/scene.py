"""Empty Blender's scene, light it and place its camera."""

import math
from pathlib import Path

import bpy
import numpy as np

from mimegen.shots.camera import Camera
from mimegen.shots.config import Light, Photo, WideSun

# White balance: the exponent with which the environment's mean color is divided out; 1 is all.
BALANCED = 0.85


def reset_scene() -> None:
    """Delete everything and begin a new scene; only the settings of ``use_device`` are kept."""
    old = bpy.context.scene
    scene = bpy.data.scenes.new("stage")
    scene.cycles.device = old.cycles.device
    scene.render.threads_mode, scene.render.threads = old.render.threads_mode, old.render.threads
    bpy.context.window.scene = scene
    kept = {scene, *bpy.data.window_managers, *bpy.data.screens, *bpy.data.workspaces}
    bpy.data.batch_remove([thing for thing in bpy.data.user_map() if thing not in kept])
    scene.render.engine = "CYCLES"
    scene.render.film_transparent = True
    scene.view_settings.view_transform = "Standard"
    scene.cycles.seed = 0
    scene.cycles.use_animated_seed = False


def place_camera(camera: Camera) -> None:
    """Make the scene's camera match ``camera``, and set the picture's size.

    Blender's camera object is made on the first call and moved on later ones.
    """
    scene = bpy.context.scene
    seen_by = scene.camera
    if seen_by is None:
        seen_by = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
        scene.collection.objects.link(seen_by)
        scene.camera = seen_by
    seen_by.rotation_mode = "QUATERNION"
    seen_by.location = camera.position
    seen_by.rotation_quaternion = camera.rotation
    seen_by.data.sensor_fit = "HORIZONTAL"
    seen_by.data.sensor_width = camera.sensor_width_mm
    seen_by.data.lens = camera.lens_mm
    seen_by.data.clip_start, seen_by.data.clip_end = 0.05, 1000.0
    scene.render.resolution_x, scene.render.resolution_y = camera.width, camera.height
    scene.render.resolution_percentage = 100


def set_light(light: Light) -> None:
    """Light the scene by a sun, a rim light or lamps, and a sky, all fixed in world coordinates."""
    azimuth = light.sun_from_deg[0]
    _add_sun("sun", WideSun(strength=light.sun_strength, from_deg=light.sun_from_deg,
                            size_deg=light.sun_size_deg, color=light.sun_color))
    if light.lamps is not None:
        _add_sun("lamps", light.lamps)
    elif light.rim_strength > 0:
        _add_sun("rim", WideSun(strength=light.rim_strength, from_deg=(azimuth + 180.0, 35.0),
                                size_deg=20.0))
    _set_sky(light)


def _add_sun(name: str, shown: WideSun) -> None:
    lamp = bpy.data.lights.new(name, "SUN")
    lamp.energy, lamp.angle = shown.strength, math.radians(shown.size_deg)
    lamp.color = shown.color
    sun = bpy.data.objects.new(name, lamp)
    azimuth_deg, elevation_deg = shown.from_deg
    # A sun shines along its local -Z axis, so without rotation it is at the zenith.
    sun.rotation_euler = (math.radians(90.0 - elevation_deg), 0.0, math.radians(azimuth_deg))
    bpy.context.scene.collection.objects.link(sun)


def _set_sky(light: Light) -> None:
    """Give the world's upper half the sky's color and the lower half the ground's.

    The two blend linearly where the direction's Z is between -0.3 and 0.3.
    """
    world = bpy.data.worlds.new("sky")
    bpy.context.scene.world = world
    # Before Blender 5, worlds and materials have nodes only if use_nodes is set.
    world.use_nodes = True
    # Do not importance-sample the sky: scattered rays find its two plain halves anyway, and all
    # light samples go to the brighter suns. Under the paper's light this leaves a quarter of the
    # noise's variance.
    world.cycles.sampling_method = "NONE"
    nodes, links = world.node_tree.nodes, world.node_tree.links
    background = nodes["Background"]
    background.inputs["Strength"].default_value = light.sky_strength
    direction = nodes.new("ShaderNodeTexCoord")
    split = nodes.new("ShaderNodeSeparateXYZ")
    ramp = nodes.new("ShaderNodeMapRange")
    ramp.inputs["From Min"].default_value, ramp.inputs["From Max"].default_value = -0.3, 0.3
    mix = nodes.new("ShaderNodeMix")
    mix.data_type = "RGBA"
    below = tuple(channel * light.ground_share for channel in light.ground_color or light.sky_color)
    mix.inputs["A"].default_value = (*below, 1.0)
    mix.inputs["B"].default_value = (*light.sky_color, 1.0)
    links.new(direction.outputs["Generated"], split.inputs[0])
    links.new(split.outputs["Z"], ramp.inputs["Value"])
    links.new(ramp.outputs["Result"], mix.inputs["Factor"])
    links.new(mix.outputs["Result"], background.inputs["Color"])


def set_photo_sky(photo: Photo, light: Light) -> None:
    """Replace the sky by one of Blender's studio lights, balanced to the sky's mean light.

    Raises FileNotFoundError if this Blender lacks its studio lights.
    """
    file = studio_light(photo.world)
    mean = _mean_light(bpy.data.images.load(str(file)))
    # Like a camera's white balance: most of the environment's own color is divided out.
    balance = (1 / channel**BALANCED / (sum(mean) / 3)**(1 - BALANCED) for channel in mean)
    halves = zip(light.sky_color, light.ground_color or light.sky_color, strict=True)
    set_world(file, -photo.world_turn_deg, tuple(
        factor * light.sky_strength * (above + below) / 2
        for factor, (above, below) in zip(balance, halves, strict=True)))


def studio_light(name: str) -> Path:
    """Return the file of one of Blender's studio lights.

    Raises FileNotFoundError if there is no such file.
    """
    file = Path(bpy.utils.system_resource("DATAFILES")) / "studiolights" / "world" / f"{name}.exr"
    if not file.is_file():
        raise FileNotFoundError(f"{file}: this Blender lacks its studio lights")
    return file


def set_world(file: Path, turn_deg: float, balance: tuple[float, ...]) -> None:
    """Light the scene by an equirectangular picture, its RGB multiplied by ``balance``.

    The picture's middle column is at +X, then rotated by ``turn_deg`` counterclockwise as seen
    from above.
    """
    world = bpy.data.worlds.new("world")
    bpy.context.scene.world = world
    world.use_nodes = True
    world.cycles.sampling_method = "AUTOMATIC"
    nodes, links = world.node_tree.nodes, world.node_tree.links
    place, turn = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeMapping")
    turn.inputs["Rotation"].default_value = (0.0, 0.0, math.radians(-turn_deg))
    picture = nodes.new("ShaderNodeTexEnvironment")
    picture.image = bpy.data.images.load(str(file), check_existing=True)
    links.new(place.outputs["Generated"], turn.inputs["Vector"])
    links.new(turn.outputs["Vector"], picture.inputs["Vector"])
    balanced = nodes.new("ShaderNodeVectorMath")
    balanced.operation = "MULTIPLY"
    balanced.inputs[1].default_value = balance
    links.new(picture.outputs["Color"], balanced.inputs[0])
    links.new(balanced.outputs["Vector"], nodes["Background"].inputs["Color"])
    nodes["Background"].inputs["Strength"].default_value = 1.0


def _mean_light(image: bpy.types.Image) -> tuple[float, ...]:
    """Return the mean linear RGB of an equirectangular picture over the sphere.

    Rows are weighted by the sine of their polar angle. The result is rounded to four digits.
    """
    width, height = image.size
    pixels = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    rows = pixels.reshape(height, width, 4)[..., :3].astype(np.float64).mean(axis=1)
    weights = np.sin((np.arange(height) + 0.5) / height * np.pi)[:, None]
    mean = (rows * weights).sum(axis=0) / weights.sum()
    return tuple(float(f"{channel:.4g}") for channel in mean)
