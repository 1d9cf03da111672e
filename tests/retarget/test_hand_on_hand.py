"""Hands that lie on one another: the outer one lies straight on the inner one's back."""

from pathlib import Path

import numpy as np
import pytest

from mimegen.base.paths import data_folder
from mimegen.base.vectors import lengths
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.choreography.perform import perform
from mimegen.choreography.reading import read_score
from mimegen.motion import Motion, quaternions
from mimegen.readers import find_roles
from mimegen.retarget import retarget
from mimegen.retarget.hand_on_hand import (
    finger_joints,
    in_hands,
    laid_on_one_another,
    shifts_off,
    straightened,
)
from mimegen.retarget.hands import hands_in, wrists_of
from mimegen.retarget.obstacles import fingers_of_hands
from mimegen.retarget.pushes import wrists_pushed

BEHIND_THE_HEAD = """action: behind_the_head
about: Hands lie on one another behind the head.
duration: 2.0
balanced: false
phases:
  - {at: 0, hands: {to: hip 14 4 2, loose: true}}
  - {at: 1.2, hands: {to: head 6 -8 8, palm: forward, fingers: in, elbow: out}}
"""


def person(name: str) -> Character:
    return build_character(sample_character(int(name[7:])) if ":" in name else
                           read_character(data_folder() / "rigs" / f"{name}.yaml"))


def joints_of(character: Character) -> dict[str, int]:
    return {role: character.skeleton.index[own]
            for role, own in find_roles(character.skeleton).joints.items()}


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Motion:
    path: Path = tmp_path_factory.mktemp("score") / "behind.score.yaml"
    path.write_text(BEHIND_THE_HEAD)
    return perform(read_score(path), 0, 10.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["woman", "random:3", "random:2", "random:4720"])
def test_fingers_behind_the_head_are_not_in_the_other_hand(name: str, behind: Motion) -> None:
    character = person(name)
    joints = joints_of(character)
    done = retarget(behind, character).motion
    last = done.at(np.array([done.frames - 1]))
    fingers = fingers_of_hands(character, tuple(sorted(joints.items())))
    found = in_hands(last, fingers, np.zeros(1), np.array([0]))
    assert max(depths.deep.max() for depths in found) < 0.003
    knuckles = last.global_pose.positions[0, [joints[f"{side}_middle1"]
                                              for side in ("left", "right")]]
    assert np.linalg.norm(knuckles[0] - knuckles[1]) < 0.15, "they still lie on one another"


def facing(way: str) -> tuple[Character, dict[str, int], Motion]:
    """The man's hands before the chest, backs both forward, or one of them backward."""
    man = person("man")
    joints, skeleton = joints_of(man), man.skeleton
    motion = Motion(skeleton, 30.0, np.tile(skeleton.heads[0], (20, 1)),
                    np.tile(quaternions.IDENTITY, (20, len(skeleton.names), 1)))
    turn = quaternions.from_rotation_vectors(np.array([np.pi if way == "apart" else 0.0, 0, 0]))
    motion.rotations[:, joints["right_hand"]] = turn
    return man, joints, motion


@pytest.mark.slow
def test_only_where_palms_face_one_way_is_one_hand_the_outer_one() -> None:
    man, joints, motion = facing("alike")
    deep = np.full(motion.frames, 0.01)
    moved = lengths(shifts_off(hands_in(motion, man, joints), deep))
    np.testing.assert_allclose(np.sort(moved, axis=1), [[0.0, 0.01]] * motion.frames)
    assert len(set(moved.argmax(axis=1))) == 1, "one of them all the time"
    man, joints, motion = facing("apart")
    assert not shifts_off(hands_in(motion, man, joints), deep).any()


@pytest.mark.slow
def test_open_hands_straighten_and_fists_stay_shut() -> None:
    _, joints, motion = facing("alike")
    for side, bend in (("left", 25.0), ("right", 85.0)):
        for joint in finger_joints(joints, side):
            motion.rotations[:, joint] = quaternions.from_rotation_vectors(
                np.radians([0.0, bend if side == "left" else -bend, 0.0]))
    flat = straightened(motion, joints, np.ones((motion.frames, 2)))
    left, right = (flat.rotations[:, finger_joints(joints, side), 0] for side in ("left", "right"))
    np.testing.assert_allclose(left, 1.0, atol=1e-6)
    np.testing.assert_allclose(right, np.cos(np.radians(85.0) / 2), atol=1e-5)


@pytest.mark.slow
def test_hands_that_are_in_nothing_stay_to_the_bit() -> None:
    man, joints, motion = facing("alike")
    fingers = fingers_of_hands(man, tuple(sorted(joints.items())))
    frames = np.arange(motion.frames)
    assert laid_on_one_another(motion, man, joints, fingers, np.zeros(motion.frames),
                               frames) is motion
    assert wrists_pushed(motion, joints, np.zeros((motion.frames, 2, 3))) is motion


@pytest.mark.slow
def test_a_pushed_wrist_goes_there_and_the_other_stays() -> None:
    _, joints, motion = facing("alike")
    pushes = np.zeros((motion.frames, 2, 3))
    pushes[:, 0] = [-0.03, 0.0, 0.02]
    moved = wrists_pushed(motion, joints, pushes)
    ways = wrists_of(moved, joints) - wrists_of(motion, joints)
    np.testing.assert_allclose(ways[:, 0], pushes[:, 0], atol=0.002)
    np.testing.assert_allclose(ways[:, 1], 0.0, atol=1e-6)
