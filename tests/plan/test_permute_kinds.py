"""Axes that are drawn where they are asked for: faults, cues, dots, misleading backgrounds."""
import json
from pathlib import Path

import pytest

from mimegen.faults.fault import fault_kinds
from mimegen.library.misleading import is_indoors, misleading
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.plan.permute.declaration import Declaration, read_spec
from mimegen.plan.permute.planned import take_of
from permuting import CATALOGUE, drawn, permute
from places import ROOT


@pytest.mark.slow
def test_faults_are_drawn_where_they_are_asked_for_and_change_no_other_draw() -> None:
    with_them = drawn(60, names="seed,azimuth,fault,fault_amount")
    without = drawn(60, names="seed,azimuth")
    assert [(one.seed, one.azimuth) for one in with_them] == [
        (one.seed, one.azimuth) for one in without]
    assert not any("fault" in name for one in without for name in one.content())
    assert {one.fault for one in with_them} <= {*fault_kinds()}
    assert len({one.fault for one in with_them}) > 8
    assert all(0.1 <= (one.fault_amount or 0) <= 1 for one in with_them)


@pytest.mark.slow
def test_cues_are_drawn_in_the_manners_that_they_can_have(tmp_path: Path) -> None:
    spec = tmp_path / "s.jsonl"
    asked = ("--actions", "head_nod,fists_clenched,boxing", "--axes",
             "stance,intensity,frequency", "--design", "full")
    done = permute(*asked, "--out", spec)
    assert done.exit_code == 0, done.output
    found: dict[str, list[Declaration]] = {"head_nod": [], "fists_clenched": [], "boxing": []}
    for one in read_spec(spec):
        found[one.declaration.action].append(one.declaration)
        take = take_of(CATALOGUE, one.declaration)
        assert isinstance(take, ScoreTake)
        manner = take.manner
        assert manner.intensity == (None if one.declaration.intensity == 1
                                    else one.declaration.intensity)
        assert manner.frequency == one.declaration.frequency
    assert [len(some) for some in found.values()] == [3 * 4 * 3, 2 * 4, 1]
    assert {one.stance for one in found["fists_clenched"]} == {"standing", "talking"}
    assert {one.frequency for one in found["head_nod"]} == {2, 4, 6}
    assert not {"stance", "intensity", "frequency"} & found["boxing"][0].content().keys()
    refused = permute("--actions", "boxing", "--axes", "stance", "--count", "1", "--out", spec)
    assert refused.exit_code == 2 and "--actions cues" in refused.output


@pytest.mark.slow
def test_what_differs_in_a_fault_s_amount_alone_has_an_expected_order(tmp_path: Path) -> None:
    done = permute("--actions", "boxing,archery", "--axes", "fault_amount", "--fix", "fault=float",
                   "--design", "full", "--out", tmp_path / "s.jsonl")
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    orders = [json.loads(line) for line in (tmp_path / "s.order.jsonl").read_text().splitlines()]
    assert {order["action"] for order in orders} == {"boxing", "archery"} and len(lines) == 10
    for order in orders:
        told = [lines[number] for number in order["numbers"]]
        assert [one.pop("fault_amount") for one in told] == order["amounts"] == [.2, .4, .6, .8, 1]
        assert all(one == told[0] for one in told) and order["lowers"] == "interaction"


@pytest.mark.parametrize(("arguments", "said"), [
    (["--axes", "fault_amount"], "no fault is chosen"),
    (["--fix", "fault_amount=0.5"], "no fault is chosen"),
    (["--fix", "fault=flaot"], "did you mean float"),
    (["--fix", "fault=float", "--fix", "fault_amount=1.5"], "expected 0.1 to 1"),
    (["--fix", "fault=cut_off", "--fix", "display=pointlight"], "rendered frames"),
    (["--ready", "no_such"], "graded_faults")])
def test_faults_that_cannot_be_are_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = permute("--count", 2, "--actions", "boxing", *arguments, "--out", tmp_path / "s.jsonl")
    assert done.exit_code == 2 and said in done.output and not [*tmp_path.iterdir()]


def test_dots_are_drawn_with_faults_of_the_motion_alone() -> None:
    found = drawn(60, names="display,fault,seed")
    assert {one.display for one in found} == {"video", "pointlight"}
    assert {fault_kinds()[one.fault or ""].acts_on for one in found} == {"motion"}


@pytest.mark.slow
def test_a_background_misleads_by_rule_where_one_asks() -> None:
    """From another semantic group, where nothing of the same labels belongs, on like ground."""
    own = drawn(20, fixes=("background=misaligned",))
    assert all(one.background == library_take(CATALOGUE.action(one.action), one.take, 0).misaligned
               for one in own)
    found = drawn(60, fixes=("background=misaligned", "misleading=rule"))
    assert {one.background_kind for one in found} == {"misaligned"}
    assert found[:20] == drawn(20, fixes=("background=misaligned", "misleading=rule"))
    for one in found:
        allowed = misleading(CATALOGUE, one.action, one.take)
        assert one.background in allowed
        assert is_indoors(CATALOGUE, one.background) is True
    assert len({one.background for one in found}) > 8
    both = drawn(60, names="misleading", fixes=("background=misaligned",))
    assert {one.background in ("concert_hall", "living_room", "boxing_gym", "beach", "classroom")
            for one in both} == {True, False}


@pytest.mark.slow
def test_what_misleads_is_no_place_of_the_action_or_its_kind() -> None:
    for action, entry in CATALOGUE.actions.items():
        for take in entry.takes:
            facts = entry.action.of_take(take)
            names = misleading(CATALOGUE, action, take)
            alike = {other.action.of_take(name).aligned_background
                     for other in CATALOGUE.actions.values() for name in other.takes
                     if other.action.semantic_group == entry.action.semantic_group
                     or set(other.action.of_take(name).labels) & set(facts.labels)}
            assert names and alike.isdisjoint(names), action
            assert {is_indoors(CATALOGUE, name) for name in names} == {
                is_indoors(CATALOGUE, str(facts.aligned_background))}
    assert "boxing_gym" not in misleading(CATALOGUE, "fencing", "fencing")
    assert misleading(CATALOGUE, "no_such_action", "x") == ()


def test_the_page_says_what_misleads_about_each_action() -> None:
    reference = ROOT / "docs" / "reference"
    page = (reference / "misleading.md").read_text(encoding="utf-8")
    sets = {name: is_indoors(CATALOGUE, name) for name in CATALOGUE.backgrounds}
    for name, entry in CATALOGUE.actions.items():
        facts, by_rule = entry.action, misleading(CATALOGUE, name, min(entry.takes))
        kind = sets[str(facts.aligned_background)]
        fitting = sorted(place for place, one in sets.items()
                         if one is kind and place not in by_rule)
        where = f"{len(by_rule)} {'in' if kind else 'out'}doors, not {', '.join(fitting)}"
        assert (f"| {name} | {facts.semantic_group} | {facts.aligned_background} |"
                f" {facts.misaligned_background} | {where} |\n") in page


@pytest.mark.slow
def test_hand_actions_are_drawn_and_never_mirrored() -> None:
    made = drawn(6, names="seed,style,mirror", actions=("number_2", "thumb_up"))
    takes = [take_of(CATALOGUE, one) for one in made]
    assert {one.action for one in takes} == {"number_2", "thumb_up"}
    assert not any(one.mirror for one in takes)
    assert len({one.seed for one in takes}) == 6
