"""Data that all takes share: checked when it is read, and the user's own hides mimegen's."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mimegen.base.errors import RequestError
from mimegen.base.paths import LIBRARIES, data_folder
from mimegen.characters.bake import read_bake
from mimegen.choreography.body import capsules, hand_point, landmark_names, sideless_anchors
from mimegen.choreography.life import life_values
from mimegen.choreography.ranges import joint_ranges
from mimegen.choreography.styles import styles
from mimegen.cli import main
from mimegen.markers.sets import body_landmarks, freedom, marker_sets
from mimegen.motion import standard_skeleton
from mimegen.motion.hand_shapes import hand_shapes
from mimegen.pointlight.landmarks import dot_sets
from mimegen.readers.names import bone_names, roles_by_name, system_of

BODY, HANDS, LIFE = "mocap/body.yaml", "mocap/hand_shapes.yaml", "mocap/life.yaml"
STYLES, RANGES = "mocap/styles.yaml", "mocap/joint_ranges.yaml"
BONES, STANDARD = "rigs/skeletons/bone_names.yaml", "rigs/skeletons/standard.yaml"
MARKED, CMU, DOTS = ("rigs/marker_sets/body.yaml", "rigs/marker_sets/cmu.yaml",
                     "rigs/dot_sets/johansson.yaml")
Edit = Callable[[str, str, str], Path]


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Edit:
    """Put an edited copy of a shared file into a library of the user's."""
    monkeypatch.setenv(LIBRARIES, str(tmp_path))

    def edit(name: str, old: str, new: str) -> Path:
        text = (data_folder() / name).read_text(encoding="utf-8")
        changed = re.sub(old, new, text, count=1)
        assert changed != text
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(changed, encoding="utf-8")
        return target

    return edit


@pytest.mark.parametrize(("name", "old", "new", "read", "said"), [
    (BODY, "point: Spine,", "point: Spien,", landmark_names,
     "navel point: 'Spien' is not a joint of the standard skeleton.*did you mean Spine"),
    (BODY, "with: UpLeg", "with: Upleg", landmark_names, "'Upleg' is not a joint"),
    (BODY, "joint: LeftUpLeg", "joint: Thigh", capsules, "joint: 'Thigh' is not a joint"),
    (BODY, "radius: 12", "radius: -12", capsules, "pelvis radius: .*greater than 0"),
    (BODY, "radius: 12", "raduis: 12", capsules, "raduis: unknown key.*did you mean radius"),
    (BODY, r"at: \[0, 12.5, 2\]", "at: [0, 12.5]", sideless_anchors, "at: "),
    (BODY, r"at: \[0, 12.5, 2\]", "at: [0, .nan, 2]", sideless_anchors, "at: .*finite"),
    (BODY, "bar:", "bars:", lambda: hand_point("palm", 1.0), "bars: unknown key"),
    (HANDS, r"index: \[0, 2, 2\]", "index: [0, 2]", hand_shapes, "flat index: "),
    (HANDS, "spread: ", "sprd: ", hand_shapes, "sprd: unknown key.*did you mean spread"),
    (HANDS, r"relaxed:", "flat:", hand_shapes, "flat: is given twice"),
    (LIFE, "rate_hz", "rate", life_values, "rate: unknown key"),
    (STYLES, "sink: 2.0", "sunk: 2.0", styles, "sunk: unknown key.*did you mean sink"),
    (STYLES, "time: 1.28", "time: 12.8", styles, "tired time: "),
    (RANGES, "slack:", "slak:", joint_ranges, "slak: unknown key"),
    (BONES, "  upper_arm:", "  uper_arm:", bone_names, "uper_arm: .*'upper_arm'"),
    (BONES, "CMU: .*", "CMU: '^(LHip'", bone_names, "CMU: .*regular expression"),
    (BONES, r"head: \[head", "head: [1", bone_names, "head: "),
    (BONES, "phalanges:\n  0:", "phalanges:\n  7:", bone_names, "phalanges: .*7"),
    (STANDARD, "parent: LeftUpLeg", "parent: LeftShin", standard_skeleton,
     "LeftLeg parent: 'LeftShin' is not a joint further up"),
    (STANDARD, "LeftUpLeg: {parent: Hips", "LeftUpLeg: {parent: null", standard_skeleton,
     "LeftUpLeg parent: only the first joint has none"),
    (STANDARD, r"head: \[0.0000, -0.0172, 0.9625\]", "head: up", standard_skeleton, "Hips head: "),
    (MARKED, "fingers:", "finger:", lambda: freedom("Hips"), "freedom: 'fingers' is missing"),
    (MARKED, r"at: \[0.0, 0.075, 1.475\]", "at: here", body_landmarks, "c7 at: "),
    (CMU, ": c7", ": c77", marker_sets, "no landmark 'c77' in body.yaml.*c7"),
    (CMU, "name:", "title:", marker_sets, "title: unknown key"),
    (DOTS, "source:", "sources:", dot_sets, "sources: unknown key"),
])
def test_a_wrong_file_is_refused_with_line_and_key(edited, name, old, new, read, said):
    path = edited(name, old, new)
    with pytest.raises(RequestError, match=rf"{re.escape(str(path))}: line \d+:.* {said}"):
        read()


@pytest.mark.parametrize(("name", "old", "new", "read"), [
    (BODY, "navel:", "button:", landmark_names),
    (BODY, "radius: 12", "radius: 13", lambda: capsules()["pelvis"].radius),
    (HANDS, r"index: \[20", "index: [21", lambda: hand_shapes()["relaxed"]),
    (LIFE, "rate_hz: 0", "rate_hz: 1", life_values),
    (STYLES, "tired:", "sleepy:", lambda: sorted(styles())),
    (RANGES, "slack: ", "slack: 1", joint_ranges),
    (BONES, "pelvis, hip", "belly, hip", bone_names),
    (BONES, "Kinect:", "Kinekt:", lambda: system_of(("SpineBase",))),
    (STANDARD, "0.9625", "0.9725", lambda: standard_skeleton().heads.tolist()),
    (MARKED, "0.075, 1.475", "0.085, 1.475", lambda: body_landmarks()["c7"].place.tolist()),
    (CMU, ": c7", ": t10", lambda: [one.landmarks for one in marker_sets()]),
    (DOTS, "description:", "description: my", dot_sets),
])
def test_a_library_hides_mimegens_own_file(edited, monkeypatch, name, old, new, read):
    own = read()
    edited(name, old, new)
    assert read() != own
    monkeypatch.delenv(LIBRARIES)
    assert read() == own


def test_a_library_adds_marker_and_dot_sets(edited):
    known = [one.name for one in marker_sets()]
    for name, line in ((CMU, "name"), (DOTS, "description")):
        file = edited(name, f"{line}:.*", f"{line}: mine")
        file.rename(file.with_name("mine.yaml"))
    assert sorted(one.name for one in marker_sets()) == sorted([*known, "mine"])
    assert {"mine", "johansson"} <= set(dot_sets())


def test_a_baked_body_of_a_library_is_used(tmp_path, monkeypatch):
    own = read_bake()
    with np.load(data_folder() / "rigs" / "body.npz") as arrays:
        other = {name: arrays[name] for name in arrays.files}
    (tmp_path / "rigs").mkdir()
    np.savez(tmp_path / "rigs" / "body.npz", **other | {"base": 2 * other["base"]})
    monkeypatch.setenv(LIBRARIES, str(tmp_path))
    assert np.allclose(read_bake().base, 2 * own.base)


def test_names_of_bones_come_first_where_they_are_listed_first(edited):
    """The order in the file is the order of what is sure."""
    names = ("waist", "root")
    assert roles_by_name(names)["hips"] == ("root", 1.0)
    edited(BONES, r"hips: \[", "hips: [waist, ")
    assert roles_by_name(names)["hips"] == ("waist", 1.0)


def test_the_option_library_reaches_shared_data_and_leaves_nothing_behind(edited, tmp_path,
                                                                          monkeypatch):
    edited(DOTS, "description:.*", "description: in my library alone")
    monkeypatch.delenv(LIBRARIES)
    shown = CliRunner().invoke(main, ["list", "dots", "--library", str(tmp_path)])
    assert "in my library alone" in shown.output, shown.output
    shown = CliRunner().invoke(main, ["list", "dots"])
    assert "johansson" in shown.output and "in my library alone" not in shown.output


@pytest.mark.slow
def test_a_librarys_style_can_be_asked_for(edited, tmp_path, monkeypatch):
    edited(STYLES, "tired:", "sleepy:")
    monkeypatch.delenv(LIBRARIES)
    score = str(data_folder() / "mocap" / "stop" / "stop.score.yaml")
    lint = ["score", "lint", score, "--style", "sleepy"]
    assert "no style 'sleepy'" in CliRunner().invoke(main, lint).output
    assert CliRunner().invoke(main, [*lint, "--library", str(tmp_path)]).exit_code == 0


def test_a_wrong_file_of_a_library_is_said_in_one_line(edited, tmp_path):
    path = edited(STYLES, "sink:", "sunk:")
    said = CliRunner().invoke(main, ["take", "export", "stop", "--style", "tired"]).output
    assert f"{path}: line" in said and "Traceback" not in said
    assert CliRunner().invoke(main, ["list", "dots"]).exit_code == 0
