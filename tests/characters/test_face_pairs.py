"""Two units at once: lids stay outside of the eyes, lips do not go through one another."""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.base.decisions import nearest
from mimegen.base.paths import data_file, data_folder
from mimegen.base.yaml_file import YamlFile
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Mesh, Performance
from mimegen.characters.expression import expressed
from mimegen.characters.face_units import POINTS, units_bake
from mimegen.characters.posing import posed_meshes
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.characters.surface import vertex_normals
from mimegen.faces.words import (
    CLOSED,
    SIDES,
    UnitPair,
    pairs_file,
    shaped,
    units_file,
    words,
)
from mimegen.motion import Motion
from mimegen.motion.quaternions import IDENTITY, FloatArray

PEOPLE = ("man", "woman", "random:5111", "random:7")
# What a straight line between two vertices on a lid cuts off of an eyeball, and a little more.
CHORD_M = 0.0004
LIP_M = 0.0025
OTHERS = [unit for unit in words() if unit.startswith("AU") and unit[-1] not in "LR"
          and unit not in ("AU23", "AU28", "AU46")]


@cache
def person(name: str) -> Character:
    if name.startswith("random:"):
        return build_character(sample_character(int(name.removeprefix("random:"))))
    return build_character(read_character(data_folder() / "rigs" / f"{name}.yaml"))


def mesh_of(character: Character, name: str) -> Mesh:
    return next(mesh for mesh in character.meshes if mesh.name == name)


def skin(name: str, *told: str) -> FloatArray:
    """Return a person's skin (V, 3) with units at their height."""
    return posed(name, *told)["skin"]


@cache
def posed(name: str, *told: str) -> Mapping[str, FloatArray]:
    """Return each mesh's vertices (V, 3) of a person with units at their height."""
    character = person(name)
    rotations = np.tile(IDENTITY, (1, len(character.skeleton.names), 1))
    still = Performance(character, Motion(character.skeleton, 1.0,
                                          character.skeleton.heads[:1].copy(), rotations))
    made = expressed(still, {unit: np.array([1.0]) for unit in told})
    pose = made.motion.global_pose
    places = posed_meshes(made.character, pose.positions[0], pose.rotations[0])
    return dict(zip((mesh.name for mesh in made.character.meshes), places, strict=True))


def depth_in_eyes(name: str, places: FloatArray) -> float:
    """Return how deep the skin before the eyes lies within them, in metres."""
    deepest = 0.0
    eyes, rest = mesh_of(person(name), "eyes").vertices, mesh_of(person(name), "skin")
    share = np.linspace(0, 1, 5)
    along, beside = (grid.ravel() for grid in np.meshgrid(share, share))
    corners = np.stack([(1 - along) * (1 - beside), along * (1 - beside), along * beside,
                        (1 - along) * beside])
    for sign in (1, -1):
        own = eyes[sign * eyes[:, 0] > 0]
        radius = float(np.ptp(own[:, 2]) / 2)
        middle = (own.max(axis=0) + own.min(axis=0)) / 2
        middle[1] = own[:, 1].min() + radius
        ways = rest.vertices - middle
        away = np.linalg.norm(ways, axis=1)
        before = (away > radius) & (away < 2 * radius) & (ways[:, 1] < -0.1 * radius)
        faces = rest.faces[before[rest.faces].all(axis=1)]
        inner = np.einsum("cg,fca->fga", corners, places[faces]) - middle
        front = inner[..., 1] < -0.3 * radius
        deepest = max(deepest, float((radius - np.linalg.norm(inner, axis=-1))[front].max()))
    return deepest


def lips_crossed(name: str, places: FloatArray) -> float:
    """Return how far the lower lip reaches above the upper one, in the middle, in metres."""
    rest = mesh_of(person(name), "skin")
    numbers = rest.attributes[POINTS].astype(int)
    falls = sum(units_bake().moved("jawOpen", side)[numbers, 2] for side in SIDES)
    lips = rest.attributes["lips"] > 0.5
    upper, lower = lips & (falls > -0.003), lips & (falls < -0.008)
    middle = np.abs(places[:, 0]) < 0.004
    return float(places[lower & middle, 2].max() - places[upper & middle, 2].min())


@pytest.mark.slow
@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("pair", [
    ("AU6", "AU7"), ("AU6", "AU9"), ("AU6", "AU12"), ("AU4", "AU6"), ("AU4", "AU7"),
    ("AU6", "AU43"), ("AU7", "AU43"), ("AU1", "AU4"), ("AU1", "AU6"), ("AU12", "AU25")])
def test_lids_stay_outside_of_the_eyes(name: str, pair: tuple[str, str]) -> None:
    assert depth_in_eyes(name, skin(name, *pair)) < CHORD_M


@pytest.mark.slow
@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("pair", [
    ("AU17", "AU24"), ("AU12", "AU24"), ("AU17", "AU28"), ("AU24", "AU28"), ("AU12", "AU28"),
    ("AU18", "AU24"), ("AU17", "AU18"), ("AU12", "AU17"), ("AU15", "AU17"), ("AU20", "AU25"),
    ("AU12", "AU25"), ("AU12", "AU26"), ("AU9", "AU10")])
def test_lips_cross_no_further_than_one_unit_has_them(name: str, pair: tuple[str, str]) -> None:
    alone = max(lips_crossed(name, skin(name, unit)) for unit in pair)
    both = lips_crossed(name, skin(name, *pair))
    assert both < alone + LIP_M
    if {"AU25", "AU26"} & {*pair}:
        assert both < 0, "open"


@pytest.mark.slow
@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("unit", ["AU6", "AU7"])
def test_shut_eyes_stay_shut_and_lids_overlap_little_more_than_in_a_blink(name: str,
                                                                         unit: str) -> None:
    blink, both = (lids_apart(name, skin(name, *told)) for told in (("AU43",), ("AU43", unit)))
    assert blink - 0.0015 < both < 0


def lids_apart(name: str, places: FloatArray) -> float:
    """Return how far the left eye's upper lid is above the lower one, in metres."""
    numbers = mesh_of(person(name), "skin").attributes[POINTS].astype(int).tolist()
    upper, lower = (places[numbers.index(point), 2] for point in lid_points())
    return float(upper - lower)


@cache
def lid_points() -> tuple[int, int]:
    points = YamlFile(data_file("rigs/keypoints/face68.yaml")).content["points"]
    return points[43], points[47]


def at(told: Mapping[str, float]) -> Mapping[tuple[str, str], float]:
    return {key: float(value[0]) for key, value in shaped(
        {word: np.array([size]) for word, size in told.items()}, 1).items()}


@given(st.sampled_from(OTHERS), st.floats(0, 1))
def test_a_unit_alone_is_not_corrected(unit: str, size: float) -> None:
    does = at({unit: size})
    for key, share in words()[unit].items():
        assert does[key] == pytest.approx(share * size, abs=1e-9)


@given(st.sampled_from(pairs_file().pairs), st.floats(0, 1.5), st.floats(0, 1.5))
def test_corrections_begin_at_nothing_and_leave_units_possible(pair: UnitPair, one: float,
                                                               other: float) -> None:
    known = units_file()
    names = [unit if unit != CLOSED else "AU43" for unit in pair.units]
    told = {f"{name}Left" if f"{name}Left" in words() else name: size
            for name, size in zip(names, (one, other), strict=True)}
    does, alone = at(told), at({})
    for (unit, side), value in does.items():
        assert (known.widest if unit == CLOSED else 0) <= value <= known.most
        if side == "Right" and all(name.endswith("Left") for name in told):
            assert value == alone[unit, side]
    if min(one, other) <= pairs_file().begins and not {*pair.units} & {*known.parted.units}:
        for word, size in told.items():
            unit = word.removesuffix("Left")
            limit = pairs_file().limits.get(unit, known.most)
            if unit in known.units:
                assert does[unit, "Left"] == pytest.approx(min(size, limit))


def test_jaws_and_lips_have_their_limits() -> None:
    assert at({"AU26": 1, "AU27": 1})["jawOpen", "Left"] == pairs_file().limits["jawOpen"]
    assert at({"AU23": 1, "AU28": 1})["mouthRollLower", "Left"] == (
        pairs_file().limits["mouthRollLower"])


def test_the_table_names_units_that_there_are() -> None:
    known = {*units_file().units, CLOSED}
    for pair in pairs_file().pairs:
        assert {*pair.units, *pair.adds} <= known
    assert {*pairs_file().limits} <= known


@pytest.mark.slow
@pytest.mark.parametrize("name", ["random:5110", "random:5108", "man"])
def test_teeth_stay_behind_the_skin_of_a_smile(name: str) -> None:
    for told in ((), ("AU12",), ("AU6", "AU12")):
        places, teeth = posed(name, *told)["skin"], posed(name, *told)["teeth"]
        skin_mesh = mesh_of(person(name), "skin")
        normals = vertex_normals(places, skin_mesh.faces)
        near = nearest(places, teeth)
        out = ((teeth - places[near]) * normals[near]).sum(axis=1)
        # Before the teeth is what faces forwards.
        assert out[normals[near, 1] < -0.5].max(initial=-1.0) < 0.0004, told
