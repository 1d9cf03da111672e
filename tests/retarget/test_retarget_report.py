"""The quality report: what it measures, and the command that writes it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from mimegen.characters.character import Character, Performance
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.readers import find_roles, read_motion
from mimegen.retarget.report import FIELDS, quality
from places import DATA
from running import invoke

STANDARD = standard_skeleton()
ROLES = find_roles(STANDARD).joints
BONES = Character("bones", STANDARD, (), {}, "", "", "")


def standing(frames: int = 60, seed: int = 3) -> Motion:
    """Standing on both feet, arms in motion."""
    time = np.linspace(0.0, 2.0, frames)
    vectors = np.zeros((frames, len(STANDARD.names), 3))
    vectors[:, STANDARD.index["LeftArm"], 1] = 0.5 + 0.4 * np.sin(3 * time)
    return Motion(STANDARD, 30.0, np.tile(STANDARD.heads[0], (frames, 1)),
                  quaternions.from_rotation_vectors(vectors))


def changed(motion: Motion, root: ArrayLike = 0.0, joint: str = "",
            turn: ArrayLike = (0.0, 0.0, 0.0)) -> Motion:
    rotations = motion.rotations.copy()
    if joint:
        more = quaternions.from_rotation_vectors(turn)
        rotations[:, STANDARD.index[joint]] = quaternions.multiply(
            more, rotations[:, STANDARD.index[joint]])
    return Motion(STANDARD, motion.fps, motion.root_positions + np.asarray(root), rotations)


def report(motion: Motion) -> dict[str, Any]:
    return quality(standing(), ROLES, Performance(BONES, motion))


def test_the_same_motion_is_without_fault() -> None:
    found = report(standing())
    assert set(FIELDS) <= set(found)
    assert found["joint_direction_error_deg"] == pytest.approx(0.0, abs=1e-5)
    assert found["end_effector_error_pct_height"] == pytest.approx(0.0, abs=1e-6)
    assert found["planted_foot_drift_mm"] == found["skate_share"] == 0.0
    assert found["jerk_ratio"] == pytest.approx(1.0)


def test_each_fault_shows_in_its_own_figure() -> None:
    turned = report(changed(standing(), joint="RightUpLeg", turn=[0.4, 0.0, 0.0]))
    limbs = turned["details"]["joint_direction_error_deg"]
    assert limbs["right_thigh"] == pytest.approx(np.degrees(0.4), abs=0.1)
    assert limbs["left_thigh"] == pytest.approx(0.0, abs=1e-5)
    assert turned["joint_direction_error_deg"] == pytest.approx(2 * np.degrees(0.4) / 8, abs=0.1)
    # The lowest joint is the toes', 2.2 cm above the ground.
    sunk = report(changed(standing(), root=[0.0, 0.0, -0.05]))
    assert sunk["ground_penetration_cm"] == pytest.approx(2.8, abs=0.01)
    time = np.arange(60) / 30.0
    slid = report(changed(standing(), root=np.stack([0.6 * time, 0 * time, 0 * time], axis=1)))
    assert slid["foot_skate_cm_s"] == pytest.approx(60.0, abs=2.0)
    assert slid["skate_share"] > 0.9 and slid["source"]["skate_share"] == 0.0
    assert slid["planted_foot_drift_mm"] > 300.0
    noise = np.random.default_rng(0).normal(0.0, 0.002, (60, 3))
    assert report(changed(standing(), root=noise))["jerk_ratio"] > 3.0


def test_twice_the_size_is_the_same_quality() -> None:
    motion = standing()
    skeleton = STANDARD.scaled(2.0)
    big = Motion(skeleton, motion.fps, 2.0 * motion.root_positions, motion.rotations)
    found = quality(motion, ROLES, Performance(Character("big", skeleton, (), {}, "", "", ""), big))
    assert found["end_effector_error_pct_height"] == pytest.approx(0.0, abs=1e-6)
    assert found["jerk_ratio"] == pytest.approx(1.0)


def run(*arguments: object):
    return invoke("retarget", *arguments)


@pytest.mark.slow
def test_the_command_writes_motion_and_report(samples: Path, tmp_path: Path) -> None:
    file = samples / "bvh" / "pybvh_bvh_test2.bvh"
    out, facts = tmp_path / "done.bvh", tmp_path / "deep" / "report.json"
    done = run(file, "--character", "woman", "--out", out, "--report", facts)
    assert done.exit_code == 0, done.output
    found = json.loads(facts.read_text())
    assert set(FIELDS) | {"source", "details", "mapping"} <= set(found)
    assert found["ground_penetration_cm"] < 0.5 and found["frames"] == 61
    assert found["mapping"]["left_shin"] == "LeftKnee"
    for name in FIELDS:
        assert name in done.output
    again = read_motion(out)
    assert again.motion.frames == found["frames"]
    assert again.roles["left_hand"] == "LeftHand"


@pytest.mark.slow
def test_partners_are_written_as_two_files(samples: Path, tmp_path: Path) -> None:
    one, two = (samples / "bvh" / f"cmu_{number}_01.bvh" for number in (18, 19))
    out, facts = tmp_path / "shake.npz", tmp_path / "report.json"
    done = run(one, "--partner", two, "--character", "man", "--partner-character", "woman",
               "--trim", "1:1.5", "--out", out, "--report", facts)
    assert done.exit_code == 0, done.output
    found = json.loads(facts.read_text())
    assert (found["character"], found["partner"]["character"]) == ("man", "woman")
    assert found["frames"] == found["partner"]["frames"] == 61
    pair = [read_motion(file).motion for file in (out, tmp_path / "shake_partner.npz")]
    apart = np.linalg.norm((pair[0].root_positions - pair[1].root_positions)[:, :2], axis=1)
    assert ((apart > 0.5) & (apart < 3.0)).all()


def test_wrong_requests_write_nothing(samples: Path, tmp_path: Path) -> None:
    file = samples / "bvh" / "pybvh_bvh_test2.bvh"
    for arguments, problem in (
        ((file, "--character", "man", "--out", tmp_path / "x.txt"), "a file that ends in .bvh"),
        ((file, "--character", "nobody", "--out", tmp_path / "x.bvh"), "nobody"),
        ((tmp_path / "none.bvh", "--character", "man"), "none.bvh"),
        ((file, "--character", "man", "--partner-character", "man"), "requires --partner"),
        ((file, "--character", "man", "--out", tmp_path), "a file that ends in .bvh"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2
        assert problem in done.output and done.output.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_without_a_character_a_file_is_converted(tmp_path: Path) -> None:
    file, out = DATA / "left_handed.bvh", tmp_path / "same.npz"
    done = run(file, "--out", out)
    assert done.exit_code == 0, done.output
    given, made = read_motion(file).motion, read_motion(out).motion
    assert "on its own skeleton" in done.output and made.skeleton.names == given.skeleton.names
    assert np.allclose(made.global_pose.positions, given.global_pose.positions, atol=1e-6)


@pytest.mark.parametrize(("arguments", "says"), [
    ((), "without --out"), (("--out", "x.bvh", "--report", "r.json"), "--report")])
def test_what_needs_a_character_says_so(arguments: tuple[str, ...], says: str) -> None:
    done = run(DATA / "left_handed.bvh", *arguments)
    assert done.exit_code == 2 and f"{says}: requires --character" in done.output
