"""The spacesuit: what it covers, how it moves, what its file may change."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Mesh, posed_vertices
from mimegen.characters.helpers import helped_joint
from mimegen.characters.phenotype import Phenotype
from mimegen.characters.spec import CharacterSpec, read_character
from mimegen.motion import Motion, quaternions

FILE = data_folder() / "rigs" / "spacesuit.yaml"
LIMBS = ("Arm", "ForeArm", "UpLeg", "Leg")
FINGERS = [f"{side}Hand{finger}{number}" for side in ("Left", "Right")
           for finger in ("Thumb", "Index", "Middle", "Ring", "Pinky") for number in "123"]


def content(**suit: object) -> dict[str, Any]:
    """The spacesuit's file with some entries of the suit changed."""
    described: dict[str, Any] = yaml.safe_load(FILE.read_text())
    described["outfit"][0] |= suit
    return described


def built(**suit: object) -> Character:
    return build_character(CharacterSpec.model_validate(content(**suit)))


@pytest.fixture(scope="module")
def astronaut() -> Character:
    return build_character(read_character(FILE))


def posed(character: Character, joint: str, turn: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The meshes' vertices with one joint turned."""
    skeleton = character.skeleton
    local = np.tile(quaternions.IDENTITY, (1, len(skeleton.names), 1))
    local[0, skeleton.index[joint]] = turn
    pose = Motion(skeleton, 30.0, skeleton.heads[:1].copy(), local).global_pose
    return {mesh.name: posed_vertices(mesh, skeleton, pose.positions[0], pose.rotations[0])
            for mesh in character.meshes}


def mesh_of(character: Character, name: str) -> Mesh:
    return next(mesh for mesh in character.meshes if mesh.name == name)


def thickness(character: Character, bone: str) -> float:
    """How far the skin or suit is from the middle of a bone, at its widest."""
    joint = character.skeleton.index[bone]
    head, tail = character.skeleton.heads[joint], character.skeleton.tails[joint]
    axis = (tail - head) / np.linalg.norm(tail - head)
    reach = []
    for mesh in character.meshes:
        own = [helped_joint(name) == bone for name in character.skeleton.names]
        weight = np.where(np.isin(mesh.joints, np.flatnonzero(own)), mesh.weights, 0).sum(axis=1)
        away = mesh.vertices[weight > 0.5] - (head + tail) / 2
        along = away @ axis
        near = np.abs(along) < 0.02
        reach.append(np.linalg.norm(away[near] - np.outer(along[near], axis), axis=1))
    return float(np.quantile(np.concatenate(reach), 0.8))


def test_soles_stand_on_the_ground(astronaut: Character) -> None:
    lowest = min(mesh.vertices[:, 2].min() for mesh in astronaut.meshes)
    assert lowest == pytest.approx(0.0, abs=1e-9)
    soles = mesh_of(astronaut, "rubber").vertices
    for side in (-1, 1):
        assert soles[side * soles[:, 0] > 0, 2].min() == pytest.approx(0.0, abs=1e-9)


def test_everything_belongs_to_the_suit(astronaut: Character) -> None:
    assert {mesh.name for mesh in astronaut.meshes} == {"suit", "shell", "metal", "rubber", "visor"}


@pytest.mark.slow
def test_what_is_worn_under_the_suit_is_not_seen(astronaut: Character) -> None:
    described = content()
    described["outfit"].insert(0, {"kind": "trousers", "color": "#ff0000"})
    dressed = build_character(CharacterSpec.model_validate(described))
    assert [mesh.name for mesh in dressed.meshes] == [mesh.name for mesh in astronaut.meshes]


def test_the_suit_encloses_the_person(astronaut: Character) -> None:
    bare = content()
    bare["outfit"] = []
    person = build_character(CharacterSpec.model_validate(bare))
    skin = mesh_of(person, "skin").vertices
    suit = np.concatenate([mesh.vertices for mesh in astronaut.meshes])
    lift = astronaut.skeleton.heads[0, 2] - person.skeleton.heads[0, 2]
    for axis in range(3):
        shift = lift if axis == 2 else 0.0
        assert suit[:, axis].min() < skin[:, axis].min() + shift
        assert suit[:, axis].max() > skin[:, axis].max() + shift


def test_faces_and_weights_are_whole(astronaut: Character) -> None:
    assert sum(len(mesh.faces) for mesh in astronaut.meshes) < 60_000
    for mesh in astronaut.meshes:
        assert np.isfinite(mesh.vertices).all()
        assert mesh.faces[:, :3].min() >= 0
        assert mesh.faces.max() < len(mesh.vertices)
        np.testing.assert_allclose(mesh.weights.sum(axis=1), 1.0, atol=1e-9)
        assert (mesh.weights >= 0).all()
        assert ((mesh.attributes["paint"] >= 0) & (mesh.attributes["paint"] <= 1)).all()


def test_faces_look_outwards(astronaut: Character) -> None:
    """The volume that the faces enclose is positive: about a big person's."""
    total = 0.0
    for mesh in astronaut.meshes:
        for corners in (mesh.faces[:, [0, 1, 2]], mesh.faces[mesh.faces[:, 3] >= 0][:, [0, 2, 3]]):
            a, b, c = mesh.vertices[corners].transpose(1, 0, 2)
            total += float(np.einsum("va,va->", a, np.cross(b, c))) / 6
    assert 0.1 < total < 0.5


@pytest.mark.parametrize("joint", FINGERS)
def test_every_finger_bone_moves_the_glove(astronaut: Character, joint: str) -> None:
    turn = quaternions.from_euler("Y", [40.0])
    before = mesh_of(astronaut, "suit").vertices
    moved = np.linalg.norm(posed(astronaut, joint, turn)["suit"] - before, axis=1)
    head = astronaut.skeleton.heads[astronaut.skeleton.index[joint]]
    assert (moved > 0.003).sum() > 20
    assert np.linalg.norm(before[moved > 0.003] - head, axis=1).max() < 0.13


def test_the_helmet_turns_with_the_head_as_one(astronaut: Character) -> None:
    turn = quaternions.from_euler("ZX", [40.0, 15.0])
    place = astronaut.skeleton.heads[astronaut.skeleton.index["Head"]]
    visor = mesh_of(astronaut, "visor").vertices
    mirror = visor[:, 2] > place[2]
    assert mirror.any()
    expected = place + quaternions.rotate(turn, visor - place)
    np.testing.assert_allclose(posed(astronaut, "Head", turn)["visor"][mirror], expected[mirror],
                               atol=1e-9)


def test_the_backpack_stays_whole_when_the_trunk_bends(astronaut: Character) -> None:
    shell = mesh_of(astronaut, "shell").vertices
    pack = shell[:, 1] > 0.15
    bent = posed(astronaut, "Spine1", quaternions.from_euler("X", [30.0]))["shell"]
    before = np.linalg.norm(shell[pack] - shell[pack][0], axis=1)
    after = np.linalg.norm(bent[pack] - bent[pack][0], axis=1)
    np.testing.assert_allclose(before, after, atol=1e-9)
    assert np.abs(bent[pack] - shell[pack]).max() > 0.05


def test_limbs_are_thicker_than_the_mans(astronaut: Character) -> None:
    man = build_character(read_character(data_folder() / "rigs" / "man.yaml"))
    for bone in LIMBS:
        assert thickness(astronaut, "Left" + bone) > thickness(man, "Left" + bone) + 0.004


def test_bulk_makes_limbs_thicker(astronaut: Character) -> None:
    thick = built(bulk=0.036)
    for bone in LIMBS[:3]:
        assert thickness(thick, "Left" + bone) > thickness(astronaut, "Left" + bone) + 0.006


@pytest.mark.slow
def test_the_fingerprint_follows_the_colors(astronaut: Character) -> None:
    assert built().fingerprint == astronaut.fingerprint
    for part in ("color", "visor_color", "stripe_color", "patch_color", "boot_color"):
        assert built(**{part: "#123456"}).fingerprint != astronaut.fingerprint


@pytest.mark.slow
@pytest.mark.parametrize("phenotype", [
    {"sex": 0, "age": 40, "height": 1.5, "weight": 0.9},
    {"sex": 1, "age": 25, "height": 2.1, "muscle": 1.0},
    {"sex": 0.5, "age": 10, "height": 1.25},
])
def test_the_suit_fits_other_bodies(phenotype: dict[str, float]) -> None:
    described = content()
    described["phenotype"] = phenotype
    character = build_character(CharacterSpec.model_validate(described))
    height = Phenotype.model_validate(phenotype).height
    assert min(mesh.vertices[:, 2].min() for mesh in character.meshes) == pytest.approx(0, abs=1e-9)
    assert height < character.height < height * 1.1
    assert thickness(character, "LeftArm") > 0.05 * height / 1.8


@pytest.mark.parametrize(("change", "place"), [
    ({"visor_colour": "#ffffff"}, "visor_colour"),
    ({"bulk": 0.5}, "bulk"),
    ({"color": "white"}, "color"),
])
def test_mistakes_are_named(tmp_path: Path, change: dict[str, object], place: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content(**change)))
    with pytest.raises(RequestError, match=f"{re.escape(str(path))}: .*{place}") as problem:
        read_character(path)
    assert "\n" not in str(problem.value)

