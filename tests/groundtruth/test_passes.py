"""Ground truth of shots: known answers for rays, keypoints, parts, depth and flow."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from bodies import capsule_character, wandering_motion
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.characters.character import Material, Mesh, Performance
from mimegen.characters.expression import expressed
from mimegen.compositing.keypointfiles import point_sets, write_keypoints
from mimegen.compositing.passfiles import camera_matrices
from mimegen.groundtruth.keypoints import HIDDEN_BY_OTHER, HIDDEN_BY_SELF, VISIBLE, KeypointMaker
from mimegen.groundtruth.kinds import ENGINES, KINDS, parse_kinds
from mimegen.groundtruth.parts import PARTS
from mimegen.groundtruth.passmaker import PassMaker
from mimegen.groundtruth.rays import first_hits
from mimegen.groundtruth.surface import PosedScene
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion import Motion
from mimegen.pages.backgroundsheet import standing as at_rest
from mimegen.plan.passes import WantedPasses
from mimegen.plan.shots import Rendering, Shot
from mimegen.rendering.opengl.passes import OpenGLSurfaceRenderer
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.figures import Figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.look import CameraLook, FilmedLook, Lens

BODY = capsule_character(16, 12)
FRAMES = 6


def draft() -> RenderConfig:
    content = read_config(data_folder() / "render_configs" / "draft.yaml").model_dump()
    return RenderConfig.model_validate(content | {"width": 320, "height": 180})


def standing(y: float = 0.0) -> Performance:
    """Somebody in the rest pose, ``y`` metres behind the origin."""
    still = wandering_motion(BODY.skeleton, FRAMES, 0, 0.0)
    rotations = np.zeros_like(still.rotations)
    rotations[..., 0] = 1.0
    places = np.tile(BODY.skeleton.heads[0], (FRAMES, 1)) + np.array([0, y, 0])
    return Performance(BODY, Motion(BODY.skeleton, 24, places, rotations))


def wandering() -> Performance:
    return Performance(BODY, wandering_motion(BODY.skeleton, FRAMES, 3, 0.4))


def scene_of(*performances: Performance) -> PosedScene:
    return PosedScene([Figure.of(each) for each in performances])


def camera_of(*performances: Performance, angle: float = 0.0) -> Camera:
    return frame_camera(performances, draft(), angle)


def before() -> Camera:
    """A camera in front of the origin that looks along +Y."""
    half = np.sqrt(0.5)
    return Camera((0.0, -5.0, 1.0), (half, half, 0.0, 0.0), 50.0, 320, 180)


def test_a_list_of_passes_is_read_in_one_order_and_near_misses_are_suggested() -> None:
    assert parse_kinds("flow, keypoints") == (("keypoints", "flow"), "exr")
    assert parse_kinds("all") == (KINDS, "exr")
    assert parse_kinds("flow:flo")[1] == "flo"
    with pytest.raises(RequestError, match=r"no pass 'dept' \(did you mean depth"):
        parse_kinds("mask,dept")
    with pytest.raises(RequestError, match="only be given as flow:exr"):
        parse_kinds("depth:flo")


def test_rays_hit_the_nearest_triangle_at_its_depth() -> None:
    seen = np.array([[0, 0, 2], [10, 0, 4], [0, 10, 4], [0, 0, 3], [10, 0, 3], [0, 10, 3]], float)
    places = np.array([[1, 1], [8, 8], [4.9, 4.9]])
    hits = first_hits(seen, np.array([[0, 1, 2], [3, 4, 5]]), places)
    assert hits.triangle.tolist() == [0, -1, 1]
    # One over depth is linear: 0.8 / 2 + 0.2 / 4 at the first place.
    assert hits.depth[0] == pytest.approx(1 / 0.45) and np.isinf(hits.depth[1])


def test_among_triangles_at_one_depth_the_first_from_the_left_is_hit() -> None:
    """Of equal left ends the lower number is first, however a processor sorts."""
    left = np.random.default_rng(0).integers(-4, 0, 500)
    corners = np.array([[0, 0, 2], [10, 0, 2], [0, 10, 2]], float)
    seen = (corners + np.stack([left, 0 * left, 0 * left], axis=1)[:, None]).reshape(-1, 3)
    hits = first_hits(seen, np.arange(1500).reshape(500, 3), np.array([[1.0, 1.0]]))
    assert hits.triangle.tolist() == [int(left.argmin())]


def test_intrinsics_and_extrinsics_project_as_the_camera_does() -> None:
    camera = camera_of(wandering(), angle=77.0)
    points = np.random.default_rng(0).normal(0, 0.5, (50, 3)) + np.array([0, 0, 1])
    told = {name: np.array(value) for name, value in camera_matrices(camera).items()}
    seen = (points @ told["rotation"].T + told["translation"]) @ told["intrinsics"].T
    np.testing.assert_allclose(seen[:, :2] / seen[:, 2:], camera.project(points)[:, :2], atol=1e-9)
    assert np.linalg.det(told["rotation"]) == pytest.approx(1.0)
    assert told["rotation"][1] @ [0, 0, 1] < 0, "down in the picture is down in the world"


def test_keypoints_lie_where_joints_are() -> None:
    performance = wandering()
    arrays = KeypointMaker.of(scene_of(performance)).frame(4, camera_of(performance))
    names = arrays["names"].tolist()
    pose = performance.motion.global_pose.positions[4]
    for name, joint in (("left_elbow", "LeftForeArm"), ("right_ankle", "RightFoot"),
                        ("left_index2", "LeftHandIndex2")):
        np.testing.assert_allclose(arrays["world"][0, names.index(name)],
                                   pose[BODY.skeleton.index[joint]], atol=1e-5)
    kinds = {name: value.dtype for name, value in arrays.items() if "names" not in name}
    assert kinds.pop("visibility") == np.uint8
    assert kinds.keys() == {"world", "outlines", "face_units", "gaze", "joints_0"}
    assert set(kinds.values()) == {np.dtype(np.float32)}


def test_who_stands_before_whom_hides_keypoints() -> None:
    front, back = standing(0.0), standing(0.6)
    arrays = KeypointMaker.of(scene_of(front, back)).frame(0, before())
    names = arrays["names"].tolist()
    middle = [names.index(name) for name in ("left_hip", "right_knee")]
    assert (arrays["visibility"][0, middle] == VISIBLE).all()
    assert (arrays["visibility"][1, middle] == HIDDEN_BY_OTHER).all()


def test_a_body_hides_its_own_far_side() -> None:
    arrays = KeypointMaker.of(scene_of(standing())).frame(0, before())
    state = dict(zip(arrays["names"].tolist(), arrays["visibility"][0].tolist(), strict=True))
    assert state["left_big_toe"] == state["left_elbow"] == VISIBLE
    assert state["left_heel"] == HIDDEN_BY_SELF


def test_parts_have_densepose_numbers() -> None:
    surface = scene_of(standing()).surface
    vertices = scene_of(standing()).vertices(0)
    for name, side in (("left hand", 1), ("right foot", -1), ("left upper leg front", 1)):
        there = surface.parts == PARTS.index(name) + 1
        assert there.any() and (np.sign(vertices[there, 0]) == side).all()
    front, back = (vertices[surface.parts == PARTS.index(f"torso {half}") + 1, 1].mean()
                   for half in ("front", "back"))
    assert front < back and surface.parts.min() > 0


def seen_by_rays(scene: PosedScene, frame: int, camera: Camera, places: NDArray[Any]
                ) -> NDArray[Any]:
    seen = camera.project(scene.vertices(frame).astype(float))
    return first_hits(seen, scene.surface.triangles, places).depth


def test_drawn_depth_is_the_rays(context: moderngl.Context) -> None:
    performance = wandering()
    scene, camera = scene_of(performance), camera_of(performance)
    seen = OpenGLSurfaceRenderer(context, scene).render(3, camera)
    rows, columns = np.nonzero(np.isfinite(seen.depth))
    chosen = np.random.default_rng(0).choice(len(rows), 300, replace=False)
    places = np.stack([columns, rows], axis=-1)[chosen] + np.array(seen.region[:2]) + 0.5
    depth = seen_by_rays(scene, 3, camera, places)
    assert (np.abs(depth - seen.depth[rows, columns][chosen]) < 1e-3).mean() > 0.99
    lengths = np.linalg.norm(seen.normals[rows, columns], axis=-1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-4)


def test_flow_carries_each_point_to_where_it_is_next(context: moderngl.Context) -> None:
    performance = wandering()
    scene, camera = scene_of(performance), camera_of(performance)
    maker = PassMaker(scene, draft(), lambda: OpenGLSurfaceRenderer(context, scene))
    flow = maker.arrays("flow", 2, camera)
    later = OpenGLSurfaceRenderer(context, scene).render(3, camera)
    at = np.asarray(flow["forward_at"], int)
    sure = ~flow["forward_occluded"] & np.abs(flow["forward"]).any(axis=-1)
    rows, columns = np.nonzero(sure)
    moved = np.stack([columns, rows], axis=-1) + at + 0.5 + flow["forward"][rows, columns]
    hit = np.floor(moved - later.region[:2]).astype(int)
    inside = ((hit >= 0) & (hit < later.depth.shape[::-1])).all(axis=1)
    assert inside.mean() > 0.98
    assert np.isfinite(later.depth[hit[inside, 1], hit[inside, 0]]).mean() > 0.95
    assert "backward" in flow and "backward" not in maker.arrays("flow", 0, camera)
    assert "forward" not in maker.arrays("flow", FRAMES - 1, camera)


def test_what_nobody_hides_is_not_occluded_and_what_a_person_covers_is(
        context: moderngl.Context) -> None:
    still = standing()
    scene = scene_of(still)
    maker = PassMaker(scene, draft(), lambda: OpenGLSurfaceRenderer(context, scene))
    flow = maker.arrays("flow", 1, before())
    assert np.abs(flow["forward"]).max() < 1e-3 and not flow["forward_occluded"].any()
    moving = replace(still, motion=replace(
        still.motion, root_positions=still.motion.root_positions
        + np.linspace(0, 0.5, FRAMES)[:, None] * [1, 0, 0]))
    scene = scene_of(moving)
    maker = PassMaker(scene, draft(), lambda: OpenGLSurfaceRenderer(context, scene))
    flow = maker.arrays("flow", 1, before())
    ground = ~flow["forward"].any(axis=-1)
    assert (flow["forward_occluded"] & ground).sum() > 50, "ground that the person steps before"


def test_masks_number_people_and_shadows(context: moderngl.Context) -> None:
    front, back = standing(0.0), standing(0.6)
    scene = scene_of(front, back)
    maker = PassMaker(scene, draft(), lambda: OpenGLSurfaceRenderer(context, scene))
    mask = maker.arrays("mask", 0, camera_of(front, back))
    assert set(np.unique(mask["persons"])) == {0, 1, 2} and mask["shadow"].max() > 50


def test_keypoint_files_agree_with_one_another(tmp_path: Path) -> None:
    performance = wandering()
    maker, camera = KeypointMaker.of(scene_of(performance)), camera_of(performance)
    frames = [maker.frame(frame, camera) for frame in range(2)]
    write_keypoints(frames, camera, 24.0, camera_matrices(camera), tmp_path)
    points = np.load(tmp_path / "keypoints.npz", allow_pickle=False)
    projected = points["world"] @ points["rotation"].T + points["translation"]
    np.testing.assert_allclose(projected, points["camera"], atol=1e-4)
    pixels = projected @ points["intrinsics"].T
    np.testing.assert_allclose(pixels[..., :2] / pixels[..., 2:], points["pixels"], atol=0.1)
    coco = json.loads((tmp_path / "coco17.json").read_text())
    whole = json.loads((tmp_path / "wholebody133.json").read_text())
    pose = json.loads((tmp_path / "openpose" / "000001_keypoints.json").read_text())
    names = points["names"].tolist()
    elbow = points["pixels"][1, 0, names.index("left_elbow")]
    assert coco["annotations"][1]["keypoints"][21:23] == pytest.approx(elbow.tolist(), abs=0.01)
    assert whole["annotations"][1]["keypoints"] == coco["annotations"][1]["keypoints"]
    assert len(whole["annotations"][0]["lefthand_kpts"]) == 63
    assert whole["annotations"][0]["lefthand_valid"] and not whole["annotations"][0]["face_valid"]
    assert len(pose["people"][0]["pose_keypoints_2d"]) == 75
    assert not any(pose["people"][0]["face_keypoints_2d"])
    assert any(pose["people"][0]["hand_left_keypoints_2d"])
    assert pose["people"][0]["pose_keypoints_2d"][18:20] == pytest.approx(elbow.tolist(), abs=0.01)


@pytest.mark.parametrize("distortion", [(0.0, 0.0), (0.22, 0.05), (-0.08, 0.0)])
def test_boxes_touch_the_body_as_the_lens_shows_it(distortion: tuple[float, float],
                                                   tmp_path: Path) -> None:
    scene, camera = scene_of(wandering()), camera_of(wandering())
    look = CameraLook(name="mine", distortion=distortion, handheld_deg=0.4, handheld_roll_deg=3)
    lens = Lens(FilmedLook(look, (0, "walk")), camera, FRAMES, 24.0)
    maker = KeypointMaker.of(scene)
    frames = [maker.frame(frame, camera) for frame in range(FRAMES)]
    write_keypoints(frames, camera, 24.0, camera_matrices(camera), tmp_path, lens)
    boxes = np.load(tmp_path / "keypoints.npz")["boxes"][:, 0]
    for frame, box in enumerate(boxes):
        seen = lens.seen(frame, camera.project(scene.vertices(frame).astype(float))[:, :2])
        low, high = seen.min(axis=0).clip(0, (320, 180)), seen.max(axis=0).clip(0, (320, 180))
        assert box == pytest.approx([*low, *(high - low)], abs=0.3)


@pytest.fixture(scope="module")
def man() -> Performance:
    """The man as he stands."""
    return at_rest(cast_member(Catalogue.with_libraries(()), "man").build())


@pytest.mark.slow
def test_a_face_has_68_points_in_order(man: Performance) -> None:
    camera = camera_of(man, angle=-48.5)
    arrays = KeypointMaker.of(scene_of(man)).frame(0, camera)
    names = arrays["names"].tolist()
    face = arrays["world"][0, names.index("face_0"):names.index("face_67") + 1].astype(float)
    assert face.shape == (68, 3) and np.isfinite(face).all()
    # Pairs of iBUG's order: the right half of the jaw, a brow, an eye, the lips; then the left.
    left = [*range(16, 8, -1), *range(26, 21, -1), 45, 44, 43, 42, 47, 46, 54, 53, 52, 55, 56]
    right = [*range(8), *range(17, 22), 36, 37, 38, 39, 40, 41, 48, 49, 50, 59, 58]
    np.testing.assert_allclose(face[left] * [-1, 1, 1], face[right], atol=1e-4)
    assert (face[left, 0] > 0).all() and (np.diff(face[:9, 2]) < 0).all()
    assert face[:, 2].argmin() == 8 and face[:, 1].argmin() == 30
    assert (np.diff(face[[27, 28, 29, 30, 33, 51, 62, 66, 57, 8], 2]) < 0).all()
    nose = arrays["world"][0, names.index("nose")]
    assert np.linalg.norm(face[30] - nose) < 0.012
    assert (arrays["visibility"][0, names.index("face_17"):] == VISIBLE).all()


@pytest.mark.slow
def test_coco_has_the_action_units_of_openface_s_table(man: Performance, tmp_path: Path) -> None:
    smiling = expressed(man, {"AU12L": np.ones(man.motion.frames)})
    maker, camera = KeypointMaker.of(scene_of(smiling)), camera_of(man, angle=-48.5)
    write_keypoints([maker.frame(0, camera)], camera, 24.0, camera_matrices(camera), tmp_path)
    with (tmp_path / "openface_0.csv").open() as file:
        table = list(csv.DictReader(file))
    annotations = json.loads((tmp_path / "wholebody133.json").read_text())["annotations"]
    for row, annotation in zip(table, annotations, strict=True):
        units = annotation["action_units"]
        assert units == {name: float(value) for name, value in row.items()
                         if name.startswith("AU")}
        assert units["AU12_r"] == units["AU12_L"] > 4 and units["AU12_R"] == 0
        assert units["AU12_c"] == 1 and units["AU15_c"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(("look", "angle"), [("look_left", "gaze_angle_x"),
                                             ("look_up", "gaze_angle_y")])
def test_openface_s_table_says_where_eyes_look(man: Performance, tmp_path: Path, look: str,
                                               angle: str) -> None:
    """Before the camera, the person's left is the picture's right; up is less than down."""
    camera = camera_of(man, angle=-48.5)
    told = []
    for number, degrees in enumerate((0.0, 15.0)):
        looking = expressed(man, {look: np.full(man.motion.frames, degrees)})
        folder = tmp_path / str(number)
        folder.mkdir()
        write_keypoints([KeypointMaker.of(scene_of(looking)).frame(0, camera)], camera, 24.0,
                        camera_matrices(camera), folder)
        with (folder / "openface_0.csv").open() as file:
            told.append({name: float(value) for name, value in next(csv.DictReader(file)).items()})
    turned = np.degrees(told[1][angle] - told[0][angle])
    assert turned == pytest.approx(15 if look == "look_left" else -15, abs=0.5)
    assert all(row["gaze_0_z"] < -0.9 for row in told)
    assert told[1]["gaze_0_x"] == pytest.approx(told[1]["gaze_1_x"], abs=1e-3)


@pytest.mark.slow
def test_a_face_is_hidden_from_behind(man: Performance) -> None:
    arrays = KeypointMaker.of(scene_of(man)).frame(0, camera_of(man, angle=131.5))
    assert (arrays["visibility"][0, -51:] == HIDDEN_BY_SELF).all()


def test_sets_of_points_have_their_formats_sizes() -> None:
    sizes = {name: len(chosen.points) for name, chosen in point_sets().items()}
    assert sizes == {"coco17": 17, "wholebody133": 133, "openpose25": 25}


def banner(alpha: int) -> Performance:
    """A square before the origin, whose lower half is as clear as ``alpha`` says."""
    picture = Image.new("RGBA", (8, 8), (255, 0, 0, 255))
    picture.paste((0, 0, 255, alpha), (0, 4, 8, 8))
    packed = io.BytesIO()
    picture.save(packed, "PNG")
    corners = np.array([[-0.5, 0, 0.5], [0.5, 0, 0.5], [0.5, 0, 1.5], [-0.5, 0, 1.5]])
    mesh = Mesh("banner", corners, np.array([[0, 1, 2, 3]], np.int32),
                np.zeros((4, 1), np.int32), np.ones((4, 1)), "cloth",
                uvs=np.array([[[0, 0], [1, 0], [1, 1], [0, 1]]], float))
    material = Material("cloth", "image", {"roughness": 0.8, "metallic": 0.0}, packed.getvalue())
    body = replace(BODY, meshes=(mesh,), materials={"cloth": material}, fingerprint="banner")
    return Performance(body, standing().motion)


def test_clear_parts_of_a_picture_are_holes(context: moderngl.Context) -> None:
    scenes = [scene_of(banner(alpha)) for alpha in (255, 0)]
    whole, holed = (
        np.isfinite(OpenGLSurfaceRenderer(context, scene).render(0, before()).depth)
        for scene in scenes)
    assert holed.sum() == pytest.approx(whole.sum() / 2, rel=0.05)
    assert holed[:holed.shape[0] // 2 - 2].sum() > 0.9 * holed.sum(), "the upper half is left"


@pytest.mark.slow
def test_a_pass_has_a_key_of_its_own_that_light_changes_for_masks_alone() -> None:
    catalogue = Catalogue.with_libraries(())
    casting = Casting(library_take(catalogue.action("basketball"), None, 0, None),
                      (cast_member(catalogue, "man"),))
    config = draft()
    darker = config.model_copy(
        update={"light": config.light.model_copy(update={"sun_strength": 1.0}), "name": "darker"})
    shots = [Shot(casting, 0.0, Rendering(each, "cpu")) for each in (config, darker)]
    wanted = {engine: WantedPasses(KINDS, engine) for engine in ENGINES}
    keys = {(engine, kind): [wanted[engine].key(shot, kind) for shot in shots]
            for engine in ENGINES for kind in KINDS}
    assert {kind for (_, kind), (one, two) in keys.items() if one != two} == {"mask"}
    assert keys["raster", "keypoints"] == keys["cycles", "keypoints"]
    assert len({one for one, _ in keys.values()}) == 2 * len(KINDS) - 1


@pytest.mark.parametrize(("depths", "is_hit"), [
    ((2.0, 2.0, 2.0), True), ((0.011, 2.0, 2.0), True), ((0.01, 2.0, 2.0), False),
    ((2.0, -1.0, 2.0), False), ((-2.0, -2.0, -2.0), False), ((2.0, 2.0, 0.0), False)])
def test_rays_begin_at_the_near_plane(depths: tuple[float, float, float], is_hit: bool) -> None:
    """What reaches behind the camera lies anywhere in the picture."""
    seen = np.array([[0, 0, 1], [10, 0, 1], [0, 10, 1]], float)
    seen[:, 2] = depths
    hits = first_hits(seen, np.array([[0, 1, 2]]), np.array([[2.0, 2.0]]))
    assert (hits.triangle.tolist() == [0]) is is_hit
    assert np.isfinite(hits.depth[0]) == is_hit


def test_what_is_nearer_than_the_near_plane_hides_nothing() -> None:
    seen = np.array([[0, 0, 0.005], [10, 0, 0.005], [0, 10, 0.005],
                     [0, 0, 3], [10, 0, 3], [0, 10, 3]])
    hits = first_hits(seen, np.array([[0, 1, 2], [3, 4, 5]]), np.array([[2.0, 2.0]]))
    assert hits.triangle.tolist() == [1] and hits.depth[0] == pytest.approx(3.0)
