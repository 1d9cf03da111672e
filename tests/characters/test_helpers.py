"""Helper joints: turned part of the way, so that flesh keeps its volume."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, cKDTree

from examples import examples
from mimegen.base.paths import data_folder
from mimegen.characters.bake import read_bake
from mimegen.characters.body import make_body, rest_rotations, shaped_points
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Mesh, posed_vertices
from mimegen.characters.helpers import (
    ADDED,
    HELPERS,
    helped_joint,
    with_helpers,
    with_helpers_on,
    with_helpers_turned,
)
from mimegen.characters.movers import MOVERS
from mimegen.characters.spec import read_character
from mimegen.characters.surface import vertex_normals
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.readers.roles import find_roles
from mimegen.retarget import retarget

MAN = read_character(data_folder() / "rigs" / "man.yaml")
PLAIN = standard_skeleton()


def turned(skeleton: Skeleton, turns: dict[str, list[float]]) -> Motion:
    """One frame with rotation vectors, in degrees, at some joints."""
    rotations = np.tile(quaternions.IDENTITY, (1, len(skeleton.names), 1))
    for name, vector in turns.items():
        rotations[0, skeleton.index[name]] = quaternions.from_rotation_vectors(
            np.radians(vector))
    return with_helpers_turned(Motion(skeleton, 24.0, skeleton.heads[:1].copy(), rotations))


@pytest.fixture(scope="module")
def man() -> Character:
    return build_character(MAN)


@pytest.fixture(scope="module")
def naked() -> tuple[Character, Character]:
    """The man's skin without helpers and with them."""
    body = make_body(MAN.phenotype)
    mesh = Mesh("skin", body.vertices, body.faces["body"], body.joints, body.weights, "skin")
    plain = Character("plain", body.skeleton, (mesh,), {}, "", "", "")
    own = replace(mesh, joints=body.flesh.joints, weights=body.flesh.weights)
    return plain, replace(plain, skeleton=body.helped, meshes=(own,))


def posed(character: Character, turns: dict[str, list[float]]) -> NDArray[Any]:
    pose = turned(character.skeleton, turns).global_pose
    return posed_vertices(character.meshes[0], character.skeleton, pose.positions[0],
                          pose.rotations[0])


@given(st.floats(-80, 80))
@settings(max_examples=examples(25), deadline=None)
def test_helpers_turn_part_of_the_way(degrees: float) -> None:
    skeleton = with_helpers(PLAIN)
    pose = turned(skeleton, {"LeftArm": [0, degrees, 0], "LeftLeg": [degrees, 0, 0]}).global_pose
    line = ("LeftArmBend1", "LeftArmBend2", "LeftArmBend3", "LeftArmTwist1", "LeftLegBend1")
    joints = [skeleton.index[name] for name in line]
    vectors = quaternions.to_rotation_vectors(pose.rotations[0, joints])
    np.testing.assert_allclose(
        np.degrees([*vectors[:4, 1], vectors[4, 0]]),
        degrees * np.array([1 / 4, 1 / 2, 3 / 4, 1, 1 / 3]), atol=0.06 * abs(degrees) + 1e-6)
    np.testing.assert_allclose(pose.positions[0, joints[0]],
                               pose.positions[0, skeleton.index["LeftArm"]], atol=1e-9)


def test_movers_turn_past_an_angle_and_alike_on_both_sides() -> None:
    skeleton = with_helpers(PLAIN)
    movers = [skeleton.index[name] for name in MOVERS]
    for turns in ({}, {"LeftArm": [0, 48.0, 0], "RightArm": [0, -48.0, 0],
                       "LeftForeArm": [0, 0, -40.0], "LeftLeg": [40.0, 0, 0]}):
        still = turned(skeleton, turns).rotations[0, movers]
        np.testing.assert_allclose(still, np.tile(quaternions.IDENTITY, (len(movers), 1)),
                                   atol=1e-12)
    across = {"LeftArm": [0, 0, -130.0], "RightArm": [0, 0, 130.0]}
    vectors = quaternions.to_rotation_vectors(turned(skeleton, across).rotations[0])
    left, right = (vectors[skeleton.index[f"{side}ArmAcross"]] for side in ("Left", "Right"))
    assert np.degrees(np.linalg.norm(left)) > 5
    np.testing.assert_allclose(left, right * [1, -1, -1], atol=1e-7)


def test_the_twist_of_an_arm_is_spread_evenly() -> None:
    skeleton = with_helpers(PLAIN)
    pose = turned(skeleton, {"LeftForeArm": [90.0, 0, 0], "LeftHand": [60.0, 0, 0]}).global_pose
    line = ("LeftArm", "LeftForeArmTwist1", "LeftForeArmTwist2", "LeftForeArm", "LeftHandTwist1",
            "LeftHandBend1", "LeftHand")
    angles = [np.degrees(quaternions.to_rotation_vectors(
        pose.rotations[0, skeleton.index[name]])[0]) for name in line]
    np.testing.assert_allclose(angles, [0, 30, 60, 90, 110, 130, 150], atol=2.0)


def test_helpers_never_flip() -> None:
    skeleton = with_helpers(PLAIN)
    frames = 361
    rotations = np.tile(quaternions.IDENTITY, (frames, len(skeleton.names), 1))
    vectors = np.radians(np.linspace(0, 360, frames))[:, None] * [1.0, 0.0, 0.0]
    for name in ("LeftArm", "LeftForeArm", "LeftHand"):
        rotations[:, skeleton.index[name]] = quaternions.from_rotation_vectors(vectors)
    root = np.tile(skeleton.heads[0], (frames, 1))
    pose = with_helpers_turned(Motion(skeleton, 24.0, root, rotations)).global_pose
    helpers = [skeleton.index[name] for name in HELPERS if name.startswith("Left")]
    steps = quaternions.multiply(quaternions.conjugate(pose.rotations[:-1, helpers]),
                                 pose.rotations[1:, helpers])
    assert np.degrees(np.linalg.norm(quaternions.to_rotation_vectors(steps), axis=-1)).max() < 12


def test_weights_sum_to_one_and_helpers_have_flesh(man: Character) -> None:
    for mesh in man.meshes:
        np.testing.assert_allclose(mesh.weights.sum(axis=1), 1.0, atol=1e-9)
        assert mesh.weights.min() >= 0
    flesh = make_body(MAN.phenotype).flesh
    assert flesh.names == man.skeleton.names
    for name in ADDED:
        most = flesh.weights[flesh.joints == flesh.names.index(name)].max()
        assert most > (0.2 if name in HELPERS else 0.05), name


def test_the_rest_pose_stays(naked: tuple[Character, Character]) -> None:
    for character in naked:
        np.testing.assert_allclose(posed(character, {}), character.meshes[0].vertices, atol=1e-9)


def test_a_twisted_forearm_keeps_its_thickness(naked: tuple[Character, Character]) -> None:
    plain, helped = naked
    thick = [thinnest(character, {"LeftForeArm": [90.0, 0, 0], "LeftHand": [60.0, 0, 0]})
             for character in (plain, helped)]
    assert thick[0] < 0.85, "linear blend skinning alone thins it"
    assert thick[1] > 0.88


def thinnest(character: Character, turns: dict[str, list[float]]) -> float:
    """The least area of the left forearm's cross-sections, as a share of theirs at rest."""
    mesh, skeleton = character.meshes[0], character.skeleton
    elbow, wrist = (skeleton.heads[skeleton.index[f"Left{name}"], 0]
                    for name in ("ForeArm", "Hand"))
    areas = [[section(vertices, mesh.faces, elbow + share * (wrist - elbow))
              for share in np.linspace(-0.1, 0.97, 15)]
             for vertices in (mesh.vertices, posed(character, turns))]
    return float(np.min(np.array(areas[1]) / areas[0]))


def section(vertices: NDArray[Any], faces: NDArray[Any], x: float) -> float:
    """The area of the hull of a mesh's cut across X, in square metres."""
    ahead = vertices[:, 0] - x
    cuts = []
    for corner in range(4):
        a, b = faces[:, corner], faces[:, (corner + 1) % 4]
        crossing = (ahead[a] > 0) != (ahead[b] > 0)
        a, b = a[crossing], b[crossing]
        share = (ahead[a] / (ahead[a] - ahead[b]))[:, None]
        cuts.append(vertices[a] * (1 - share) + vertices[b] * share)
    return float(ConvexHull(np.concatenate(cuts)[:, 1:]).volume)


@pytest.mark.parametrize(("collar", "turn", "lost"), [
    ([0, 0, 0], [0, 72.0, 0], 0.007), ([0, 3.0, 10], [105.0, 86, -50], 0.010),
    ([0, -27.0, -1], [-19.0, -60, -15], 0.008), ([0, 0, -8.0], [7.0, 22, -120], 0.009),
], ids=["arms down", "hands behind the back", "overhead", "both across"])
def test_flesh_keeps_the_volume_it_was_sculpted_with(
    naked: tuple[Character, Character], collar: list[float], turn: list[float], lost: float
) -> None:
    turns = {"LeftShoulder": collar, "LeftArm": turn}
    turns |= {name.replace("Left", "Right"): [x, -y, -z] for name, (x, y, z) in turns.items()}
    now = posed(naked[1], turns)
    sculpted = shaped_points(read_bake(), MAN.phenotype)[:len(now)]
    faces = naked[1].meshes[0].faces
    assert volume(now, faces) == pytest.approx(volume(sculpted, faces), rel=lost)


def test_an_arm_across_hardly_lies_inside_the_chest(naked: tuple[Character, Character]) -> None:
    now = posed(naked[1], {"LeftShoulder": [0, 0, -8.0], "LeftArm": [50.0, 22, -120]})
    mesh, flesh = naked[1].meshes[0], make_body(MAN.phenotype).flesh
    names = np.array([helped_joint(name) for name in flesh.names])
    arm, trunk = (np.flatnonzero(flesh.dense[:len(now), np.isin(names, part)].sum(axis=1) > 0.5)
                  for part in (["LeftArm"], ["Hips", "Spine", "Spine1", "Spine2", "LeftShoulder"]))
    used = np.unique(mesh.faces)
    arm, trunk = np.intersect1d(arm, used), np.intersect1d(trunk, used)
    away, near = cKDTree(now[trunk]).query(now[arm])
    ahead = np.einsum("va,va->v", now[arm] - now[trunk[near]],
                      vertex_normals(now, mesh.faces)[trunk[near]])
    apart = np.linalg.norm(mesh.vertices[arm] - mesh.vertices[trunk[near]], axis=1)
    inside = np.where((ahead < 0) & (apart > away + 0.04) & (away < 0.1), -ahead, 0.0)
    assert inside.max() < 0.04


def test_twists_of_an_upper_arm_are_blended_with_their_neighbours_only() -> None:
    flesh = make_body(MAN.phenotype).flesh
    line = [flesh.names.index(f"LeftArm{part}") for part in ("Twist1", "Twist2", "Twist3", "")]
    shares = flesh.dense[:, line]
    along = shares[np.sum(shares, axis=1) > 0.7]
    assert len(along) > 50
    assert np.median(np.sort(along, axis=1)[:, :2].sum(axis=1)) < 0.05


def test_with_arms_half_way_down_a_body_is_as_it_was_sculpted() -> None:
    bake = read_bake()
    count, joints = len(bake.joints), len(bake.joint_names)
    points = shaped_points(bake, MAN.phenotype)
    sculpted, heads, tails = np.split(points, [count, count + joints])
    skeleton = Skeleton(bake.joint_names, bake.joint_parents, heads, tails)
    body = make_body(MAN.phenotype)
    back = quaternions.conjugate(rest_rotations(skeleton))
    motion = with_helpers_on(Motion.from_global_rotations(
        body.skeleton, 24.0, heads[:1], back[None]), body.flesh.moves)
    mesh = Mesh("skin", body.vertices, body.faces["body"], body.flesh.joints, body.flesh.weights,
                "skin")
    pose = motion.global_pose
    now = posed_vertices(mesh, motion.skeleton, pose.positions[0], pose.rotations[0])
    np.testing.assert_allclose(now, sculpted, atol=1e-6)


def test_a_bent_elbow_is_not_drawn_in(naked: tuple[Character, Character]) -> None:
    rest, elbow = naked[0].meshes[0].vertices, naked[0].skeleton.heads[
        naked[0].skeleton.index["LeftForeArm"]]
    away = np.linalg.norm(rest - elbow, axis=1)
    behind = (away < 0.07) & (rest[:, 1] > elbow[1] + 0.02)
    kept = [np.mean(np.linalg.norm(posed(character, {"LeftForeArm": [0, 0, -130.0]}) - elbow,
                                   axis=1)[behind] / away[behind]) for character in naked]
    assert kept[0] < 0.9
    assert kept[1] > 0.9


def volume(vertices: NDArray[Any], faces: NDArray[Any]) -> float:
    a, b, c, d = (vertices[faces[:, i]] for i in range(4))
    return float(sum(np.einsum("fa,fa->", p, np.cross(q, r)) / 6 for p, q, r in
                     ((a, b, c), (a, c, d))))


def test_helpers_are_taken_for_no_role(man: Character) -> None:
    roles = find_roles(man.skeleton).joints
    assert not set(roles.values()) & set(ADDED)
    assert roles["left_forearm"] == "LeftForeArm"


def test_performances_have_their_helpers_turned(man: Character) -> None:
    motion = turned(PLAIN, {"LeftArm": [0, 0, -80.0], "LeftForeArm": [50.0, 0, 0]})
    done = retarget(motion, man).motion
    again = with_helpers_turned(done)
    np.testing.assert_allclose(done.rotations, again.rotations, atol=1e-6)
    bend = quaternions.to_rotation_vectors(
        done.rotations[0, done.skeleton.index["LeftForeArmBend2"]])
    assert np.degrees(np.linalg.norm(bend)) > 5.0
