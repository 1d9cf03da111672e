"""Hands that lie in their own body come out of it, and no others move."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.followers import with_followers_turned
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.choreography.perform import perform
from mimegen.choreography.reading import read_score
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers import find_roles
from mimegen.retarget import retarget
from mimegen.retarget.clearance import shared_on_shaft, with_hands_clear
from mimegen.retarget.hands import arms_bent
from mimegen.retarget.obstacles import below, in_hand, limbs_of
from mimegen.retarget.outer import outer_surface
from mimegen.retarget.pushes import wrists_pushed
from mimegen.retarget.surface import SkinSample

FRAMES, MIDDLE = 40, 20
# What rounding poses moves a wrist by (m).
ROUNDED = 1e-6


@cache
def body(name: str) -> tuple[Character, dict[str, int]]:
    character = build_character(sample_character(int(name[7:])) if ":" in name else
                                read_character(data_folder() / "rigs" / f"{name}.yaml"))
    index = character.skeleton.index
    return character, {role: index[own] for role, own in
                       find_roles(character.skeleton).joints.items()}


def reaching(name: str, place: FloatArray) -> Motion:
    """The left wrist comes to a place and goes away again; the arms of the T pose else."""
    character, joints = body(name)
    skeleton = character.skeleton
    rest = Motion(skeleton, 30.0, np.tile(skeleton.heads[0], (FRAMES, 1)),
                  np.tile(quaternions.IDENTITY, (FRAMES, len(skeleton.names), 1)))
    wrists = rest.global_pose.positions[:, [joints["left_hand"], joints["right_hand"]]]
    share = np.sin(np.linspace(0, np.pi, FRAMES))[:, None] ** 2
    wrists[:, 0] += share * (place - wrists[:, 0])
    return arms_bent(rest, joints, wrists)


def deepest(name: str, motion: Motion, frame: int) -> float:
    """How deep (m) the left hand is below the nearest vertices of trunk, head and legs."""
    character, joints = body(name)
    one = Motion(motion.skeleton, 30.0, motion.root_positions[[frame]], motion.rotations[[frame]])
    surface = outer_surface(character)
    arms = [below(character, joints[f"{side}_upper_arm"]) for side in ("left", "right")]
    skin = surface.part(~np.isin(surface.of, np.concatenate(arms)))
    hand = surface.part(in_hand(surface, character, joints, "left")).skin.posed(one)[0]
    off, near = cKDTree(skin.skin.posed(one)[0]).query(hand)
    ahead = np.sum((hand - skin.skin.posed(one)[0][near]) * skin.ways[near], axis=1)
    return float(np.where((ahead < 0) & (off < 0.1), off, 0.0).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spacesuit", "random:2"])
def test_a_hand_in_the_belly_comes_out_of_it(name: str) -> None:
    character, joints = body(name)
    skin = np.concatenate([mesh.vertices for mesh in character.meshes])
    belly = character.skeleton.heads[joints["spine1"]]
    front = skin[np.linalg.norm((skin - belly)[:, [0, 2]], axis=1) < 0.03, 1].min()
    inside = reaching(name, np.array([-0.08, front + 0.06, belly[2]]))
    assert deepest(name, inside, MIDDLE) > 0.03
    clear = with_hands_clear(inside, character, joints, np.zeros(inside.frames))
    assert deepest(name, clear, MIDDLE) < 0.016
    moved = np.linalg.norm(clear.global_pose.positions - inside.global_pose.positions, axis=-1)
    assert moved[MIDDLE, joints["left_hand"]] < 0.2
    assert moved[:, joints["right_hand"]].max() < ROUNDED


@pytest.mark.slow
def test_a_wrist_in_the_chest_comes_out_of_it() -> None:
    character, joints = body("random:2")
    limb = limbs_of(character, tuple(sorted(joints.items())))[0]
    wrists = np.isfinite(limb.along)
    skin = np.concatenate([mesh.vertices for mesh in character.meshes])
    chest = character.skeleton.heads[joints["chest"]]
    front = skin[np.linalg.norm((skin - chest)[:, [0, 2]], axis=1) < 0.03, 1].min()
    inside = reaching("random:2", np.array([-0.05, front, chest[2]]))
    assert limb.depths(inside).deep[MIDDLE, wrists].max() > 0.015
    clear = with_hands_clear(inside, character, joints, np.zeros(inside.frames))
    assert limb.depths(clear).deep[MIDDLE, wrists].max() < 0.002


@pytest.mark.slow
def test_hands_that_are_free_stay_where_they_are() -> None:
    character, joints = body("random:2")
    free = reaching("random:2", np.array([0.5, -0.4, 1.3]))
    clear = with_hands_clear(free, character, joints, np.zeros(free.frames))
    assert np.allclose(clear.global_pose.positions[:, joints["left_hand"]],
                       free.global_pose.positions[:, joints["left_hand"]], rtol=0, atol=ROUNDED)


@pytest.mark.slow
def test_a_slow_hand_does_not_tremble_where_it_just_touches() -> None:
    _, joints = body("random:2")
    held = reaching("random:2", np.array([0.5, -0.4, 1.3])).at(np.full(FRAMES, MIDDLE))
    pushes = np.zeros((FRAMES, 2, 3))
    pushes[[n for n in range(10, 30) if n % 6 > 2], 0, 0] = 0.005
    moved = wrists_pushed(held, joints, pushes)
    wrist = moved.global_pose.positions[:, joints["left_hand"]]
    assert np.linalg.norm(np.diff(wrist[8:32], 3, axis=0), axis=1).max() < 1e-4
    assert 0.002 < np.linalg.norm(wrist - wrist[0], axis=1)[18:22].min() < 0.006


@pytest.mark.slow
@pytest.mark.parametrize(("share", "stops"), [(-0.15, True), (0.5, False)])
def test_the_other_hand_s_cuff_stops_a_hand_and_its_palm_none(share: float, stops: bool) -> None:
    character, joints = body("spacesuit")
    heads, wrist = character.skeleton.heads, joints["left_hand"]
    place = heads[wrist] + share * (heads[joints["left_middle1"]] - heads[wrist])
    one = SkinSample(place[None], np.array([[wrist]], np.int32), np.ones((1, 1)))
    right = limbs_of(character, tuple(sorted(joints.items())))[1]
    point = replace(right, skin=one, fingers=np.array([-1]), along=np.array([np.inf]))
    rest = reaching("spacesuit", np.array([0.5, -0.4, 1.3])).at(np.array([0]))
    assert (point.depths(rest).deep.max() > 0.01) == stops


def test_hands_on_one_shaft_are_pushed_together() -> None:
    pushes = np.array([[[0.02, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0.02, 0.0, 0.0], [0.0, 0.03, 0.0]]])
    np.testing.assert_array_equal(shared_on_shaft(pushes, np.zeros(2)), pushes)
    both = shared_on_shaft(pushes, np.ones(2))
    np.testing.assert_allclose(both[:, 0], both[:, 1])
    np.testing.assert_allclose(both[:, 0], [[0.02, 0.0, 0.0], [0.02, 0.03, 0.0]])


@pytest.mark.slow
def test_a_skirt_stops_hands_where_it_hangs() -> None:
    """What lies 15 mm below cloth that goes with two joints is that deep, a leg raised or not."""
    character, joints = body("random:11")
    limb = limbs_of(character, tuple(sorted(joints.items())))[0]
    assert limb.skirt is not None
    own = limb.skirt.surface.part(limb.skirt.surface.skin.weights.max(axis=1) < 0.6)
    own = own.part(np.arange(len(own.of)) % 5 == 0)
    many = len(own.of)
    inside = replace(limb, skin=replace(own.skin, vertices=own.skin.vertices - 0.015 * own.ways),
                     fingers=np.full(many, -1), along=np.full(many, np.inf))
    motion = reaching("random:11", np.array([0.5, -0.4, 1.3])).at(np.array([0, 0]))
    motion.rotations[1, joints["left_thigh"]] = quaternions.from_rotation_vectors(
        np.array([-0.9, 0.0, 0.0]))
    deep = inside.depths(with_followers_turned(motion)).deep
    assert many > 20
    assert np.quantile(np.abs(deep - 0.015), 0.8, axis=1).max() < 0.005


def hands_crossed(name: str) -> Motion:
    """Both hands come before the chest, flat, until they lie in one another, and go apart again."""
    _, joints = body(name)
    rest = reaching(name, np.zeros(3)).at(np.zeros(FRAMES, int))
    wrists = rest.global_pose.positions[:, [joints["left_hand"], joints["right_hand"]]]
    place = np.array([[-0.08, -0.34, 1.25], [0.08, -0.34, 1.255]])
    share = np.sin(np.linspace(0, np.pi, FRAMES))[:, None, None] ** 2
    return arms_bent(rest, joints, wrists + share * (place - wrists))


def fingers_in_hand(name: str, motion: Motion) -> float:
    """How deep (m) left fingers are below the nearest vertices of the right hand in the middle."""
    character, joints = body(name)
    one, surface = motion.at(np.array([MIDDLE])), outer_surface(character)
    right = surface.part(np.isin(surface.of, below(character, joints["right_hand"])))
    fingers = surface.part(np.isin(surface.of, below(character, joints["left_middle1"])))
    places, own = right.skin.posed(one)[0], fingers.skin.posed(one)[0]
    ways = replace(right.skin, vertices=right.skin.vertices + right.ways).posed(one)[0] - places
    off, near = cKDTree(places).query(own)
    ahead = np.sum((own - places[near]) * ways[near], axis=1)
    return float(np.where(ahead < -0.5 * off, off, 0.0).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["man", "woman"])
def test_fingers_come_out_of_the_other_hand_but_not_off_a_shaft(name: str) -> None:
    character, joints = body(name)
    inside = hands_crossed(name)
    before = fingers_in_hand(name, inside)
    assert before > 0.008
    clear = with_hands_clear(inside, character, joints, np.zeros(FRAMES))
    assert fingers_in_hand(name, clear) < 0.6 * before
    on_a_shaft = with_hands_clear(inside, character, joints, np.ones(FRAMES))
    assert fingers_in_hand(name, on_a_shaft) > 0.008


FOLDED = """action: arms_folded
about: Arms are folded.
duration: 2.0
balanced: false
phases:
  - {at: 0, hands: {to: hip 14 4 2, loose: true}}
  - {at: 1.2, left_hand: {to: other_shoulder 2 18 -22, palm: back, fingers: right,
                          elbow: forward+down},
     right_hand: {to: other_shoulder 2 16 -28, palm: back, fingers: left, elbow: forward+down}}
"""


@pytest.mark.slow
def test_hands_are_out_of_thick_arms_that_gave_way_once_more(tmp_path: Path) -> None:
    character, joints = body("random:5082")
    path = tmp_path / "folded.score.yaml"
    path.write_text(FOLDED)
    done = retarget(perform(read_score(path), 0, 10.0), character).motion
    last = done.at(np.array([done.frames - 1]))
    assert max(limb.depths(last).deep.max()
               for limb in limbs_of(character, tuple(sorted(joints.items())))) < 0.005
