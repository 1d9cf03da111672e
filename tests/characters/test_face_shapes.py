"""Faces of different shape: rigs/faces/shapes.yaml, and random people's."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.characters.bake import read_bake
from mimegen.characters.body import make_body
from mimegen.characters.face_shapes import face_offsets, face_shapes
from mimegen.characters.head import head_shape
from mimegen.characters.phenotype import Phenotype
from mimegen.characters.sampling import sample_character
from mimegen.characters.wardrobe import random_people

AVERAGE: dict[str, Any] = {"sex": 0.5, "age": 30, "height": 1.7}
HALF = len(read_bake().half)


def face(phenotype: dict[str, Any]) -> NDArray[Any]:
    """The skin about the face, in heights of the crown above the eyes, from between the eyes."""
    body = make_body(Phenotype.model_validate(phenotype))
    head = head_shape(body)
    there = np.flatnonzero(body.masks["face"] > 0.5)
    return np.asarray((body.vertices[there] - head.eyes.mean(axis=0)) / head.unit)


def test_every_shape_moves_the_face_by_what_is_said_and_no_further() -> None:
    for name, shape in face_shapes().items():
        for size in (-1.0, 1.0) if shape.less else (1.0,):
            moved = np.linalg.norm(face_offsets({name: size}, HALF), axis=1).max()
            assert 0.0005 < moved < 0.06, (name, size)
            half = np.linalg.norm(face_offsets({name: size / 2}, HALF), axis=1).max()
            assert half == pytest.approx(moved / 2)


@pytest.mark.parametrize("name", ["nose_length", "chin_width", "eye_slant"])
def test_more_of_a_shape_is_not_less_of_it(name: str) -> None:
    less, plain, more = (face({**AVERAGE, "face": {name: size}}) for size in (-1.0, 0.0, 1.0))
    assert np.abs(more - plain).max() > 0.02 and np.abs(less - plain).max() > 0.02
    assert np.sum((more - plain) * (less - plain)) < 0


def test_a_misspelt_shape_is_said() -> None:
    with pytest.raises(ValueError, match="no face shape 'nose_lenght'"):
        Phenotype.model_validate({**AVERAGE, "face": {"nose_lenght": 0.5}})


def test_random_people_have_faces_of_their_own_whatever_their_skin() -> None:
    """Of 12 people whose bodies differ in nothing but the face, no two are alike."""
    drawn = [sample_character(seed).phenotype.face for seed in range(12)]
    faces = np.array([face({**AVERAGE, "face": one}) for one in drawn])
    far = np.sqrt(np.mean(np.sum((faces[:, None] - faces) ** 2, axis=-1), axis=-1))
    assert far[~np.eye(len(faces), dtype=bool)].min() > 0.02
    assert all(set(random_people().faces) < set(one) for one in drawn)


def test_no_face_leans_on_the_color_of_the_skin() -> None:
    people = [sample_character(seed) for seed in range(300)]
    light = [sum(person.skin.color) for person in people]
    for name in random_people().faces:
        sizes = [person.phenotype.face[name] for person in people]
        assert abs(np.corrcoef(light, sizes)[0, 1]) < 0.22, name
