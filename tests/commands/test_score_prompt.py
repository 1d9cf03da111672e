"""What a language model is given to write an action, and what it is told of its errors."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from mimegen.base.paths import data_folder
from mimegen.choreography.body import landmark_names
from mimegen.choreography.lint import lint
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.where import HELP
from mimegen.cli import main
from mimegen.library.catalogue import Catalogue
from mimegen.library.scoreprompt import LANGUAGE, nearest_actions
from mimegen.motion.hand_shapes import hand_shapes

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from idioms import GUIDE, idioms

CATALOGUE = Catalogue.with_libraries(())
KNOCKING = data_folder() / "mocap/knocking_on_door/knocking_on_door.score.yaml"


def prompt(*words: str) -> str:
    result = CliRunner().invoke(main, ["score", "prompt", *words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_prompt_holds_the_language_all_words_and_whole_examples() -> None:
    text = prompt("Brushing teeth", "--like", "knocking,high five")
    for title in LANGUAGE:
        assert f"\n## {title}\n" in text
    words = {line.split(": ")[0]: line for line in text.splitlines() if line.startswith("- ")}
    assert set(landmark_names()) <= set(re.findall(r"\w+", words["- landmarks"]))
    assert set(hand_shapes()) <= set(re.findall(r"\w+", words["- hand shapes"]))
    assert all(f"`{kind}`" in text for kind in HELP)
    assert "`mocap/brushing_teeth/`" in text
    example = text.split("## Example: ")[1]
    files = dict(re.findall(r"`([\w.]+)`\n\n```yaml\n(.*?)\n```", example, re.S))
    assert {name.split(".", 1)[1] for name in files} == {
        "yaml", "score.yaml", "checks.yaml", "timeline.yaml"}
    assert yaml.safe_load(files[KNOCKING.name]) == yaml.safe_load(KNOCKING.read_text())


@pytest.mark.parametrize(("name", "near"), [
    ("playing the mandolin", "playing_"), ("drinking tea", "drink"),
    ("mopping the floor", "_floor")])
def test_examples_are_near_in_meaning(name: str, near: str) -> None:
    found = nearest_actions(CATALOGUE, name, 3)
    assert len(found) == 3 and near in found[0].action.id


def test_examples_for_two_have_two_performers() -> None:
    assert prompt("hugging", "--performers", "2").count("\npartner:\n") >= 2


@pytest.mark.slow
def test_lint_tells_programs_where_and_what_helps(tmp_path: Path) -> None:
    score, broken = tmp_path / "late.score.yaml", tmp_path / "broken.score.yaml"
    inside = "left_hand: {to: navel 0 2 0, touch: palm, palm: forward, fingers: down, elbow: out}"
    score.write_text(re.sub(r"left_hand: \{to: hip 14 9 7, .*\}", inside, KNOCKING.read_text()))
    broken.write_text("action: [\n")
    result = CliRunner().invoke(main, ["score", "lint", "--json", str(score), str(broken)])
    told = json.loads(result.stdout)
    assert result.exit_code == 1 and told["scores"] == 2
    found = told["findings"][0]
    assert (found["file"], found["kind"], found["key"]) == (str(score), "reach", "left_hand")
    phase = " ".join(score.read_text().splitlines()[found["line"] - 1:]).split("- at:")[1]
    assert found["key"] in phase and 0 < found["second"] <= float(phase.split()[0])
    assert found["help"] == HELP["reach"] and found["value"] > found["limit"]
    refused = told["findings"][-1]
    assert refused["file"] == str(broken) and refused["line"] == 2 and "kind" not in refused
    assert "not valid YAML" in refused["message"]


@pytest.mark.slow
def test_lint_of_a_clean_score_has_no_findings() -> None:
    result = CliRunner().invoke(main, ["score", "lint", "--json", str(KNOCKING)])
    assert json.loads(result.stdout) == {"scores": 1, "findings": []} and result.exit_code == 0


@pytest.mark.slow
def test_a_new_action_begins_as_the_nearest_one_and_is_clean(tmp_path: Path) -> None:
    asked = ["score", "new", "Brushing Teeth", "--like", "knocking", "--library", str(tmp_path)]
    made = CliRunner().invoke(main, asked)
    assert made.exit_code == 0, made.output
    score = Path(made.stdout.splitlines()[0])
    assert score == tmp_path / "mocap/brushing_teeth/brushing_teeth.score.yaml"
    catalogue = Catalogue.with_libraries((tmp_path,))
    entry = catalogue.action("A3") if not CATALOGUE.in_set("ntu120").keys() & {
        "brush_teeth"} else catalogue.action("brushing_teeth")
    assert entry.action.id == "brushing_teeth" and entry.action.sets["ntu120"] == ("A3",)
    assert [*entry.takes] == ["brushing_teeth"]
    checked = CliRunner().invoke(main, ["score", "lint", "--json", str(score)])
    assert json.loads(checked.stdout)["findings"] == []
    again = CliRunner().invoke(main, asked)
    assert again.exit_code == 2 and "there is an action brushing_teeth already" in again.stderr


def test_an_empty_action_is_a_short_score_without_findings(tmp_path: Path) -> None:
    asked = ["score", "new", "Ringing a bell", "--empty", "--library", str(tmp_path)]
    made = CliRunner().invoke(main, asked)
    assert made.exit_code == 0, made.output
    score, action = map(Path, made.stdout.splitlines())
    assert action.name == "action.yaml" and len(score.read_text().splitlines()) <= 15
    assert Catalogue.with_libraries((tmp_path,)).action("ringing a bell").action.sets == {}
    checked = CliRunner().invoke(main, ["score", "lint", str(tmp_path / "mocap")])
    assert checked.exit_code == 0 and checked.stdout == "1 score, 0 findings\n"
    refused = CliRunner().invoke(main, [*asked, "--like", "boxing"])
    assert refused.exit_code == 2 and "--empty" in refused.stderr
    nothing = CliRunner().invoke(main, ["score", "lint", str(score.parents[1] / "nothing")])
    assert nothing.exit_code == 2 and "no such file" in nothing.stderr


@pytest.mark.parametrize("name", ["42", "../up", "!"])
def test_a_name_that_is_none_begins_nothing(tmp_path: Path, name: str) -> None:
    made = CliRunner().invoke(main, ["score", "new", name, "--like", "knocking", "--library",
                                     str(tmp_path / "mine")])
    if made.exit_code == 0:
        assert [file.name for file in (tmp_path / "mine" / "mocap").iterdir()] == ["up"]
    else:
        assert made.exit_code == 2 and not (tmp_path / "mine").exists()


@pytest.mark.slow
def test_the_guides_idioms_have_no_findings_and_their_pictures(tmp_path: Path) -> None:
    for name, score in idioms(tmp_path):
        motions = perform_scene(score, 0, 30.0)
        assert not lint(motions, score), name
        assert (GUIDE.parents[1] / "images" / "idioms" / f"{name}.jpg").stat().st_size < 40_000
    assert len(list(tmp_path.iterdir())) == 6
