"""Nothing whirls, snaps or rushes: heads, wrists, knees and seats where a score asks too much."""

from pathlib import Path

import numpy as np
import pytest

from mimegen.choreography.anchors import SIDES
from mimegen.choreography.flaws import foot_slide
from mimegen.choreography.hands import HandTrack, play_share
from mimegen.choreography.perform import perform
from mimegen.choreography.places import LEFT, Place
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import HandKey
from mimegen.choreography.tracks import Clock, TimedKey
from mimegen.choreography.trunk import looking
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray

FPS = 60.0


def performed(folder: Path, lines: str, seed: int = 0) -> Motion:
    file = folder / "hasty.score.yaml"
    file.write_text(f"action: haste\nabout: hastes\nbalanced: false\nvary: {{mirror: false}}\n"
                    f"duration: 3\nphases:\n{lines}", encoding="utf-8")
    return perform(read_score(file), seed, FPS)


def turning(rotations: FloatArray) -> FloatArray:
    """Return how fast (F - 1,) rotations (F, 4) turn, in degrees a second."""
    between = quaternions.multiply(quaternions.conjugate(rotations[:-1]), rotations[1:])
    return np.rad2deg(np.linalg.norm(quaternions.to_rotation_vectors(between), axis=-1)) * FPS


def joint_speed(motion: Motion, joint: str) -> float:
    return float(turning(motion.rotations[:, motion.skeleton.index[joint]]).max())


@pytest.mark.parametrize("way", [
    ("floor 80 -200 150", "floor -80 -200 150"), ("floor 40 60 280", "floor -30 -50 290"),
])
def test_a_head_that_looks_behind_or_overhead_never_whirls_round(
    tmp_path: Path, way: tuple[str, str]
) -> None:
    motion = performed(tmp_path, f"  - {{at: 0, gaze: {{to: {way[0]}}}}}\n  - {{at: 1}}\n"
                                 f"  - {{at: 1.6, gaze: {{to: {way[1]}}}}}\n")
    assert max(joint_speed(motion, "Head"), joint_speed(motion, "Neck")) < 600


def test_who_looks_at_the_own_eyes_looks_ahead() -> None:
    eyes = np.array([[0.0, -0.1, 1.6]])
    assert np.array(looking(eyes, quaternions.IDENTITY[None], eyes)).tolist() == [[0.0]] * 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_wrist_that_passes_the_shoulder_goes_round_it(tmp_path: Path, seed: int) -> None:
    motion = performed(
        tmp_path,
        "  - {at: 0, right_hand: {to: shoulder 4 -4 -26, touch: wrist, loose: true}}\n"
        "  - {at: 1.0, right_hand: {to: shoulder 4 -4 -26, touch: wrist, loose: true}}\n"
        "  - {at: 1.3, right_hand: {to: shoulder 2 20 24, touch: wrist, loose: true}}\n", seed)
    assert joint_speed(motion, "RightArm") < 1200


def test_what_hits_keeps_to_its_way_before_and_after() -> None:
    chin = HandKey(to=Place("chin", (6.0, 30.0, 0.0)), touch="knuckles")
    target = HandKey(to=Place("floor", (6.0, 30.0, 0.0)), how="impact", touch="knuckles")
    moments = np.arange(181) / FPS
    keys = [TimedKey(0.0, chin, 1), TimedKey(1.0, chin, 2), TimedKey(1.1, target, 3),
            TimedKey(1.13, target.model_copy(update={"how": "stop"}), 3), TimedKey(1.3, chin, 4)]
    track = HandTrack(keys, LEFT, Clock(moments, np.zeros(181)), np.zeros((181, 3)),
                      np.zeros((181, 3)), np.zeros((181, 5)))
    share = play_share(track)
    around = np.abs(moments - 1.1) < 0.06
    assert share[around].max() < 0.5 and share[np.abs(moments - 1.1) > 0.6].min() > 0.99
    assert play_share(track._replace(keys=keys[:2])).min() == 1.0


@pytest.mark.parametrize("up", [-4, 0])
def test_a_foot_left_behind_comes_up_over_its_toes(tmp_path: Path, up: int) -> None:
    motion = performed(
        tmp_path,
        "  - {at: 0}\n  - {at: 1}\n"
        f"  - {{at: 1.4, left_foot: {{to: floor 12 80 0}}, pelvis: {{forward: 35, up: {up}}}}}\n"
        "  - {at: 1.7, pelvis: {forward: 70, how: pass}}\n"
        "  - {at: 2, right_foot: {to: floor 12 100 0}, pelvis: {forward: 80}}\n")
    for side in SIDES:
        assert foot_slide(motion, side).max() < 0.003
        assert joint_speed(motion, f"{side}Leg") < 1300


def test_the_seat_stays_where_it_is_when_a_seated_foot_steps(tmp_path: Path) -> None:
    seated, stood = (performed(
        tmp_path,
        f"  - {{at: 0, pelvis: {{{pelvis}}}, feet: {{to: floor 13 {ahead} 0}}}}\n"
        f"  - {{at: 1}}\n  - {{at: 1.5, left_foot: {{to: floor 30 {ahead} 0}}}}\n"
        f"  - {{at: 2.1, left_foot: {{to: floor 13 {ahead} 0}}}}\n"
    ) for pelvis, ahead in (("forward: -30, up: -42", 16), ("up: 0", 14)))
    aside = [np.ptp(motion.root_positions[round(0.9 * FPS):round(2.2 * FPS), 0])
             for motion in (seated, stood)]
    # The rest of it is how anybody sways.
    assert aside[0] < 0.7 * aside[1]
