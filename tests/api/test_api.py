"""The Python API: everything that works without Blender."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import mimegen as mg
from mimegen.base.paths import data_folder, using_libraries
from mimegen.readers import read_motion
from mimegen.retarget.report import FIELDS
from running import command

WALK = "bvh/pybvh_cmu_12_01_walk.bvh"


@pytest.fixture(scope="module")
def boxing() -> mg.Take:
    return mg.take("boxing", seed=3)


@pytest.fixture(scope="module")
def woman(boxing: mg.Take) -> mg.RetargetedTake:
    return boxing.on("woman")


def test_actions_are_records_and_a_data_frame() -> None:
    found = mg.actions()
    frame = found.frame()
    assert "boxing" in {one.id for one in found} and len(frame) == len(found)
    assert list(frame.columns) == list(mg.ActionRecord._fields)
    assert "boxing" in found._repr_html_()


def test_every_name_of_the_api_is_there() -> None:
    assert set(dir(mg)) >= set(mg.api.__all__)
    assert all(getattr(mg, name).__doc__ for name in mg.api.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mg.nothing  # noqa: B018


def test_a_take_has_joints_places_and_a_rate(boxing: mg.Take) -> None:
    places = boxing.positions()
    assert places.shape == (boxing.frames, len(boxing.joints), 3) and boxing.fps == 30
    head, foot = (boxing.joints.index(boxing.roles()[role]) for role in ("head", "left_foot"))
    assert (places[:, head, 2] > places[:, foot, 2] + 1).all(), "metres, Z up"
    assert boxing.labels == ("boxing",) or "boxing" in " ".join(boxing.labels)
    assert boxing.notes == [] and "boxing" in repr(boxing)


def test_everything_says_in_a_line_what_it_is(boxing: mg.Take, woman: mg.RetargetedTake) -> None:
    seconds = f"{boxing.frames / 30:.1f} s, {boxing.frames} frames at 30 fps"
    assert repr(boxing) == f"<Take: boxing, {seconds}, 1 performer; take boxing, seed 3>"
    assert repr(woman).startswith("<Performance: boxing by woman, ") and " s, " in repr(woman)
    dots = boxing.pointlight("standard", manipulations=["inverted"])
    assert repr(dots).startswith("<Dots: 13 dots, ") and "boxing, standard, inverted" in repr(dots)
    found = mg.actions()
    assert repr(found).startswith(f"<{len(found)} actions: {found[0].id}, {found[1].id}")
    assert repr(boxing.motion()).startswith("<Motion: ") and "joints>" in repr(boxing.motion())
    assert not any("\n" in repr(one) for one in (boxing, woman, dots, found, boxing.motion()))


@pytest.mark.slow
def test_a_seed_is_another_take_and_the_same_seed_the_same() -> None:
    first, again, other = (mg.take("boxing", seed=seed).positions() for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert first.shape != other.shape or not np.allclose(first, other)


@pytest.mark.slow
def test_a_performance_has_a_surface_and_a_report(woman: mg.RetargetedTake) -> None:
    vertices, faces = woman.vertices(0), woman.faces()
    assert faces.max() == len(vertices) - 1 and faces.min() == 0
    assert 1.4 < np.ptp(vertices[:, 2]) < 2.0, "a standing woman, in metres"
    assert set(FIELDS) <= woman.report.keys() and json.loads(json.dumps(woman.report))
    assert repr(woman.report).startswith("<Report: joint_direction_error_deg ")
    assert len(repr(woman.report)) < 400 and "\n" not in repr(woman.report)
    assert woman.report["joint_direction_error_deg"] < 6
    assert not np.allclose(woman.vertices(0), woman.vertices(-1))


def test_pictures_show_the_performer(boxing: mg.Take, woman: mg.RetargetedTake, context: Any
                                     ) -> None:
    sheet = np.asarray(woman.show(frames=4))
    assert sheet.shape[2] == 3 and sheet.std() > 10
    taken = np.asarray(boxing.show(frames=4, character="woman"))
    assert np.array_equal(taken, sheet), "a take shows itself on a character"
    video = woman.preview()
    assert repr(video).startswith("<Video: ")
    assert video.content[4:8] == b"ftyp" and "video/mp4;base64," in video._repr_html_()


@pytest.mark.slow
def test_dots_are_arrays_and_pictures(boxing: mg.Take, tmp_path: Path) -> None:
    dots = boxing.pointlight(dots="johansson", azimuth_deg=0, fps=30, width=128, height=128)
    turned = boxing.pointlight(dots="johansson", azimuth_deg=0, fps=30, width=128, height=128,
                               manipulations=["inverted"])
    places, frames = dots.positions(), list(dots.frames())
    assert places.shape == (len(frames), len(dots.names), 2) and frames[0].shape[:2] == (128, 128)
    assert dots.visible().shape == places.shape[:2] and dots.record["dot_count"] == len(dots.names)
    flipped = dots.size[1] - turned.positions()[..., 1]
    assert np.corrcoef(flipped.ravel(), places[..., 1].ravel())[0, 1] > 0.99
    assert dots.save(tmp_path / "x.csv").file_name == "x.csv" and (tmp_path / "x.csv").is_file()
    with pytest.raises(mg.RequestError, match="no point-light display"):
        boxing.pointlight("johanson")


def test_your_own_motion(samples: Path) -> None:
    walk = mg.load_motion(samples / WALK)
    slow = mg.load_motion(samples / WALK, fps=30)
    assert walk.fps == pytest.approx(120, abs=0.1) and slow.fps == 30
    assert slow.frames == pytest.approx(walk.frames / 4, abs=2)
    assert walk.notes, "every assumption about the file"
    with pytest.raises(mg.RequestError, match="no such file"):
        mg.load_motion("nothing.bvh")


def test_a_file_is_loaded_whole_unless_a_part_is_asked_for(samples: Path) -> None:
    whole, part = mg.load_motion(samples / WALK), mg.load_motion(samples / WALK, trim="0.5:1")
    assert whole.frames == read_motion(samples / WALK).motion.frames
    assert part.frames < whole.frames


def test_a_take_is_saved_on_its_own_skeleton(samples: Path, tmp_path: Path) -> None:
    walk = mg.load_motion(samples / WALK)
    again = mg.load_motion(walk.save(tmp_path / "walk.bvh"))
    assert again.joints == walk.joints and again.frames == walk.frames
    assert np.allclose(again.positions(), walk.positions(), atol=1e-3)


def test_a_characters_file_may_be_a_path(tmp_path: Path, boxing: mg.Take) -> None:
    with pytest.raises(mg.RequestError, match=r"nobody\.glb"):
        boxing.on(tmp_path / "nobody.glb")


@pytest.mark.slow
def test_two_performers(tmp_path: Path) -> None:
    greeting = mg.take("shake_hands")
    assert greeting.performers == 2
    both = greeting.on("man", "woman")
    assert both.characters == ("man", "woman")
    apart = np.linalg.norm(both.positions(0)[:, 0] - both.positions(1)[:, 0], axis=-1)
    assert (apart > 0.3).all()
    with pytest.raises(mg.RequestError, match="has one performer"):
        mg.take("boxing").on("man", "woman")
    assert both.save(tmp_path / "second.bvh", performer=1).is_file()


@pytest.mark.parametrize(("fields", "says"), [
    ({}, "expected one of --action"), ({"action": "boxng"}, "boxing"),
    ({"action": "boxing", "motion": "a.bvh"}, "mutually exclusive"),
    ({"action": "boxing", "label": "x"}, "--label requires --motion"),
    ({"action": "boxing", "seed": "5:2"}, "--seed"), ({"action": "boxing", "tempo": 9}, "--tempo"),
    ({"action": "boxing", "intensity": 2}, "--intensity"), ({"colour": 1}, "'colour'"),
    ({"action": "boxing", "camera": "fixd"}, "--camera"),
    ({"action": "boxing", "variants": "base+blank"}, "base+blank"),
    ({"action": "boxing", "variants": []}, "variant ''"),
    ({"action": "boxing", "variants": ""}, "variant ''"),
])
def test_a_wrong_request_is_one_line(fields: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(mg.RequestError) as caught:
        mg.render(out=tmp_path / "out", **fields)
    assert says in str(caught.value) and "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("call", "says"), [
    (lambda: mg.take("boxing", seed=cast("int", 1.5)), "seed=1.5: expected an integer"),
    (lambda: mg.take("boxing", seed=cast("int", "3")), "seed='3': expected an integer"),
    (lambda: mg.scene("the_thief", seed=-2), "seed=-2: expected an integer"),
    (lambda: mg.take("boxing").pointlight(seed=-1), "seed=-1: expected an integer"),
    (lambda: mg.evaluate([], [], similarity="word"), "no such similarity (did you mean"),
    (lambda: mg.render("boxing", farm={"workers": 0}), "farm: workers: "),
    (lambda: mg.render("boxing", farm={"worker": 2}), "farm: worker: "),
    (lambda: mg.take("boxing").show(frames=0), "frames=0: expected at least 1"),
])
def test_a_wrong_argument_is_one_line(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(mg.RequestError) as caught:
        call()
    assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("options", "says"), [
    ({"format": "mcq"}, "no such format (available: "), ({"asks": "why"}, "no such asks"),
    ({"prompting": "few"}, "no such prompting (did you mean few-shot"), ({"seed": 1.5}, "seed=1.5"),
    ({"difficulty": "hard"}, "no such difficulty"),
    ({"format": "free", "difficulty": "near"}, "difficulty does not apply")])
def test_a_wrong_question_is_one_line(clips: mg.Clips, options: dict[str, Any], says: str) -> None:
    with pytest.raises(mg.RequestError) as caught:
        clips.questions(**options)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_one_manipulation_needs_no_list(boxing: mg.Take) -> None:
    alone, listed = (boxing.pointlight(manipulations=which).positions()
                     for which in ("inverted", ["inverted"]))
    assert np.array_equal(alone, listed)


@pytest.mark.parametrize("fps", [0, -5.0, float("nan"), float("inf"), 1e9])
def test_a_rate_that_is_none_is_refused(fps: float) -> None:
    for made in (lambda: mg.take("boxing", fps=fps), lambda: mg.scene("the_thief", fps=fps)):
        with pytest.raises(mg.RequestError, match="expected frames per second"):
            made()


def test_a_request_survives_json() -> None:
    request = mg.RenderRequest.of(action=["boxing", "guitar"], seed=range(3), light="60,40,0.8",
                                  library="mine", intensity=[0.5, 1])
    again = mg.RenderRequest.model_validate_json(request.model_dump_json(exclude_unset=True))
    assert again == request and again.model_fields_set == request.model_fields_set
    assert request.action == "boxing,guitar" and request.library == (Path("mine"),)


SCRIPT = """
import mimegen as mg
clip, = mg.render("boxing", variants="base+blank@0", out="out", config="draft")
print(clip.avatar, sum(1 for _ in clip.frames()) == clip.row.frames)
"""


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory, context: Any) -> mg.Clips:
    out = tmp_path_factory.mktemp("api") / "out"
    return mg.render(["boxing", "guitar"], out=out, config="draft",
                     variants="base+blank@0,woman+blank@90")


def test_clips_are_rows_and_arrays(clips: mg.Clips) -> None:
    frame = clips.frame()
    assert len(clips) == len(frame) == 4 and set(frame["avatar"]) == {"man", "woman"}
    clip = clips[0]
    pictures = list(clip.frames())
    assert len(pictures) == clip.row.frames
    assert pictures[0].shape == (clip.height, clip.width, 3)
    assert clip.show().size == (clip.width, clip.height) and clip.play().content
    assert [one.sample_id for one in clips[:2]] == list(frame["sample_id"][:2])
    assert mg.open(clips.folder).rows == clips.rows
    assert repr(clips).startswith("<Clips: 4 clips of 2 actions by 2 characters in ")
    assert repr(clip).startswith(f"<Clip: {clip.action} by {clip.avatar}, blank behind, from ")
    assert repr(clip).endswith(f"; {clip.path}>")
    assert {one.avatar for one in clips.where(avatar="woman")} == {"woman"}
    assert len(clips.where(avatar="woman", angle=clip.angle)) < len(clips.where(avatar="woman")) + 1
    ahead = clips.where(angle=0)
    assert isinstance(ahead, mg.Clips) and set(ahead.frame()["angle"]) == {0}
    assert len(ahead.where(avatar="man")) == len(ahead) == 2 and ahead[1:].rows == ahead.rows[1:]
    assert repr(ahead).startswith("<Clips: 2 clips of 2 actions by 1 character in ")
    nothing = clips.where(action="no such action")
    assert len(nothing) == 0 and nothing.frame().empty and "0 clips" in repr(nothing)
    assert len(nothing.where(avatar="man")) == 0 and nothing._repr_html_()
    assert clips.where(character="woman").rows == clips.where(avatar="woman").rows
    with pytest.raises(mg.RequestError, match="no field 'colour'"):
        clips.where(colour="red")


def test_from_clips_to_a_table(clips: mg.Clips) -> None:
    asked = clips.questions("free", seed=1)
    right = [{"question_id": one.question_id, "model": "m", "output": one.answer} for one in asked]
    results = mg.evaluate(asked, right)
    assert results.frame()["correct"].all() and len(results.frame()) == 4
    assert repr(results).startswith("<Results: 4 answers; right: m 100.0% of free")
    assert repr(asked[0]) == (f"<Question: free about {asked[0].action}, {asked[0].variant}: free"
                              f" answer; answer: {asked[0].answer}>")
    last = results.summary().iloc[-1]
    assert last["variant"] == "all" and last["accuracy"] == 1
    with pytest.raises(mg.RequestError, match="unknown question"):
        mg.evaluate(asked, [{"question_id": "x", "model": "m", "output": ""}])


def test_nothing_is_printed_and_nothing_rendered_twice(
        clips: mg.Clips, capfd: pytest.CaptureFixture[str]) -> None:
    before = [clip.path.stat().st_mtime_ns for clip in clips]
    again = mg.render(["boxing", "guitar"], out=clips.folder, config="draft",
                      variants="base+blank@0,woman+blank@90")
    assert [clip.path.stat().st_mtime_ns for clip in again] == before
    assert capfd.readouterr() == ("", "")


def test_the_command_line_makes_the_same(clips: mg.Clips, tmp_path: Path) -> None:
    done = subprocess.run(command(
        "render", "--action", "boxing", "--variants", "base+blank@0", "--config", "draft",
        "--out", tmp_path / "out"), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    row, = [json.loads(line) for line in (tmp_path / "out/manifest.jsonl").open()]
    same, = [one for one in clips.rows if one.sample_id == row["sample_id"]]
    assert same.sha256 == row["sha256"]


def test_a_script_without_a_main_guard_renders(tmp_path: Path, context: Any) -> None:
    """Worker processes do not run the user's script again."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "man True\n"


def test_requests_with_libraries_of_their_own_do_not_disturb_each_other(tmp_path: Path) -> None:
    """A library's style hides mimegen's own, in its own requests and in no other thread."""
    mine = tmp_path / "mine"
    (mine / "mocap").mkdir(parents=True)
    own = (data_folder() / "mocap" / "styles.yaml").read_text(encoding="utf-8")
    (mine / "mocap" / "styles.yaml").write_text(own.replace("tired:", "weary:"), encoding="utf-8")
    started, ready = threading.Event(), threading.Event()

    def other() -> list[bool]:
        started.wait(60)
        found = [_knows("weary", ())]
        ready.set()
        return found

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(other)
        with using_libraries([mine]):
            started.set()
            assert ready.wait(60) and running.result() == [False]
            assert _knows("weary", ())
    assert _knows("weary", mine) and not _knows("weary", ()) and not _knows("tired", mine)
    assert "MIMEGEN_LIBRARY" not in os.environ


def test_requests_in_threads_do_not_disturb_each_other(
        clips: mg.Clips, tmp_path: Path, context: Any) -> None:
    """Two render at once, into folders of their own and one store, what each renders alone."""
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(mg.render, action, out=tmp_path / action, store=tmp_path / "store",
                               config="draft", variants="base+blank@0")
                   for action in ("boxing", "playing_guitar")]
        found = [row for future in running for row in future.result().rows]
    alone = {row.sample_id: row.sha256 for row in clips.rows}
    assert [row.action for row in found] == ["boxing", "playing_guitar"]
    assert all(row.sha256 == alone[row.sample_id] for row in found)


def _knows(style: str, library: Any) -> bool:
    try:
        return mg.take("boxing", style=style, library=library) is not None
    except mg.RequestError:
        return False
