"""A described person is built once on a machine, and read from the user's cache afterwards."""

import shutil
from pathlib import Path

import pytest

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_file
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.packing import pack_character
from mimegen.characters.spec import CharacterSpec, read_character
from mimegen.library import cast
from mimegen.library.cast import DescribedPerson


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mimegen" / "characters"


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the characters that were built, not read."""
    names: list[str] = []
    def counted(spec: CharacterSpec) -> Character:
        names.append(spec.name)
        return build_character(spec)

    monkeypatch.setattr(cast, "build_character", counted)
    return names


def man(path: Path | None = None) -> DescribedPerson:
    return DescribedPerson("man", path or data_file("rigs/man.yaml"))


def test_it_is_built_once_and_read_exactly(cache: Path, builds: list[str]) -> None:
    first, second = man().build(), man().build()
    assert builds == ["man"]
    assert pack_character(first) == pack_character(second)
    assert len([*cache.rglob("*.npz")]) == 1


@pytest.mark.parametrize("left", [0.0, 0.5, 0.999])
def test_a_damaged_file_is_built_again(cache: Path, builds: list[str], left: float) -> None:
    first = man().build()
    [kept] = cache.rglob("*.npz")
    content = kept.read_bytes()
    kept.write_bytes(content[:int(left * len(content))])
    assert pack_character(man().build()) == pack_character(first)
    assert builds == ["man", "man"]
    assert kept.read_bytes() == content


def test_a_cache_that_cannot_be_written_is_done_without(cache: Path, builds: list[str]) -> None:
    cache.parent.parent.mkdir()
    cache.parent.write_text("a file where the folder should be")
    assert man().build().name == man().build().name == "man"
    assert builds == ["man", "man"]


def test_an_edited_file_is_built_anew_whatever_was_planned(
    cache: Path, tmp_path: Path, builds: list[str]
) -> None:
    path = tmp_path / "mine.yaml"
    shutil.copyfile(data_file("rigs/man.yaml"), path)
    planned = man(path)
    before, key = planned.build(), planned.key
    path.write_text(path.read_text().replace("name: man", "name: another"))
    assert planned.key == key
    assert planned.build().name == "another"
    shutil.copyfile(data_file("rigs/man.yaml"), path)
    assert pack_character(planned.build()) == pack_character(before)
    assert builds == ["man", "another"]


def test_a_file_that_changes_while_it_is_read_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.yaml"
    shutil.copyfile(data_file("rigs/man.yaml"), path)
    def edited(file: Path) -> CharacterSpec:
        spec = read_character(file)
        file.write_text(file.read_text() + "\n")
        return spec

    monkeypatch.setattr(cast, "read_character", edited)
    with pytest.raises(RequestError, match="was changed after it was planned"):
        man(path).build()
    assert [*cache.rglob("*.npz")] == []
