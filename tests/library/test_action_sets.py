"""Sets of actions that others publish: which actions they have, and what they are asked for by."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.choreography.action import read_action
from mimegen.cli import main
from mimegen.library.catalogue import Catalogue
from mimegen.library.naming import names_of_actions
from mimegen.request.sources import ambiguous_left_out, entries_of

CATALOGUE = Catalogue.with_libraries(())


def action_text(name: str, **more: str) -> str:
    facts = {"id": name, "name": name, "labels": f"[{name}]", "recognised_by": "it is seen",
             "licence": "CC0-1.0", "author": "nobody"} | more
    return "".join(f"{key}: {value}\n" for key, value in facts.items())


def library(folder: Path, **actions: dict[str, str]) -> Catalogue:
    for name, more in actions.items():
        place = folder / "mocap" / name
        place.mkdir(parents=True)
        (place / "action.yaml").write_text(action_text(name, **more), encoding="utf-8")
    return Catalogue.with_libraries((folder,))


def ids(catalogue: Catalogue, asked: str) -> list[str]:
    return [entry.action.id for entry in entries_of(catalogue, asked)]


def test_every_set_knows_what_actions_say_of_it() -> None:
    assert {*CATALOGUE.sets} >= {"actpld", "ntu120", "gaia", "mime", "classic-pld"}
    assert [*CATALOGUE.sets["ntu120"].members] == [f"A{number}" for number in range(1, 121)]
    assert len(CATALOGUE.sets["gaia"].members) == 400
    for name in CATALOGUE.sets:
        assert CATALOGUE.in_set(name)
    assert CATALOGUE.missing_from("mime") == ()


@pytest.mark.parametrize(("asked", "found"), [
    ("A63", "basketball_shot"), ("NTU 63", "basketball_shot"), ("ntu rgb+d A63", "basketball_shot"),
    ("tennis bat swing", "tennis_swing"), ("ActPLD 360 spin", "spin_360"), ("a112", "high_five"),
    ("GAIA deadlifting", "deadlift"), ("Kicking", "kick"), ("climbing", "climbing")])
def test_names_and_numbers_of_sets_ask_for_actions(asked: str, found: str) -> None:
    assert ids(CATALOGUE, asked) == [found]


def test_a_set_is_all_of_its_actions_but_the_ambiguous(tmp_path: Path) -> None:
    other = library(tmp_path, blink={"sets": "{ntu120: [A1, A19]}", "ambiguous": "true",
                                     "viewers": "all saw a nod"})
    before, after = CATALOGUE.in_set("ntu120"), other.in_set("ntu120")
    assert after.keys() - before.keys() == {"blink"}
    named = [name for name, entry in before.items() if not entry.action.ambiguous]
    assert ids(other, "set:ntu120") == ids(CATALOGUE, "set:ntu120") == named
    assert 0 < len(before) - len(named) < 12
    assert "blink" not in ids(other, "all") and ids(other, "blink, A19") == ["blink", "blink"]
    assert ambiguous_left_out(other, "set:ntu120") == len(after) - len(named)
    assert ambiguous_left_out(other, "all") == 1 + ambiguous_left_out(CATALOGUE, "all")
    assert ambiguous_left_out(other, "blink, boxing") == 0
    assert {*CATALOGUE.missing_from("ntu120")} - {*other.missing_from("ntu120")} == {"A19"}


def test_a_name_that_fits_several_is_refused_with_all_of_them(tmp_path: Path) -> None:
    other = library(tmp_path, nod={"labels": "[nods, agreeing]"},
                    okay={"labels": "[okays, agreeing]"})
    with pytest.raises(RequestError, match="'Agreeing' fits several actions: nod, okay; expected"):
        other.action("Agreeing")
    assert ids(other, "Okays") == ["okay"]


def test_ids_go_before_labels_and_labels_before_aliases(tmp_path: Path) -> None:
    other = library(tmp_path, nod={"aliases": "[sway, shrug]"}, shrug={}, rock={"labels": "[sway]"})
    assert ids(other, "shrug, sway") == ["shrug", "rock"]
    kinds = [entry.action for entry in other.actions.values()]
    assert names_of_actions(kinds)["nod"][0].action == "nod"


@pytest.mark.parametrize(("sets", "said"), [
    ("{ntu120: [A121]}", r"blink.action.yaml: sets: ntu120: mocap/sets/ntu120.yaml has no 'A121'"),
    ("{ntu: [A1]}", r"blink.action.yaml: sets: unknown set 'ntu' \(did you mean ntu120")])
def test_what_a_set_has_not_is_refused(tmp_path: Path, sets: str, said: str) -> None:
    other = library(tmp_path, blink={"sets": sets})
    with pytest.raises(RequestError, match=said):
        other.action("nothing of this name")


def test_a_number_that_no_action_has_says_what_it_is() -> None:
    with pytest.raises(RequestError, match="no action 'NTU 5': 'drop' of ntu120, which no action"):
        CATALOGUE.action("NTU 5")
    with pytest.raises(RequestError, match=r"no set of actions 'ntu' \(did you mean ntu120"):
        entries_of(CATALOGUE, "set:ntu")


def test_sets_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mocap/sets").mkdir(parents=True)
    (tmp_path / "mocap/sets/pilot.yaml").write_text(
        "about: ours\nsource: us\ncalled: [pilot]\nmembers: {P1: winking, P2: nodding}\n")
    other = library(tmp_path, blink={"sets": "{pilot: [P1]}"})
    for asked in ("P1", "pilot 1", "winking", "pilot winking", "set:pilot"):
        assert ids(other, asked) == ["blink"]
    assert other.missing_from("pilot") == ("P2",)


def test_what_viewers_saw_is_said_of_the_ambiguous(tmp_path: Path) -> None:
    library(tmp_path, blink={"ambiguous": "true"})
    with pytest.raises(RequestError, match="line 7: ambiguous: requires 'viewers:'"):
        read_action(tmp_path / "mocap" / "blink" / "action.yaml")


def test_list_shows_sets_and_what_they_lack() -> None:
    runner = CliRunner()
    listed = runner.invoke(main, ["list", "actions", "--set", "actpld", "--json"])
    rows = json.loads(listed.stdout)
    assert {row["id"] for row in rows} == {*CATALOGUE.in_set("actpld")}
    assert {"in_set": ["360_spin"], "id": "spin_360"}.items() <= next(
        row for row in rows if row["id"] == "spin_360").items()
    told = runner.invoke(main, ["list", "actions", "--set", "ntu120"])
    assert "no action yet for" in told.stderr and "A5 drop" in told.stderr
    assert runner.invoke(main, ["list", "cues", "--set", "mime"]).exit_code == 2
    sets = {row["set"]: row for row in json.loads(
        runner.invoke(main, ["list", "sets", "--json"]).stdout)}
    assert sets["mime"]["missing"] == [] and sets["gaia"]["names"] == 400
    assert {file.stem for file in (data_folder() / "mocap/sets").glob("*.yaml")} == {*sets}


@pytest.mark.parametrize(("words", "said"), [
    (["sets", "mime"], "mimegen list actions --set mime lists the actions of this set"),
    (["actions", "mime", "--ids"], "mimegen list actions --set mime"),
    (["actions", "set:mime"], "mimegen list actions --set mime"),
    (["actions", "actpdl"], "did you mean actpld"),
    (["characters", "ids"], "mimegen list characters --ids"),
    (["actions", "characters"], "mimegen list characters"),
    (["takes", str(Path(__file__).parent)], "--library"),
    (["takes", "boxing"], "expected nothing after 'takes'")])
def test_a_word_after_the_kind_is_answered_with_what_to_write(words: list[str], said: str) -> None:
    done = CliRunner().invoke(main, ["list", *words])
    assert done.exit_code == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
