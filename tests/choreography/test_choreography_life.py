"""What makes performers alive: own times of body parts, drift, unevenness, small steps, balance."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinematics import correlation, smoothed, speeds, still_share
from mimegen.base.paths import data_folder
from mimegen.base.vectors import unit
from mimegen.choreography.arms import ArmGoal, solve_arm
from mimegen.choreography.balance import off_balance, righted
from mimegen.choreography.flaws import foot_slide
from mimegen.choreography.life import SmallMovements
from mimegen.choreography.perform import perform, perform_scene
from mimegen.choreography.places import Offset
from mimegen.choreography.reading import read_score
from mimegen.choreography.repetition_noise import uneven
from mimegen.choreography.score import HandKey
from mimegen.choreography.timing import Follow
from mimegen.choreography.tracks import Clock, TimedKey, Timeline, eased_weights, timeline
from mimegen.choreography.variation import vary
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.motion.quaternions import FloatArray

FPS = 30.0


def score_file(action: str) -> Path:
    return next((data_folder() / "mocap").glob(f"{action}/*.score.yaml"))


@cache
def take(action: str) -> Motion:
    return perform(read_score(score_file(action)), 0, FPS)


def written(folder: Path, lines: str) -> Motion:
    file = folder / "standing.score.yaml"
    file.write_text(f"action: standing\nabout: stands\nduration: 9\nphases:\n{lines}",
                    encoding="utf-8")
    return perform(read_score(file), 0, FPS)


def places(motion: Motion, *names: str) -> FloatArray:
    joints = [motion.skeleton.index[name] for name in names]
    return smoothed(motion.global_pose.positions[:, joints], FPS)


def hand_speeds(motion: Motion) -> FloatArray:
    return speeds(places(motion, "LeftHand", "RightHand") - places(motion, "Hips"), FPS)


@pytest.mark.slow
@pytest.mark.parametrize("action", ["boxing", "golf_swing", "shake_hands"])
def test_hands_head_and_pelvis_are_hardly_ever_slow_together(action: str) -> None:
    motion = take(action)
    parts = np.concatenate(
        [hand_speeds(motion), speeds(places(motion, "Head", "Hips"), FPS)], axis=1)
    assert still_share(parts / np.percentile(parts, 95, axis=0), 0.1) < 0.05


def test_both_hands_do_alike_but_not_the_same() -> None:
    left, right = hand_speeds(take("jumping_jacks")).T
    assert 0.6 < correlation(left, right) < 0.97


def test_repeats_differ_in_time_size_and_place() -> None:
    score = read_score(score_file("jumping_jacks"))
    plain, line = timeline(score), vary(score, 0)[0].line
    assert line.duration == pytest.approx(plain.duration)
    cycle = len([phase for phase in plain.phases if 0.6 < phase.at <= 1.5 + 1e-9])
    first = next(n for n, phase in enumerate(plain.phases) if phase.at > 0.6)
    turns = [line.phases[first + turn * cycle : first + (turn + 1) * cycle] for turn in range(4)]
    lasts = [phases[-1].at - phases[0].at for phases in turns]
    assert 0.01 < np.std(lasts) / np.mean(lasts) < 0.15
    highest = [phases[1].left_hand.to.offset for phases in turns
               if phases[1].left_hand is not None and phases[1].left_hand.to is not None]
    assert len(highest) == 4
    apart = np.linalg.norm(np.diff(highest, axis=0), axis=1)
    assert apart.min() > 0.2 and apart.max() < 15


def test_who_stands_drifts_and_steps_without_sliding(tmp_path: Path) -> None:
    motion = written(tmp_path, "  - {at: 0}\n  - {at: 1, right_hand: {to: shoulder 5 40 0}}\n"
                               "  - {at: 9, gaze: {to: floor 0 300 100}}\n")
    for name, least in (("Head", 0.01), ("Hips", 0.005), ("RightHand", 0.01)):
        speed = speeds(places(motion, name), FPS)[round(2 * FPS):]
        assert np.percentile(speed, 5) > least and speed.max() < 0.6, name
    for side in ("Left", "Right"):
        assert foot_slide(motion, side).max() < 0.003
    feet = places(motion, "LeftToeBase", "RightToeBase")[..., :2]
    moved = np.linalg.norm(np.ptp(feet, axis=0), axis=1)
    assert moved.max() > 0.015 and moved.max() < 0.25


@pytest.mark.slow
def test_what_is_held_is_held_exactly() -> None:
    motion = take("deadlift")
    hands = places(motion, "LeftHand", "RightHand")[round(2.75 * FPS):round(5.25 * FPS)]
    assert np.ptp(np.linalg.norm(hands[:, 0] - hands[:, 1], axis=1)) < 0.04


def test_no_stride_is_like_another(tmp_path: Path) -> None:
    motion = written(tmp_path, "  - {at: 0, walk: {forward: -300, how: pass}}\n"
                               "  - {at: 9, walk: {forward: 700, how: pass}}\n")
    middle = slice(round(FPS), round(8 * FPS))
    speed = speeds(places(motion, "Hips")[:, 0], FPS)[middle]
    assert 0.05 < speed.std() / speed.mean() < 0.25
    ball = motion.global_pose.positions[:, motion.skeleton.index["LeftToeBase"]]
    standing = ball[:, 2] < motion.skeleton.heads[motion.skeleton.index["LeftToeBase"], 2] + 0.002
    landed = ball[1:][standing[1:] & ~standing[:-1], 1]
    strides = np.abs(np.diff(landed))
    strides = strides[strides > 0.5]
    assert len(strides) > 4 and 0.005 < strides.std() / strides.mean() < 0.1


@pytest.mark.slow
def test_two_performers_are_two_people() -> None:
    one, other = perform_scene(read_score(score_file("high_five")), 0, 12.0)
    leans = []
    for motion in (one, other):
        up = quaternions.rotate(motion.global_pose.rotations[:, motion.skeleton.index["Spine2"]],
                                np.array([0.0, 0.0, 1.0]))
        leans.append(np.rad2deg(np.arccos(up[:, 2])))
    assert np.abs(leans[0] - leans[1]).max() > 1.5
    assert abs(correlation(*(speeds(m.root_positions, 12.0) for m in (one, other)))) < 0.95


@given(st.lists(st.floats(0.1, 1.5), min_size=1, max_size=6), st.floats(1.5, 5),
       st.floats(0.4, 1.0), st.floats(0.0, 0.3))
def test_a_following_track_goes_where_its_keys_are(
    spans: list[float], hertz: float, damping: float, slow: float
) -> None:
    times = np.cumsum([0.0, *spans])
    keys = [TimedKey(float(time), HandKey(), 1) for time in times]
    moments = np.arange(0, times[-1] + 3, 1 / FPS)
    clock = Clock(moments, np.zeros(len(moments)))
    follow = Follow(lead=0.05, hertz=hertz, damping=damping, slow=slow)
    weights = eased_weights(keys, clock, follow)
    assert np.allclose(weights.sum(axis=1), 1.0)
    assert np.allclose(weights[-1], np.eye(len(keys))[-1], atol=0.01)
    assert weights.max() < 1.35 and weights.min() > -0.35


def test_balance_is_measured_from_the_feet() -> None:
    skeleton = standard_skeleton()
    rotations = np.tile(quaternions.IDENTITY, (6, len(skeleton.names), 1))
    standing = Motion(skeleton, 20.0, np.tile(skeleton.heads[0], (6, 1)), rotations)
    assert np.abs(off_balance(standing)[0]).max() == 0
    raised = rotations.copy()
    raised[:, skeleton.index["LeftUpLeg"]] = quaternions.from_euler("X", [-90.0])
    outside, rate = off_balance(Motion(skeleton, 20.0, standing.root_positions, raised))
    assert rate == 20.0
    assert outside[0, 0] > 0.02 and abs(outside[0, 1]) < 0.02


def leg_lifted(fps: float) -> Motion:
    """Who stands for a second and lifts the left leg straight ahead for two more."""
    skeleton, frames = standard_skeleton(), round(3 * fps) + 1
    rotations = np.tile(quaternions.IDENTITY, (frames, len(skeleton.names), 1))
    rotations[round(fps):, skeleton.index["LeftUpLeg"]] = quaternions.from_euler("X", [-90.0])
    return Motion(skeleton, fps, np.tile(skeleton.heads[0], (frames, 1)), rotations)


def test_the_weight_is_righted_alike_at_every_frame_rate() -> None:
    outside, rate = off_balance(leg_lifted(60.0))
    assert (len(outside), rate) == (61, 20.0)
    coarse, fine = righted(leg_lifted(20.0), 0.01), righted(leg_lifted(60.0), 0.01)
    assert fine[::3] == pytest.approx(coarse, abs=1e-9)
    assert np.abs(fine[30:45]).max() < 1e-3 < 0.01 < np.abs(fine[120:]).max()


def hand_places(line: Timeline) -> list[Offset]:
    return [key.to.offset for phase in line.phases for _, key in phase.moves()
            if isinstance(key, HandKey) and key.to is not None]


def test_unevenness_hangs_on_the_seed_and_the_name_and_nothing_else() -> None:
    line = timeline(read_score(score_file("jumping_jacks")).parts()[0])
    own = hand_places(uneven(line, "one", SmallMovements(3)))
    assert len(own) > 4 and own == hand_places(uneven(line, "one", SmallMovements(3)))
    assert len({str(hand_places(uneven(line, name, SmallMovements(seed))))
                for name in ("one", "other") for seed in (0, 3, 4)}) == 6
    assert 0.1 < np.abs(np.array(own) - np.array(hand_places(line))).mean() < 5


def elbow_side(side: str, outward: float, reach: FloatArray, hint: FloatArray) -> FloatArray:
    """Where elbows (F, 3) are off the line to the hand, outward, back and up, in metres.

    The hand goes through ``reach`` (F, 3), which leads from the shoulder outward, back and up.
    """
    skeleton, frames = standard_skeleton(), len(reach)
    rotations = np.tile(quaternions.IDENTITY, (frames, len(skeleton.names), 1))
    pose = Motion(skeleton, FPS, np.tile(skeleton.heads[0], (frames, 1)), rotations).global_pose
    mirror = np.array([outward, 1.0, 1.0])
    start = skeleton.heads[skeleton.index[f"{side}Arm"]]
    nothing = np.zeros((frames, 3))
    goal = ArmGoal(start + reach * mirror, nothing, nothing, lambda relaxed: relaxed,
                   np.tile(hint * mirror, (frames, 1)))
    arm = solve_arm(skeleton, pose, side, goal, np.zeros((frames, 2)), FPS)
    elbow = quaternions.rotate(arm.rotations[f"{side}Arm"],
                               skeleton.offsets[skeleton.index[f"{side}ForeArm"]])
    way = unit(reach * mirror)
    return (elbow - np.sum(elbow * way, axis=1, keepdims=True) * way) * mirror


ACROSS = np.linspace([0.0, -0.4, -0.1], [-0.35, -0.2, 0.05], 60)


@pytest.mark.parametrize(("hint", "axis", "sign"), [
    ((0.35, 0.2, -0.6), 2, -1), ((3.0, 0.0, 0.0), 0, 1), ((0.0, 0.0, 3.0), 2, 1),
    ((0.0, 0.0, -3.0), 2, -1),
])
def test_elbows_go_where_they_are_told_alike_on_both_sides(
    hint: tuple[float, ...], axis: int, sign: int
) -> None:
    left, right = (elbow_side(side, outward, ACROSS, np.array(hint))
                   for side, outward in (("Left", 1.0), ("Right", -1.0)))
    assert np.abs(left - right).max() < 1e-3
    assert (sign * left[:, axis]).min() > 0.03
