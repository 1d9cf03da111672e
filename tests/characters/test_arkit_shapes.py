"""Bodies that users bring, with shape keys that are called as ARKit's weights."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from mimegen.characters.arkit_joints import with_shape_joints
from mimegen.characters.arkit_shapes import (
    PREFIX,
    has_shapes,
    shape_moves,
    weights,
)
from mimegen.characters.character import Character, Mesh, Performance
from mimegen.characters.expression import expressed, face_of, gaze_of, has_face
from mimegen.characters.packing import pack_character, unpack_character
from mimegen.characters.posing import posed_meshes
from mimegen.faces.words import CLOSED, arkit_name, arkit_names, units_file
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.quaternions import IDENTITY, FloatArray
from mimegen.pages.preview import capsule_body

WAYS: dict[str, tuple[float, float, float]] = {
    "jawOpen": (0, 0, -0.03), "eyeBlinkLeft": (0, 0, -0.01), "eyeBlinkRight": (0, 0, -0.01),
    "mouthSmileLeft": (0.01, 0, 0.01), "eyeWideLeft": (0, 0, 0.005)}


def face(ways: Mapping[str, tuple[float, float, float]], joint: int) -> Mesh:
    """Return a square before the face, of two faces that share a seam; each shape moves all."""
    x, z = np.meshgrid([-0.05, 0.0, 0.0, 0.05], [1.55, 1.65])
    vertices = np.stack([x, np.full_like(x, -0.1), z], axis=-1).reshape(-1, 3)
    faces = np.array([[0, 1, 5, 4], [2, 3, 7, 6]], np.int32)
    attributes = {PREFIX + name: np.tile(way, (8, 1)).astype(float) for name, way in ways.items()}
    return Mesh("Face", vertices, faces, np.full((8, 1), joint, np.int32), np.ones((8, 1)),
                "shirt", None, attributes)


def brought(ways: Mapping[str, tuple[float, float, float]] = WAYS,
            eyes: tuple[str, ...] = ()) -> Character:
    """Return a capsule body with shapes, and eyes of its own as bones of these names."""
    skeleton = standard_skeleton()
    head = skeleton.index["Head"]
    places = np.tile(skeleton.heads[head] + [0, -0.1, 0.1], (len(eyes), 1))
    places[:, 0] += np.array([0.03, -0.03])[:len(eyes)]
    body = capsule_body(skeleton)
    if eyes:
        skeleton = Skeleton(
            (*skeleton.names, *eyes), np.concatenate([skeleton.parents, [head] * len(eyes)]),
            np.concatenate([skeleton.heads, places]), np.concatenate([skeleton.tails, places]))
    return replace(body, skeleton=skeleton, meshes=(*body.meshes, face(ways, head)))


def shown(character: Character, yaw_deg: float = 0.0, **values: float) -> Performance:
    """Return somebody who stands, the head turned, with a face for two frames."""
    skeleton = character.skeleton
    rotations = np.tile(IDENTITY, (2, len(skeleton.names), 1))
    rotations[:, skeleton.index["Head"]] = quaternions.from_euler("Z", np.full((2, 1), yaw_deg))
    motion = Motion(skeleton, 24.0, np.repeat(skeleton.heads[:1], 2, axis=0), rotations)
    return expressed(Performance(character, motion),
                     {name: np.full(2, value) for name, value in values.items()})


def moved(performance: Performance) -> FloatArray:
    """Return how far (V, 3) the face's vertices are from where they are at rest."""
    pose = performance.motion.global_pose
    places = posed_meshes(performance.character, pose.positions[0], pose.rotations[0])[-1]
    return places - performance.character.meshes[-1].vertices


@pytest.mark.parametrize("text", [
    "browDownLeft", "BrowDownLeft", "browDown_L", "Head.browDownLeft", "brow_down_left"])
def test_weights_are_known_by_many_writings(text: str) -> None:
    assert arkit_name(text) == "browDownLeft"


def test_every_weight_is_known_and_others_are_not() -> None:
    assert [arkit_name(name) for name in arkit_names()] == list(arkit_names())
    assert arkit_name("Fcl_MTH_A") is None and arkit_name("") is None and arkit_name("l") is None


@pytest.mark.parametrize(("values", "way"), [
    ({"jawOpen": 1.0}, (0, 0, -0.03)), ({"jawOpen": 0.5}, (0, 0, -0.015)),
    ({"jawOpen": 1.5}, (0, 0, -0.03)), ({"eyeBlinkLeft": 1.0}, (0, 0, -0.01)),
    ({"eyeWideLeft": 1.0}, (0, 0, 0.005)), ({"mouthSmileRight": 1.0}, (0, 0, 0)),
    ({"mouthSmileLeft": 0.4}, (0.004, 0, 0.004)), ({"AU12": 1.0}, (0.009, 0, 0.009)),
])
def test_shapes_go_as_far_as_they_are_told(values: dict[str, float],
                                           way: tuple[float, float, float]) -> None:
    assert moved(shown(brought(), **values)) == pytest.approx(np.tile(way, (8, 1)), abs=1e-5)


def test_shapes_turn_with_the_head() -> None:
    straight, turned = (moved(shown(brought(), yaw, mouthSmileLeft=1.0))
                        - moved(shown(brought(), yaw)) for yaw in (0.0, 90.0))
    assert straight[0] == pytest.approx([0.01, 0, 0.01], abs=1e-5)
    assert turned[0] == pytest.approx([0, 0.01, 0.01], abs=1e-5)


def test_looks_are_shapes_of_their_own() -> None:
    ways = {"eyeLookOutLeft": (0.01, 0.0, 0.0), "eyeLookInLeft": (-0.01, 0.0, 0.0)}
    assert moved(shown(brought(ways), look_left=15.0))[0, 0] == pytest.approx(0.005, abs=1e-5)
    assert moved(shown(brought(ways), look_left=-30.0))[0, 0] == pytest.approx(-0.01, abs=1e-5)


@pytest.mark.parametrize("eyes", [("Eye_L", "Eye_R"), ("LeftEye", "RightEye")])
def test_own_eyes_turn_where_no_shape_moves_them(eyes: tuple[str, str]) -> None:
    performance = shown(brought(eyes=eyes), look_left=20.0)
    skeleton = performance.motion.skeleton
    number = len(standard_skeleton().names)
    assert skeleton.names[number:number + 2] == ("LeftEye", "RightEye")
    turns = quaternions.to_rotation_vectors(performance.motion.rotations[0, number:number + 2])
    assert np.degrees(turns) == pytest.approx(np.tile([0, 0, 20], (2, 1)), abs=1e-3)


def test_own_eyes_stay_where_shapes_move_them() -> None:
    ways = {"eyeLookOutLeft": (0.01, 0.0, 0.0)}
    performance = shown(brought(ways, ("LeftEye", "RightEye")), look_left=20.0)
    number = len(standard_skeleton().names)
    assert np.allclose(performance.motion.rotations[0, number:number + 2], IDENTITY)
    assert moved(performance)[0, 0] > 0.005


def test_the_units_are_read_back_as_ground_truth() -> None:
    performance = shown(brought(), jawOpen=0.6, eyeBlinkRight=0.5)
    pose = performance.motion.global_pose
    units = face_of(performance.character, pose.rotations[0])
    names = [*units_file().units, CLOSED]
    assert units[:, names.index("jawOpen")] == pytest.approx([0.6, 0.6], abs=1e-4)
    assert units[:, -1] == pytest.approx([0.0, 0.5], abs=1e-4)


def units_of(performance: Performance) -> dict[str, FloatArray]:
    units = face_of(performance.character, performance.motion.global_pose.rotations[0])
    return dict(zip([*units_file().units, CLOSED], units.T, strict=True))


def test_ground_truth_has_only_what_the_shapes_show() -> None:
    ways = {"mouthSmileLeft": (0.01, 0.0, 0.0), "browInnerUp": (0.0, 0.0, 0.01),
            "eyeWideRight": (0.0, 0.0, 0.005)}
    joy = units_of(shown(brought(ways), AU12=1.0, jawOpen=0.7, eyeBlinkLeft=1.0, eyeBlinkRight=1.0))
    assert joy["mouthSmile"] == pytest.approx([0.9, 0.0], abs=1e-4)
    assert np.all(joy["jawOpen"] == 0) and np.all(joy[CLOSED] == 0)
    assert np.all(units_of(shown(brought(ways), eyeWideLeft=1.0))[CLOSED] == 0)
    wide = units_of(shown(brought(ways), eyeWideRight=1.0))
    assert wide[CLOSED] == pytest.approx([0.0, -0.35], abs=1e-4)


def test_a_shape_of_both_sides_counts_on_both() -> None:
    ways = {"browInnerUp": (0.0, 0.0, 0.01)}
    performance = shown(brought(ways), AU1L=1.0)
    seen = units_of(performance)["browInnerUp"]
    assert moved(performance)[0, 2] == pytest.approx(0.01 * seen[0], abs=1e-5)
    assert seen[0] == seen[1] > 0.2


@pytest.mark.parametrize(("ways", "eyes", "turn"), [
    (WAYS, (), False), (WAYS, ("Eye_L", "Eye_R"), True),
    ({"eyeLookOutLeft": (0.01, 0.0, 0.0)}, (), True)])
def test_eyes_that_do_not_turn_have_no_gaze(
        ways: dict[str, tuple[float, float, float]], eyes: tuple[str, ...], turn: bool) -> None:
    performance = shown(brought(ways, eyes), look_left=20.0)
    gaze = gaze_of(performance.character, performance.motion.global_pose.rotations[0])
    assert np.isfinite(gaze).all() == turn and np.isnan(gaze).all() != turn


def test_bodies_without_such_shapes_have_no_face() -> None:
    plain = brought({})
    assert not has_shapes(plain) and not has_face(plain) and has_face(brought())
    assert shown(plain, jawOpen=1.0).character is plain


def test_weights_are_between_none_and_all() -> None:
    found = weights(np.full((2, len(units_file().units)), 1.4), np.full((4, 3), 50.0))
    assert set(found) == set(arkit_names())
    assert all(0 <= value <= 1 for value in found.values()) and found["jawOpen"] == 1


def test_normals_turn_and_seams_stay_closed() -> None:
    character = with_shape_joints(brought({"jawOpen": (0.0, 0.0, 0.0)}))
    mesh = character.meshes[-1]
    bent = np.zeros((8, 3))
    bent[[1, 2], 1] = -0.02
    mesh = replace(mesh, attributes={PREFIX + "jawOpen": bent})
    move, = shape_moves(character, (mesh,), normals=True)
    turned = {int(row): displacement
              for row, displacement in zip(move.rows, move.displacements[0], strict=True)}
    assert turned[8 + 1] == pytest.approx(turned[8 + 2]) and np.abs(turned[8 + 1]).max() > 0.01


def test_a_store_keeps_the_shapes() -> None:
    character = brought()
    again = unpack_character(pack_character(character))
    assert again.fingerprint == character.fingerprint and has_shapes(again)
    kept = again.meshes[-1].attributes[PREFIX + "jawOpen"]
    assert np.array_equal(kept, character.meshes[-1].attributes[PREFIX + "jawOpen"])
