"""What hands hold, where it is held: on the standard skeleton and on real characters."""

from functools import cache

import numpy as np
import pytest

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.spec import read_character
from mimegen.choreography.arms import wrist_angle
from mimegen.choreography.body import hand_axes, hand_point
from mimegen.choreography.flaws import untwisted_forearm
from mimegen.choreography.perform import perform
from mimegen.choreography.places import LEFT, RIGHT
from mimegen.choreography.reading import read_score
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.transfer import retarget

SIDES = {"Left": LEFT, "Right": RIGHT}


@cache
def take(action: str, seed: int = 0) -> Motion:
    path = next((data_folder() / "mocap").glob(f"{action}/*.score.yaml"))
    return perform(read_score(path), seed, 60.0)


@cache
def character(name: str) -> Character:
    return build_character(read_character(data_folder() / "rigs" / f"{name}.yaml"))


def palms(motion: Motion) -> dict[str, FloatArray]:
    pose, index = motion.global_pose, motion.skeleton.index
    return {side: pose.positions[:, index[f"{side}Hand"]] + quaternions.rotate(
        pose.rotations[:, index[f"{side}Hand"]], hand_point("palm", sign))
        for side, sign in SIDES.items()}


def angle(motion: Motion, *names: str) -> FloatArray:
    """Return the angle (F,) in degrees at the middle one of three joints."""
    places = motion.global_pose.positions
    first, middle, last = (places[:, motion.skeleton.index[name]] for name in names)
    one, other = first - middle, last - middle
    cosine = np.sum(one * other, axis=1) / (
        np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1))
    return np.asarray(np.rad2deg(np.arccos(np.clip(cosine, -1, 1))))


def test_two_palms_face_each_other_around_one_ball_until_the_release() -> None:
    motion = take("basketball_shot")
    held = slice(0, round(1.5 * motion.fps))
    both = palms(motion)
    apart = np.linalg.norm(both["Left"] - both["Right"], axis=1)[held]
    assert apart.min() > 0.15 and apart.max() < 0.24
    index, rotations = motion.skeleton.index, motion.global_pose.rotations
    facing = [quaternions.rotate(rotations[:, index[f"{side}Hand"]], hand_axes(sign)[1])
              for side, sign in SIDES.items()]
    toward = both["Right"] - both["Left"]
    assert (np.sum(facing[0] * toward, axis=1)[held] > 0).all()
    assert (np.sum(facing[1] * toward, axis=1)[held] < 0).all()


def test_the_shot_is_released_in_the_air_with_straight_legs_and_a_long_arm() -> None:
    motion = take("basketball_shot")
    release = round(1.66 * motion.fps)
    for side in SIDES:
        knee = angle(motion, f"{side}UpLeg", f"{side}Leg", f"{side}Foot")
        assert knee[round(1.4 * motion.fps):release].max() > 147
    assert angle(motion, "RightArm", "RightForeArm", "RightHand")[release:release + 20].max() > 150
    head = motion.skeleton.index["Head"]
    wrist = motion.skeleton.index["RightHand"]
    places = motion.global_pose.positions[release]
    assert places[wrist, 2] > places[head, 2] + 0.1


def test_fists_stay_in_line_with_forearms() -> None:
    motion = take("boxing")
    for side, sign in SIDES.items():
        hand = motion.global_pose.rotations[:, motion.skeleton.index[f"{side}Hand"]]
        assert wrist_angle(untwisted_forearm(motion, side), hand, sign).max() < 8


def test_the_bow_travels_far_and_the_violin_never_bobs_against_the_head() -> None:
    motion = take("playing_violin")
    pose, index = motion.global_pose, motion.skeleton.index
    chest = quaternions.conjugate(pose.rotations[:, index["Spine2"]])
    wrist = pose.positions[:, index["RightHand"]] - pose.positions[:, index["Spine2"]]
    local = quaternions.rotate(chest, wrist)
    assert np.linalg.norm(np.ptp(local, axis=0)) > 0.36
    assert local[:, 0].min() < -0.14
    head = quaternions.multiply(chest, pose.rotations[:, index["Head"]])
    played = head[round(1.2 * motion.fps):round(5.1 * motion.fps)]
    turns = quaternions.to_rotation_vectors(
        quaternions.multiply(quaternions.conjugate(played[:1]), played))
    assert np.rad2deg(np.linalg.norm(turns, axis=1)).max() < 10


def test_elbows_are_bent_at_the_wheel() -> None:
    motion = take("driving")
    for side in SIDES:
        elbow = angle(motion, f"{side}Arm", f"{side}ForeArm", f"{side}Hand")
        assert elbow.min() > 80 and elbow.max() < 140


@pytest.mark.slow
@pytest.mark.parametrize("name", ["man", "woman"])
def test_the_cup_comes_to_the_lips_of_real_characters(name: str) -> None:
    motion = retarget(take("drinking_from_cup"), character(name)).motion
    head = motion.skeleton.index["Head"]
    pose = motion.global_pose
    lips = pose.positions[:, head] + quaternions.rotate(
        pose.rotations[:, head], np.array([0.0, -0.11, 0.02]))
    gap = np.linalg.norm(palms(motion)["Right"] - lips, axis=1)
    sipping = slice(round(1.4 * motion.fps), round(1.8 * motion.fps))
    draining = slice(round(4.1 * motion.fps), round(5.1 * motion.fps))
    assert gap[sipping].max() < 0.15
    assert gap[draining].max() < 0.15
    assert gap[0] > 0.25
