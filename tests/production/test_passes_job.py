"""Ground truth by the main job: real commands, OpenGL where there is any, tiny pictures."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import OpenEXR
import pytest
import yaml
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.compositing.passfiles import PassSource, folder_hash, write_exr, write_pass
from mimegen.shots.camera import Camera
from running import command, frames_of, invoked, leave_as_killed, mimegen, rows_of

pytestmark = pytest.mark.render

VARIANTS = "base+blank@0,base+aligned@0"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory, context: moderngl.Context) -> Path:
    """The draft config at a size and frame rate that a test can afford."""
    content = yaml.safe_load((data_folder() / "render_configs" / "draft.yaml").read_text())
    path = tmp_path_factory.mktemp("config") / "tiny_draft.yaml"
    path.write_text(yaml.safe_dump(
        content | {"name": "tiny_draft", "width": 96, "height": 54, "fps": 4}))
    return path


def render(config: Path, out: Path, *more: object) -> Any:
    return mimegen("render", "--action", "basketball", "--variants", VARIANTS, "--config", config,
                   "--out", out, "--workers", 1, *more)


@pytest.fixture(scope="module")
def two_clips(tmp_path_factory: pytest.TempPathFactory, config: Path) -> Path:
    """Two clips of one shot without passes, not to be changed."""
    out = tmp_path_factory.mktemp("passes") / "out"
    done = render(config, out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def with_passes(tmp_path_factory: pytest.TempPathFactory, config: Path, two_clips: Path) -> Path:
    """The same with all passes, not to be changed."""
    out = tmp_path_factory.mktemp("passes") / "out"
    shutil.copytree(two_clips, out)
    done = render(config, out, "--passes", "all")
    assert done.returncode == 0, done.stderr
    return out


def files_with_times(out: Path) -> dict[str, int]:
    return {str(path.relative_to(out)): path.stat().st_mtime_ns
            for pattern in ("clips/*.mp4", "store/shots/*/*/*.npz", "store/stills/*/*.png")
            for path in out.glob(pattern)}


def exr(path: Path) -> Any:
    return OpenEXR.File(str(path)).channels()


def test_adding_passes_renders_no_picture_again(two_clips: Path, with_passes: Path) -> None:
    before, after = files_with_times(two_clips), files_with_times(with_passes)
    assert before.keys() == after.keys() and frames_of(with_passes)
    for name in before:
        assert (two_clips / name).read_bytes() == (with_passes / name).read_bytes()
    old = {row["sample_id"]: row for row in rows_of(two_clips)}
    for row in rows_of(with_passes):
        passes = row.pop("passes")
        assert row == old[row["sample_id"]]
        assert list(passes) == ["keypoints", "depth", "mask", "normals", "flow", "parts"]


def test_adding_one_pass_makes_no_other_again(with_passes: Path, config: Path, tmp_path: Path
                                              ) -> None:
    out = tmp_path / "out"
    shutil.copytree(with_passes, out)
    row = rows_of(out)[0]
    shutil.rmtree(out / row["passes"]["mask"]["folder"])
    kept = {path: path.stat().st_mtime_ns for path in out.glob("passes/*/*/*")}
    frames = {path: path.stat().st_mtime_ns for path in out.glob("store/passes/*/*/*.npz")}
    done = render(config, out, "--passes", "mask")
    assert done.returncode == 0, done.stderr
    assert "makes passes" not in done.stderr, "all frames were in the store"
    assert (out / row["passes"]["mask"]["folder"] / "pass.json").is_file()
    assert kept.items() <= {path: path.stat().st_mtime_ns for path in
                            out.glob("passes/*/*/*")}.items()
    assert frames == {path: path.stat().st_mtime_ns for path in
                      out.glob("store/passes/*/*/*.npz")}
    assert rows_of(out)[0]["passes"].keys() == row["passes"].keys()


def test_clips_of_one_shot_share_what_does_not_show_the_set(with_passes: Path) -> None:
    rows = {row["background_config"]: row for row in rows_of(with_passes)}
    blank, aligned = rows["blank"], rows["aligned"]
    for kind in ("keypoints", "mask", "flow", "parts"):
        assert blank["passes"][kind] == aligned["passes"][kind]
    for kind in ("depth", "normals"):
        assert blank["passes"][kind]["folder"] != aligned["passes"][kind]["folder"]


def test_files_are_as_their_formats_want_them(with_passes: Path) -> None:
    rows = {row["background_config"]: row for row in rows_of(with_passes)}
    folders = {kind: with_passes / told["folder"] for kind, told in
               rows["aligned"]["passes"].items()}
    blank = with_passes / rows["blank"]["passes"]["depth"]["folder"]
    behind, alone = (exr(folder / "000003.exr")["Z"].pixels for folder in (folders["depth"], blank))
    mask = np.asarray(Image.open(folders["mask"] / "000003.png"))
    assert alone.dtype == np.float32 and alone.shape == mask.shape == (54, 96)
    assert (np.isfinite(alone) == (mask == 1)).all(), "without a set only the figure has depth"
    np.testing.assert_array_equal(behind[mask == 1], alone[mask == 1])
    assert np.isfinite(behind).all() and set(np.unique(mask)) == {0, 1, 255}
    normals = exr(folders["normals"] / "000003.exr")["RGB"].pixels
    assert normals.dtype == np.float16
    np.testing.assert_allclose(np.linalg.norm(normals.astype(float), axis=-1), 1.0, atol=2e-3)
    assert (normals[mask == 1, 2] < 0).mean() > 0.95, "surfaces face the camera"
    parts = np.asarray(Image.open(folders["parts"] / "parts" / "000003.png"))
    clothes = np.asarray(Image.open(folders["parts"] / "clothes" / "000003.png"))
    assert ((parts > 0) == (mask == 1)).all() and ((clothes > 0) == (mask == 1)).all()
    frames = rows["aligned"]["frames"]
    assert len(list((folders["flow"] / "forward").glob("*.exr"))) == frames - 1
    assert not (folders["flow"] / "backward" / "000000.exr").exists()


def test_rows_hash_what_lies_there(with_passes: Path) -> None:
    for row in rows_of(with_passes):
        for told in row["passes"].values():
            facts = json.loads((with_passes / told["folder"] / "pass.json").read_text())
            assert folder_hash(with_passes / told["folder"]) == told["sha256"] == facts["sha256"]


def test_wrong_requests_are_refused_in_one_line(config: Path, tmp_path: Path) -> None:
    dots = ("--passes", "mask", "--variants", "pointlight@0")
    for more, said in ((("--passes", "keypoint"), "did you mean keypoints"),
                       (("--passes-from", "cycles"), "requires --passes"),
                       (dots, "point-light displays")):
        done = render(config, tmp_path / "out", *more)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists()

def test_verify_finds_a_damaged_pass_and_repairs_it(with_passes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(with_passes, out)
    row = next(row for row in rows_of(out) if row["background_config"] == "aligned")
    damaged = out / row["passes"]["depth"]["folder"] / "000002.exr"
    damaged.write_bytes(damaged.read_bytes()[:-20])
    shutil.rmtree(out / row["passes"]["keypoints"]["folder"])
    clips = {path: path.stat().st_mtime_ns for path in out.glob("clips/*.mp4")}
    found = json.loads(mimegen("verify", out, "--json").stdout)
    assert not found["whole"] and found["passes"] == 8
    assert {Path(fault["file"]).parent.name for fault in found["faults"]} == {"depth", "keypoints"}
    mended = mimegen("verify", out, "--repair", "--json")
    assert mended.returncode == 0 and json.loads(mended.stdout)["whole"], mended.stdout
    assert clips == {path: path.stat().st_mtime_ns for path in out.glob("clips/*.mp4")}
    assert exr(damaged)["Z"].pixels.shape == (54, 96)


def test_status_gallery_and_store_know_passes(with_passes: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(with_passes, out)
    assert json.loads(invoked("status", out, "--json").stdout)["passes"]["depth"] == 2
    row = rows_of(out)[0]
    assert row["passes"]["flow"]["folder"] in (out / "index.html").read_text()
    held = json.loads(invoked("store", out, "--json").stdout)["holds"]
    assert any(each["kind"] == "passes" for each in held)
    pruned = json.loads(invoked("store", out, "--prune", "--dry-run", "--json").stdout)
    assert not any(each["kind"] == "passes" for each in pruned["would_remove"])
    stray = out / "store" / "passes" / "ff" / ("ff" * 32)
    stray.mkdir(parents=True)
    (stray / "000000.npz").write_bytes(b"nobody's")
    invoked("store", out, "--prune")
    assert not stray.exists() and len(list(out.glob("store/passes/*/*"))) == 7


def test_passes_that_no_row_names_are_found_and_pruned(with_passes: Path, tmp_path: Path) -> None:
    """Of a clip that is deleted, and what a killed run had begun."""
    out = tmp_path / "out"
    shutil.copytree(with_passes, out)
    rows = rows_of(out)
    gone = next(row for row in rows if row["background_config"] == "aligned")
    (out / gone["file_name"]).unlink()
    (out / "manifest.jsonl").write_text("".join(
        json.dumps(row) + "\n" for row in rows if row is not gone))
    alone = {gone["passes"][kind]["folder"] for kind in ("depth", "normals")}
    begun = out / "passes" / "depth" / "0123456789abcdef0123"
    begun.mkdir()
    (begun / "000000.exr").write_bytes(b"half")
    leave_as_killed(next(out.glob("store/passes/*/*")) / "000000.npz")
    strays = {str(out / folder) for folder in alone} | {str(begun)}
    found = json.loads(mimegen("verify", out, "--json").stdout)
    assert {fault["file"] for fault in found["faults"]} == strays
    removed = json.loads(invoked("store", out, "--prune", "--json").stdout)["removed"]
    (files,) = [each for each in removed if each["kind"] == "pass files"]
    assert files["pieces"] == 3 and files["bytes"] > 0
    assert not any(Path(folder).exists() for folder in strays)
    assert not [path for path in out.rglob(".*") if path.name.endswith(".part")]
    assert json.loads(mimegen("verify", out, "--json").stdout)["whole"]


def test_two_drivers_at_once_make_every_pass_once(
        two_clips: Path, with_passes: Path, config: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(two_clips, out)
    shutil.rmtree(out / "status")
    runs = [subprocess.Popen(
        command("render", "--action", "basketball", "--variants", VARIANTS, "--config", config,
                "--out", out, "--workers", 1, "--passes", "all"),
        stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for run in runs:
        _, said = run.communicate(timeout=600)
        assert run.returncode == 0, said
    assert rows_of(out) == rows_of(with_passes)
    begun = Counter(line["task"] for path in (out / "status").iterdir()
                    for line in map(json.loads, path.read_text().splitlines())
                    if line.get("state") == "begun")
    assert set(begun.values()) == {1}, "no frame, no geometry and no files are made twice"
    for folder in ("passes", "store/passes"):
        made, wanted = (sorted(path.relative_to(place) for path in (place / folder).rglob("*.*"))
                        for place in (out, with_passes))
        assert made == wanted
    assert not list((out / "store" / "claims").glob("[!.]*")), "claims are given up"
    assert not list((out / "store" / "encoded").glob("*/*"))


def test_a_plan_file_holds_passes_and_work_makes_them(config: Path, tmp_path: Path) -> None:
    template, out = tmp_path / "job.json", tmp_path / "out"
    done = invoked("plan", "--action", "basketball", "--variants", "base+aligned@0", "--config",
                   config, "--out", out, "--passes", "depth,keypoints", "--json",
                   "--export", "openjd", template)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["passes"]["depth"].items() >= {"shots": 1, "there": 0}.items()
    expected = 1e9 * sum(count["storage_gb"] for count in said["passes"].values())
    plan_file = Path(said["exported"][1])
    frames = 3 * said["frames"]
    for part in (("--stills", "0-1"), ("--frames", f"0-{frames - 1}")):
        done = mimegen("work", plan_file, *part)
        assert done.returncode == 0, done.stderr
    done = mimegen("work", plan_file, "--clips")
    assert done.returncode == 0 and "makes passes" not in done.stderr, done.stderr
    assert list(rows_of(out)[0]["passes"]) == ["keypoints", "depth"]
    taken = sum(path.stat().st_size for folder in ("passes", "store/passes")
                for path in (out / folder).rglob("*.*") if path.is_file())
    assert expected == pytest.approx(taken, rel=0.7), "a tiny picture has little to pack"
    done = invoked("plan", "--action", "basketball", "--variants", "base+aligned@0", "--config",
                   config, "--out", out, "--passes", "depth,keypoints", "--json")
    assert json.loads(done.stdout)["passes"]["depth"] == {
        "shots": 1, "there": 1, "storage_gb": 0.0}


def test_contact_sheets_show_truth(with_passes: Path, two_clips: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.png"
    assert invoked("contactsheet", with_passes, "--out", plain, "--frames", 3).returncode == 0
    for kind in ("keypoints", "mask", "depth", "normals", "flow", "parts"):
        sheet = tmp_path / f"{kind}.png"
        done = invoked("contactsheet", with_passes, "--out", sheet, "--frames", 3,
                       "--overlay", kind)
        assert done.returncode == 0, done.stderr
        assert (np.asarray(Image.open(sheet)) != np.asarray(Image.open(plain))).any()
    done = invoked("contactsheet", two_clips, "--out", plain, "--overlay", "mask")
    assert done.returncode == 2 and "render it with --passes mask" in done.stderr


def test_without_opengl_keypoints_are_made_and_clips_stay(
        three_clips: Path, tiny_config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    shutil.copytree(three_clips, out)
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent")
    done = mimegen("render", "--action", "basketball", "--variants", "base+blank@0", "--config",
                   tiny_config, "--out", out, "--passes", "keypoints,mask,depth", "--quiet")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "depth, mask not made" in done.stderr and "libegl1" in done.stderr
    row = next(row for row in rows_of(out) if row["config_name"] == "base+blank@0")
    assert list(row["passes"]) == ["keypoints"] and (out / row["file_name"]).is_file()
    assert not list(out.glob("passes/mask/*")) and not list(out.glob("passes/depth/*"))


def test_what_cannot_be_written_leaves_nothing(with_passes: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"cannot be written as EXR"):
        write_exr(tmp_path / "absent" / "000000.exr", {"Z": np.zeros((2, 2), np.float32)})
    frames = next(path for path in with_passes.glob("store/passes/*/*")
                  if '"depth"' in (path / "pass.json").read_text())
    shutil.copytree(frames, tmp_path / "frames")
    damaged = tmp_path / "frames" / "000004.npz"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    camera = Camera((0.0, -5.0, 1.0), (1.0, 0.0, 0.0, 0.0), 50.0, 96, 54)
    source = PassSource("depth", tmp_path / "frames", tuple(range(6)), camera, 4.0, "raster")
    with pytest.raises(ValueError, match="damaged frame"):
        write_pass(source, tmp_path / "depth")
    assert [path.name for path in tmp_path.iterdir()] == ["frames"]


def test_there_is_no_truth_about_people_in_a_clip_of_nobody(two_clips: Path, config: Path,
                                                            tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(two_clips, out)
    done = render(config, out, "--variants", "base+blank@0,nobody+blank@0", "--passes",
                  "keypoints,mask")
    assert done.returncode == 0, done.stderr
    rows = {row["variant"]: row for row in rows_of(out)}
    assert "passes" not in rows["nobody+blank@0"] or not rows["nobody+blank@0"]["passes"]
    assert set(rows["base+blank@0"]["passes"]) == {"keypoints", "mask"}


@pytest.mark.parametrize("swap", ["kind", "clip"])
def test_verify_finds_a_pass_of_another_kind_or_clip(swap: str, two_clips: Path, config: Path,
                                                     tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(two_clips, out)
    done = render(config, out, "--variants", "base+blank@0,base+blank@90", "--passes",
                  "depth,normals")
    assert done.returncode == 0 and not mimegen("verify", out).returncode
    rows = {row["sample_id"]: row for row in rows_of(out)}
    one, other = (row for row in rows.values() if row.get("passes"))
    if swap == "kind":
        one["passes"]["depth"], one["passes"]["normals"] = (
            one["passes"]["normals"], one["passes"]["depth"])
    else:
        one["passes"]["depth"] = other["passes"]["depth"]
    (out / "manifest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows.values()))
    found = mimegen("verify", out)
    assert found.returncode == 1 and "of another kind or of another clip" in found.stdout
