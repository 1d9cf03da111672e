"""The parts that retargeting is made of: low-passes, trunks, alignment, where toes rest."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bodies import capsule_character, wandering_motion
from examples import examples
from mimegen.characters.character import Character
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.quaternions import FloatArray
from mimegen.readers import find_roles, read_motion
from mimegen.retarget import retarget
from mimegen.retarget.hands import HANDS, arms_bent
from mimegen.retarget.rest import Alignment
from mimegen.retarget.smoothing import smoothest
from mimegen.retarget.stance import resting_height, source_contacts
from mimegen.retarget.trunk import trunk_turns

STANDARD = standard_skeleton()
ROLES = find_roles(STANDARD).joints
JOINTS = {role: STANDARD.index[name] for role, name in ROLES.items()}
BONES = Character("bones", STANDARD, (), {}, "", "", "")


def still(frames: int = 60) -> Motion:
    return Motion(STANDARD, 30.0, np.tile(STANDARD.heads[0], (frames, 1)),
                  np.tile(quaternions.IDENTITY, (frames, len(STANDARD.names), 1)))


# Low-passes.


@pytest.mark.parametrize(("hz", "kept"), [(1.0, 1.0), (5.0, 0.5), (15.0, 0.0)])
def test_a_low_pass_passes_what_is_slow(hz: float, kept: float) -> None:
    time = np.arange(400) / 100.0
    wave = np.sin(2 * np.pi * hz * time)[:, None]
    smooth = smoothest(wave, np.ones(400), 100.0, 5.0)
    assert np.abs(smooth[100:300]).max() == pytest.approx(kept, abs=0.01)


@given(st.floats(-0.5, 0.5), st.floats(0.2, 2.0), st.floats(50.0, 240.0))
def test_where_it_is_firm_it_goes_by_the_steps(speed: float, hz: float, fps: float) -> None:
    """Firm for half a second, free after it: the steps are kept, then it goes back softly."""
    count = int(2 * fps)
    steps = speed / fps * np.cos(2 * np.pi * hz * np.arange(count - 1) / fps)[:, None]
    firm = np.where(np.arange(count - 1) < fps / 2, 1e5, 0.0)
    done = smoothest(np.zeros((count, 1)), np.full(count, 0.1), fps, 4.0, steps, firm)
    kept = slice(0, int(0.4 * fps))
    assert np.abs(np.diff(done, axis=0) - steps)[kept].max() * fps < 0.05 * abs(speed) + 1e-9
    assert abs(done[-1, 0]) < 0.05 * abs(speed) + 1e-9


def test_clips_of_three_frames_stay_as_they_are() -> None:
    goals = np.array([[0.0], [1.0], [0.0]])
    assert np.array_equal(smoothest(goals, np.ones(3), 30.0, 4.0), goals)


@pytest.mark.parametrize("fps", [240.0, 1000.0, 5000.0])
def test_high_frame_rates_are_solved(fps: float) -> None:
    time = np.arange(int(2 * fps)) / fps
    line = 0.3 * time[:, None]
    assert np.allclose(smoothest(line, np.full(len(line), 1e-3), fps, 2.5), line, atol=1e-3)


# Trunks.


def chain(names: list[str], frames: int = 40) -> tuple[dict[str, FloatArray], ...]:
    """A spine of straight bones that bends and twists: rotations, places, places at rest."""
    heads = {name: np.array([0.0, 0.05, 0.5]) * i / len(names) for i, name in enumerate(names)}
    time = np.linspace(0.0, 3.0, frames)
    turns, places = {}, {}
    place = np.zeros((frames, 3))
    for i, name in enumerate(names):
        bend = 0.15 * i * np.stack([np.sin(time), np.cos(2 * time), np.sin(3 * time)], axis=1)
        turns[name] = quaternions.from_rotation_vectors(bend)
        places[name] = place
        if i + 1 < len(names):
            place = place + quaternions.rotate(turns[name], heads[names[i + 1]] - heads[name])
    return turns, places, heads


SHORT = ["hips", "spine1", "chest", "head"]
LONG = ["hips", "spine1", "spine2", "spine3", "chest", "neck1", "head"]


def placed(turns: dict[str, FloatArray], heads: dict[str, FloatArray],
           names: list[str]) -> dict[str, FloatArray]:
    place = np.zeros((len(turns["hips"]), 3))
    places = {"hips": place}
    for low, high in pairwise(names):
        places[high] = places[low] + quaternions.rotate(turns[low], heads[high] - heads[low])
    return places


@pytest.mark.parametrize(("ours", "theirs"), [(SHORT, LONG), (LONG, SHORT), (LONG, LONG)])
def test_trunks_with_other_joints_turn_and_lean_alike(ours: list[str], theirs: list[str]) -> None:
    turns, places, _ = chain(ours)
    _, _, heads = chain(theirs)
    done = trunk_turns(turns, places, heads, 120.0)
    assert set(done) == set(theirs)
    for role in ("hips", "chest", "head"):
        assert np.allclose(np.abs(np.sum(done[role] * turns[role], axis=1)), 1.0, atol=1e-9)
    leans = placed(done, heads, theirs)
    ways = [at["chest"] - at["spine1"] for at in (places, leans)]
    first, second = (way / np.linalg.norm(way, axis=1, keepdims=True) for way in ways)
    assert np.degrees(np.arccos(np.clip(np.sum(first * second, axis=1), -1, 1))).max() < 1.0


def test_a_short_trunk_comes_back_from_a_longer_one() -> None:
    turns, places, own = chain(SHORT)
    _, _, longer = chain(LONG)
    there = trunk_turns(turns, places, longer, 120.0)
    back = trunk_turns(there, placed(there, longer, LONG), own, 120.0)
    ours, theirs = (placed(each, own, SHORT)["head"] for each in (turns, back))
    assert np.linalg.norm(ours - theirs, axis=1).max() < 0.002


# Alignment.


def test_the_order_of_roles_means_nothing(samples: Path) -> None:
    """A zero pose, which is understood from the motion, gives the same corrections either way."""
    recording = read_motion(samples / "bvh" / "anim_rokoko_jesse_dance.bvh")
    roles = [dict(items) for items in (recording.roles.items(),
                                       reversed(list(recording.roles.items())))]
    one, other = (Alignment(recording.motion, each, STANDARD, ROLES) for each in roles)
    assert not one.upright and one.corrections.keys() == other.corrections.keys()
    for role, turn in one.corrections.items():
        assert np.allclose(turn, other.corrections[role])
    # Every joint of the spine has its own correction: all stand upright where the person does.
    assert {"spine1", "spine2", "chest"} <= set(one.corrections)


def test_bones_of_one_name_in_another_pose_are_aligned() -> None:
    """Arms that rest 8 degrees lower under the same names still point the same way."""
    motion = still(20)
    turns = np.tile(quaternions.IDENTITY, (len(STANDARD.names), 1))
    for i, name in enumerate(STANDARD.names):
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            if name.startswith(side) and ("Arm" in name or "Hand" in name):
                turns[i] = quaternions.from_rotation_vectors([0.0, sign * np.radians(8.0), 0.0])
    lowered = Motion.from_global_rotations(STANDARD, 30.0, STANDARD.heads[:1], turns[None])
    heads = lowered.global_pose.positions[0]
    tails = heads + quaternions.rotate(turns, STANDARD.tails - STANDARD.heads)
    source = Motion(Skeleton(STANDARD.names, STANDARD.parents, heads, tails), 30.0,
                    motion.root_positions, motion.rotations)
    done = retarget(source, BONES, repair=False).motion.global_pose.positions
    for start, end in (("left_upper_arm", "left_forearm"), ("right_forearm", "right_hand")):
        ours = heads[JOINTS[end]] - heads[JOINTS[start]]
        theirs = done[0, JOINTS[end]] - done[0, JOINTS[start]]
        assert np.allclose(ours / np.linalg.norm(ours), theirs / np.linalg.norm(theirs), atol=1e-6)


# Feet and shoulders.


def test_toes_rest_where_a_flat_foot_has_them() -> None:
    """One foot stands flat, the other on its toes, whose joint is lower by more than feet waver."""
    motion = still()
    rotations = motion.rotations.copy()
    rotations[:, JOINTS["right_foot"]] = quaternions.from_rotation_vectors([0.3, 0.0, 0.0])
    tiptoe = Motion(STANDARD, 30.0, motion.root_positions, rotations)
    heights = tiptoe.global_pose.positions[0, :, 2]
    assert heights[JOINTS["left_toe"]] - heights[JOINTS["right_toe"]] > 0.035
    assert resting_height(tiptoe, JOINTS, "toe", "left") == pytest.approx(
        STANDARD.heads[JOINTS["left_toe"], 2])
    heel, ball = source_contacts(tiptoe, JOINTS, "left")
    assert heel.all() and ball.all()


def test_shoulders_go_along_with_wrists_but_not_far() -> None:
    motion = still(30)
    pose = motion.global_pose.positions
    wrists = pose[:, [JOINTS["left_hand"], JOINTS["right_hand"]]]
    goals = wrists + np.array([[-0.15, -0.3, 0.05], [0.0, 0.0, 0.0]])
    done = arms_bent(motion, JOINTS, goals).global_pose.positions
    moved = [np.linalg.norm(done[0, JOINTS[f"{side}_upper_arm"]]
                            - pose[0, JOINTS[f"{side}_upper_arm"]]) for side in ("left", "right")]
    assert 0.01 < moved[0] <= HANDS.girdle_most_m and moved[1] < 1e-9
    assert np.allclose(done[:, JOINTS["left_hand"]], goals[:, 0], atol=1e-6)
    for chest in ("chest", "hips"):
        assert np.allclose(done[:, JOINTS[chest]], pose[:, JOINTS[chest]])


# Hands of any number of fingers, of any number of bones.


FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")
CAPSULES = capsule_character(6, 4)


def lacking(character: Character, names: set[str]) -> Character:
    """Return a character without some joints, whose skin follows what is above them."""
    skeleton = character.skeleton
    kept = [joint for joint, name in enumerate(skeleton.names) if name not in names]
    new = np.zeros(len(skeleton.names), np.int32)
    for joint, name in enumerate(skeleton.names):
        new[joint] = new[skeleton.parents[joint]] if name in names else kept.index(joint)
    parents = np.array([-1, *new[skeleton.parents[kept[1:]]]])
    smaller = Skeleton(tuple(skeleton.names[joint] for joint in kept), parents,
                       skeleton.heads[kept], skeleton.tails[kept])
    meshes = tuple(replace(mesh, joints=new[mesh.joints]) for mesh in character.meshes)
    return Character("lacking", smaller, meshes, character.materials, repr(sorted(names)), "", "")


def bones(left: list[int], right: list[int]) -> set[str]:
    """Return the finger bones that hands of so many bones a finger do not have."""
    return {f"{side}Hand{finger}{bone}" for side, counts in (("Left", left), ("Right", right))
            for finger, count in zip(FINGERS, counts, strict=True)
            for bone in (1, 2, 3) if bone > count}


BONES_A_FINGER = st.lists(st.integers(0, 3), min_size=5, max_size=5)


@pytest.mark.slow
@example([2, 3, 3, 3, 3], [3] * 5)
@example([0] * 5, [3] * 5)
@example([3, 2, 3, 3, 3], [3, 3, 3, 3, 0])
@example([1] * 5, [2] * 5)
@given(BONES_A_FINGER, BONES_A_FINGER)
@settings(max_examples=examples(12))
def test_hands_of_any_fingers(left: list[int], right: list[int]) -> None:
    motion = wandering_motion(STANDARD, 12, 1, 0.6)
    names = bones(left, right)
    known = {role: name for role, name in ROLES.items() if name not in names}
    for character, roles in ((lacking(CAPSULES, names), ROLES), (CAPSULES, known)):
        done = retarget(motion, character, roles).motion
        assert np.isfinite(done.global_pose.positions).all()
