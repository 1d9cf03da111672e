"""Hairs that grow for photos: where, how many, and how they follow the head and the face."""

from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from scipy.spatial import cKDTree

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.expression import with_face
from mimegen.characters.grown_hair import GrownHair, grown_hair
from mimegen.characters.hair_field import skull_of
from mimegen.characters.spec import CharacterSpec, Hair, Headscarf, read_character
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import IDENTITY, FloatArray
from mimegen.shots.hair_skin import hair_skin
from mimegen.shots.skinning import body_skin, joint_columns

COUNT = 3000
KINDS: Mapping[str, Mapping[str, object]] = {
    "short": {"kind": "strands"}, "long": {"kind": "strands", "length": 0.7},
    "tail": {"kind": "tail", "length": 0.5}, "bun": {"kind": "bun"}, "curls": {"kind": "curls"},
    "crop": {"kind": "crop"}, "bearded": {"kind": "crop", "beard": "full"},
}


def man() -> CharacterSpec:
    return read_character(data_folder() / "rigs" / "man.yaml")


def with_hair(spec: CharacterSpec, **said: object) -> CharacterSpec:
    return spec.model_copy(update={
        "hair": Hair.model_validate({**spec.hair.model_dump(), **said})})


@pytest.fixture(scope="module", params=list(KINDS))
def person(request: pytest.FixtureRequest) -> Iterator[Character]:
    yield build_character(with_hair(man(), **KINDS[request.param]))


def points(hair: GrownHair, *sources: str) -> FloatArray:
    return np.concatenate([each.points.reshape(-1, 3) for each in hair.hairs
                           if each.source in sources])


def test_hairs_are_as_many_as_asked_for_and_thin(person: Character) -> None:
    hair = grown_hair(person, COUNT)
    heads = sum(len(each.points) for each in hair.hairs if each.source in ("hair", "tuft"))
    assert 0.7 * COUNT < heads < 1.6 * COUNT
    assert max(each.radius.max() for each in hair.hairs) < 0.0004


def test_hairs_lie_where_the_hair_of_other_pictures_is(person: Character) -> None:
    hair = grown_hair(person, COUNT)
    meshes = {mesh.name: mesh.vertices for mesh in person.meshes}
    for each in hair.hairs:
        away = cKDTree(meshes[each.source]).query(each.points.reshape(-1, 3))[0]
        # Columns of what hangs lie up to 6 cm apart.
        assert np.percentile(away, 90) < 0.03, each.source
        assert away.max() < 0.08, each.source


def test_hair_lies_over_the_skin_of_the_head(person: Character) -> None:
    skull = skull_of(person)
    assert skull is not None
    places = points(grown_hair(person, COUNT), "hair", "tuft", "beard", "brows")
    places = places[places[:, 2] > skull.eyes_z - 0.5 * skull.unit]
    near = cKDTree(skull.skin).query(places)[1]
    away, under = (np.linalg.norm(each - skull.centre, axis=1)
                   for each in (places, skull.skin[near]))
    assert np.mean(away > under - 0.006) > 0.97


def test_hairs_are_the_same_whatever_is_worn() -> None:
    bare = man().model_copy(update={"outfit": man().outfit[:1]})
    dressed, other = (grown_hair(build_character(spec), COUNT) for spec in (man(), bare))
    assert np.array_equal(points(dressed, "hair"), points(other, "hair"))


def test_no_hair_grows_unless_it_is_asked_for() -> None:
    person = build_character(man())
    hair = grown_hair(person, 0)
    assert hair.meshes is person.meshes
    assert not hair.hairs
    assert not hair.hidden


def test_bald_heads_have_brows_and_lashes_alone() -> None:
    bald = build_character(with_hair(man(), kind="bald"))
    assert {each.source for each in grown_hair(bald, COUNT).hairs} == {"brows", "lashes"}


def test_hair_under_a_headscarf_does_not_grow() -> None:
    scarf = Headscarf(kind="headscarf", color=(0.1, 0.1, 0.1))
    worn = build_character(man().model_copy(update={"outfit": (*man().outfit, scarf)}))
    assert {each.source for each in grown_hair(worn, COUNT).hairs} == {"brows", "lashes"}


def posed(person: Character, **turned: FloatArray) -> tuple[GrownHair, FloatArray, FloatArray]:
    """Return hairs, and their points (N, 3) at rest and where joints are turned."""
    hair = grown_hair(person, COUNT)
    skin, own = body_skin(person, hair.meshes), hair_skin(person, hair)
    both = []
    for said in ({}, turned):
        rotations = np.tile(IDENTITY, (1, len(person.skeleton.names), 1))
        for name, rotation in said.items():
            rotations[0, person.skeleton.index[name]] = rotation
        motion = Motion(person.skeleton, 1.0, person.skeleton.heads[:1].copy(), rotations)
        columns = joint_columns(person.skeleton, *motion.global_pose)
        both.append(own.posed(columns, skin.posed(columns)).astype(float))
    return hair, both[0], both[1]


def test_hair_follows_the_head() -> None:
    person = build_character(man())
    aside = np.array([np.cos(0.4), 0.0, 0.0, np.sin(0.4)])
    hair, rest, turned = posed(person, Head=aside)
    assert rest == pytest.approx(np.concatenate([
        each.points.reshape(-1, 3) for each in hair.hairs]), abs=1e-5)
    pivot = person.skeleton.heads[person.skeleton.index["Head"]]
    whole = pivot + quaternions.rotate(aside, rest - pivot)
    assert turned == pytest.approx(whole, abs=1e-4)


def test_lashes_go_down_with_the_lid() -> None:
    person = with_face(build_character(man()))
    blink = np.array([np.cos(0.25), np.sin(0.25), 0.0, 0.0])
    hair, rest, turned = posed(person, LeftLid=blink)
    tips = np.flatnonzero(np.abs(turned - rest).max(axis=1) > 0.002)
    first = len(points(hair, "brows"))
    lashes = range(first, first + len(points(hair, "lashes")))
    assert len(tips) > 100
    assert set(tips) <= set(lashes)
    assert (turned[tips, 2] < rest[tips, 2]).mean() > 0.9
