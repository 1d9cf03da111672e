"""Performing the library's scores: determinism, contact, limits, seeds."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mimegen.choreography.action import read_action
from mimegen.choreography.body import away_from_capsule, capsules
from mimegen.choreography.lint import foot_slide, lint
from mimegen.choreography.perform import perform, touch_errors
from mimegen.choreography.score import Score, read_score
from mimegen.errors import RequestError
from mimegen.motion import Motion, standard_skeleton
from mimegen.paths import data_folder

SCORES = sorted((data_folder() / "mocap").glob("*/*.score.yaml"))
SEEDS = range(5)


@cache
def score_of(path: Path) -> Score:
    return read_score(path)


@cache
def take(path: Path, seed: int = 0) -> Motion:
    return perform(score_of(path), seed, 60.0)


def named(name: str) -> Path:
    return next(path for path in SCORES if path.parent.name == name)


every_score = pytest.mark.parametrize("path", SCORES, ids=lambda path: path.parent.name)


def test_the_six_actions_are_there() -> None:
    assert {path.parent.name for path in SCORES} >= {
        "basketball_shot", "drinking_from_cup", "playing_violin", "boxing", "driving",
        "front_crawl_swimming",
    }


@every_score
def test_actions_are_described(path: Path) -> None:
    action = read_action(path.parent / "action.yaml")
    assert score_of(path).action == action.id
    assert action.aligned_background != action.misaligned_background


@every_score
def test_same_seed_same_bytes(path: Path) -> None:
    again = perform(read_score(path), 3, 60.0)
    first = take(path, 3)
    assert again.rotations.tobytes() == first.rotations.tobytes()
    assert again.root_positions.tobytes() == first.root_positions.tobytes()


@every_score
def test_seeds_are_plainly_different_takes(path: Path) -> None:
    joints = [standard_skeleton().index[name] for name in ("LeftHand", "RightHand", "Head")]
    ways = []
    for seed in SEEDS:
        places = take(path, seed).global_pose.positions[:, joints]
        shares = np.linspace(0, len(places) - 1, 50).round().astype(int)
        ways.append(places[shares])
    for one in range(len(ways)):
        for other in range(one):
            apart = np.linalg.norm(ways[one] - ways[other], axis=-1).mean()
            assert apart > 0.018, (one, other)


@every_score
@pytest.mark.parametrize("seed", SEEDS)
def test_lint_is_clean(path: Path, seed: int) -> None:
    assert [str(finding) for finding in lint([take(path, seed)], score_of(path), seed)] == []


@every_score
def test_planted_feet_stay(path: Path) -> None:
    for seed in SEEDS:
        for side in ("Left", "Right"):
            assert foot_slide(take(path, seed), side).max() < 0.003


@every_score
def test_takes_last_three_to_eight_seconds_and_never_freeze(path: Path) -> None:
    motion = take(path)
    assert 3.0 <= motion.duration <= 8.0
    moved = np.abs(np.diff(motion.global_pose.positions, axis=0)).max(axis=(1, 2))
    assert moved.min() > 1e-6


@every_score
def test_rotations_are_finite_and_whole(path: Path) -> None:
    motion = take(path)
    assert np.isfinite(motion.root_positions).all()
    assert np.allclose(np.linalg.norm(motion.rotations, axis=-1), 1.0)
    assert np.sum(motion.rotations[1:] * motion.rotations[:-1], axis=-1).min() > 0.9


@every_score
def test_frame_rate_changes_sampling_not_motion(path: Path) -> None:
    slow = perform(score_of(path), 0, 30.0).global_pose.positions
    fast = take(path).global_pose.positions[::2]
    apart = np.linalg.norm(slow - fast[: len(slow)], axis=-1)
    assert np.percentile(apart, 99) < 0.03


def test_hands_keep_their_distance_on_the_wheel() -> None:
    motion, path = take(named("driving")), named("driving")
    for metres in touch_errors([motion], score_of(path))[0].values():
        assert metres.max() < 0.012
    palms = motion.skeleton.index["LeftHandMiddle1"], motion.skeleton.index["RightHandMiddle1"]
    places = motion.global_pose.positions[:, palms]
    apart = np.linalg.norm(places[:, 0] - places[:, 1], axis=-1)
    assert np.ptp(apart) < 0.06


def test_the_cup_reaches_the_mouth_and_the_hand_keeps_out_of_the_face() -> None:
    motion = take(named("drinking_from_cup"))
    wrist = motion.global_pose.positions[:, motion.skeleton.index["RightHand"]]
    gap, _ = away_from_capsule(capsules()["face"], motion.global_pose, wrist)
    assert 0.02 < gap.min() < 0.15


def test_the_bow_stays_on_its_line() -> None:
    path = named("playing_violin")
    for seed in SEEDS:
        assert touch_errors([take(path, seed)], score_of(path), seed)[0]["Right"].max() < 0.1


def test_handedness_is_mirrored_by_some_seeds_and_never_for_the_violin() -> None:
    def raised_higher(motion: Motion) -> str:
        places = motion.global_pose.positions
        highest = {side: places[:, motion.skeleton.index[f"{side}Hand"], 2].max()
                   for side in ("Left", "Right")}
        return max(highest, key=lambda side: highest[side])

    drinkers = {raised_higher(take(named("drinking_from_cup"), seed)) for seed in range(8)}
    assert drinkers == {"Left", "Right"}
    for seed in range(8):
        motion = take(named("playing_violin"), seed)
        wrists = [motion.skeleton.index[f"{side}Hand"] for side in ("Left", "Right")]
        spread = np.ptp(motion.global_pose.positions[:, wrists], axis=0).sum(axis=-1)
        assert spread[1] > spread[0]


def test_the_jump_leaves_the_ground_and_lands() -> None:
    motion = take(named("basketball_shot"))
    balls = [motion.skeleton.index[f"{side}ToeBase"] for side in ("Left", "Right")]
    height = motion.global_pose.positions[:, balls, 2].min(axis=1) - 0.022
    assert height.max() > 0.06
    assert abs(height[0]) < 0.002 and abs(height[-1]) < 0.002


def test_the_driver_sits() -> None:
    motion = take(named("driving"))
    assert motion.root_positions[:, 2].max() < 0.6


def test_five_seconds_take_less_than_two() -> None:
    import time

    begin = time.process_time()
    perform(score_of(named("driving")), 11, 60.0)
    assert time.process_time() - begin < 2.0


def test_unreachable_targets_say_by_how_much(tmp_path: Path) -> None:
    file = tmp_path / "far.score.yaml"
    file.write_text(
        "action: far\nabout: too far\nduration: 2\nphases:\n"
        "  - {at: 0}\n  - {at: 1, right_hand: {to: shoulder 0 95 0}}\n",
        encoding="utf-8",
    )
    with pytest.raises(RequestError, match=r"far\.score\.yaml: line 6: right_hand: .* \d+ cm out"):
        perform(read_score(file))
