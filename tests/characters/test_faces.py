"""Faces that move: joints added to a built person, driven by a score's face track."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from mimegen.base.decisions import nearest
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Mesh, Performance
from mimegen.characters.expression import expressed, with_face
from mimegen.characters.posing import posed_meshes
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.choreography.face import CHANNELS, faces
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.faces.words import LOOKS, units_file
from mimegen.library.cast import DescribedPerson
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion import Motion
from mimegen.motion.quaternions import IDENTITY, FloatArray
from mimegen.pointlight import lights
from mimegen.rendering.opengl.looks import look_of
from mimegen.shots.config import read_config
from mimegen.shots.framing import frame_camera

MAN = DescribedPerson("man", data_folder() / "rigs" / "man.yaml")
CATALOGUE = Catalogue.with_libraries(())


@pytest.fixture(scope="module")
def man() -> Character:
    return build_character(read_character(MAN.file))


def still(character: Character) -> Performance:
    rotations = np.tile(IDENTITY, (1, len(character.skeleton.names), 1))
    return Performance(character, Motion(character.skeleton, 1.0,
                                         character.skeleton.heads[:1].copy(), rotations))


def faced(character: Character, **said: float) -> Mapping[str, FloatArray]:
    """Return each mesh's vertices (V, 3) where the face does what is said."""
    made = expressed(still(character), {name: np.array([size]) for name, size in said.items()})
    pose = made.motion.global_pose
    posed = posed_meshes(made.character, pose.positions[0], pose.rotations[0])
    return {mesh.name: places for mesh, places in zip(made.character.meshes, posed, strict=True)}


def skin_of(character: Character) -> Mesh:
    return next(mesh for mesh in character.meshes if mesh.name == "skin")


def weights_on(character: Character, joint: str) -> FloatArray:
    """Return how far the skin (V,) follows a joint."""
    mesh, number = skin_of(character), character.skeleton.index[joint]
    return np.asarray(np.where(mesh.joints == number, mesh.weights, 0.0).sum(axis=1))


def test_a_straight_face_is_the_person_as_built(man: Character) -> None:
    pose = still(man).motion.global_pose
    built = posed_meshes(man, pose.positions[0], pose.rotations[0])
    for mesh, places in zip(man.meshes, built, strict=True):
        assert np.abs(faced(man)[mesh.name] - places).max() < 2e-4


def test_lids_close_over_the_eyes_and_the_eyes_stay(man: Character) -> None:
    rest, shut = faced(man), faced(man, closed=1.0)
    lid = weights_on(with_face(man), "LeftLid") > 0.9
    lower = weights_on(with_face(man), "LeftLowerLid") > 0.9
    assert np.array_equal(rest["eyes"], shut["eyes"])
    gap = [skin["skin"][lid, 2].min() - skin["skin"][lower, 2].max() for skin in (rest, shut)]
    assert gap[0] > 0.002 and gap[1] < 0.001


def test_eyes_look_left_and_up(man: Character) -> None:
    eyes = next(mesh for mesh in man.meshes if mesh.name == "eyes")
    pupils = eyes.attributes["angle"] == 0
    away = faced(man, look_left=30.0, look_up=10.0)["eyes"] - faced(man)["eyes"]
    assert (away[pupils, 0] > 0.005).all() and (away[pupils, 2] > 0.001).all()


def test_the_jaw_takes_the_lower_lip_along_and_not_the_upper(man: Character) -> None:
    fallen = (faced(man, jaw=1.0)["skin"] - faced(man)["skin"])[:, 2]
    lips = (skin_of(man).attributes["lips"] > 0.5) & (np.abs(skin_of(man).vertices[:, 0]) < 0.008)
    assert fallen[lips].min() < -0.008 and fallen[lips].max() > -0.001
    assert np.abs(fallen[skin_of(man).vertices[:, 2] < 1.4]).max() == 0


@pytest.mark.slow
def test_a_beard_goes_where_the_skin_below_it_goes() -> None:
    spec = read_character(MAN.file)
    hair = spec.hair.model_copy(update={"beard": "full", "volume": 0.6})
    bearded = build_character(spec.model_copy(update={"hair": hair}))
    rest, fallen = faced(bearded), faced(bearded, jaw=1.0)
    moved = {name: fallen[name] - rest[name] for name in rest}
    for name in ("beard", "beard_strands"):
        below = moved["skin"][nearest(rest["skin"], rest[name])]
        apart = np.linalg.norm(moved[name] - below, axis=1)
        # Hairs that hang over the mouth stay with the upper lip.
        assert moved[name][:, 2].min() < -0.015 and np.quantile(apart, 0.95) < 0.006
        highest = np.argmax(rest[name][:, 2])
        assert np.abs(moved[name][highest]).max() < 0.003, "above the mouth"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [39, 158, 90013])
def test_the_lips_of_long_and_of_flat_faces_part_too(seed: int) -> None:
    person = build_character(sample_character(seed))
    skin = skin_of(person)
    fallen = (faced(person, jaw=1.0)["skin"] - faced(person)["skin"])[:, 2]
    lips = (skin.attributes["lips"] > 0.5) & (np.abs(skin.vertices[:, 0]) < 0.008)
    assert fallen[lips].min() < -0.008 and fallen[lips].max() > -0.001


def test_a_smile_is_even_and_lifts_the_corners(man: Character) -> None:
    moved = faced(man, smile=1.0)["skin"] - faced(man)["skin"]
    lips, x = skin_of(man).attributes["lips"] > 0.5, skin_of(man).vertices[:, 0]
    left, right = (moved[np.argmax(np.where(lips, side * x, -1))] for side in (1, -1))
    assert left[2] > 0.003 and left[0] > 0.003
    assert np.allclose(left, right * [-1, 1, 1], atol=2e-4)


def test_drawn_eyes_face_outwards(man: Character) -> None:
    eyes = next(mesh for mesh in man.meshes if mesh.name == "eyes")
    look = look_of(eyes, man.materials[eyes.material])
    ahead = eyes.attributes["angle"] < 30
    assert (look.normals[ahead, 1] < -0.5).all()


def test_a_portrait_is_of_head_and_hands_before_it(man: Character) -> None:
    whole, near = (frame_camera([still(man)], read_config(
        data_folder() / "render_configs" / f"{name}.yaml"), 0.0) for name in ("draft", "portrait"))
    places = man.skeleton.heads[[man.skeleton.index[name] for name in ("Head", "LeftFoot")]]
    head, foot = near.project(places)
    assert 0 < head[1] < near.height / 2 and 0 < head[0] < near.width and foot[1] > near.height
    assert whole.project(places)[:, 1].max() < whole.height
    assert np.linalg.norm(near.position) < 0.8 * np.linalg.norm(whole.position)


def test_channels_are_those_of_the_file() -> None:
    assert {*units_file().channels, *LOOKS} == {*CHANNELS}


def test_who_has_no_such_face_stays(man: Character) -> None:
    figure = lights.of_lights(man)
    values = {name: np.ones(1) for name in CHANNELS}
    assert expressed(still(figure), values).character is figure


def test_a_face_keeps_the_time_of_its_take_and_is_mirrored_with_it() -> None:
    score = read_score(data_folder() / "cues" / "eye_roll" / "eye_roll.score.yaml")
    [written] = faces(score, 0, 12.0)
    assert written["look_up"].max() > 25 and abs(written["look_up"][0]) < 1
    first = {seed: faces(score, seed, 12.0)[0]["look_left"] for seed in range(1, 9)}
    begins = [np.sign(values[np.flatnonzero(np.abs(values) > 8)[0]]) for values in first.values()]
    assert {*begins} == {1.0, -1.0}
    for seed in (0, 3):
        assert len(faces(score, seed, 12.0)[0]["jaw"]) == perform_scene(score, seed, 12.0)[0].frames


def test_a_figure_is_the_same_whether_a_score_moves_its_face_or_not() -> None:
    nod, smile = (Casting(library_take(CATALOGUE.action(name), None, 0), (MAN,))
                  for name in ("head_nod", "smile"))
    assert nod.looks == smile.looks != [MAN.key]


def test_a_misspelt_channel_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.score.yaml"
    path.write_text("action: a\nabout: b.\nduration: 1\nphases:\n"
                    "  - {at: 0, face: {smlie: 1}}\n")
    with pytest.raises(RequestError, match=r"line 5: .*did you mean smile"):
        read_score(path)
