"""Walking, turning, marching, kneeling: what the engine makes of a line of a score."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gait_measures import leg_angles, soles
from mimegen.choreography.anchors import SIDES
from mimegen.choreography.flaws import foot_slide
from mimegen.choreography.hands import HandTrack, finger_pose
from mimegen.choreography.lint import lint
from mimegen.choreography.perform import perform
from mimegen.choreography.places import LEFT, Place
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import HandKey
from mimegen.choreography.tracks import Clock, TimedKey
from mimegen.gait.walker import Walker
from mimegen.gait.walking import walk_loop
from mimegen.motion import Motion, quaternions

FPS = 30.0


def performed(folder: Path, lines: str, seed: int = 0) -> Motion:
    file = folder / "moving.score.yaml"
    file.write_text(f"action: moving\nabout: moving\nbalanced: false\nvary: {{mirror: false}}\n"
                    f"duration: 4\nphases:\n  - {{at: 0}}\n{lines}", encoding="utf-8")
    score = read_score(file)
    motion = perform(score, seed, FPS)
    # Whoever has arrived may stand still here.
    assert [str(finding) for finding in lint([motion], score, seed)
            if finding.kind != "frozen"] == []
    return motion


def landings(motion: Motion, side: str) -> int:
    ball = motion.skeleton.index[f"{side}ToeBase"]
    over = motion.global_pose.positions[:, ball, 2] - motion.skeleton.heads[ball, 2]
    up = np.r_[False, np.minimum(over, soles(motion, side)[:, 0, 2]) > 0.004, False]
    begins, ends = np.flatnonzero(up[1:] != up[:-1]).reshape(-1, 2).T
    # Small steps of who stands go less high.
    return sum(over[begin:end].max() > 0.018 for begin, end in zip(begins, ends, strict=True)
               if end < len(over))


def heading(motion: Motion) -> NDArray[Any]:
    ahead = quaternions.rotate(motion.rotations[:, 0], np.array([0.0, -1.0, 0.0]))
    return np.rad2deg(np.unwrap(np.arctan2(ahead[:, 0], -ahead[:, 1])))


@pytest.mark.parametrize("seed", [0, 3])
def test_walking_arrives_and_feet_never_slide(tmp_path: Path, seed: int) -> None:
    motion = performed(tmp_path, "  - {at: 3.4, walk: {forward: 200, steps: 5}}\n", seed)
    way = motion.root_positions[-1] - motion.root_positions[0]
    assert np.linalg.norm(way[:2]) == pytest.approx(2.0, abs=0.06)
    assert landings(motion, "Left") + landings(motion, "Right") == 5
    for side in SIDES:
        assert foot_slide(motion, side).max() < 0.003
        heel = motion.skeleton.index[f"{side}Foot"]
        assert motion.global_pose.positions[:, heel, 2].min() > 0.06


def test_arms_swing_against_the_legs(tmp_path: Path) -> None:
    motion = performed(tmp_path, "  - {at: 3.8, walk: {forward: 220, steps: 6}}\n")
    places, index = motion.global_pose.positions[..., 1], motion.skeleton.index
    hands = places[:, index["LeftHand"]] - places[:, index["RightHand"]]
    feet = places[:, index["RightFoot"]] - places[:, index["LeftFoot"]]
    assert np.corrcoef(hands, feet)[0, 1] > 0.7


def test_a_steady_walk_is_the_gait_engines(tmp_path: Path) -> None:
    file = tmp_path / "moving.score.yaml"
    file.write_text("action: moving\nabout: moving\nbalanced: false\nduration: 4\nphases:\n"
                    "  - {at: 0, walk: {forward: -240, how: pass}}\n"
                    "  - {at: 4, walk: {forward: 240, steps: 8, first: left, how: pass}}\n",
                    encoding="utf-8")
    motion = perform(read_score(file), 0, 60.0)
    cycle = walk_loop(Walker(speed=1.2, cadence=120.0), 60.0)
    # The left foot lands a tenth of a step before each step's time is over.
    found = slice(87, 147)
    for angles, gait, most in zip(leg_angles(motion), leg_angles(cycle), (4, 6, 4), strict=True):
        assert np.sqrt(np.mean((angles[found] - gait) ** 2)) < most
    height = motion.root_positions[found, 2] - cycle.root_positions[:, 2]
    assert np.abs(height).max() < 0.015
    for side in SIDES:
        hands = [one.global_pose.positions[:, one.skeleton.index[f"{side}Hand"], 1]
                 - one.root_positions[:, 1] for one in (motion, cycle)]
        assert np.corrcoef(hands[0][found], hands[1])[0, 1] > 0.9


@pytest.mark.parametrize(("lines", "still"), [
    ("  - {at: 3.4, walk: {forward: 200, steps: 5}}\n", 0.001),
    ("  - {at: 3.4, walk: {forward: -120, steps: 5}}\n", 0.001),
    ("  - {at: 3.4, walk: {left: 100, steps: 6}}\n", 0.001),
    ("  - {at: 3.4, walk: {turn: 270, steps: 7}}\n", 0.001)])
def test_heels_and_balls_stay_where_they_stand(tmp_path: Path, lines: str, still: float) -> None:
    motion = performed(tmp_path, lines)
    for side in SIDES:
        ball = motion.global_pose.positions[:, motion.skeleton.index[f"{side}ToeBase"]]
        heel = soles(motion, side)[:, 0]
        for point, level in ((ball, 0.022), (heel, 0.0)):
            down = np.abs(point[:, 2] - level) < 0.001
            edges = np.flatnonzero(np.diff(np.r_[0, down, 0])).reshape(-1, 2)
            # Not the moments in which it comes down and goes.
            for begin, end in np.add(edges, [2, -2]):
                if end > begin:
                    moved = np.linalg.norm(point[begin:end, :2] - point[begin, :2], axis=1)
                    assert moved.max() < still


def test_who_steps_aside_does_not_walk_ahead(tmp_path: Path) -> None:
    motion = performed(tmp_path, "  - {at: 3.4, walk: {left: 120, steps: 6}}\n")
    assert np.ptp(motion.root_positions[:, 1]) < 0.05


def test_a_turn_on_the_spot_is_whole(tmp_path: Path) -> None:
    motion = performed(tmp_path, "  - {at: 3.8, walk: {turn: 360}}\n")
    turned = heading(motion)
    assert turned[-1] - turned[0] == pytest.approx(360, abs=9)
    assert np.linalg.norm(motion.root_positions[:, :2] - motion.root_positions[0, :2],
                          axis=1).max() < 0.12


def test_marching_lifts_the_knees_and_shifts_the_weight(tmp_path: Path) -> None:
    motion = performed(tmp_path, "  - {at: 4, walk: {steps: 8, lift: 22}}\n")
    places, index = motion.global_pose.positions, motion.skeleton.index
    for side in SIDES:
        knee = places[:, index[f"{side}Leg"], 2]
        assert knee.max() > knee[0] + 0.12
        assert landings(motion, side) == 4
    lifted = places[:, index["LeftToeBase"], 2] - places[:, index["RightToeBase"], 2]
    assert np.corrcoef(lifted, -motion.root_positions[:, 0])[0, 1] > 0.5


def test_take_begins_and_ends_in_mid_walk(tmp_path: Path) -> None:
    file = tmp_path / "moving.score.yaml"
    file.write_text("action: moving\nabout: moving\nbalanced: false\nduration: 3\nphases:\n"
                    "  - {at: 0, walk: {forward: -80, how: pass}}\n"
                    "  - {at: 3, walk: {forward: 80, steps: 6, how: pass}}\n", encoding="utf-8")
    motion = perform(read_score(file), 0, FPS)
    speed = np.linalg.norm(np.diff(motion.root_positions[:, :2], axis=0), axis=1) * FPS
    assert speed[0] > 0.3 and speed[-2] > 0.3


def test_the_trunk_goes_along_where_an_arm_is_too_short(tmp_path: Path) -> None:
    motion = performed(tmp_path, "  - {at: 1.5, right_hand: {to: floor 17 58 120, touch: wrist,"
                       " loose: true}}\n  - {at: 3, gaze: {to: floor 0 200 0}}\n")
    hand = motion.global_pose.positions[:, motion.skeleton.index["RightHand"]]
    assert np.linalg.norm(hand[60] - [-0.17, -0.58, 1.20]) < 0.08


def test_fingers_open_from_a_fist_without_going_round() -> None:
    place = Place("hip", (0.0, 0.0, 0.0))
    keys = [TimedKey(0.0, HandKey(to=place, shape="fist"), 1),
            TimedKey(1.0, HandKey(to=place, shape="flat"), 2)]
    moments = np.linspace(0, 1.1, 34)
    clock = Clock(moments, np.zeros(34))
    pose = finger_pose(HandTrack(keys, LEFT, clock, np.zeros(3), np.zeros(3), np.zeros((34, 5))))
    steps = quaternions.multiply(quaternions.conjugate(pose[:-1]), pose[1:])
    angles = np.rad2deg(np.linalg.norm(quaternions.to_rotation_vectors(steps), axis=-1))
    assert angles.sum(axis=0).max() < 275
    assert angles.max() < 25


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_way_with_corners_is_walked_whole(tmp_path: Path, seed: int) -> None:
    motion = performed(tmp_path, "  - {at: 0.5, walk: {forward: 10, how: pass}}\n"
                       "  - {at: 3.4, walk: {forward: 150}}\n", seed)
    way = motion.root_positions[-1] - motion.root_positions[0]
    assert np.linalg.norm(way[:2]) == pytest.approx(1.5, abs=0.1)


def test_who_kneels_has_the_knee_on_the_floor_below_the_hip(tmp_path: Path) -> None:
    motion = performed(
        tmp_path,
        "  - {at: 1.4, left_foot: {to: floor 12 -34 0, heel: 62, turn: 14},"
        " right_foot: {to: floor 12 25 0}, pelvis: {forward: 0, up: -44}}\n  - {at: 4.0}\n")
    hip, knee = (motion.global_pose.positions[60:, motion.skeleton.index[name]]
                 for name in ("LeftUpLeg", "LeftLeg"))
    assert knee[:, 2].max() < 0.13
    assert np.abs(knee[:, 0] - hip[:, 0]).max() < 0.16
