"""Hands on man and woman: thumbs that touch fingertips, and the framing of raised hands."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from mimegen.base.paths import data_file
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, posed_vertices
from mimegen.characters.spec import read_character
from mimegen.hands.compiling import HandName
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.motion.hand_shapes import finger_joints, hand_shapes, side_pose
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget import retarget
from mimegen.shots.config import read_config
from mimegen.shots.framing import frame_camera

TOUCHING = {name: shape.touches for name, shape in hand_shapes().items() if shape.touches}
NEAR_M, DEEP_M = 0.004, 0.004
# Beyond this, a nearest vertex says nothing of inside and outside.
BESIDE_M = 0.009


def still_hands() -> Motion:
    """Return a motion at rest with a shape of both hands in each frame."""
    skeleton = standard_skeleton()
    turns = np.tile(quaternions.IDENTITY, (len(TOUCHING), len(skeleton.names), 1))
    for frame, name in enumerate(TOUCHING):
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            turns[frame, finger_joints(skeleton, side)] = side_pose(name, sign)
    root = np.tile(skeleton.heads[0], (len(TOUCHING), 1))
    return Motion.from_global_rotations(skeleton, 30.0, root, turns)


@pytest.fixture(scope="module", params=["man", "woman"])
def character(request: pytest.FixtureRequest) -> Character:
    return build_character(read_character(data_file(f"rigs/{request.param}.yaml")))


@pytest.fixture(scope="module")
def gaps(character: Character) -> dict[str, tuple[float, float]]:
    """The distances and depths in metres, the worse of both hands, by hand shape."""
    motion = retarget(still_hands(), character).motion
    places, turns = motion.global_pose
    return {name: max(of_hand(character, places[frame], turns[frame], side, str(finger))
                      for side in ("Left", "Right"))
            for frame, (name, finger) in enumerate(TOUCHING.items())}


def of_hand(character: Character, places: FloatArray, turns: FloatArray, side: str, finger: str
            ) -> tuple[float, float]:
    """Return how far thumb and fingertip are apart, and how deep they are in each other."""
    index = character.skeleton.index
    mesh = max(character.meshes, key=lambda one: int((strongest(one.joints, one.weights) == index[
        f"{side}HandThumb3"]).sum()))
    own = strongest(mesh.joints, mesh.weights)
    vertices = posed_vertices(mesh, character.skeleton, places, turns)
    corners = vertices[mesh.faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(vertices)
    for corner in range(mesh.faces.shape[1]):
        np.add.at(normals, mesh.faces[:, corner], flat)
    thumb, tip = (own == index[f"{side}Hand{name}3"] for name in ("Thumb", finger.capitalize()))
    away, nearest = cKDTree(vertices[tip]).query(vertices[thumb])
    inside = np.sum((vertices[thumb] - vertices[tip][nearest]) * normals[tip][nearest], axis=1) < 0
    deep = away[inside & (away < BESIDE_M)]
    return float(away.min()), float(deep.max(initial=0.0))


def strongest(joints: NDArray[np.int32], weights: FloatArray) -> NDArray[np.int32]:
    return np.asarray(joints[np.arange(len(joints)), weights.argmax(axis=1)])


@pytest.mark.slow
@pytest.mark.parametrize("shape", TOUCHING)
def test_thumb_and_fingertip_touch(shape: str, gaps: dict[str, tuple[float, float]]) -> None:
    distance, depth = gaps[shape]
    assert distance < NEAR_M
    assert depth < DEEP_M


@pytest.mark.parametrize("seed", [0, 2])
def test_the_ring_of_ok_stays_closed(seed: int, character: Character) -> None:
    """Life moves the fingers, but not out of a touch."""
    take = library_take(Catalogue.with_libraries(()).action("ok_sign"), None, seed, hand="right")
    motion = retarget(take.sources(4.0)[0][0], character).motion
    for places, turns in zip(*motion.global_pose, strict=True):
        assert of_hand(character, places, turns, "Right", "index")[0] < NEAR_M


def test_ok_is_among_them() -> None:
    assert {"ok", "letter_f", "letter_o", "six", "seven", "eight"} <= TOUCHING.keys()


@pytest.mark.slow
@pytest.mark.parametrize(("action", "hand", "sides", "share"), [
    ("number_3", "left", ["Left"], 0.25), ("number_7", None, ["Left", "Right"], 0.12)])
def test_raised_hands_fill_the_picture_and_stay_in_it(
    action: str, hand: HandName | None, sides: list[str], share: float, character: Character,
) -> None:
    config = read_config(data_file("render_configs/hands.yaml"))
    take = library_take(Catalogue.with_libraries(()).action(action), None, 0, hand=hand)
    performance = retarget(take.sources(6.0)[0][0], character)
    places, index = performance.motion.global_pose.positions, character.skeleton.index
    hands = {side: [number for name, number in index.items() if name.startswith(f"{side}Hand")]
             for side in sides}
    for angle in (0.0, 90.0):
        camera = frame_camera([performance], config, angle)
        for joints in hands.values():
            seen = camera.project(places[:, joints])[..., :2] / [config.width, config.height]
            assert seen.min() > 0 and seen.max() < 1
            assert np.ptp(seen[..., 1], axis=1).max() > share
