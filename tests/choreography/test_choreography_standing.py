"""Who just stands has straight legs, whatever the seed, and acts with them as before."""

from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import minimum_filter1d

from mimegen.base.paths import data_folder
from mimegen.choreography.anchors import SIDES
from mimegen.choreography.perform import perform
from mimegen.choreography.ranges import joint_angles
from mimegen.choreography.reading import read_score
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray

FPS = 30.0


def performed(folder: Path, lines: str, seed: int, style: str | None = None) -> Motion:
    file = folder / "waiting.score.yaml"
    file.write_text(f"action: waiting\nabout: stands\nduration: 4\nphases:\n{lines}",
                    encoding="utf-8")
    return perform(read_score(file), seed, FPS, style)


def knees(motion: Motion) -> FloatArray:
    """Return how far (F, 2) the knees are bent, in degrees."""
    angles = joint_angles(motion)
    return np.stack([angles["knee bent", f"{side} knee"] for side in SIDES], axis=-1)


def standing(motion: Motion) -> FloatArray:
    """Return where (F,) both balls rest on the floor, no small step being begun or ended."""
    joints = [motion.skeleton.index[f"{side}ToeBase"] for side in SIDES]
    height = motion.global_pose.positions[:, joints, 2] - motion.skeleton.heads[joints, 2]
    resting = (height < 0.002).all(axis=1).astype(int)
    return np.asarray(minimum_filter1d(resting, 2 * round(0.12 * FPS) + 1) > 0)


@pytest.mark.parametrize(("seed", "style"), [(0, None), (3, None), (8, "tired")])
def test_who_stands_has_straight_knees_and_flat_feet(
    tmp_path: Path, seed: int, style: str | None
) -> None:
    motion = performed(
        tmp_path, "  - {at: 0, pelvis: {up: -1, left: 3}}\n"
                  "  - {at: 2, pelvis: {up: -2, left: -4, tilt: 3},"
                  " right_hand: {to: chest 10 30 10}}\n", seed, style)
    stands = standing(motion)
    assert stands.mean() > 0.25
    assert knees(motion)[stands].max() <= 8.0
    ankles = motion.global_pose.positions[:, [motion.skeleton.index[f"{side}Foot"]
                                              for side in SIDES]]
    at_rest = motion.skeleton.heads[motion.skeleton.index["LeftFoot"], 2]
    assert np.abs(ankles[stands][:, :, 2] - at_rest).max() < 0.004
    hips = motion.global_pose.positions[:, 0, :2] - ankles[:, :, :2].mean(axis=1)
    assert np.linalg.norm(hips[stands], axis=-1).max() < 0.13


def test_the_weight_goes_from_one_straight_leg_to_the_other_without_a_jerk(tmp_path: Path) -> None:
    motion = performed(tmp_path, "  - {at: 0, pelvis: {left: 6}}\n"
                                 "  - {at: 1.2, pelvis: {left: 6}}\n"
                                 "  - {at: 2.4, pelvis: {left: -6}}\n", 0)
    bent = knees(motion)
    assert bent[standing(motion)].max() <= 8.0
    assert np.abs(np.diff(bent, axis=0)).max() * FPS < 250


def test_legs_that_act_do_as_the_score_says(tmp_path: Path) -> None:
    motion = performed(tmp_path, "  - {at: 0}\n  - {at: 1.5, pelvis: {up: -30, forward: -15}}\n", 0)
    down = motion.root_positions[0, 2] - motion.root_positions[-20:, 2].mean()
    assert 0.27 < down < 0.34
    assert knees(motion)[-20:].min() > 60


@pytest.mark.slow
@pytest.mark.parametrize(("take", "begins", "ends"), [
    ("deadlift/deadlift", 8.0, 8.25), ("stop/stop", 3.3, 3.8), ("pushing/pushing", 6.3, 6.6),
    ("shooting_handgun/handgun", 1.95, 2.4), ("fishing/fishing", 3.4, 3.55),
    ("volleyball_serve/volleyball_serve", 1.27, 1.4)])
def test_people_who_hold_something_out_stand_straight_too(
    take: str, begins: float, ends: float
) -> None:
    motion = perform(read_score(data_folder() / f"mocap/{take}.score.yaml"), 0, FPS)
    assert knees(motion)[round(begins * FPS):round(ends * FPS)].max() <= 8.0


@pytest.mark.slow
@pytest.mark.parametrize(("take", "seed", "begins", "ends"), [
    ("deadlift/deadlift", 0, 7.83, 8.0), ("deadlift/deadlift", 1, 8.47, 8.9),
    ("shake_hands/shake_hands", 3, 1.87, 2.1), ("checking_watch/checking_watch", 1, 1.47, 2.0)])
def test_who_stands_does_so_by_any_seed(
    take: str, seed: int, begins: float, ends: float
) -> None:
    motion = perform(read_score(data_folder() / f"mocap/{take}.score.yaml"), seed, FPS)
    assert knees(motion)[round(begins * FPS):round(ends * FPS)].max() <= 8.0


def test_a_hand_that_is_too_low_drops_its_shoulder_and_bends_no_knee(tmp_path: Path) -> None:
    motion = performed(tmp_path, "  - {at: 0, right_hand: {to: floor 20 20 83}}\n"
                                 "  - {at: 2, right_hand: {to: floor 20 20 83}}\n", 0)
    shoulders = motion.global_pose.positions[:, [motion.skeleton.index[f"{side}Arm"]
                                                 for side in SIDES], 2]
    assert knees(motion)[standing(motion)].max() <= 8.0
    assert np.mean(shoulders[:, 0] - shoulders[:, 1]) > 0.04


def test_hips_go_between_feet_that_stand_unlike(tmp_path: Path) -> None:
    motion = performed(tmp_path, "  - {at: 0, left_foot: {to: floor 12 28 0},"
                                 " right_foot: {to: floor 12 0 0}, pelvis: {forward: -6}}\n", 0)
    assert knees(motion)[standing(motion)].max() <= 8.0


@pytest.mark.slow
def test_a_deadlift_hangs_from_straight_arms() -> None:
    path = data_folder() / "mocap/deadlift/deadlift.score.yaml"
    angles = joint_angles(perform(read_score(path), 0, FPS))
    lifting = slice(round(3.3 * FPS), round(6.1 * FPS))
    bent = np.stack([angles["elbow bent", f"{side} elbow"][lifting] for side in SIDES])
    assert np.median(bent) < 35.0 and bent.max() < 65.0
