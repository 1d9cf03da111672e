"""Bodies behind dots, files of displays, the command line and the matrix."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from PIL import Image, ImageSequence
from PIL.GifImagePlugin import GifImageFile
from scipy import sparse

from mimegen.base.errors import RequestError
from mimegen.characters.character import Performance, posed_vertices
from mimegen.characters.posing import Corrections
from mimegen.compositing.decode import read_clip, read_pictures
from mimegen.farm.task import task_from_json, task_to_json
from mimegen.library.cast import cast_member, seen_key
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.manifest.file import read_manifest
from mimegen.motion import Skeleton
from mimegen.plan.plan import make_plan
from mimegen.plan.variants import parse_variants
from mimegen.pointlight.body import BodySurface, first_surface, hidden_dots, posed_body
from mimegen.pointlight.displayjob import DisplayJob, read_facts
from mimegen.pointlight.dots import DotTracks
from mimegen.pointlight.drawing import pictures
from mimegen.pointlight.filming import filmed, write_mp4
from mimegen.pointlight.landmarks import motion_dots
from mimegen.pointlight.lights import RADIUS_M, light_set, of_lights
from mimegen.pointlight.presets import read_display
from mimegen.pointlight.record import display_facts
from mimegen.pointlight.spec import Display, changed
from mimegen.pointlight.stimulus import make_stimulus
from mimegen.pointlight.view import View, view_from
from mimegen.pointlight.words import worded_display
from mimegen.production.displays import cast_scene, display_row, display_task, marker_scene
from mimegen.readers.roles import find_roles
from mimegen.shots.config import read_config
from mimegen.shots.skinning import BodySkin, joint_columns
from mimegen.store.store import Store
from running import invoke

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4],
                  [1, 5, 7, 3]])


def box(half: float, frames: int = 1, at: tuple[float, ...] = (0.0, 0.0, 0.0)) -> BodySurface:
    """A cube that does not move."""
    one = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)), np.ones((1, 3)))
    columns = joint_columns(one, np.zeros((frames, 1, 3)),
                            np.tile([1.0, 0, 0, 0], (frames, 1, 1)))
    rest = np.concatenate([half * CORNERS + at, np.ones((8, 1))], axis=1).astype(np.float32)
    return BodySurface(BodySkin(sparse.csr_matrix(rest), Corrections()), columns, SIDES)


@pytest.mark.parametrize("distance", [np.inf, 4.0])
def test_dots_behind_a_body_are_hidden_and_no_others(distance: float) -> None:
    depth = np.array([-2.0, 2.0, 2.0, 0.9, 5.0])
    across = np.array([0.0, 0.0, 3.5, 0.0, 0.4])
    # Seen from the front, towards +Y: y is the depth.
    places = np.stack([across, depth, np.zeros(5)], axis=1)[None]
    dots = DotTracks.of(tuple("abcde"), np.array([0, 0, 0, 0, 0]), places)
    view = View(400, 400, np.zeros(3), view_from(0, 0), 40, distance)
    hidden = hidden_dots(dots, view, [box(0.5)])[0]
    assert hidden.tolist() == [False, True, False, True, True]
    from_behind = View(400, 400, np.zeros(3), view_from(180, 0), 40, distance)
    assert hidden_dots(dots, from_behind, [box(0.5)])[0].tolist() == [True, False, False, False,
                                                                     False]


def test_every_body_hides_dots_also_those_of_others() -> None:
    places = np.array([[-2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 2.0, 0.0]])[None]
    dots = DotTracks.of(tuple("abc"), np.array([0, 1, 1]), places)
    view = View(400, 400, np.zeros(3), view_from(0, 0), 40)
    bodies = [box(0.5, at=(-2.0, 0.0, 0.0)), box(0.5, at=(2.0, 0.0, 0.0))]
    for order in (bodies, bodies[::-1]):
        assert hidden_dots(dots, view, order)[0].tolist() == [True, True, False]


@pytest.fixture(scope="module")
def performed() -> tuple[Performance, Any]:
    """A man's basketball shot, as a scene with a body."""
    catalogue = Catalogue.with_libraries(())
    take = library_take(catalogue.action("basketball"), None, 0)
    scene = cast_scene(Casting(take, (cast_member(catalogue, "man"),)), Display(
        name="t", description=""), 12.0)
    return scene.bodies[0], scene


@pytest.mark.slow
def test_the_first_surface_is_that_of_a_ray_through_every_triangle(
        performed: tuple[Performance, Any]) -> None:
    body = posed_body(performed[0], np.array([17.0]))
    vertices, triangles = body.vertices(0), body.triangles
    view = View(300, 300, np.array([0, 0, 1.0]), view_from(70, 10), 100)
    seen = view.project(vertices[None])[0]
    points = view.project(performed[1].dots.positions[17:18])[0]
    found = first_surface(seen, triangles, points)
    # Moeller and Trumbore 1997, along the view, without any shortcut.
    a, b, c = vertices[triangles.T]
    ray = np.array([np.sin(np.radians(70)) * np.cos(np.radians(10)),
                    -np.cos(np.radians(70)) * np.cos(np.radians(10)), np.sin(np.radians(10))])
    p = np.cross(ray, c - a)
    det = np.einsum("ij,ij->i", b - a, p)
    det = np.where(det == 0, np.inf, det)
    for dot, origin in enumerate(performed[1].dots.positions[17]):
        u = np.einsum("ij,ij->i", origin - a, p) / det
        q = np.cross(origin - a, b - a)
        v = q @ ray / det
        reach = np.einsum("ij,ij->i", c - a, q) / det
        hit = np.isfinite(det) & (u >= 0) & (v >= 0) & (u + v <= 1)
        assert found[dot] == pytest.approx(points[dot, 2] - reach[hit].max(), abs=1e-6)


@pytest.mark.slow
def test_a_filmed_figure_hides_the_far_side_and_shows_the_near_one(
        performed: tuple[Performance, Any]) -> None:
    shown = changed(read_display("johansson"), fps=12.0, azimuth_deg=138.0, width=128, height=128)
    made = make_stimulus(performed[1], shown)
    share = dict(zip(made.dots.names, made.dots.visible.mean(axis=0), strict=True))
    # The shot is turned to the camera at 48 degrees, so this is its left side.
    assert share["left_shoulder"] > 0.9 and share["left_knee"] > 0.9 and share["head"] > 0.9
    assert share["right_shoulder"] < 0.5 and share["right_hip"] < 0.3
    assert make_stimulus(performed[1], changed(shown, occlusion="none")).dots.visible.all()
    around = make_stimulus(performed[1], changed(shown, manipulations=("rotated=-180",)))
    assert dict(zip(around.dots.names, around.dots.visible.mean(axis=0), strict=True))[
        "right_shoulder"] > 0.9


@pytest.mark.slow
def test_silhouettes_hold_the_dots_and_sticks_join_them(performed: tuple[Performance, Any]) -> None:
    shown = Display(name="t", description="", width=128, height=128, fps=4, azimuth_deg=48)
    dots = make_stimulus(performed[1], shown).dots
    for style, least in (("silhouette", 0.95), ("stick", 0.95)):
        made = make_stimulus(performed[1], changed(shown, style=style))
        lit = [picture[tuple(dots.positions[frame, :, 1::-1].astype(int).T)] > 0
               for frame, picture in enumerate(pictures(made))]
        assert np.mean(lit) > least
        areas = [float((picture > 0).mean()) for picture in pictures(made)]
        assert (0.05 if style == "silhouette" else 0.01) < np.mean(areas) < 0.3


@pytest.mark.slow
def test_a_folder_gets_everything_and_everything_agrees(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = invoke("pointlight", "--action", "basketball", "--display", "actpld", "-m", "inverted",
                  "--dots-seed", "3", "--out", out)
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]
    row, windows = rows[0], rows[1:]
    assert len(windows) == 4 and row["width"] == row["height"] == 128 and row["dots_seed"] == 3
    assert row["action"] == "basketball_shot" and row["dot_count"] == 15
    for window in windows:
        assert Image.open(out / window["file_name"]).size == (512, 256)
        assert len(window["frame_indices"]) == window["frames"] == 8
        assert (window["width"], window["height"]) == (512, 256)
        assert window["duration_s"] == pytest.approx(8 / 30, abs=1e-5)
        assert all(one["end_s"] <= 8 / 30 + 1e-3 for one in window["timeline"])
        assert window["window_span_ms"] == pytest.approx(7 / 30 * 1000, abs=0.01)
    first = int(row["frames"] * 0.1)
    middle = first + (row["frames"] - 2 * first - 8) // 2
    assert windows[0]["frame_indices"] == list(range(middle, middle + 8))
    clip = read_clip(out / row["file_name"])
    assert (clip.frames, clip.fps, clip.width) == (row["frames"], 30, 128)
    base = out / row["sample_id"]
    still = np.asarray(Image.open(base / "frames" / f"{middle:06d}.png"))
    assert (still == np.asarray(Image.open(base / "window0" / "0.png"))).all()
    decoded = read_pictures(clip, [middle], 128)[0]
    assert np.abs(decoded[..., 1].astype(int) - still).mean() < 2 and decoded.max() > 240
    arrays = np.load(f"{base}.npz")
    with Path(f"{base}.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == row["frames"] * 15
    assert float(lines[16]["x_px"]) == pytest.approx(arrays["pixels"][1, 1, 0], abs=1e-3)
    assert float(lines[16]["y_deg"]) == pytest.approx(
        (64 - arrays["pixels"][1, 1, 1]) / row["pixels_per_degree"], abs=1e-3)
    table = np.loadtxt(f"{base}.txt")
    assert table.shape == (3 * row["frames"], 15)
    assert np.allclose(table.reshape(-1, 3, 15).transpose(0, 2, 1), arrays["metres"] * 1000,
                       atol=1e-3)
    # Upside down: the head is below the ankles.
    assert table[1, 0] < table[1, 11]
    animation = Image.open(f"{base}.gif")
    assert isinstance(animation, GifImageFile) and animation.n_frames == row["frames"]


@pytest.mark.slow
def test_a_row_says_what_a_paper_must_report(tmp_path: Path) -> None:
    done = invoke("pointlight", "--action", "boxing", "--out", tmp_path / "b.csv",
                  "--dots", "troje", "-m", "scrambled", "-m", "masked/density=1", "-m", "reversed",
                  "-m", "limited_lifetime=3", "--pixels-per-degree", 40, "--dot-diameter", "0.2deg",
                  "--fps", 30, "--duration", 1, "--contrast", 0.6, "--background", "#808080")
    assert done.exit_code == 0, done.output
    row = json.loads((tmp_path / "b.json").read_text())
    assert row["dot_diameter_px"] == 8 and row["pixels_per_degree"] == 40
    assert row["lifetime_ms"] == 100 and row["direction"] == "reversed"
    assert row["weber_contrast"] > 0 and row["source_stride"] == 2 and row["frames"] == 30
    assert [step["name"] for step in row["manipulations"]] == [
        "reversed", "scrambled", "masked", "limited_lifetime"]
    assert all(step["algorithm"] and step["version"] for step in row["manipulations"])
    assert row["masks"][0]["parameters"]["density"] == 1 and row["mask_dot_count"] > 0
    for key in ("figure_height_deg", "projection", "azimuth_deg", "anchor", "span_ms", "dots",
                "landmarks", "antialiasing", "generator", "sha256", "codec", "polarity"):
        assert key in row


@pytest.mark.slow
def test_the_same_command_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        invoke("pointlight", "--action", "basketball", "--size", "128x128", "--duration", 0.5,
               "-m", "masked=20", "--color-by", "dot", "--out", tmp_path / f"{name}.mp4")
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


@pytest.mark.parametrize(("arguments", "hint"), [
    ((), "FILE, --action NAME or --walker"), (("--action", "basketbal"), "basketball"),
    (("--action", "boxing", "--display", "actpdl"), "actpld"),
    (("--action", "boxing", "-m", "scrambel"), "scrambled"),
    (("--action", "boxing", "-m", "masked/cuont=3"), "count"),
    (("--action", "boxing", "-m", "masked=0"), "count"),
    (("--action", "boxing", "-m", "jittered=3cm"), "3cm"),
    (("--action", "boxing", "-m", "inverted=2"), "takes no value without"),
    (("--action", "boxing", "-m", "rotated=5/axis=q"), "x, y, z"),
    (("--action", "boxing", "--dots", "johanson"), "johansson"),
    (("--action", "boxing", "--size", "512"), "512x512"),
    (("--action", "boxing", "--size", "511x512"), "width"),
    (("--action", "boxing", "--color", "whit"), "whit"),
    (("no_such.bvh",), "no_such.bvh"), (("no_such.c3d", "--dots", "all_markers"), "no_such.c3d"),
])
def test_wrong_requests_are_one_clear_line(arguments: tuple[str, ...], hint: str,
                                           tmp_path: Path) -> None:
    done = invoke("pointlight", *arguments, "--out", tmp_path / "x.png")
    assert done.exit_code == 2 and hint in done.output and len(done.output.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["12:30.mp4", "-x.mp4", "100 %d.mp4"])
def test_names_that_ffmpeg_could_misread_are_written(name: str, tmp_path: Path,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoke("pointlight", "--walker", "--cycles", "1", f"--out={name}")
    assert done.exit_code == 0, done.output
    assert read_clip(tmp_path / name).frames > 10


@pytest.mark.parametrize("name", ["c:x.mp4", "a\\b.gif"])
def test_names_that_no_row_may_hold_are_refused_at_once(name: str, tmp_path: Path) -> None:
    done = invoke("pointlight", "--walker", "--out", tmp_path / name)
    assert done.exit_code == 2 and "choose another name" in done.output
    assert not any(tmp_path.iterdir())


def test_an_unknown_kind_of_file_is_refused(tmp_path: Path) -> None:
    done = invoke("pointlight", "--action", "boxing", "--out", tmp_path / "x.avi")
    assert done.exit_code == 2 and ".mp4" in done.output and not list(tmp_path.iterdir())


def test_raw_markers_and_two_performers_from_real_files(samples: Path, tmp_path: Path) -> None:
    file = samples / "c3d" / "ktk_tennis_serve_nan.c3d"
    display = Display(name="t", description="", dots="all_markers", fps=25)
    made = make_stimulus(marker_scene(file, display), display)
    assert made.dots.count >= 30 and not made.dots.visible.all()
    assert 1.2 < made.scene.stature < 2.2
    done = invoke("pointlight", samples / "bvh" / "cmu_18_01.bvh", "--partner",
                  samples / "bvh" / "cmu_19_01.bvh", "--color-by", "performer", "--fps", 30,
                  "--out", tmp_path / "two.npz")
    assert done.exit_code == 0, done.output
    refused = invoke("pointlight", file, "--dots", "all_markers", "--trim", "1:2",
                     "--out", tmp_path / "x.csv")
    assert refused.exit_code == 2 and "--start" in refused.output
    arrays = np.load(tmp_path / "two.npz")
    assert arrays["metres"].shape[1] == 26 and set(arrays["performers"]) == {0, 1}
    hands = [list(arrays["names"]).index(f"{person}:right_wrist") for person in (1, 2)]
    apart = np.linalg.norm(np.diff(arrays["metres"][:, hands], axis=1)[:, 0], axis=-1)
    assert apart.min() < 0.45 < 1.5 < apart[0]


@pytest.mark.parametrize("file", [
    Path("bvh", "bvhpython_test_freebvh.bvh"), Path("c3d", "ktk_tennis_serve_nan.c3d")])
def test_what_the_user_states_about_a_file_is_in_the_row(samples: Path, file: Path,
                                                         tmp_path: Path) -> None:
    stated = ("--label", "throwing punches", "--label", "boxing", "--group", "Combat sport",
              "--licence", "MIT")
    dots = ("--dots", "all_markers") if file.suffix == ".c3d" else ()
    done = invoke("pointlight", samples / file, *stated, *dots, "--duration", 0.2, "--formats",
                  "none", "--size", "64x64", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    [row] = read_manifest(tmp_path)
    assert (row.labels, row.action) == (["throwing punches", "boxing"], "throwing_punches")
    assert (row.licence, row.semantic_group) == ("MIT", "combat sport")


@pytest.mark.parametrize(("words", "said"), [
    *((("--action", "boxing", *words), f"{words[0]} requires a motion capture FILE")
      for words in (("--label", "x"), ("--trim", "0:1"), ("--map", "m"),
                    ("--subject", "a"), ("--fps-of-file", "30"), ("--smpl-model", "m.npz"))),
    *((("walk.bvh", *words), f"{words[0]} requires --action or --walker")
      for words in (("--affect", "sad"), ("--hand", "left"), ("--treadmill",))),
    (("--action", "shake_hands", "--partner", "b.bvh"),
     "--partner b.bvh: a motion file requires a motion capture FILE"),
    (("walk.bvh", "--grid", "affect=sad"), "--grid: affect requires --action or --walker"),
    (("walk.bvh", "--licence", " "), "--licence is empty"),
    (("walk.bvh", "--group", ""), "--group is empty")])
def test_options_that_do_not_apply_are_refused(words: tuple[str, ...], said: str, tmp_path: Path
                                          ) -> None:
    done = invoke("pointlight", *words, "--out", tmp_path / "x.mp4")
    assert done.exit_code == 2 and said in done.output


@pytest.mark.slow
def test_displays_belong_to_the_matrix(tiny_config: Path, tmp_path: Path) -> None:
    def render(variants: str) -> Result:
        return invoke("render", "--action", "basketball", "--config", tiny_config,
                      "--out", tmp_path, "--variants", variants)

    done = render("pointlight,pointlight:inverted:masked=5@90,pointlight:actpld@0")
    assert done.exit_code == 0, done.output
    rows = {row["variant"]: row for row in map(
        json.loads, (tmp_path / "manifest.jsonl").read_text().splitlines())}
    assert set(rows) == {"pointlight@0", "pointlight:inverted@0", "pointlight:scrambled@0",
                         "pointlight:inverted:masked=5@90", "pointlight:actpld@0"}
    plain, flipped = rows["pointlight@0"], rows["pointlight:inverted@0"]
    assert (plain["width"], plain["height"], plain["fps"]) == (96, 54, 5)
    assert plain["avatar"] == "man" and plain["background_config"] == "blank"
    assert rows["pointlight:actpld@0"]["width"] == 128
    assert rows["pointlight:inverted:masked=5@90"]["mask_dot_count"] == 5
    frames = [read_pictures(read_clip(tmp_path / row["file_name"]), [6], 96)[0].astype(int)
              for row in (plain, flipped)]
    assert np.abs(frames[0] - frames[1][::-1]).mean() < 3
    assert "pointlight" in (tmp_path / "index.html").read_text()
    clip = tmp_path / plain["file_name"]
    others = {path: path.stat().st_mtime_ns for path in (tmp_path / "clips").iterdir()
              if path != clip}
    clip.write_bytes(clip.read_bytes()[:100])
    assert render("pointlight").exit_code == 0
    again = json.loads((tmp_path / "manifest.jsonl").read_text().splitlines()[0])
    assert again["sha256"] == plain["sha256"] and again["sample_id"] == plain["sample_id"]
    assert all(path.stat().st_mtime_ns == time for path, time in others.items())


@pytest.mark.parametrize(("variant", "hint"), [
    ("pointlight:invreted@0", "inverted"), ("pointlight:inverted", "pointlight:inverted@0"),
    ("pointlight:masked/cont=3@0", "count"), ("pointlight:actpld:troje@0", "both displays"),
])
def test_wrong_variants_get_near_misses(variant: str, hint: str, tmp_path: Path) -> None:
    done = invoke("render", "--action", "boxing", "--variants", variant, "--out", tmp_path)
    assert done.exit_code == 2 and hint in done.output


def test_lights_are_spheres_that_follow_the_dots(performed: tuple[Performance, Any]) -> None:
    body, motion = performed[0].character, performed[0].motion
    lit = of_lights(body)
    dots = motion_dots(motion, find_roles(body.skeleton).joints, light_set())
    assert [mesh.name for mesh in lit.meshes] == list(dots.names)
    for frame in (0, 20):
        pose = (motion.global_pose.positions[frame], motion.global_pose.rotations[frame])
        for number, mesh in enumerate(lit.meshes):
            posed = posed_vertices(mesh, body.skeleton, *pose)
            # The sternum's light keeps to the chest when shoulders rise.
            near = 0.05 if mesh.name == "sternum" else 1e-6
            assert np.abs(posed.mean(axis=0) - dots.positions[frame, number]).max() < near
            assert np.linalg.norm(posed - posed.mean(axis=0), axis=1).max() < RADIUS_M + 1e-6
    catalogue = Catalogue.with_libraries(())
    man, lights = cast_member(catalogue, "man"), cast_member(catalogue, "lights:man")
    assert seen_key(man) != seen_key(lights) and lights.name == "man_lights"
    assert parse_variants("lights+black@0", {"man"}, {"black"})[0].character == "lights"


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["pointlight:silhouette@90", "pointlight:scrambled@0"])
def test_a_worker_makes_the_same_display_as_this_process(variant: str, tmp_path: Path) -> None:
    """From bodies that the store has, sent as JSON."""
    catalogue, store = Catalogue.with_libraries(()), Store(tmp_path / "store")
    config = read_config(catalogue.file("config", "preview")).model_copy(
        update={"width": 96, "height": 54, "fps": 5.0})
    take = library_take(catalogue.action("basketball"), None, 3)
    plan = make_plan(catalogue, [take], parse_variants(variant, {"man"}, set()), config, "cpu")
    clip, = (clip for part in plan.castings() for clip in part.displays)
    task = display_task(clip, store)
    job = task_from_json(json.loads(json.dumps(task_to_json(task, store.root))), store.root).job
    assert isinstance(job, DisplayJob) and task.needs_no_engine
    job.run()
    scene = cast_scene(clip.casting, clip.display, config.fps)
    stimulus = filmed(scene, clip.display, take.seed, clip.variant.angle, config)
    write_mp4(stimulus, tmp_path / "here.mp4")
    assert job.target.read_bytes() == (tmp_path / "here.mp4").read_bytes()
    row = display_row(clip, job.target, *read_facts(job.target))
    known = json.loads(json.dumps(display_facts(stimulus), default=lambda value: None))
    assert row.timeline and row.dots == known["dots"] and row.colors == known["colors"]
    assert row.take == take.name and row.avatar == "man" and row.dots_from == "character"


@pytest.mark.slow
def test_files_of_one_name_keep_rows_of_their_own(tmp_path: Path) -> None:
    for ending in ("csv", "gif", "csv"):
        done = invoke("pointlight", "--action", "boxing", "--out", tmp_path / f"x.{ending}",
                      "--duration", 0.1)
        assert done.exit_code == 0, done.output
    rows = {file.name: json.loads(file.read_text()) for file in tmp_path.glob("*.json")}
    assert {name: row["file_name"] for name, row in rows.items()} == {
        "x.json": "x.csv", "x.gif.json": "x.gif"}


def test_a_gifs_row_counts_the_frames_that_the_gif_has(tmp_path: Path) -> None:
    done = invoke("pointlight", "--walker", "--fps", 60, "--out", tmp_path / "x.gif",
                  "-m", "limited_lifetime=4", "--dots", "troje", "--duration", 0.5)
    assert done.exit_code == 0, done.output
    row = json.loads((tmp_path / "x.json").read_text())
    with Image.open(tmp_path / "x.gif") as gif:
        shown = len([*ImageSequence.Iterator(gif)])
    assert (row["frames"], row["fps"]) == (shown, 30) == (15, 30)
    # Its frames last 30 or 40 ms each; contact sheets show their mean rate, as the row does.
    assert read_clip(tmp_path / "x.gif").fps == pytest.approx(30)
    assert row["duration_s"] == pytest.approx(0.5) and row["lifetime_frames"] == 2
    assert row["lifetime_ms"] == pytest.approx(4 / 60 * 1000, abs=0.01)
    assert row["source_stride"] == pytest.approx(row["source_fps"] / 30)


def test_what_differs_before_it_is_dots_has_a_name_of_its_own(tmp_path: Path) -> None:
    small = ("--size", "32x32", "--fps", 10, "--out", tmp_path)
    for options in (("--action", "bent_two_fingers", "--hand", "left"),
                    ("--action", "bent_two_fingers", "--hand", "right")):
        done = invoke("pointlight", *options, *small)
        assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (tmp_path / "manifest.jsonl").read_text().splitlines()]
    assert {row["hand_action"]["hand"] for row in rows} == {"left", "right"}


@pytest.mark.parametrize(("manipulations", "hand"), [
    ((), "right"), (("mirrored",), "left"), (("inverted",), "left"),
    (("inverted", "mirrored"), "right"),
])
def test_a_flipped_display_shows_the_other_hand(manipulations: tuple[str, ...], hand: str,
                                                tmp_path: Path) -> None:
    flips = [word for name in manipulations for word in ("-m", name)]
    done = invoke("pointlight", "--action", "wave", "--fps", 10, "--out", tmp_path / "x.csv",
                  *flips)
    assert done.exit_code == 0, done.output
    row = json.loads((tmp_path / "x.json").read_text())
    assert {one["hand"] for one in row["timeline"] if "hand" in one} == {hand}


@pytest.mark.parametrize("style", ["silhouette", "stick"])
def test_every_style_shows_flips_and_fades(style: Any, performed: tuple[Performance, Any]) -> None:
    shown = Display(name="t", description="", width=96, height=96, fps=4, style=style)
    plain, inverted, mirrored, faded = (
        np.array([picture.copy() for picture in pictures(make_stimulus(
            performed[1], changed(shown, manipulations=words)))]).astype(int)
        for words in ((), ("inverted",), ("mirrored",), ("faded/seconds_in=0.1/seconds_out=0",)))
    for flipped, expected in ((inverted, plain[:, ::-1]), (mirrored, plain[:, :, ::-1])):
        # Lines are drawn to a quarter of a pixel, which rounds up on either side.
        assert np.abs(flipped - expected).mean() < 0.4 * np.abs(plain - expected).mean()
    assert not faded[0].any() and (faded[-1] == plain[-1]).all()


@pytest.mark.parametrize(("style", "word"), [
    ("silhouette", "scrambled"), ("silhouette", "local"), ("silhouette", "masked=20"),
    ("stick", "masked=20"), ("stick", "depth_sized"),
])
def test_what_a_style_does_not_show_is_refused(style: str, word: str, tmp_path: Path) -> None:
    done = invoke("pointlight", "--action", "boxing", "--style", style, "-m", word,
                  "--out", tmp_path / "x.gif")
    name = word.partition("=")[0]
    assert done.exit_code == 2 and f"manipulation {name}: is not seen in --style" in done.output
    with pytest.raises(RequestError, match="is not seen"):
        worded_display([style, word], Display(name="t", description=""))


def test_a_montages_row_counts_what_is_on_it(tmp_path: Path) -> None:
    done = invoke("pointlight", "--action", "boxing", "--size", "48x32", "--duration", 1,
                  "--out", tmp_path / "x.png")
    assert done.exit_code == 0, done.output
    row = json.loads((tmp_path / "x.json").read_text())
    assert (row["width"], row["height"]) == Image.open(tmp_path / "x.png").size == (192, 64)
    assert row["frames"] == len(row["frame_indices"]) == 8 and row["frame_indices"][-1] == 59
    assert not row.get("timeline")


@pytest.mark.parametrize(("formats", "endings"), [
    ("none", {".mp4", ".csv"}), ("gif", {".mp4", ".csv", ".gif"}),
    ("all", {".mp4", ".csv", ".gif", ".npz", ".png", ".txt"})])
def test_a_folder_gets_the_formats_that_are_asked_for(tmp_path: Path, formats: str,
                                                      endings: set[str]) -> None:
    done = invoke("pointlight", "--walker", "--fps", 10, "--size", "32x32", "--formats", formats,
                  "--out", tmp_path / "set")
    assert done.exit_code == 0, done.output
    [row] = read_manifest(tmp_path / "set")
    made = {file.suffix for file in (tmp_path / "set").iterdir() if file.stem == row.sample_id}
    assert made - {""} == endings
    assert (tmp_path / "set" / row.sample_id).is_dir() == (formats == "all")


@pytest.mark.parametrize(("out", "formats", "said"), [
    ("set", "gfi", "no such format (did you mean gif"), ("x.gif", "png", "is one file")])
def test_formats_that_do_not_fit_are_refused(tmp_path: Path, out: str, formats: str, said: str
                                             ) -> None:
    done = invoke("pointlight", "--walker", "--formats", formats, "--out", tmp_path / out)
    assert done.exit_code == 2 and said in done.stderr
    assert [*tmp_path.iterdir()] == []
