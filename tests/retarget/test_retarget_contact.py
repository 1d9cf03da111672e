"""Hands that touch in the source touch on the target, whatever the proportions."""

from functools import cache

import numpy as np
import pytest
from scipy.spatial import cKDTree

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Performance, posed_vertices
from mimegen.characters.spec import CharacterSpec, read_character
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.motion.quaternions import FloatArray
from mimegen.readers import find_roles
from mimegen.retarget import retarget
from mimegen.retarget.anatomy import hand_axes, matching
from mimegen.retarget.flesh import stature, tube_axes, typical_tubes
from mimegen.retarget.hands import arms_bent, target_body
from mimegen.retarget.obstacles import below, in_hand, limbs_of
from mimegen.retarget.outer import outer_surface
from mimegen.retarget.stance import resting_height, standing_height

STANDARD = standard_skeleton()
JOINTS = {role: STANDARD.index[name] for role, name in find_roles(STANDARD).joints.items()}
BODIES = {"short and broad": {"sex": 0, "age": 50, "height": 1.5, "weight": 0.95, "muscle": 0.6},
          "tall and slim": {"sex": 1, "age": 25, "height": 2.0, "weight": 0.1, "muscle": 0.4}}
FPS, FRAMES, HELD = 30.0, 60, slice(24, 36)


@cache
def body(name: str) -> Character:
    if name not in BODIES:
        return build_character(read_character(data_folder() / "rigs" / f"{name}.yaml"))
    man = read_character(data_folder() / "rigs" / "man.yaml").model_dump(exclude_unset=True)
    return build_character(CharacterSpec.model_validate(man | {"phenotype": BODIES[name]}))


def bare(name: str) -> Character:
    return Character(name, STANDARD, (), {}, "", "", "")


def reaching(palms: dict[str, FloatArray], towards: dict[str, FloatArray],
             fingers: dict[str, FloatArray]) -> Motion:
    """The standard body brings palms to places, facing a way, holds them there, and lets go."""
    rest = Motion(STANDARD, FPS, np.tile(STANDARD.heads[0], (FRAMES, 1)),
                  np.tile(quaternions.IDENTITY, (FRAMES, len(STANDARD.names), 1)))
    turns = rest.global_pose.rotations.copy()
    offsets = {}
    for side, palm in palms.items():
        hand = JOINTS[f"{side}_hand"]
        axes = hand_axes(STANDARD.heads, JOINTS, side)
        assert axes is not None
        along, back = axes
        turn = matching(along, -back, fingers[side], towards[side])
        below = [i for i, name in enumerate(STANDARD.names)
                 if name.startswith(STANDARD.names[hand])]
        turns[:, below] = turn
        points = target_body(rest, bare("source"), JOINTS).hands
        number = 0 if side == "left" else 1
        offset = quaternions.rotate(turn, points.points[0, number, 0] - points.wrists[0, number])
        offsets[side] = palm - offset
    posed = Motion.from_global_rotations(STANDARD, FPS, rest.root_positions, turns)
    away = np.abs(np.arange(FRAMES) - FRAMES / 2) / FPS
    free = np.clip(away * 1.5 - 0.4, 0.0, 1.0)[:, None]
    wrists = np.stack([offsets.get(side, STANDARD.heads[JOINTS[f"{side}_hand"]])
                       + free * np.array([0.25 if side == "left" else -0.25, -0.15, -0.1])
                       for side in ("left", "right")], axis=1)
    down = turns.copy()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hanging = quaternions.from_rotation_vectors([0.0, sign * 1.2, 0.0])
        for part in ("upper_arm", "forearm"):
            down[:, JOINTS[f"{side}_{part}"]] = hanging
    posed = Motion.from_global_rotations(STANDARD, FPS, rest.root_positions, down)
    return arms_bent(posed, JOINTS, wrists)


def on_the_body(tube: str, along: float, way: FloatArray) -> FloatArray:
    """A place (3,) on the standard body's typical flesh, in the rest pose."""
    axes = tube_axes(STANDARD.heads[None], quaternions.IDENTITY[None], JOINTS,
                     stature(STANDARD, JOINTS))[tube]
    tubes = typical_tubes(stature(STANDARD, JOINTS))
    radius = tubes[tube].radius(np.array([[along]]), way[None, None])[0, 0]
    turned = np.array([way[0], -way[1], way[2]])
    return axes.start[0] + along * (axes.end - axes.start)[0] + radius * turned


def clap() -> Motion:
    middle = np.array([0.0, -0.38, 1.25])
    left = np.array([1.0, 0.0, 0.0])
    ahead = np.array([0.0, -0.8, 0.6])
    return reaching({"left": middle, "right": middle}, {"left": -left, "right": left},
                    {"left": ahead, "right": ahead})


def hands_on_hips() -> Motion:
    way = {"left": np.array([1.0, 0.0, 0.0]), "right": np.array([-1.0, 0.0, 0.0])}
    ahead = np.array([0.0, -0.8, -0.6])
    return reaching({side: on_the_body("trunk", 0.25, out) for side, out in way.items()},
                    {side: -out for side, out in way.items()}, dict.fromkeys(way, ahead))


def hand_to_mouth() -> Motion:
    return reaching({"left": on_the_body("head", 0.1, np.array([0.0, 1.0, 0.0]))},
                    {"left": np.array([0.0, 1.0, 0.0])}, {"left": np.array([-0.8, 0.0, 0.6])})


def palms(performance: Performance) -> FloatArray:
    """The palms' skin in all frames, (F, 2, 3)."""
    skeleton = performance.character.skeleton
    joints = {role: skeleton.index[name] for role, name in find_roles(skeleton).joints.items()}
    return target_body(performance.motion, performance.character, joints).hands.points[:, :, 0]


def off_the_skin(performance: Performance, frame: int, points: FloatArray) -> FloatArray:
    """How far (m) points (P, 3) are outside head and trunk, by the nearest real vertex."""
    character, pose = performance.character, performance.motion.global_pose
    index = character.skeleton.index
    arms = {i for name, i in index.items() if "Arm" in name or "Hand" in name}
    places, normals = [], []
    for mesh in character.meshes:
        posed = posed_vertices(mesh, character.skeleton, pose.positions[frame],
                               pose.rotations[frame])
        own = mesh.joints[np.arange(len(posed)), np.argmax(mesh.weights, axis=1)]
        corners = posed[mesh.faces[:, :3]]
        normal = np.zeros_like(posed)
        flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        for corner in range(3):
            np.add.at(normal, mesh.faces[:, corner], flat)
        kept = ~np.isin(own, list(arms)) & (np.linalg.norm(normal, axis=1) > 0)
        places.append(posed[kept])
        normals.append(normal[kept] / np.linalg.norm(normal[kept], axis=1, keepdims=True))
    skin, out = np.concatenate(places), np.concatenate(normals)
    away = points[:, None] - skin[None]
    distance = np.linalg.norm(away, axis=2)
    nearest = np.argmin(distance, axis=1)
    rows = np.arange(len(points))
    inside = np.sum(away[rows, nearest] * out[nearest], axis=1) < 0
    return np.where(inside, -1.0, 1.0) * distance[rows, nearest]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BODIES, "man", "spacesuit"])
def test_palms_that_clap_clap(name: str) -> None:
    source = clap()
    ours = palms(Performance(bare("source"), source))
    assert np.linalg.norm(ours[HELD, 0] - ours[HELD, 1], axis=1).max() < 0.005
    theirs = palms(retarget(source, body(name)))
    assert np.linalg.norm(theirs[HELD, 0] - theirs[HELD, 1], axis=1).max() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BODIES, "man", "woman"])
def test_hands_on_hips_lie_on_hips(name: str) -> None:
    done = retarget(hands_on_hips(), body(name))
    off = off_the_skin(done, 30, palms(done)[30])
    assert np.all(off < 0.02) and np.all(off > -0.01)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BODIES, "man", "spacesuit"])
def test_a_hand_to_the_mouth_is_at_the_mouth(name: str) -> None:
    done = retarget(hand_to_mouth(), body(name))
    off = off_the_skin(done, 30, palms(done)[30, :1])
    assert np.all(off < 0.02) and np.all(off > -0.01)


@pytest.mark.slow
def test_hands_that_touch_nothing_stay_free() -> None:
    """Without contacts, arms point exactly as the source's."""
    source = reaching({"left": np.array([0.5, -0.3, 1.2])}, {"left": np.array([0, 0, -1.0])},
                      {"left": np.array([0.5, -0.8, 0.0])})
    done = retarget(source, body("tall and slim")).motion
    goal = find_roles(done.skeleton).joints
    for start, end in (("left_upper_arm", "left_forearm"), ("left_forearm", "left_hand")):
        ours = (source.global_pose.positions[:, JOINTS[end]]
                - source.global_pose.positions[:, JOINTS[start]])
        places, index = done.global_pose.positions, done.skeleton.index
        theirs = places[:, index[goal[end]]] - places[:, index[goal[start]]]
        cosine = np.sum(ours * theirs, axis=1) / (np.linalg.norm(ours, axis=1)
                                                  * np.linalg.norm(theirs, axis=1))
        assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 2.0


def hanging() -> Motion:
    """Arms hang, fingers bent, palms to the thighs."""
    turns = np.tile(quaternions.IDENTITY, (12, len(STANDARD.names), 1))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        for joint, name in enumerate(STANDARD.names):
            bend = 93.0 if name == f"{side}Arm" else 25.0 * name.startswith(f"{side}Hand")
            if bend and (name.endswith("Arm") or name[-1] in "123") and "Thumb" not in name:
                turns[:, joint] = quaternions.from_rotation_vectors(
                    [0.0, sign * np.radians(bend), 0.0])
    return Motion(STANDARD, FPS, np.tile(STANDARD.heads[0], (12, 1)), turns)


def least_off_skin(done: Performance, joints: dict[str, int], side: str) -> float:
    """How far (m) a hand is, in the first frame, from the nearest point of trunk, legs and clothes.
    """
    surface, first = outer_surface(done.character), done.motion.at(np.array([0]))
    arms = [below(done.character, joints[f"{own}_upper_arm"]) for own in ("left", "right")]
    rest = surface.part(~np.isin(surface.of, np.concatenate(arms))).skin.posed(first)[0]
    hand = surface.part(in_hand(surface, done.character, joints, side)).skin.posed(first)[0]
    return float(cKDTree(rest).query(hand)[0].min())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spacesuit", "woman"])
def test_fingers_of_hanging_hands_stay_out_of_thighs(name: str) -> None:
    done = retarget(hanging(), body(name))
    index = done.character.skeleton.index
    joints = {role: index[own] for role, own in find_roles(done.character.skeleton).joints.items()}
    limbs = limbs_of(done.character, tuple(sorted(joints.items())))
    for side, limb in zip(("left", "right"), limbs, strict=True):
        assert limb.depths(done.motion).deep.max() < 0.006
        assert least_off_skin(done, joints, side) < 0.01


def test_who_kicks_in_the_air_is_not_laid_on_the_ground() -> None:
    skeleton = standard_skeleton()
    kicks = np.sin(np.arange(60) * 2 * np.pi * 2.5 / 30)
    rotations = np.tile(quaternions.IDENTITY, (60, len(skeleton.names), 1))
    for name, sign in (("LeftUpLeg", 1), ("RightUpLeg", -1)):
        turns = np.stack([1.0 + 0.3 * sign * kicks, 0 * kicks, 0 * kicks], axis=1)
        rotations[:, skeleton.index[name]] = quaternions.from_rotation_vectors(turns)
    roles = find_roles(skeleton).joints
    joints = {role: skeleton.index[name] for role, name in roles.items()}
    rest = skeleton.heads[joints["left_foot"], 2]
    hips = skeleton.heads[:1] + np.array([0.0, 0.0, 0.2])
    kicking = Motion(skeleton, 30.0, np.repeat(hips, 60, axis=0), rotations)
    assert kicking.global_pose.positions[:, joints["left_foot"], 2].min() > rest + 0.3
    assert standing_height(kicking, joints) == pytest.approx(rest)
    toes = skeleton.heads[joints["left_toe"], 2]
    assert resting_height(kicking, joints, "toe", "left") == pytest.approx(toes)
    still = Motion(skeleton, 30.0, kicking.root_positions, np.repeat(rotations[:1], 60, axis=0))
    assert standing_height(still, joints) > rest + 0.3
