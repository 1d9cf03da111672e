"""What readers doubt reaches whoever uses the motion: every command, and every row."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from bvh_files import walk
from bvh_text import person, row
from examples import examples
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import user_take
from mimegen.markers.handedness import are_mirrored
from mimegen.markers.sets import body_landmarks
from mimegen.readers import read_motion
from mimegen.readers.c3d_file import Trajectories, read_trajectories
from mimegen.readers.points import read_points
from places import DATA
from running import invoke

MIRRORED = DATA / "left_handed.bvh"


@pytest.fixture(scope="module")
def notes() -> list[str]:
    done = invoke("inspect", MIRRORED, "--json")
    assert done.exit_code == 0
    facts = json.loads(done.stdout)
    assert {"format", "fps", "frames", "up_axis", "unit_m", "roles", "notes"} <= facts.keys()
    assert facts["roles"]["left_hand"] == "LeftHand" and "mirrored back" in facts["notes"][0]
    return list(facts["notes"])


def test_inspect_says_them_in_words(notes: list[str]) -> None:
    said = " ".join(invoke("inspect", MIRRORED).stdout.split())
    assert f"note: {notes[0]}" in said


def test_a_take_has_them_for_its_rows_and_its_partners(notes: list[str], tmp_path: Path) -> None:
    take = user_take(Catalogue.with_libraries(()), MIRRORED, (), None, None, "none")
    assert take.facts()["motion_notes"] == notes
    plain = walk().write(tmp_path / "plain.bvh")
    two = user_take(Catalogue.with_libraries(()), plain, (), None, None, "none", MIRRORED)
    # Both files have the person at the origin.
    placement, in_one_place, *others = two.facts()["motion_notes"]
    assert "only one of the two files is mirrored" in placement
    assert "the two people are in one place" in in_one_place
    assert others == [f"{MIRRORED.name}: {note}" for note in notes]
    assert [line.startswith(f"plain.bvh and {MIRRORED.name}: ") for line in two.doubts
            if placement in line] == [True]


@pytest.mark.slow
def test_retarget_prints_and_reports_them(notes: list[str], tmp_path: Path) -> None:
    done = invoke("retarget", MIRRORED, "--character", "man", "--report", tmp_path / "r.json")
    assert done.exit_code == 0 and f"note: {notes[0]}" in done.stdout
    assert json.loads((tmp_path / "r.json").read_text())["motion_notes"] == notes


def test_plan_says_them_once_in_one_line(notes: list[str]) -> None:
    done = invoke("plan", "--motion", MIRRORED, "--variants", "base+blank@0,base+blank@90",
                  "--config", "draft")
    assert done.exit_code == 0
    assert [line for line in done.stderr.splitlines() if notes[0] in line] == [
        f"mimegen: {MIRRORED.name}: {notes[0]}"]


def test_pointlight_says_and_records_them(notes: list[str], tmp_path: Path) -> None:
    done = invoke("pointlight", MIRRORED, "--out", tmp_path / "dots.csv")
    assert done.exit_code == 0 and notes[0] in done.stderr
    assert json.loads((tmp_path / "dots.json").read_text())["motion_notes"] == notes


def test_frames_of_rows_count_from_the_files_own_first(tmp_path: Path) -> None:
    file = tmp_path / "calibrated.bvh"
    # The first frame is a calibration pose, which is dropped.
    file.write_text(person([row(turn=180)] + [row(x=30 + 2 * i) for i in range(20)]))
    done = invoke("pointlight", file, "--trim", "4f:9f", "--out", tmp_path / "dots.csv")
    assert done.exit_code == 0, done.stderr
    told = json.loads((tmp_path / "dots.json").read_text())
    assert (told["motion_first_frame"], told["motion_last_frame"]) == (5, 10)
    assert "frames 4 to 9 of 20 are used" in done.stderr
    assert "0 is the file's frame 1" in done.stderr


def test_import_prints_stores_and_lists_them(notes: list[str], tmp_path: Path) -> None:
    library = tmp_path / "library"
    done = invoke("import", MIRRORED, "--action", "strolling", "--library", library)
    assert done.exit_code == 0 and f"note   {notes[0]}" in done.stdout
    taken = yaml.safe_load((library / "mocap/strolling/left_handed.take.yaml").read_text())
    assert taken["notes"] == notes
    listed = json.loads(invoke("list", "takes", "--json", "--library", library).stdout)
    assert [take["notes"] for take in listed if take["action"] == "strolling"] == [notes]
    assert all(take["notes"] == [] for take in listed if take["action"] != "strolling")


@settings(max_examples=examples(25))
@given(turn=st.tuples(*[st.floats(-180, 180)] * 3), noise=st.floats(0.0, 0.03),
       axis=st.integers(0, 2), missing=st.floats(0.0, 0.4), seed=st.integers(0, 99))
def test_mirrored_markers_are_told(turn: tuple[float, ...], noise: float, axis: int, missing: float,
                                   seed: int) -> None:
    chance = np.random.default_rng(seed)
    landmarks = list(body_landmarks().values())
    rest = np.array([mark.place for mark in landmarks])
    seen = Rotation.from_euler("xyz", turn, degrees=True).apply(rest) + chance.normal(
        0.0, noise, (30, *rest.shape))
    seen[chance.random(seen.shape[:2]) < missing] = np.nan
    assert not are_mirrored(landmarks, seen)
    flip = np.ones(3)
    flip[axis] = -1.0
    assert are_mirrored(landmarks, seen * flip)


@pytest.mark.slow
def test_a_mirrored_c3d_is_mirrored_back(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = samples / "c3d" / "cmu_02_01.c3d"
    true = read_motion(file)

    def flipped(path: Path, *more: float | None) -> Trajectories:
        found = read_trajectories(path, *more)
        found.positions[..., 0] *= -1
        return found

    monkeypatch.setattr("mimegen.readers.points.read_trajectories", flipped)
    found = read_motion(file)
    assert any("mirrored back" in note for note in found.notes)
    assert found.motion.global_pose.positions == pytest.approx(
        true.motion.global_pose.positions, abs=1e-3)


def test_raw_markers_are_mirrored_back_as_the_skeleton_is(samples: Path, tmp_path: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    file = samples / "c3d" / "cmu_02_01.c3d"
    true = read_points(file)

    def flipped(path: Path, *more: float | None) -> Trajectories:
        found = read_trajectories(path, *more)
        found.positions[..., 1] *= -1
        return found

    monkeypatch.setattr("mimegen.readers.points.read_trajectories", flipped)
    found = read_points(file)
    # Mirrored about another plane, the markers come back turned about the vertical.
    turned = true.positions * [-1.0, -1.0, 1.0] if true.up_axis == "Z" else true.positions
    both = np.isfinite(turned) & np.isfinite(found.positions)
    assert found.mirrored and found.positions[both] == pytest.approx(turned[both], abs=1e-6)
    done = invoke("pointlight", file, "--dots", "all_markers", "--out", tmp_path / "dots.gif")
    assert done.exit_code == 0 and "they are mirrored back" in done.output
