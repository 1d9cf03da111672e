"""``mimegen inspect``: what a mocap file holds, as text, JSON and a picture."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from numpy.typing import NDArray
from PIL import Image

from mimegen.pages.skeletonsheet import COLORS, part_of
from running import invoke


def inspected(*arguments: object) -> Result:
    return invoke("inspect", *arguments)


def painted(picture: NDArray[Any], part: str) -> int:
    """Return how many pixels above the legend have a part's color."""
    body = picture[: int(0.93 * len(picture))].reshape(-1, 3)
    color = tuple(int(COLORS[part][i : i + 2], 16) for i in (1, 3, 5))
    return int(np.count_nonzero((body == color).all(axis=1)))


def test_json_has_what_the_contract_names(samples: Path) -> None:
    done = inspected(samples / "bvh" / "anim_fair_jumping.bvh", "--json")
    assert done.exit_code == 0
    facts = json.loads(done.stdout)
    assert (facts["format"], facts["kind"], facts["frames"], facts["bones"]) == (
        "BVH", "skeleton", 654, 27)
    assert facts["fps"] == pytest.approx(119.88, abs=0.01)
    assert (facts["up_axis"], facts["up_axis_found_by"]) == ("Z", "the head is above the feet")
    assert facts["unit_m"] == pytest.approx(0.0385, abs=1e-3) and facts["unit_found_by"]
    assert facts["mapping"]["left_forearm"] == {"bone": "LeftForeArm", "confidence": 1.0}
    assert "LeftHandEnd" in facts["bones_without_role"]
    assert "T-pose" in facts["trim"]["reasons"][0] and facts["trim"]["first_frame"] > 120
    assert facts["problems"] == []


def test_text_is_a_table_of_both_sides(samples: Path) -> None:
    done = inspected(samples / "bvh" / "bvhpython_test_freebvh.bvh")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    forearm = next(line for line in lines if line.startswith("forearm"))
    assert forearm.split() == ["forearm", "mixamorig:LeftForeArm", "100%",
                               "mixamorig:RightForeArm", "100%"]
    assert any("centimetres" in line for line in lines)
    assert "Mixamo" in lines[0]


def test_the_picture_shows_every_part_in_its_color(samples: Path, tmp_path: Path) -> None:
    target = tmp_path / "sheet.png"
    done = inspected(samples / "bvh" / "bvhpython_test_freebvh.bvh", "--picture", target)
    assert done.exit_code == 0
    picture = np.asarray(Image.open(target).convert("RGB"))
    assert picture.shape[1] > 2000
    for part in ("left arm", "left leg", "right arm", "right leg", "trunk", "head"):
        assert painted(picture, part) > 500, part


def test_the_right_hand_is_on_the_viewers_left(samples: Path, tmp_path: Path) -> None:
    target = tmp_path / "sheet.png"
    inspected(samples / "bvh" / "bvhpython_test_freebvh.bvh", "--picture", target)
    picture = np.asarray(Image.open(target).convert("RGB"))
    first_panel = picture[80:600, 32:490]
    places = [np.argwhere((first_panel == tuple(
        int(COLORS[f"{side} leg"][i : i + 2], 16) for i in (1, 3, 5))).all(axis=2))[:, 1].mean()
        for side in ("left", "right")]
    assert places[1] < places[0]


def test_files_that_cannot_be_used_still_show_their_bones(tmp_path: Path) -> None:
    legless = tmp_path / "legless.bvh"
    legless.write_text("HIERARCHY\nROOT a { OFFSET 0 0 0 CHANNELS 3 Xrotation Yrotation Zrotation"
                       "\nJOINT b { OFFSET 0 1 0 CHANNELS 0 End Site { OFFSET 0 1 0 } } }\n"
                       "MOTION\nFrames: 2\nFrame Time: 0.04\n0 0 0\n1 0 0\n")
    done = inspected(legless, "--json", "--picture", tmp_path / "legless.png")
    facts = json.loads(done.stdout)
    assert done.exit_code == 0
    assert facts["bones_without_role"] == ["a", "b"] and facts["mapping"] == {}
    assert "no bone fits" in facts["problems"][0] and "--map" in facts["problems"][0]
    picture = np.asarray(Image.open(tmp_path / "legless.png").convert("RGB"))
    assert painted(picture, "no role") > 500 and painted(picture, "doubtful") > 50


def test_the_doubtful_bones_of_a_usable_file_are_marked(samples: Path, tmp_path: Path) -> None:
    """Names of an arm and a leg that contradict the shape: it is followed, but not for sure."""
    swapped = {"LeftLeg": "LeftForeArm", "LeftForeArm": "LeftLeg"}
    text = (samples / "bvh" / "pybvh_bvh_test1.bvh").read_text()
    path = tmp_path / "swapped.bvh"
    path.write_text(re.sub(r"\bLeft(Leg|ForeArm)\b", lambda found: swapped[found[0]], text))
    done = inspected(path, "--picture", tmp_path / "swapped.png")
    assert "'LeftUpLeg' is only 55% sure to be the left thigh" in done.stdout
    marked = painted(np.asarray(Image.open(tmp_path / "swapped.png").convert("RGB")), "doubtful")
    inspected(samples / "bvh" / "pybvh_bvh_test1.bvh", "--picture", tmp_path / "plain.png")
    plain = painted(np.asarray(Image.open(tmp_path / "plain.png").convert("RGB")), "doubtful")
    assert plain == 0 and marked > 500


def test_unlabelled_markers_are_shown_with_the_reason(samples: Path, tmp_path: Path) -> None:
    target = tmp_path / "markers.png"
    done = inspected(samples / "c3d" / "btk_c3dorg13_golfswing.c3d", "--json", "--picture", target)
    facts = json.loads(done.stdout)
    assert facts["kind"] == "markers" and facts["up_axis"] == "X"
    assert "match no marker set" in facts["problems"][0]
    assert target.is_file()


def test_what_is_no_mocap_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    done = inspected(path)
    assert done.exit_code == 2
    assert "notes.txt: expected a motion file" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_skeleton_without_animation_still_shows_its_bones(samples: Path, tmp_path: Path) -> None:
    target = tmp_path / "rest.png"
    done = inspected(samples / "fbx" / "ufbx_maya_human_ik_7400_ascii.fbx", "--json",
                     "--picture", target)
    facts = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (facts["bones"], facts["frames"], facts["animation_stacks"]) == (62, 0, [])
    assert "Character1_LeftForeArm" in facts["bones_without_role"]
    assert "no motion; export it with its animation" in facts["problems"][0]
    assert painted(np.asarray(Image.open(target).convert("RGB")), "no role") > 5000


@pytest.mark.parametrize(("arguments", "message"), [
    (("--map", "roles.yaml"), "roles.yaml: line 2: left_forarm: is not a role (did you mean"),
    (("--map", "none.yaml"), "none.yaml"),
    (("--stack", "Take"), "leave out --stack"),
    (("--skeleton", "x.asf"), "leave out --skeleton"),
    (("--picture", "sheet.txt"), "expected a .png file"),
])
def test_what_is_said_wrongly_is_one_line(samples: Path, tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch,
                                          arguments: tuple[str, ...], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("roles.yaml").write_text("hips: hip\nleft_forarm: lForeArm\n")
    done = inspected(samples / "bvh" / "avatarlab_boxing.bvh", *arguments)
    assert done.exit_code == 2 and done.stdout == ""
    assert message in done.stderr and done.stderr.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["roles.yaml"]


def test_every_role_has_a_color() -> None:
    assert {part_of(role) for role in ("hips", "neck1", "head", "left_toe", "right_hand",
                                       "left_index1", "right_thigh", None)} <= set(COLORS)
