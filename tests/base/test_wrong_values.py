"""Any value of another kind, at any key of any file that people write, is refused in one line."""

import copy
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from mimegen.base import yaml_file
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.base.yaml_file import MAX_MESSAGE, YamlFile
from mimegen.characters.spec import read_character
from mimegen.choreography.action import read_action
from mimegen.choreography.reading import read_score
from mimegen.compositing.background import read_background
from mimegen.scenes.scene import read_scene
from mimegen.shots.config import read_config
from running import invoke

WRONG: tuple[object, ...] = (
    5, -1, [], {}, "x", "", None, True, 1e300, float("inf"), float("nan"), 10**400, "y" * 100_000,
    [5], [None], [[]], [{}], {"x": 5}, {5: 5}, "1e400", date(2001, 1, 1))
FILES: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "score": (read_score, ("mocap/boxing/boxing.score.yaml", "mocap/archery/archery.score.yaml",
                           "mocap/high_five/high_five.score.yaml",
                           "cues/palms_up/palms_up.score.yaml")),
    "action": (read_action, ("mocap/arm_curls/action.yaml", "cues/head_nod/action.yaml")),
    "scene": (read_scene, ("scenes/the_thief.yaml", "scenes/the_photo.yaml")),
    "character": (read_character, ("rigs/woman.yaml", "rigs/spacesuit.yaml")),
    "background": (read_background, ("backgrounds/blank.yaml", "backgrounds/living_room.yaml")),
    "config": (read_config, ("render_configs/mime.yaml", "render_configs/portrait.yaml")),
}
Place = tuple[str | int, ...]


@cache
def content_of(name: str) -> Any:
    return YamlFile(data_folder() / name).content


def places(node: Any, at: Place = ()) -> Iterator[Place]:
    """Yield where every value of a file stands."""
    if at:
        yield at
    inner = node.items() if isinstance(node, dict) else enumerate(
        node if isinstance(node, list) else ())
    for step, value in inner:
        yield from places(value, (*at, step))


@cache
def all_places(name: str) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """Return all places, and those near the top, which readers look at themselves."""
    every = tuple(places(content_of(name)))
    return every, tuple(place for place in every if len(place) < 3)


def changed(name: str, at: Place, value: object) -> str:
    content = copy.deepcopy(content_of(name))
    node = content
    for step in at[:-1]:
        node = node[step]
    node[at[-1]] = value
    return yaml.dump(content, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))


@pytest.mark.parametrize("kind", FILES)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_a_wrong_value_is_refused_with_line_and_key(kind: str, data: st.DataObject) -> None:
    """It may be a right one by chance: then the file is read."""
    read, names = FILES[kind]
    name = data.draw(st.sampled_from(names))
    at = data.draw(st.sampled_from(data.draw(st.sampled_from(all_places(name)))))
    with TemporaryDirectory() as folder:
        file = Path(folder) / Path(name).parent.name / Path(name).name
        file.parent.mkdir()
        file.write_text(changed(name, at, data.draw(st.sampled_from(WRONG))), encoding="utf-8")
        try:
            read(file)
        except RequestError as problem:
            said = str(problem).removeprefix(f"{file}: ")
            assert said != str(problem) and said.startswith("line ") and "\n" not in said
            assert len(said) < 2 * MAX_MESSAGE


@pytest.mark.parametrize(("file", "at", "value", "said"), [
    ("mocap/boxing/boxing.score.yaml", ("props",), 5, "props: expected a mapping of names"),
    ("cues/palms_up/palms_up.score.yaml", ("props",), 5, "props: expected a mapping of names"),
    ("cues/palms_up/palms_up.score.yaml", ("hand_states",), "x",
     "hand_states: expected a mapping of names"),
    ("cues/palms_up/palms_up.score.yaml", ("stances", 0), [], "stances: expected the stances"),
    ("cues/palms_up/palms_up.score.yaml", ("duration",), "x", "duration: expected seconds"),
    ("mocap/boxing/boxing.score.yaml", ("phases", 0, "how"), [], "unknown way to arrive"),
    ("mocap/boxing/boxing.score.yaml", ("phases", 0, "left_hand", "state"), {},
     "unknown hand state")])
def test_values_that_were_tracebacks(file: str, at: Place, value: object, said: str,
                                     tmp_path: Path) -> None:
    score = tmp_path / Path(file).name
    score.write_text(changed(file, at, value))
    done = invoke("score", "lint", score)
    assert f"{score}: line " in done.stdout and said in done.stdout, done.output


@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
def test_half_characters_are_refused(loader: type, tmp_path: Path,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_file, "_LOADER", loader)
    (tmp_path / "a.yaml").write_text('name: x\nlabels: ["a \\ud800 b"]\n')
    with pytest.raises(RequestError, match=r"a\.yaml: line 2: .*character"):
        YamlFile(tmp_path / "a.yaml")


@pytest.mark.parametrize("words", [
    ("import", "x.bvh", "--library", "mine", "--action", "x", "--label", "\udcff"),
    ("list", "actions", "--library", "\udcff"), ("preview", "\udcff")])
def test_options_that_are_no_text_are_refused(words: tuple[str, ...]) -> None:
    done = invoke(*words)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and not done.stdout
