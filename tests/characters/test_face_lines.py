"""Wrinkles: where units put them, how deep, on which side, with what age."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Performance
from mimegen.characters.expression import expressed, with_face
from mimegen.characters.face_lines import (
    CELL_MM,
    LOW_MM,
    chart,
    groove_map,
    group_depths,
    skin_of,
    wrinkles_file,
    wrinkling_of,
)
from mimegen.characters.living import face_life
from mimegen.characters.packing import pack_character, unpack_character
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.faces.words import SIDES, shaped, units_file
from mimegen.motion import Motion
from mimegen.motion.quaternions import IDENTITY, FloatArray
from mimegen.shots.skinning import joint_columns

GROUPS = {"AU1": "forehead_middle", "AU2": "forehead_sides", "AU4": "frown", "AU9": "nose",
          "AU6": "crows_feet", "AU10": "folds", "AU12": "folds"}
LETTERS = (0.15, 0.3, 0.55, 0.8, 1.0)


@cache
def man() -> Character:
    return build_character(read_character(data_folder() / "rigs" / "man.yaml"))


def of_groups(**told: float) -> Mapping[str, tuple[float, float]]:
    """Return how deep each group is, left and right."""
    units = shaped({word: np.array([size]) for word, size in told.items()}, 1)
    values = np.array([[float(units[unit, side][0]) for unit in units_file().units]
                       for side in SIDES])
    return dict(zip(wrinkles_file().groups, map(tuple, group_depths(values).T.tolist()),
                    strict=True))


def depths(character: Character, **told: float) -> NDArray[np.float32] | None:
    """Return how deep wrinkles are at the skin's vertices."""
    rotations = np.tile(IDENTITY, (1, len(character.skeleton.names), 1))
    still = Performance(character, Motion(character.skeleton, 1.0,
                                          character.skeleton.heads[:1].copy(), rotations))
    made = expressed(still, {word: np.array([size]) for word, size in told.items()})
    wrinkling, pose = wrinkling_of(made.character), made.motion.global_pose
    assert wrinkling is not None
    return wrinkling.depths(joint_columns(made.character.skeleton, pose.positions, pose.rotations))


@pytest.mark.parametrize("unit", GROUPS)
def test_a_units_wrinkles_deepen_with_its_intensity_and_nothing_else_is_as_deep(unit: str) -> None:
    sizes = [of_groups(**{unit: letter}) for letter in LETTERS]
    own = [size[GROUPS[unit]][0] for size in sizes]
    assert own == sorted(own) and own[1] < own[2] < own[3] < own[4] and own[-1] > 0.6
    assert max(sizes[-1], key=lambda group: sizes[-1][group][0]) == GROUPS[unit]


@pytest.mark.parametrize("unit", GROUPS)
def test_one_side_wrinkles_alone(unit: str) -> None:
    left, right = of_groups(**{f"{unit}L": 1.0})[GROUPS[unit]]
    assert left > 0.6 and right == 0


@pytest.mark.parametrize("told", [
    {}, {"AU43": 1.0}, {"AU25": 1.0, "AU26": 1.0}, {"AU15": 1.0}, {"AU17": 1.0}, {"AU5": 1.0},
    {"viseme_aa": 1.0}, {name: sizes[1] for name, sizes in face_life().effort.ease.items()},
    {**face_life().effort.shown, **face_life().effort.breath},
], ids=str)
def test_faces_at_rest_at_ease_and_that_do_other_things_have_none(told: dict[str, float]) -> None:
    assert depths(man(), **told) is None


def test_wrinkles_are_deeper_with_age_and_last_through_packing() -> None:
    sizes = []
    for age in (20.0, 45.0, 75.0):
        aged = unpack_character(pack_character(replace(man(), age=age)))
        found = depths(aged, AU1=0.8)
        assert found is not None
        sizes.append(float(found.max()))
    assert sizes[0] < 0.8 * sizes[1] and sizes[1] < 0.9 * sizes[2]


@pytest.mark.parametrize("seed", [5103, 5111, 5120])
def test_wrinkles_lie_on_the_face_where_the_unit_moves_it(seed: int) -> None:
    person = build_character(sample_character(seed))
    skin = skin_of(with_face(person).meshes)
    assert skin is not None
    for told, low, high in (({"AU1": 1.0, "AU2": 1.0}, 0.02, 0.12), ({"AU9": 1.0}, -0.1, 0.045),
                            ({"AU12": 1.0}, -0.12, 0.0)):
        found = depths(person, **told)
        assert found is not None
        up = skin.vertices[found > 0.3, 2] - eyes_of(person)[2]
        assert len(up) > 20 and low < up.min() and up.max() < high, told
        ahead = skin.vertices[found > 0, 1]
        assert ahead.max() < skin.vertices[:, 1].min() + 0.13, "behind the face"


def eyes_of(character: Character) -> FloatArray:
    mesh = next(mesh for mesh in character.meshes if mesh.name == "eyes")
    return np.asarray(mesh.vertices.mean(axis=0))


def test_grooves_are_as_deep_as_told_and_leave_eyes_and_lips_alone() -> None:
    heights = groove_map()
    deepest = max(group.deep for group in wrinkles_file().groups.values())
    assert heights.min() == pytest.approx(-deepest / 1000, rel=0.05)
    for across, up in ((30.0, 0.0), (0.0, -66.0), (12.0, -64.0), (25.0, -66.0), (33.0, 20.0)):
        row, column = (int((value - low) / CELL_MM) for value, low in (
            (up, LOW_MM[1]), (across, LOW_MM[0])))
        assert abs(heights[row, column]) < 1e-4, (across, up)


def test_both_sides_are_one_map() -> None:
    skin = skin_of(with_face(man()).meshes)
    assert skin is not None
    places = chart(skin)
    inside = ((places > 0) & (places < 1)).all(axis=1)
    assert (skin.vertices[inside, 0] > 0.01).any() and (skin.vertices[inside, 0] < -0.01).any()
