"""Verify names what is wrong with clips, rows and frames, and makes just that again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.library.catalogue import Catalogue
from mimegen.plan.plan import Plan
from mimegen.production.remaking import Sources
from mimegen.production.repair import repair
from mimegen.production.verify import verify
from mimegen.store.store import Store
from running import frames_of, invoked, mimegen, rows_of

pytestmark = pytest.mark.render


@pytest.fixture
def out(three_clips: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(three_clips, tmp_path / "out"))


def told(out: Path, *more: object) -> tuple[int, dict[str, Any]]:
    done = invoked("verify", out, "--json", *more)
    assert not done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout)


def row_of(out: Path, variant: str) -> dict[str, Any]:
    return next(row for row in rows_of(out) if row["config_name"] == variant)


def clip_of(out: Path, variant: str) -> Path:
    return out / row_of(out, variant)["file_name"]


def shot_of(out: Path) -> Path:
    key = row_of(out, "base+blank@0")["shot_key"]
    return out / "store" / "shots" / key[:2] / key


def rewrite(out: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    rows = [change(row) for row in rows_of(out)]
    (out / "manifest.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows if row is not None))


def test_what_render_made_is_whole(out: Path) -> None:
    status, said = told(out)
    assert status == 0 and said["whole"] and not said["faults"]
    assert said["clips"] == 3 and said["shots"] == 1
    assert said["frames"] == len(frames_of(out)) > 5
    assert "no faults found" in invoked("verify", out).stdout


def cut_clip(out: Path) -> tuple[Path, str]:
    path = clip_of(out, "base+aligned@0")
    path.write_bytes(path.read_bytes()[:-200])
    return path, "SHA-256"


def lost_clip(out: Path) -> tuple[Path, str]:
    path = clip_of(out, "base+blank@0")
    path.unlink()
    return path, "missing"


def lost_dots(out: Path) -> tuple[Path, str]:
    path = clip_of(out, "pointlight@0")
    path.unlink()
    return path, "missing"


def no_clip_at_all(out: Path) -> tuple[Path, str]:
    path = clip_of(out, "base+blank@0")
    path.write_text("no clip")
    return path, "does not decode"


def rotten_frame(out: Path) -> tuple[Path, str]:
    path = shot_of(out) / "000003.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    return path, "checksum"


def lost_frame(out: Path) -> tuple[Path, str]:
    (shot_of(out) / "000002.npz").unlink()
    return shot_of(out), "lacks 1 of its frames: 2"


def no_facts(out: Path) -> tuple[Path, str]:
    path = shot_of(out) / "shot.json"
    path.write_text("{")
    return path, "damaged"


def no_row(out: Path) -> tuple[Path, str]:
    path = clip_of(out, "base+aligned@0")
    rewrite(out, lambda row: None if row["config_name"] == "base+aligned@0" else row)
    return path, "no row"


def wrong_row(out: Path) -> tuple[Path, str]:
    rewrite(out, lambda row: row | ({"frames": 99, "fps": 7, "width": 98}
                                    if row["config_name"] == "pointlight@0" else {}))
    return clip_of(out, "pointlight@0"), "its row says 99"


def doubled_row(out: Path) -> tuple[Path, str]:
    lines = (out / "manifest.jsonl").read_text()
    (out / "manifest.jsonl").write_text(lines + lines.splitlines(keepends=True)[0])
    return clip_of(out, rows_of(out)[0]["config_name"]), "has 2 rows, expected one"


@pytest.mark.parametrize("damage", [cut_clip, lost_clip, lost_dots, no_clip_at_all, rotten_frame,
                                    lost_frame, no_facts, no_row, wrong_row, doubled_row])
def test_each_damage_is_named_and_mended_and_nothing_else_is_made(
    damage: Callable[[Path], tuple[Path, str]], three_clips: Path, out: Path
) -> None:
    before = frames_of(out)
    path, why = damage(out)
    status, said = told(out)
    assert status == 1 and not said["whole"]
    assert {fault["file"] for fault in said["faults"]} == {str(path)}
    assert any(why in fault["why"] for fault in said["faults"]), said["faults"]
    status, said = told(out, "--repair")
    assert status == 0 and said["whole"] and not said["not_repaired"], said
    assert rows_of(out) == rows_of(three_clips)
    for row in rows_of(three_clips):
        name = row["file_name"]
        assert (out / name).read_bytes() == (three_clips / name).read_bytes()
    touched = {frame for frame, time in frames_of(out).items() if before[frame] != time}
    assert len(touched) == (1 if damage in (rotten_frame, lost_frame) else 0)


def another_clip(out: Path) -> dict[str, Any]:
    """Lay a clip without a record or key of its own; return what its row says of the file."""
    path = out / "clips" / "another.mp4"
    content = clip_of(out, "base+blank@0").read_bytes()
    path.write_bytes(content[:content.rfind(b"uuid") - 4])
    return {"sha256": file_hash(path), "clip_key": None}


def test_a_display_is_made_again_in_its_own_config_whatever_else_has_that_name(
    three_clips: Path, out: Path
) -> None:
    row = row_of(out, "base+blank@0")
    another = row | {
        "sample_id": "another", "file_name": "clips/another.mp4",
        "render_config": row["render_config"] | {"width": 2 * row["render_config"]["width"]}}
    another |= another_clip(out)
    lines = "".join(json.dumps(one) + "\n" for one in [another, *rows_of(out)])
    (out / "manifest.jsonl").write_text(lines)
    clip = clip_of(out, "pointlight@0")
    clip.unlink()
    told(out, "--repair")
    assert row_of(out, "pointlight@0") == row_of(three_clips, "pointlight@0")
    assert clip.read_bytes() == clip_of(three_clips, "pointlight@0").read_bytes()


def test_a_clip_is_made_again_in_its_own_config_whatever_else_has_that_name(
    three_clips: Path, out: Path
) -> None:
    row = row_of(out, "base+blank@0")
    light = row["render_config"]["light"]
    another = row | {
        "sample_id": "another", "file_name": "clips/another.mp4",
        "render_config": row["render_config"] | {"light": light | {"sun_strength": 0.5}}}
    another |= another_clip(out)
    lines = "".join(json.dumps(one) + "\n" for one in [another, *rows_of(out)])
    (out / "manifest.jsonl").write_text(lines)
    clip = clip_of(out, "base+aligned@0")
    clip.unlink()
    status, said = told(out, "--repair")
    assert status == 0 and said["whole"], said
    assert row_of(out, "base+aligned@0") == row_of(three_clips, "base+aligned@0")
    assert clip.read_bytes() == clip_of(three_clips, "base+aligned@0").read_bytes()


def test_what_cannot_be_made_again_is_named_and_the_rest_is_made(out: Path) -> None:
    lost_clip(out)
    (out / "clips" / "stranger.mp4").write_bytes(clip_of(out, "pointlight@0").read_bytes())
    gone = clip_of(out, "pointlight@0")
    gone.unlink()
    rewrite(out, lambda row: row | ({"action": "my_dance"}
                                    if row["config_name"] == "pointlight@0" else {}))
    status, said = told(out, "--repair")
    assert status == 1
    assert {Path(fault["file"]).name for fault in said["faults"]} == {"stranger.mp4", gone.name}
    assert gone.stem in said["not_repaired"]
    assert row_of(out, "pointlight@0")["action"] == "my_dance", "the row stays"
    reasons = " ".join(said["not_repaired"].values())
    assert "my_dance" in reasons and "the store knows of no such clip" in reasons
    assert clip_of(out, "base+blank@0").is_file()


def test_of_two_rows_the_one_of_the_clip_that_is_there_stays(three_clips: Path, out: Path) -> None:
    row = row_of(out, "base+aligned@0")
    other = json.dumps(row | {"sha256": "0" * 64, "angle": 90})
    with (out / "manifest.jsonl").open("a") as file:
        file.write(other + "\n")
    before = clip_of(out, "base+aligned@0").stat().st_mtime_ns
    status, said = told(out, "--repair")
    assert status == 0 and not said["faults"] and not said["not_repaired"], said
    assert rows_of(out) == rows_of(three_clips)
    assert clip_of(out, "base+aligned@0").stat().st_mtime_ns == before
    assert (out / "manifest.damaged.jsonl").read_text() == other + "\n"


def test_a_line_that_is_no_row_is_named(out: Path) -> None:
    with (out / "manifest.jsonl").open("a") as file:
        file.write("{\n")
    status, said = told(out)
    assert status == 1 and "line 4 is not a manifest row" in said["faults"][0]["why"]


def test_damaged_lines_are_set_aside_and_their_rows_recovered(
    three_clips: Path, out: Path
) -> None:
    lines = (out / "manifest.jsonl").read_bytes().splitlines(keepends=True)
    clip_of(out, "base+aligned@0").unlink()
    cut = [line[:-40] + b"\n" for line in lines[:2]]
    (out / "manifest.jsonl").write_bytes(b"".join([*cut, lines[2], b"{\n"]))
    status, said = told(out, "--repair")
    assert rows_of(out) == rows_of(three_clips)
    assert status == 0 and not said["faults"] and not said["not_repaired"], said
    assert said["lines_set_aside"] == 3
    assert (out / "manifest.damaged.jsonl").read_bytes() == b"".join([*cut, b"{\n"])
    assert clip_of(out, "base+aligned@0").is_file()
    assert told(out)[0] == 0


def test_clips_of_a_users_file_are_made_again_where_it_is_given(
    samples: Path, tmp_path: Path
) -> None:
    motion = tmp_path / "playing.bvh"
    shutil.copy(samples / "bvh" / "bvhpython_test_freebvh.bvh", motion)
    out = tmp_path / "out"
    done = mimegen("render", "--motion", motion, "--label", "playing violin", "--variants",
                   "pointlight@0", "--trim", "0:1", "--config", "draft", "--out", out)
    assert done.returncode == 0, done.stderr
    clip = clip_of(out, "pointlight@0")
    data, rows = clip.read_bytes(), rows_of(out)
    clip.unlink()
    status, said = told(out, "--repair")
    assert status == 1 and "--motion playing.bvh" in said["not_repaired"][clip.stem]
    assert rows_of(out) == rows, "the row stays"
    status, said = told(out, "--repair", "--motion", motion)
    assert status == 0 and rows_of(out) == rows and clip.read_bytes() == data


@pytest.mark.parametrize(("action", "options"), [
    ("clap", ("--emotion", "anger", "--intensity", "0.3,0.6")),
    ("clap", ("--say", "Well done!", "--gaze", "camera")),
    ("number_2", ("--hand", "left")), ("walk", ("--happy", "2"))])
def test_clips_with_options_of_their_takes_are_made_again(
    tmp_path: Path, action: str, options: tuple[str, ...]
) -> None:
    """What was asked of face, hand or gait is in the row, and the clip is made with it or not."""
    out = tmp_path / "out"
    done = mimegen("render", "--action", action, *options, "--variants", "pointlight@0", "--out",
                   out)
    assert done.returncode == 0, done.stderr
    clips = {clip: clip.read_bytes() for clip in (out / "clips").iterdir()}
    rows = rows_of(out)
    for clip in clips:
        clip.unlink()
    status, said = told(out, "--repair")
    assert status == 0 and not said["not_repaired"], said
    assert rows_of(out) == rows and {one: one.read_bytes() for one in clips} == clips


def test_clips_without_their_store_are_whole_and_that_is_said(out: Path) -> None:
    shutil.rmtree(out / "store")
    status, said = told(out)
    assert status == 0 and said["frames"] == 0 and "frames were not checked" in said["notes"][0]
    assert invoked("verify", out).stdout.rstrip().endswith(": no faults but for the notes above")


def test_a_folder_without_clips_is_a_wrong_request(tmp_path: Path) -> None:
    done = invoked("verify", tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "manifest.jsonl" in done.stderr


@pytest.mark.parametrize("damage", [rotten_frame, no_facts, lost_clip, cut_clip])
def test_what_cannot_be_made_after_all_is_left_as_it_was(
    damage: Callable[[Path], tuple[Path, str]], out: Path
) -> None:
    def refuse(plan: Plan, device: str, opaque: bool) -> dict[str, str]:
        raise RequestError("no worker starts here")

    damage(out)
    store = Store(out / "store")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns)
              for path in out.rglob("*") if path.is_file() and path.name != "whole.json"}
    refused = repair(out, store, verify(out, store).faults,
                     Sources.of(Catalogue.with_libraries(()), ()), refuse)
    assert "no worker starts here" in refused.values()
    manifest = out / "manifest.jsonl"
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before
            if path != manifest} == {path: was for path, was in before.items() if path != manifest}
    assert manifest.read_bytes() == before[manifest][0]


@pytest.mark.parametrize("field", ["shot_key", "clip_key", "still_key"])
def test_a_key_that_leads_out_of_the_store_makes_repair_delete_nothing(
    out: Path, tmp_path: Path, field: str
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("000000.npz", "shot.json", "000001.npz"):
        (mine / name).write_bytes(b"mine")
    before = {path: path.read_bytes() for path in mine.iterdir()}
    rewrite(out, lambda row: row | {field: str(mine)})
    status, said = told(out)
    assert status == 1 and f"{field}: must be a content key" in said["faults"][0]["why"]
    told(out, "--repair")
    assert {path: path.read_bytes() for path in mine.iterdir()} == before


def test_a_folder_that_is_named_as_a_pass_is_never_removed(out: Path) -> None:
    told_of = {"folder": "clips", "key": "ab" * 32, "engine": "raster", "files": "0.exr",
               "sha256": "ab" * 32}
    rewrite(out, lambda row: row | {"passes": {"depth": told_of}})
    before = sorted((out / "clips").iterdir())
    status, said = told(out)
    assert status == 1 and any("which it is not" in fault["why"] for fault in said["faults"])
    told(out, "--repair")
    assert sorted((out / "clips").iterdir()) == before
