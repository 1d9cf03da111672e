"""The raster engine: figures, shadows and sets drawn by OpenGL, compared with geometry."""

import io
import multiprocessing
import os
import signal
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from bodies import capsule_character, wandering_motion
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.characters.character import Character, Material, Mesh, Performance
from mimegen.compositing.background import read_background
from mimegen.farm.dispatch import TaskDone, TaskFailed, run_tasks
from mimegen.farm.local import LocalExecutor
from mimegen.farm.task import Task
from mimegen.motion import quaternions
from mimegen.plan.shots import Rendering
from mimegen.stage.camera import Camera
from mimegen.stage.config import RenderConfig, read_config
from mimegen.stage.devices import OPENGL
from mimegen.stage.figures import publish_figure
from mimegen.stage.framing import frame_camera
from mimegen.stage.jobs import FigureFiles, FrameDone, JobDone, JobFailed, Ready, ShotJob
from mimegen.stage.passes.server import PassServer
from mimegen.stage.raster.context import (
    OpenGLError,
    checked,
    context_of_process,
    is_sound,
    open_context,
)
from mimegen.stage.raster.lobes import CELLS, lobe_texture
from mimegen.stage.raster.noise import fractal, noise, slope
from mimegen.stage.raster.scenery import set_picture
from mimegen.stage.raster.shot import RasterStage
from mimegen.stage.raster.soup import corners_of, rounded_box
from mimegen.stage.raster.worker import serve
from mimegen.stage.scenery.job import SetJob
from mimegen.stage.scenery.scenery import Box, Extrude, Scenery
from mimegen.stage.scenery.shapes import ShapeMesh, mesh_of
from mimegen.stage.skinning import joint_columns
from mimegen.stage.worker import StageWorker
from mimegen.store.frames import Frame, frame_name, read_frame

BODY = capsule_character(16, 12)


def draft(**changes: object) -> RenderConfig:
    content = read_config(data_folder() / "render_configs" / "draft.yaml").model_dump()
    return RenderConfig.model_validate(content | {"width": 160, "height": 90} | changes)


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


def performance(body: Character = BODY, seed: int = 3) -> Performance:
    return Performance(body, wandering_motion(body.skeleton, 3, seed, 0.3))


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


def standing(body: Character, y: float) -> Performance:
    still = wandering_motion(body.skeleton, 1, 1, 0.0)
    places = np.array([[0.0, y, still.root_positions[0, 2]]])
    return Performance(body, replace(still, root_positions=places))


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


def test_a_worker_draws_what_is_missing_without_blender(context, tmp_path) -> None:
    played, config = performance(), draft()
    files = FigureFiles(tmp_path / "character.npz", tmp_path / "performance.npz")
    publish_figure(played, files)
    missing = np.array([[True], [False], [True]])
    job = ShotJob((files,), (frame_camera([played], config, 0.0),), config,
                  (tmp_path / "shot",), missing)
    still = SetJob(Scenery.model_validate(ROOM), job.cameras[0], config, tmp_path / "still.png")
    worker = StageWorker("opengl", 1)
    try:
        ready = worker.connection.recv()
        assert isinstance(ready, Ready) and ready.device == "opengl" and "OpenGL" in ready.program
        # A set between two shots leaves the figures' stage as it was.
        for wanted in (job, still, job):
            worker.submit(wanted)
            messages: list[object] = []
            while not messages or isinstance(messages[-1], FrameDone):
                messages.append(worker.connection.recv())
            assert isinstance(messages[-1], JobDone), messages[-1]
    finally:
        worker.kill()
    made = sorted(path.name for path in (tmp_path / "shot").glob("*.npz"))
    assert made == [frame_name(0), frame_name(2)]
    frame = read_frame(tmp_path / "shot" / frame_name(0))
    assert frame.figure[..., 3].max() == 255 and frame.shadow.max() > 60
    assert Image.open(still.target).size == (160, 90)


def test_a_job_that_cannot_be_drawn_is_told_and_the_worker_goes_on(context, tmp_path) -> None:
    config = draft()
    job = ShotJob((FigureFiles(tmp_path / "none.npz", tmp_path / "none.npz"),),
                  (frame_camera([performance()], config, 0.0),), config, (tmp_path / "shot",),
                  np.ones((1, 1), np.bool_))
    worker = StageWorker("opengl", 1)
    try:
        worker.connection.recv()
        for _ in range(2):
            worker.submit(job)
            answer = worker.connection.recv()
            assert isinstance(answer, JobFailed) and "none.npz" in answer.message
    finally:
        worker.kill()


def test_a_driver_that_dies_between_frames_costs_no_frame(context, tmp_path) -> None:
    played, config = performance(), draft()
    files = FigureFiles(tmp_path / "character.npz", tmp_path / "performance.npz")
    publish_figure(played, files)
    cameras = tuple(frame_camera([played], config, angle) for angle in (0.0, 90.0))
    folders = tuple(tmp_path / name for name in ("front", "side"))
    count = min(6, played.motion.frames)
    missing = np.zeros((played.motion.frames, 2), np.bool_)
    missing[:count] = True
    task = Task(ShotJob((files,), cameras, config, folders, missing), "shot")
    killed, ended = False, []
    with closing(run_tasks([task], partial(LocalExecutor, [OPENGL], 1, tmp_path))) as events:
        for event in events:
            if isinstance(event, FrameDone) and not killed:
                killed = True
                victim, = (child for child in multiprocessing.active_children()
                           if child.name == "mimegen-stage")
                assert victim.pid is not None
                os.kill(victim.pid, signal.SIGKILL)
            if isinstance(event, TaskDone | TaskFailed):
                ended.append(event)
    assert killed and len(ended) == 1 and isinstance(ended[0], TaskDone)
    for folder in folders:
        assert sorted(path.name for path in folder.glob("*.npz")) == [
            frame_name(number) for number in range(count)]
        for number in range(count):
            read_frame(folder / frame_name(number))
        assert not [path for path in folder.iterdir() if ".part" in path.name]


class Lost:
    """A connection to a worker whose context is lost amid a frame."""

    def __init__(self, *jobs: object) -> None:
        self.jobs, self.told = list(jobs), list[object]()

    def recv(self) -> object:
        return self.jobs.pop(0)

    def send(self, message: object) -> None:
        self.told.append(message)


def test_a_context_that_is_lost_amid_a_frame_ends_its_worker(
        context, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    played, config = performance(), draft()
    files = FigureFiles(tmp_path / "character.npz", tmp_path / "performance.npz")
    publish_figure(played, files)
    job = ShotJob((files,), (frame_camera([played], config, 0.0),), config, (tmp_path / "shot",),
                  np.ones((played.motion.frames, 1), np.bool_))

    def lost(*_: object, **__: object) -> None:
        raise moderngl.Error("the context was lost")

    monkeypatch.setattr(moderngl.Context, "copy_framebuffer", lost)
    monkeypatch.setattr(moderngl.Context, "renderbuffer", lost)
    connection = Lost(job, job)
    serve(connection, 1)  # type: ignore[arg-type]
    ready, failed = connection.told
    assert isinstance(ready, Ready) and isinstance(failed, JobFailed)
    assert "frame 0 from camera 0" in failed.message and "\n" not in failed.message
    assert len(connection.jobs) == 1, "another process does the next"
    assert not list((tmp_path / "shot").iterdir())


def test_what_opengl_refuses_leaves_nothing_and_others_are_drawn(context, tmp_path) -> None:
    config = draft()
    camera = frame_camera([performance()], config, 0.0)
    endless = replace(camera, width=400_000, height=225_000)
    scenery = Scenery.model_validate(ROOM)
    tasks = [Task(SetJob(scenery, seen, config, tmp_path / f"{name}.png"), name)
             for name, seen in (("endless", endless), ("usual", camera))]
    ended = {}
    with closing(run_tasks(tasks, partial(LocalExecutor, [OPENGL], 1, tmp_path))) as events:
        for event in events:
            if isinstance(event, TaskDone | TaskFailed):
                ended[event.task.title] = event
    assert isinstance(ended["usual"], TaskDone) and Image.open(tmp_path / "usual.png")
    failed = ended["endless"]
    assert isinstance(failed, TaskFailed) and "endless" in failed.why and "\n" not in failed.why
    assert not (tmp_path / "endless.png").exists()


def test_a_process_has_one_context(context) -> None:
    # What another one leaves behind would be deleted in this one, which is GL_INVALID_VALUE.
    assert context_of_process(2) is context_of_process() is context
    assert PassServer(1)._opengl() is context


def test_an_error_of_opengl_is_told(context) -> None:
    assert is_sound(context)
    checked(context)
    context.enable_direct(0x1234)
    with pytest.raises(OpenGLError, match="says GL_INVALID_ENUM"):
        checked(context)
    assert is_sound(context)


def test_without_opengl_one_line_names_the_packages(monkeypatch) -> None:
    def absent(**_: object) -> moderngl.Context:
        raise ValueError("libEGL.so.1 is not\nloaded")

    monkeypatch.setattr(moderngl, "create_context", absent)
    with pytest.raises(RequestError) as told:
        open_context()
    text = str(told.value)
    assert "libegl1" in text and "libgl1-mesa-dri" in text and "\n" not in text


@pytest.mark.parametrize(("number", "said"), [("97", "OpenGL does not start"), ("x", "number")])
def test_a_gpu_that_is_not_there_is_said_in_one_line(monkeypatch, number: str, said: str) -> None:
    monkeypatch.setenv("MIMEGEN_OPENGL_DEVICE", number)
    with pytest.raises(RequestError) as told:
        open_context()
    assert said in str(told.value) and "\n" not in str(told.value)


ROOM = {
    "sky": {"zenith": "#3f7fca", "horizon": "#b9d8ee", "ground": "#808080", "strength": 0.6},
    "sun": {"strength": 2.0, "size_deg": 2.0},
    "materials": {"floor": {"color": "#808080"}, "red": {"color": "#d02020"},
                  "lamp": {"color": "#00ff00", "glow": 1.0}},
    "floors": [{"material": "floor"}],
}


def set_of(context: moderngl.Context, objects: list[dict[str, object]],
           room: dict[str, object] | None = None) -> NDArray[np.uint8]:
    config = draft(camera={"kind": "framed", "azimuth_deg": 0.0, "elevation_deg": 10.0,
                           "lens_mm": 35, "margin": 0.06})
    camera = frame_camera([standing(BODY, 0.0)], config, 0.0)
    scenery = Scenery.model_validate(ROOM | (room or {}) | {"objects": objects})
    return set_picture(context, SetJob(scenery, camera, config, Path("unused.png")))


def test_a_set_has_its_colors_its_sky_and_its_shadows(context) -> None:
    empty = set_of(context, []).astype(int)
    box = {"kind": "box", "size": [2, 2, 2], "at": [0, 6, 0], "bevel": 0.1, "material": "red"}
    full = set_of(context, [box]).astype(int)
    assert empty[0, 80, 2] > empty[0, 80, 0]
    red = (full[..., 0] > full[..., 1] + 40) & (full[..., 0] > full[..., 2] + 40)
    assert 100 < red.sum() < 0.5 * red.size
    darker = (empty.sum(-1) - full.sum(-1) > 60) & ~red
    assert darker.sum() > 20
    assert np.abs(empty[-1] - empty[-1].mean(axis=0)).max() < 12


def test_glowing_things_keep_their_color(context) -> None:
    shown = set_of(context, [{"kind": "sphere", "radius": 1.0, "at": [0, 6, 1.5],
                              "material": "lamp"}])
    assert (shown == [0, 255, 0]).all(axis=-1).sum() > 50


def test_a_floor_mirrors_what_stands_on_it(context) -> None:
    """Fresnel's share of a glowing box, upside down, about as far down as it is high."""
    dark: dict[str, object] = {
        "sky": {"zenith": "#000000", "horizon": "#000000", "ground": "#000000", "strength": 0.0},
        "sun": {"strength": 0.0},
        "materials": {"floor": {"color": "#000000", "roughness": 0.05},
                      "lamp": {"color": "#00ff00", "glow": 1.0}}}
    box: dict[str, object] = {"kind": "box", "size": [3, 1, 1], "at": [0, 4, 0], "material": "lamp"}
    shown = set_of(context, [box], dark)[..., 1].astype(int)
    column = shown[:, shown.shape[1] // 2]
    lit = np.flatnonzero(column == 255)
    below = column[lit[-1] + 2:]
    assert 0.6 * len(lit) < (below > 12).sum() < 1.6 * len(lit)
    assert 25 < below[:3].max() < 160
    assert (shown[:, 0] < 8).all()


def test_a_line_thinner_than_a_pixel_does_not_break(context) -> None:
    line: dict[str, object] = {"kind": "box", "size": [40, 0.12, 0.002], "at": [0, 5, 0],
                               "turn": [0, 0, 6], "material": "lamp"}
    drawn, bare = (set_of(context, objects)[20:, :, 1].astype(int) for objects in ([line], []))
    assert ((drawn - bare).max(axis=0) > 1).mean() > 0.95


def test_lobes_are_mirrors_where_smooth_and_wide_where_rough() -> None:
    table = np.frombuffer(lobe_texture(), np.float16).reshape(CELLS, CELLS, 4).astype(float)
    cosines = (np.arange(CELLS) + 0.5) / CELLS
    np.testing.assert_allclose(table[0, :, 2], cosines, atol=0.01)
    np.testing.assert_allclose(table[0, 2:, 3], 1.0, atol=0.01)
    fresnel = (1 - cosines) ** 5
    np.testing.assert_allclose(table[0, 4:, 1], fresnel[4:], atol=0.02)
    assert (np.diff(table[:, 1, 2]) > -0.01).all() and (np.diff(table[2:, 8, 3]) < 0).all()
    assert (table[..., 0] + table[..., 1] <= 1.01).all() and np.isfinite(table).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_no_pixel_is_lost_where_light_comes_along_the_view(context) -> None:
    """The cosine was above 1 by a rounding there, so that Fresnel's power was no number."""
    camera = Camera((4.523342707, -4.490388099, 1.777715407),
                    (0.693309297144, 0.592142079743, 0.266740557242, 0.312313065712), 50, 640, 360)
    scenery = read_background(data_folder() / "backgrounds" / "darts_practice.yaml").set
    assert scenery is not None
    shown = set_picture(context, SetJob(scenery, camera, draft(), Path("unused.png")))
    assert shown[111, 78].sum() > 100


@pytest.mark.parametrize("name", ["beach", "living_room", "tennis_court"])
def test_a_set_of_the_library_is_drawn(context, name: str) -> None:
    config = draft(width=64, height=36)
    camera = frame_camera([standing(BODY, 0.0)], config, 0.0)
    scenery = read_background(data_folder() / "backgrounds" / f"{name}.yaml").set
    assert scenery is not None
    shown = set_picture(context, SetJob(scenery, camera, config, Path("unused.png")))
    assert shown.shape == (36, 64, 3) and shown.std() > 4


def area(mesh: ShapeMesh) -> float:
    places = corners_of(mesh).places.reshape(-1, 3, 3)
    edges = places[:, 1:] - places[:, :1]
    return float(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1).sum() / 2)


def test_bays_stay_open_when_faces_are_cut() -> None:
    outline = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 0.5), (0.0, 2.0)]
    shape = Extrude(kind="extrude", outline=tuple(outline), height=1.0, material="red")
    mesh = mesh_of(shape)
    caps = 2 * (4.0 - 1.5)
    sides = 2 + 2 + 2 + 2 * np.hypot(1.0, 1.5)
    assert area(mesh) == pytest.approx(caps + sides)
    corners = corners_of(mesh)
    outward = (corners.normals * (corners.places - [1.0, 0.4, 0.5]))[:, 2]
    assert outward[np.abs(corners.normals[:, 2]) > 0.9].min() > 0


def test_a_rounded_box_keeps_its_size_and_faces_outwards() -> None:
    box = Box(kind="box", size=(2.0, 1.0, 0.6), bevel=0.1, material="red")
    mesh = rounded_box(box)
    assert np.allclose(mesh.vertices.min(axis=0), [-1.0, -0.5, 0.0])
    assert np.allclose(mesh.vertices.max(axis=0), [1.0, 0.5, 0.6])
    sharp = area(mesh_of(box))
    assert 0.85 * sharp < area(mesh) < sharp
    corners = corners_of(mesh)
    inside = np.clip(corners.places - [0, 0, 0.3], [-0.9, -0.4, -0.2], [0.9, 0.4, 0.2])
    assert ((corners.places - [0, 0, 0.3] - inside) * corners.normals).sum(axis=1).min() > 0


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


