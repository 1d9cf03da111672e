"""Built characters and performances come back from bytes exactly as they were."""
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Performance
from mimegen.characters.imported.importing import import_character
from mimegen.characters.packing import (
    pack_character,
    pack_performance,
    unpack_character,
    unpack_performance,
)
from mimegen.characters.spec import read_character
from mimegen.motion import Motion, quaternions
from places import SUPPORT

pytestmark = pytest.mark.engines


def built(name: str) -> Character:
    return build_character(read_character(data_folder() / "rigs" / f"{name}.yaml"))


@pytest.fixture(scope="module")
def man() -> Character:
    return built("man")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Character:
    folder = tmp_path_factory.mktemp("figures")
    script = SUPPORT / "imported_figure.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True)
    return import_character(folder / "company.glb")


def assert_same_array(found: NDArray[Any] | None, given: NDArray[Any] | None) -> None:
    if given is None or found is None:
        assert given is found
        return
    assert found.dtype == given.dtype
    assert np.array_equal(found, given)


def assert_same(found: Character, given: Character) -> None:
    for field in ("name", "fingerprint", "source", "licence"):
        assert getattr(found, field) == getattr(given, field)
    assert found.skeleton.names == given.skeleton.names
    for field in ("parents", "heads", "tails"):
        assert_same_array(getattr(found.skeleton, field), getattr(given.skeleton, field))
    assert list(found.materials) == list(given.materials)
    for name, material in given.materials.items():
        assert vars(found.materials[name]) == vars(material)
    for mesh, expected in zip(found.meshes, given.meshes, strict=True):
        assert (mesh.name, mesh.material, mesh.subdivide) == (
            expected.name, expected.material, expected.subdivide)
        for field in ("vertices", "faces", "joints", "weights", "uvs"):
            assert_same_array(getattr(mesh, field), getattr(expected, field))
        assert list(mesh.attributes) == list(expected.attributes)
        for name, values in expected.attributes.items():
            assert_same_array(mesh.attributes[name], values)


@pytest.mark.parametrize("name", ["woman", "spacesuit"])
def test_a_built_character_comes_back_exactly(name: str) -> None:
    given = built(name)
    assert_same(unpack_character(pack_character(given)), given)


def test_a_character_with_pictures_comes_back_exactly(imported: Character) -> None:
    assert any(material.image for material in imported.materials.values())
    assert any(mesh.uvs is not None for mesh in imported.meshes)
    assert_same(unpack_character(pack_character(imported)), imported)


def test_equal_characters_give_equal_bytes(man: Character, monkeypatch: pytest.MonkeyPatch) -> None:
    first = pack_character(man)
    later = time.struct_time((2040, 2, 3, 4, 5, 6, 4, 34, 0))
    monkeypatch.setattr(time, "localtime", lambda *_: later)
    assert pack_character(unpack_character(first)) == first


def test_a_performance_comes_back_exactly(man: Character) -> None:
    joints = len(man.skeleton.names)
    draws = np.random.default_rng(3)
    turns = quaternions.normalise(draws.normal(size=(7, joints, 4)))
    given = Performance(man, Motion(man.skeleton, 29.97, draws.normal(size=(7, 3)), turns))
    packed = pack_performance(given)
    found = unpack_performance(packed, man)
    assert found.motion.fps == 29.97
    assert found.character is man
    assert_same_array(found.motion.root_positions, given.motion.root_positions)
    assert_same_array(found.motion.rotations, given.motion.rotations)
    assert pack_performance(found) == packed


def test_a_performance_of_somebody_else_is_refused(man: Character, imported: Character) -> None:
    motion = Motion(man.skeleton, 30.0, np.zeros((1, 3)),
                    np.tile(quaternions.IDENTITY, (1, len(man.skeleton.names), 1)))
    packed = pack_performance(Performance(man, motion))
    with pytest.raises(ValueError, match="character"):
        unpack_performance(packed, imported)
