"""The raster engine: figures and shadows drawn by OpenGL, compared with geometry."""

import io
from collections.abc import Sequence
from dataclasses import replace

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from mimegen.base.paths import data_folder
from mimegen.characters.character import Character, Material, Mesh, Performance
from mimegen.motion import quaternions
from mimegen.plan.shots import Rendering
from mimegen.rendering.opengl.ground import SAMPLES, GroundPicture
from mimegen.rendering.opengl.noise import fractal, noise, slope
from mimegen.rendering.opengl.shot import RasterStage
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.framing import frame_camera
from mimegen.shots.seen_shadow import seen_shadow
from mimegen.shots.shadow import ground_shadow
from mimegen.shots.skinning import joint_columns
from mimegen.store.frames import Frame
from raster_scene import BODY, draft, performance, standing


def pictures(context: moderngl.Context, scene: Sequence[Performance], config: RenderConfig,
             cameras: Sequence[Camera], frame: int = 0) -> list[Frame]:
    stage = RasterStage(context, [each.character for each in scene], config)
    stage.pose([
        joint_columns(each.character.skeleton, each.motion.global_pose.positions[frame, None],
                      each.motion.global_pose.rotations[frame, None]) for each in scene
    ])
    return [stage.picture(camera) for camera in cameras]


def whole(frame: Frame) -> NDArray[np.uint8]:
    width, height = frame.size
    picture = np.zeros((height, width, 4), np.uint8)
    left, top = frame.figure_at
    rows, columns = frame.figure.shape[:2]
    picture[top:top + rows, left:left + columns] = frame.figure
    return picture


def painted(performance: Performance, camera: Camera, frame: int = 0) -> NDArray[np.bool_]:
    """Return where a figure is, from its projected faces alone."""
    finer = 4
    large = replace(camera, width=finer * camera.width, height=finer * camera.height)
    pose = performance.motion.global_pose
    canvas = Image.new("L", (large.width, large.height))
    draw = ImageDraw.Draw(canvas)
    for mesh in performance.character.meshes:
        joint = mesh.joints[:, 0]
        rotations = pose.rotations[frame][joint]
        heads = performance.character.skeleton.heads[joint]
        places = quaternions.rotate(rotations, mesh.vertices - heads) + pose.positions[frame][joint]
        seen = large.project(places)[:, :2]
        for face in mesh.faces:
            draw.polygon([tuple(point) for point in seen[face[face >= 0]]], fill=255)
    shares = np.asarray(canvas).reshape(camera.height, finer, camera.width, finer).mean((1, 3))
    return np.asarray(shares > 127)


def overlap(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    return float((first & second).sum() / (first | second).sum())


def test_silhouettes_are_the_projected_faces(context) -> None:
    played, config = performance(), draft(width=320, height=180)
    cameras = [frame_camera([played], config, angle) for angle in (0.0, 90.0)]
    for camera, frame in zip(cameras, pictures(context, [played], config, cameras), strict=True):
        assert overlap(whole(frame)[..., 3] > 127, painted(played, camera)) > 0.97


def test_the_crop_loses_nothing(context) -> None:
    played = performance()
    camera = frame_camera([played], draft(), 0.0)
    cropped, = pictures(context, [played], draft(), [camera])
    uncropped, = pictures(context, [played], draft(crop=False), [camera])
    assert cropped.figure.size < uncropped.figure.size
    # Where triangles meet, last bits of places may tell to which a sample belongs.
    difference = np.abs(whole(cropped).astype(int) - whole(uncropped))
    assert (difference > 8).mean() < 0.002


def test_a_figure_out_of_the_picture_is_empty(context) -> None:
    played = performance()
    camera = frame_camera([played], draft(), 0.0)
    away = replace(camera, position=(camera.position[0], camera.position[1], 60.0))
    frame, = pictures(context, [played], draft(), [away])
    assert frame.figure.size == 0 and frame.shadow.size == 0 and frame.size == (160, 90)


def test_the_nearer_of_two_performers_hides_the_other(context) -> None:
    red, blue = (colored(color) for color in ((0.8, 0.0, 0.0), (0.0, 0.0, 0.8)))
    front, behind = standing(red, -0.8), standing(blue, 0.8)
    config = draft(camera={"kind": "framed", "azimuth_deg": 0.0, "elevation_deg": 0.0,
                           "lens_mm": 50, "margin": 0.06})
    cameras = [frame_camera([front, behind], config, angle) for angle in (0.0, 180.0)]
    seen = [whole(frame) for frame in pictures(context, [front, behind], config, cameras)]
    for picture, channel in zip(seen, (0, 2), strict=True):
        middle = picture[picture[..., 3] == 255]
        assert (middle[:, channel] > middle[:, 2 - channel]).mean() > 0.8


def colored(color: tuple[float, float, float]) -> Character:
    material = Material("cloth", "plain", {"color": color, "roughness": 0.9, "metallic": 0.0})
    return replace(BODY, materials={"cloth": material}, fingerprint=str(color))


def test_ground_shadows_are_those_that_are_reckoned(context) -> None:
    played, config = performance(), draft(width=320, height=180)
    points = np.random.default_rng(7).uniform([-0.4, -0.2, 0], [0.4, 0.2, 1.7], (20000, 3))
    shadow = ground_shadow(points.astype(np.float32), config.light, config.shadow.cell_m)
    ground = GroundPicture(context)
    ground.lay(shadow)
    # The last camera is so near that some of the shadow lies out of its picture.
    near = replace(frame_camera([played], config, 0.0), position=(2.4, -2.2, 1.6))
    for camera in [*(frame_camera([played], config, angle) for angle in (0.0, 90.0)), near]:
        for strength in (0.5, 1.0):
            seen, corner = ground.seen(camera, strength)
            wanted, wanted_corner = seen_shadow(shadow, camera, strength, SAMPLES)
            assert corner == wanted_corner and seen.shape == wanted.shape
            assert wanted.max() > 60
            assert np.abs(seen.astype(int) - wanted).max() <= 1
    assert ground.seen(near, 0.0)[0].size == 0


def test_light_comes_from_the_sun(context) -> None:
    white = standing(colored((0.8, 0.8, 0.8)), 0.0)
    light = draft().light.model_copy(update={
        "sun_from_deg": (0.0, 30.0), "rim_strength": 0.0, "sky_strength": 0.1})
    config = draft(light=light.model_dump())
    cameras = [frame_camera([white], config, angle - 48.5) for angle in (0.0, 180.0)]
    lit, dark = (whole(frame) for frame in pictures(context, [white], config, cameras))
    assert lit[lit[..., 3] == 255].mean() > dark[dark[..., 3] == 255].mean() + 40


def test_a_picture_that_a_body_wears_lies_as_its_uvs_say(context) -> None:
    frame, = pictures(context, [banner()], draft(), [Camera(
        (0.0, -4.0, 1.0), (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0), 50.0, 160, 90)])
    seen = whole(frame)
    middle = seen[:, 80]
    rows = np.flatnonzero(middle[:, 3] == 255)
    top, bottom = middle[rows[2]], middle[rows[-3]]
    assert top[0] > 2 * top[2] and bottom[2] > 2 * bottom[0]


def banner() -> Performance:
    """Return a square on one bone: red above, blue below."""


    picture = Image.new("RGB", (8, 8), (255, 0, 0))
    picture.paste((0, 0, 255), (0, 4, 8, 8))
    packed = io.BytesIO()
    picture.save(packed, "PNG")
    corners = np.array([[-0.5, 0, 0.5], [0.5, 0, 0.5], [0.5, 0, 1.5], [-0.5, 0, 1.5]])
    mesh = Mesh("banner", corners, np.array([[0, 1, 2, 3]], np.int32),
                np.zeros((4, 1), np.int32), np.ones((4, 1)), "cloth",
                uvs=np.array([[[0, 0], [1, 0], [1, 1], [0, 1]]], float))
    material = Material("cloth", "image", {"roughness": 0.8, "metallic": 0.0}, packed.getvalue())
    body = replace(BODY, meshes=(mesh,), materials={"cloth": material}, fingerprint="banner")
    return standing(body, 0.0)


def test_noise_is_smooth_and_its_slope_is_its_derivative() -> None:
    places = np.random.default_rng(1).uniform(-5, 5, (500, 3))
    values = noise(places)
    assert values.min() >= 0 and values.max() <= 1 and abs(values.mean() - 0.5) < 0.05
    step = np.array([1e-3, 0.0, 0.0])
    moved = fractal(places + step, 1) - fractal(places - step, 1)
    assert np.allclose(moved / 2e-3, slope(places, 1)[:, 0], atol=0.05)


def test_an_engine_takes_what_it_needs() -> None:
    preview = read_config(data_folder() / "render_configs" / "preview.yaml").model_dump()
    with pytest.raises(ValueError, match="cycles needs sampling"):
        RenderConfig.model_validate(
            {key: value for key, value in preview.items() if key != "sampling"})
    with pytest.raises(ValueError, match="kind: projected"):
        draft(shadow={"kind": "catcher"})


def test_engines_have_keys_of_their_own() -> None:
    content = read_config(data_folder() / "render_configs" / "preview.yaml").model_dump()
    cycles = Rendering(RenderConfig.model_validate(content), "cpu")
    raster = Rendering(RenderConfig.model_validate(content | {"engine": "raster"}), "opengl")
    assert cycles.key != raster.key and cycles.set_key != raster.set_key
