"""What YAML files hold is kept: the same as parsed, whoever else writes, whatever was damaged."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mimegen.base import user_cache, yaml_cache
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.base.yaml_file import YamlFile
from mimegen.choreography.reading import read_score


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mimegen" / "yaml"


def kept_files(cache: Path) -> list[Path]:
    return sorted(cache.glob("*/*.json"))


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["mocap/*.yaml", "backgrounds/g*.yaml", "mocap/s*/*.yaml",
                                     "render_configs/*.yaml", "cues/*.yaml", "rigs/*.yaml"])
def test_what_is_parsed_and_kept_is_what_pyyaml_reads(cache: Path, pattern: str) -> None:
    for file in sorted(data_folder().glob(pattern)):
        wanted = yaml.safe_load(file.read_text())
        assert YamlFile(file).content == wanted
        assert YamlFile(file).content == wanted, "as it was kept"
    assert kept_files(cache)


_PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))))
_TREES = st.recursive(_PLAIN, lambda inner: st.one_of(
    st.lists(inner, max_size=4), st.dictionaries(st.one_of(st.text(max_size=3), st.integers()),
                                                 inner, max_size=4)), max_leaves=12)


@settings(max_examples=60, deadline=None)
@given(tree=st.dictionaries(st.sampled_from("abcd"), _TREES, min_size=1), flow=st.booleans())
def test_any_tree_is_read_alike_twice(tmp_path_factory: pytest.TempPathFactory,
                                      tree: dict[str, object], flow: bool) -> None:
    path = tmp_path_factory.mktemp("trees") / "tree.yaml"
    text = yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=True)
    path.write_text(text, encoding="utf-8")
    wanted = yaml.safe_load(text)
    assert [YamlFile(path).content, YamlFile(path).content] == [wanted, wanted]


def test_a_text_is_parsed_once(cache: Path, tmp_path: Path,
                               monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("a: [1, {b: 2}]\n")
    first = YamlFile(path).content
    monkeypatch.setattr(YamlFile, "_parsed", lambda _: pytest.fail("it was parsed before"))
    assert YamlFile(path).content == first
    assert len(kept_files(cache)) == 1


def test_a_score_kept_has_the_same_lines_and_errors(cache: Path, tmp_path: Path) -> None:
    source = data_folder() / "mocap/high_five/high_five.score.yaml"
    path = tmp_path / "high_five.score.yaml"
    path.write_text(source.read_text())
    first, again = read_score(path), read_score(path)
    assert kept_files(cache) and first == again
    assert [phase.line for part in again.parts() for phase in part.phases] == [
        phase.line for part in first.parts() for phase in part.phases]
    path.write_text(source.read_text().replace("to: partner_forehead 0 0 14", "to: forhead", 1))
    said = []
    for _ in range(2):
        with pytest.raises(RequestError) as problem:
            read_score(path)
        said.append(str(problem.value))
    assert said[0] == said[1] and "line 25: gaze to: unknown landmark 'forhead'" in said[0]


@pytest.mark.parametrize("damage", [b"", b"{", b"x" * 200, b"\x00" * 64 + b"[1, {}]"])
def test_what_was_damaged_is_parsed_again(cache: Path, tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("a: [1, {b: 2}]\n")
    assert YamlFile(path).content == {"a": [1, {"b": 2}]}
    [file] = kept_files(cache)
    whole = file.read_bytes()
    for broken in (damage, whole[:-1], whole[:70], whole.replace(b"2", b"3")):
        file.write_bytes(broken)
        assert YamlFile(path).content == {"a": [1, {"b": 2}]}
        assert file.read_bytes() == whole


def test_what_json_cannot_hold_is_not_kept(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text("a: {1: x, when: 2001-02-03}\n")
    first, second = YamlFile(path).content, YamlFile(path).content
    assert first == second == yaml.safe_load(path.read_text())
    assert not kept_files(cache)


def test_a_cache_that_cannot_be_written_hinders_nobody(tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    path = tmp_path / "one.yaml"
    path.write_text("a: 1\n")
    assert YamlFile(path).content == {"a": 1}


def test_many_may_write_and_read_at_once(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(f"a: [{', '.join(map(str, range(3000)))}]\n")
    with ThreadPoolExecutor(8) as threads:
        contents = list(threads.map(lambda _: YamlFile(path).content, range(64)))
    assert all(content == {"a": [*range(3000)]} for content in contents)
    assert len(kept_files(cache)) == 1


def test_what_was_long_forgotten_goes(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user_cache.keep("yaml", "ab" + "0" * 62, [1])
    monkeypatch.setattr(user_cache, "FORGOTTEN_S", -1.0)
    user_cache.keep("yaml", "ab" + "1" * 62, [2])
    assert user_cache.cached_json("yaml", "ab" + "0" * 62) is None
    assert user_cache.cached_json("yaml", "ab" + "1" * 62) == [2]


def test_lines_are_kept_of_lists_at_the_top_and_one_below() -> None:
    root = yaml.compose("a:\n- 1\n- 2\nb:\n  c:\n  - x\n  d: {e: [1]}\n", Loader=yaml.SafeLoader)
    assert yaml_cache.item_lines(root) == {"a": [2, 3], "b/c": [6]}
