"""Arms stop each other: crossed ones come out of one another, hands that touch stay."""

from dataclasses import replace

import numpy as np
import pytest

from mimegen.base.paths import data_folder
from mimegen.base.vectors import unit
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.choreography.perform import perform
from mimegen.choreography.reading import read_score
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers import find_roles
from mimegen.retarget import retarget
from mimegen.retarget.anatomy import leg_length
from mimegen.retarget.arms import (
    ARMS,
    FOREARM,
    OF_BONE,
    UPPER,
    Arms,
    Trunk,
    arms_of,
    with_arms_apart,
)
from mimegen.retarget.hands import (
    Touch,
    arms_bent,
    grips_apart,
    holding,
    source_body,
    target_body,
)

FRAMES, MIDDLE, FPS = 41, 20, 30.0
FREE = Touch(np.zeros((FRAMES, 2)), np.zeros(FRAMES), np.zeros(FRAMES))


@pytest.fixture(scope="module")
def man() -> Character:
    return build_character(read_character(data_folder() / "rigs" / "man.yaml"))


@pytest.fixture(scope="module")
def joints(man: Character) -> dict[str, int]:
    return {role: man.skeleton.index[own]
            for role, own in find_roles(man.skeleton).joints.items()}


def crossing(man: Character, joints: dict[str, int], past: float) -> Motion:
    """Both wrists come before the chest, each so far (m) past its middle, and go away again."""
    skeleton = man.skeleton
    rest = Motion(skeleton, FPS, np.tile(skeleton.heads[0], (FRAMES, 1)),
                  np.tile(quaternions.IDENTITY, (FRAMES, len(skeleton.names), 1)))
    hands = [joints["left_hand"], joints["right_hand"]]
    goals = rest.global_pose.positions[:, hands]
    share = np.sin(np.linspace(0, np.pi, FRAMES))[:, None, None] ** 2
    crossed = np.array([[-past, -0.34, 1.3], [past, -0.34, 1.31]])
    return arms_bent(rest, joints, goals + share * (crossed - goals))


def deepest(motion: Motion, man: Character, joints: dict[str, int]) -> FloatArray:
    depths = arms_of(motion, man, joints, FREE).depths()
    return np.asarray(depths.max(axis=(1, 2)))


@pytest.mark.slow
def test_crossed_forearms_come_out_of_one_another_smoothly(man: Character,
                                                           joints: dict[str, int]) -> None:
    inside = crossing(man, joints, 0.12)
    assert deepest(inside, man, joints).max() > 0.05
    apart = with_arms_apart(inside, man, joints, FREE)
    assert deepest(apart, man, joints).max() < 0.004
    before, after = (motion.global_pose.positions for motion in (inside, apart))
    assert 0.01 < np.abs(after - before).max() < 0.1
    assert np.abs(np.diff(after - before, 3, axis=0)).max() < 0.006
    both = [joints["left_upper_arm"], joints["right_upper_arm"], joints["head"]]
    np.testing.assert_allclose(after[:, both], before[:, both], atol=1e-5)


def trunk_and_arms(motion: Motion, character: Character,
                   joints: dict[str, int]) -> tuple[Trunk, Arms]:
    arms = arms_of(motion, character, joints, FREE)
    return Trunk.of(motion, character, joints, arms), arms


@pytest.fixture(scope="module")
def heavy() -> Character:
    return build_character(sample_character(5))


@pytest.mark.slow
def test_thick_upper_arms_that_reach_forward_come_out_of_the_trunk(
        heavy: Character, joints: dict[str, int]) -> None:
    before = crossing(heavy, joints, -0.05)
    after = with_arms_apart(before, heavy, joints, FREE)
    deep = []
    for motion in (before, after):
        trunk, arms = trunk_and_arms(motion, heavy, joints)
        whole = replace(trunk, allowed=np.zeros_like(trunk.allowed))
        deep.append(whole.depths(arms)[0][:, :, OF_BONE == UPPER].max(axis=(0, 1)))
    most = np.array(ARMS.upper_arm_gives_m)
    assert (deep[0] > most)[:2].all() and (deep[0] - deep[1] > 0.01)[:3].all()
    assert (deep[1] < most + 0.002).all()


@pytest.mark.slow
def test_upper_arms_that_are_thin_or_beside_the_trunk_or_hard_may_lie_deep(
        man: Character, heavy: Character, joints: dict[str, int]) -> None:
    gives = []
    for character in (heavy, man):
        trunk, arms = trunk_and_arms(crossing(character, joints, -0.05), character, joints)
        gives.append(trunk.gives(arms, soft=True)[:, :, OF_BONE == UPPER])
        assert np.isinf(trunk.gives(arms, soft=False)[:, :, OF_BONE == UPPER]).all()
    thick, thin = gives
    assert (thin[MIDDLE] > thick[MIDDLE] + 0.03).all()
    assert (thick[0] > thick[MIDDLE] + 0.08).all(), "to the sides arms do not reach forward"


@pytest.mark.slow
def test_arms_whose_hands_hold_each_other_may_lie_deeper(heavy: Character,
                                                         joints: dict[str, int]) -> None:
    trunk, arms = trunk_and_arms(crossing(heavy, joints, -0.05), heavy, joints)
    apart = trunk.gives(arms, soft=True)
    for touch in (replace(FREE, hands_near=FREE.hands_near + 1.0),
                  replace(FREE, on_shaft=FREE.on_shaft + 1.0)):
        both = trunk.gives(replace(arms, touch=touch), soft=True)
        for bone, more in ((UPPER, ARMS.together_m), (FOREARM, 0.0)):
            own = bone == OF_BONE
            np.testing.assert_allclose(both[:, :, own] - apart[:, :, own], more)


@pytest.mark.slow
def test_hands_that_touch_stay_where_arms_give_way(man: Character,
                                                   joints: dict[str, int]) -> None:
    inside = crossing(man, joints, 0.12)
    hands = [joints["left_hand"], joints["right_hand"]]
    moved = [np.linalg.norm(with_arms_apart(inside, man, joints, firm).global_pose.positions[
        :, hands] - inside.global_pose.positions[:, hands], axis=2).max()
        for firm in (FREE, replace(FREE, firm=FREE.firm + 1.0))]
    assert moved[1] < 0.025 < 0.04 < moved[0]


@pytest.mark.slow
def test_palms_that_lie_in_one_another_come_to_lie_on_one_another(
        man: Character, joints: dict[str, int]) -> None:
    merged = crossing(man, joints, 0.06)
    hands, firm = [joints["left_hand"], joints["right_hand"]], replace(FREE, firm=FREE.firm + 1.0)
    palms = arms_of(merged, man, joints, firm).radii[:, -1]

    def between(motion: Motion) -> FloatArray:
        arms = arms_of(motion, man, joints, firm)
        backs = np.cross(np.diff(arms.joints, axis=2)[:, :, 2], arms.wide)
        apart = np.diff(arms.balls()[:, :, -2], axis=1)[:, 0]
        return np.abs(np.sum(apart * unit(backs)[:, 0], axis=1))

    assert between(merged)[MIDDLE] < 0.01
    apart = with_arms_apart(merged, man, joints, firm)
    assert 0.8 * palms.sum() < between(apart)[MIDDLE] < 1.6 * palms.sum()
    turned = [motion.global_pose.rotations[:, hands] for motion in (merged, apart)]
    np.testing.assert_allclose(turned[1], turned[0], atol=1e-5)


@pytest.mark.slow
def test_hands_on_one_another_hold_no_shaft(man: Character, joints: dict[str, int]) -> None:
    merged = crossing(man, joints, 0.06)
    assert holding(target_body(merged, man, joints).hands, FPS).max() < 0.5


@pytest.mark.slow
def test_arms_that_do_not_touch_stay_to_the_bit(man: Character, joints: dict[str, int]) -> None:
    free = crossing(man, joints, -0.15)
    assert with_arms_apart(free, man, joints, FREE) is free


@pytest.mark.slow
def test_rounds_are_enough_for_the_deepest(man: Character, joints: dict[str, int]) -> None:
    straight = crossing(man, joints, 0.3)
    assert deepest(straight, man, joints).max() > 0.05
    assert deepest(with_arms_apart(straight, man, joints, FREE), man, joints).max() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("take", ["baseball_swing", "tennis_backhand", "sweep_floor"])
def test_hands_of_one_grip_stay_on_their_shaft(man: Character, joints: dict[str, int],
                                               take: str) -> None:
    source = perform(read_score(data_folder() / f"mocap/{take}/{take}.score.yaml"), 0, 24.0)
    roles = find_roles(source.skeleton).joints
    own = {role: source.skeleton.index[joint] for role, joint in roles.items()}
    done = retarget(source, man).motion
    scale = leg_length(man.skeleton, joints) / leg_length(source.skeleton, own)
    hands = source_body(source, own, done, man, joints, scale).hands
    held = holding(hands, source.fps) > 0.99
    drift = grips_apart(target_body(done, man, joints).hands) - scale * grips_apart(hands)
    assert held.sum() > 20
    assert np.linalg.norm(drift[held], axis=1).max() < 0.01


@pytest.mark.slow
def test_arms_that_give_way_do_not_part_hands_on_one_shaft(man: Character,
                                                           joints: dict[str, int]) -> None:
    inside = crossing(man, joints, 0.12)
    hands = [joints["left_hand"], joints["right_hand"]]
    parted = [np.linalg.norm(np.diff(with_arms_apart(inside, man, joints, touch).global_pose
                                     .positions[:, hands] - inside.global_pose.positions[:, hands],
                                     axis=1), axis=2).max()
              for touch in (FREE, replace(FREE, on_shaft=FREE.on_shaft + 1.0))]
    assert parted[1] < 0.02 < 0.08 < parted[0]
