"""Action units on people: each moves its part of the face, on its side, the more the stronger."""

import re
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_file, data_folder
from mimegen.base.yaml_file import YamlFile
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Performance
from mimegen.characters.expression import expressed, face_of
from mimegen.characters.face_units import POINTS, carried, read_carriers
from mimegen.characters.posing import posed_meshes
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.choreography.score import FaceKey
from mimegen.faces.openface import INTENSITIES, intensities, openface_csv
from mimegen.faces.overlay import FaceOverlay, course_of
from mimegen.faces.words import (
    SIDES,
    Emotion,
    action_units,
    arkit_names,
    emotions,
    face_works,
    intensity,
    known_word,
    mirrored_word,
    shaped,
    units_file,
    visemes,
    words,
)
from mimegen.library.altering import mirrored_scene
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import IDENTITY, FloatArray

# Of the 68 points: those that a unit moves, and whether left, back or up (axis, sign). Point
# numbers of iBUG; the person's left is +X.
MOVES = {
    "AU1": ((21, 22), 2, 1), "AU2": ((17, 18, 25, 26), 2, 1), "AU4": ((20, 21, 22, 23), 2, -1),
    "AU9": ((31, 35), 2, 1), "AU10": ((50, 51, 52), 2, 1), "AU12": ((48, 54), 2, 1),
    "AU15": ((48, 54), 2, -1), "AU16": ((56, 57, 58), 2, -1), "AU17": ((56, 57, 58), 2, 1),
    "AU18": ((51, 57), 1, -1), "AU20": ((54,), 0, 1), "AU14": ((54,), 0, 1),
    "AU22": ((51, 57), 1, -1), "AU25": ((66,), 2, -1), "AU26": ((8, 57), 2, -1),
    "AU27": ((8, 57), 2, -1), "AU28": ((62, 66), 1, 1), "AU43": ((37, 38, 43, 44), 2, -1),
    "AU45": ((37, 38, 43, 44), 2, -1), "AU46L": ((43, 44), 2, -1), "AU5": ((37, 38, 43, 44), 2, 1),
    "AU7": ((40, 41, 46, 47), 2, 1), "AU6": ((40, 41, 46, 47), 2, 1),
}
LEAST_M = 0.0008


@cache
def person(name: str) -> Character:
    if name.startswith("random:"):
        return build_character(sample_character(int(name.removeprefix("random:"))))
    return build_character(read_character(data_folder() / "rigs" / f"{name}.yaml"))


@cache
def points(name: str, *told: tuple[str, float]) -> FloatArray:
    """Return the 68 points (68, 3) of a person's face."""
    performance = expressed(still(person(name)), {word: np.array([size]) for word, size in told})
    pose = performance.motion.global_pose
    places = posed_meshes(performance.character, pose.positions[0], pose.rotations[0])
    number = [mesh.name for mesh in performance.character.meshes].index("skin")
    own = performance.character.meshes[number].attributes[POINTS].astype(int).tolist()
    wanted = YamlFile(data_file("rigs/keypoints/face68.yaml")).content["points"]
    return np.asarray(places[number][[own.index(point) for point in wanted]])


def still(character: Character) -> Performance:
    rotations = np.tile(IDENTITY, (1, len(character.skeleton.names), 1))
    return Performance(character, Motion(character.skeleton, 1.0,
                                         character.skeleton.heads[:1].copy(), rotations))


def moved(name: str, *told: tuple[str, float]) -> FloatArray:
    return np.asarray(points(name, *told) - points(name))


@pytest.mark.slow
@pytest.mark.parametrize("who", ["man", "random:21"])
@pytest.mark.parametrize("unit", MOVES)
def test_a_unit_moves_its_points_its_way(unit: str, who: str) -> None:
    where, axis, sign = MOVES[unit]
    assert (sign * moved(who, (unit, 1.0))[list(where), axis]).mean() > LEAST_M


def test_every_unit_of_the_issue_is_there() -> None:
    wanted = {1, 2, 4, 5, 6, 7, 9, 10, 12, 14, 15, 16, 17, 18, 20, 22, 23, 24, 25, 26, 27, 28, 43,
              45, 46}
    assert wanted <= action_units().units.keys()


@pytest.mark.slow
def test_one_side_moves_alone_and_both_are_its_mirror_images() -> None:
    left, right, both = (moved("man", (unit, 1.0)) for unit in ("AU12L", "AU12R", "AU12"))
    assert left[54, 2] > 0.005 and abs(left[48, 2]) < 0.1 * left[54, 2]
    assert np.allclose(left[54], right[48] * [-1, 1, 1], atol=2e-4)
    assert np.allclose(left + right, both, atol=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["AU1", "AU12", "AU27", "AU43"])
def test_intensities_are_in_order(unit: str) -> None:
    where, axis, sign = MOVES[unit]
    sizes = [(sign * moved("man", (unit, intensity(letter)))[list(where), axis]).mean()
             for letter in "ABCDE"]
    assert sizes[0] > 0 and np.all(np.diff(sizes) > 0)


@pytest.mark.slow
def test_an_open_jaw_parts_pressed_lips() -> None:
    gaps = {told: points("man", *told)[62, 2] - points("man", *told)[66, 2] for told in (
        (), (("AU24", 1.0),), (("AU27", 1.0),), (("AU24", 1.0), ("AU27", 1.0)))}
    rest, pressed, wide, both = gaps.values()
    assert pressed < rest + 0.001 and wide > rest + 0.01 and both > 0.9 * wide


@given(st.dictionaries(st.sampled_from(sorted(words())), st.floats(-3, 3), max_size=12))
@settings(max_examples=40, deadline=None)
def test_no_sum_goes_beyond_what_a_face_can(told: Mapping[str, float]) -> None:
    units = shaped({word: np.array([size]) for word, size in told.items()}, 1)
    for (name, side), value in units.items():
        low = units_file().widest if name == "closed" else 0.0
        assert low <= value[0] <= units_file().most, (name, side)
    assert all(units["mouthClose", side] <= units["jawOpen", side] for side in SIDES)


@given(st.lists(st.floats(0, 1.5), min_size=52, max_size=52))
@settings(max_examples=30, deadline=None)
def test_carriers_keep_what_they_are_told(sizes: list[float]) -> None:
    names = [(unit, side) for side in SIDES for unit in units_file().units]
    turns = carried({name: np.array([size]) for name, size in zip(names, sizes, strict=True)}, 1)
    read = read_carriers(quaternions.to_matrices(quaternions.from_rotation_vectors(turns[0])))
    assert np.allclose(read.ravel(), sizes, atol=1e-6)


@pytest.mark.slow
def test_a_mirrored_performance_has_a_mirrored_face() -> None:
    told = {"AU12L": np.array([1.0]), "AU46R": np.array([1.0]), "jawLeft": np.array([0.6])}
    performance = expressed(still(person("man")), told)
    before, after = (face_of(one.character, one.motion.global_pose.rotations[0])
                     for one in (performance, mirrored_scene((performance,))[0]))
    assert before[0, units_file().units.index("mouthSmile")] > 0.5
    assert np.allclose(after, before[::-1], atol=1e-5)
    assert [mirrored_word(word) for word in told] == ["AU12R", "AU46L", "jawRight"]


def test_tables_speak_of_what_there_is() -> None:
    assert len(arkit_names()) == 52 and len(visemes()) == 15
    assert sum(emotion.gaia for emotion in emotions().values()) == 27
    basic = {"anger", "contempt", "disgust", "fear", "happiness", "sadness", "surprise"}
    assert basic <= emotions().keys()
    for name in [*emotions(), *visemes()]:
        known = emotions()[name].units if name in emotions() else visemes()[name]
        assert all(known_word(word) and 0 < size <= 1 for word, size in known.items()), name


def test_an_emotion_comes_stays_and_goes() -> None:
    moments = np.arange(100) / 24
    shown = course_of(emotions()["anger"], moments, np.random.default_rng(0))
    assert shown[0] == 0 and shown[-1] == 0 and 0.8 < shown[40] < 1.25
    weak, strong = (FaceOverlay("joy", size).faces(moments, np.random.default_rng(1))[0]["AU12L"]
                    for size in (0.4, 1.0))
    assert np.allclose(weak, 0.4 * strong)
    with pytest.raises(RequestError, match=r"no emotion 'angre' \(did you mean anger"):
        FaceOverlay("angre")


def test_a_score_s_face_knows_units_and_letters() -> None:
    key = FaceKey.model_validate({"smile": 0.5, "AU12L": "b", "anger": 0.7, "viseme_oh": 1})
    assert key.units == {"AU12L": action_units().intensities["B"], "anger": 0.7, "viseme_oh": 1.0}
    for wrong, message in (({"AU99": 1}, "AU99"), ({"viseme_x": 1}, "viseme_x"),
                           ({"angre": 1}, "did you mean anger"),
                           ({"AU27L": 1}, "moves both sides; use AU27"),
                           ({"AU12": "F"}, "a letter from A to E"), ({"AU12": True}, "a number")):
        with pytest.raises(ValueError, match=message):
            FaceKey.model_validate(wrong)


@pytest.mark.slow
def test_openface_s_table_says_what_the_face_does() -> None:
    told = {"AU12L": np.array([1.0]), "AU45": np.array([1.0]), "AU1": np.array([0.4])}
    performance = expressed(still(person("man")), told)
    units = face_of(performance.character, performance.motion.global_pose.rotations[0])
    sizes = intensities(units[None])
    assert sizes[12, "Left"][0] == pytest.approx(5, abs=0.01) and sizes[12, "Right"][0] < 0.01
    assert sizes[45, "Left"][0] == pytest.approx(5, abs=0.05)
    assert sizes[1, "Left"][0] == pytest.approx(2, abs=0.05)
    text = openface_csv(units[None], np.zeros((1, 68, 2)), np.ones(1),
                        np.array([[[0.0, 0.1, -1.0]] * 2]), 24.0).splitlines()
    header = text[0].split(",")
    assert len(text) == 2 and len(text[1].split(",")) == len(header)
    assert {"frame", "timestamp", "x_67", "y_0", "AU12_c", "AU28_c"} <= {*header}
    assert all(f"AU{number:02d}_r" in header for number in INTENSITIES)


def test_eyes_that_do_not_turn_have_no_columns_in_openface_s_table() -> None:
    units = np.zeros((1, 2, len(units_file().units) + 1))
    text = openface_csv(units, np.full((1, 68, 2), np.nan), np.ones(1), np.full((1, 2, 3), np.nan),
                        24.0)
    assert "gaze" not in text and "nan" not in text and "AU12_r" in text


def test_every_recipe_cites_a_known_work_or_is_said_to_be_ours() -> None:
    used = set()
    for name, emotion in emotions().items():
        used |= set(emotion.after)
        if emotion.after:
            assert emotion.source.startswith("after "), name
            sizes = {int(unit.removeprefix("AU").rstrip("LR")): size
                     for unit, size in emotion.units.items()}
            cited = [{int(one) for one in re.findall(r"\d+", units)}
                     for units in emotion.after.values()]
            # Most of what is shown is cited, and each work is followed in something.
            followed = sum(sizes.get(unit, 0.0) for unit in set[int]().union(*cited))
            assert followed >= 0.4 * sum(sizes.values()), name
            assert all(sizes.keys() & one for one in cited), name
        else:
            assert emotion.note and emotion.source.startswith("mimegen's own: "), name
    assert used == set(face_works())


def test_a_source_tells_what_was_added_and_left_out() -> None:
    recipe = Emotion(units={"AU4": 1, "AU12L": 0.5, "AU6": 0.2}, kind="angry", note="a note",
                     after={"emfacs": "4+7+53", "du2014": "12 [9+17]"})
    assert recipe.source == ("after EMFACS (4+7+53); Du et al. 2014 (12 [9+17]); a note; added 6;"
                             " left out 7")


def test_works_can_be_looked_up() -> None:
    for work in face_works().values():
        assert re.search(r"\((19|20)\d\d\)", work.cites) and work.compared
        assert work.doi is None or re.fullmatch(r"10\.\d{4,}/\S+", work.doi)


@pytest.mark.parametrize("name", ["man", "woman", "random:5120"])
def test_the_tongue_comes_out_over_the_lower_lip_the_farther_the_stronger(name: str) -> None:
    out = []
    for size in (0.0, 0.3, 0.55, 0.8, 1.0):
        performance = expressed(still(person(name)), {known_word("AU19"): np.array([size])})
        pose = performance.motion.global_pose
        places = dict(zip((mesh.name for mesh in performance.character.meshes), posed_meshes(
            performance.character, pose.positions[0], pose.rotations[0]), strict=True))
        # Point 57 of the 68 is below the lower lip.
        out.append(float(points(name, ("AU19", size))[57, 1] - places["tongue"][:, 1].min()))
    assert out == sorted(out) and out[0] < 0 and out[-1] > 0.008
    with pytest.raises(ValueError, match="AU19"):
        known_word("AU19L")
