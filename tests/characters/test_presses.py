"""Arms that lie against the trunk: both give way, smoothly, and nothing else moves."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.contacts import Pairs
from mimegen.characters.helpers import with_helpers_turned
from mimegen.characters.posing import corrections_of
from mimegen.characters.presses import MAX_SHIFT_M, Front
from mimegen.characters.spec import read_character
from mimegen.motion import Motion, quaternions
from mimegen.shots.skinning import BodySkin, body_skin, joint_columns


@pytest.fixture(scope="module")
def man() -> Character:
    return build_character(read_character(data_folder() / "rigs" / "man.yaml"))


@pytest.fixture(scope="module")
def skin(man: Character) -> BodySkin:
    return body_skin(man)


def shifts(man: Character, skin: BodySkin, lowered: list[float],
           across: float = 0.0) -> NDArray[Any]:
    """How far presses move all vertices (F, V, 3) as the left arm is lowered so far (degrees)."""
    skeleton = man.skeleton
    rotations = np.tile(quaternions.IDENTITY, (len(lowered), len(skeleton.names), 1))
    turns = np.radians([[0.0, angle, 0.0] for angle in lowered])
    rotations[:, skeleton.index["LeftArm"]] = quaternions.multiply(
        quaternions.from_rotation_vectors(np.radians([0.0, 0.0, -across])),
        quaternions.from_rotation_vectors(turns))
    places = np.tile(skeleton.heads[:1], (len(lowered), 1))
    motion = with_helpers_turned(Motion(skeleton, 24.0, places, rotations))
    pose = motion.global_pose
    found = []
    for frame in range(len(lowered)):
        columns = joint_columns(skeleton, pose.positions[[frame]], pose.rotations[[frame]])
        blended = BodySkin(skin.matrix, skin.corrections._replace(presses=None)).posed(columns)
        found.append(skin.posed(columns) - blended)
    return np.asarray(found, float)


def test_what_touches_nothing_stays_to_the_bit(man: Character, skin: BodySkin) -> None:
    assert not shifts(man, skin, [-60.0, 0.0, 30.0]).any()


def test_an_arm_across_and_the_chest_below_it_both_give_way(man: Character,
                                                           skin: BodySkin) -> None:
    moved = shifts(man, skin, [5.0], across=115.0)[0]
    far = np.linalg.norm(moved, axis=1)
    assert 0.01 < far.max() < MAX_SHIFT_M + 1e-4
    rest = np.concatenate([mesh.vertices for mesh in man.meshes])
    arm = rest[:, 0] > man.skeleton.heads[man.skeleton.index["LeftArm"], 0] + 0.06
    assert far[arm].max() > 0.005
    assert far[~arm & (rest[:, 0] < 0.15)].max() > 0.005
    assert rest[far > 1e-3][:, 0].min() > -0.15, "the right arm touches nothing"


def test_pressing_is_smooth_in_the_pose(man: Character, skin: BodySkin) -> None:
    angles = np.arange(80.0, 96.0, 0.5)
    moved = shifts(man, skin, list(angles))
    steps = np.linalg.norm(np.diff(moved, axis=0), axis=2)
    assert np.abs(moved).max() > 0.003
    # Half a degree takes the elbow 3 mm.
    assert steps.max() < 0.004


def test_surfaces_that_lie_inside_one_another_are_pushed_apart() -> None:
    places = np.array([[0.0, 0.0, -0.01], [0.0, 0.0, 0.01]])
    normals = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    pairs = Pairs(np.array([0]), np.array([1]), np.array([1.0]))
    assert not Front.of(places, normals, pairs).push(places).any()
    np.testing.assert_array_equal(pairs.touching(places, normals), [0.0, 0.0])
    inside = -places
    np.testing.assert_array_equal(pairs.touching(inside, normals), [1.0, 1.0])
    out = Front.of(inside, normals, pairs).push(inside)
    assert out[0, 2] < -0.01
    assert out[1, 2] == -out[0, 2]


def test_who_is_hard_is_not_pressed(man: Character) -> None:
    assert corrections_of(man).presses is not None
    hard = {name: replace(made, kind="painted") for name, made in man.materials.items()}
    assert corrections_of(replace(man, materials=hard)).presses is None
