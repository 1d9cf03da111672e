import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from mimegen.base.errors import RequestError
from mimegen.choreography.action import read_action
from mimegen.evaluation.audit import audit, read_items
from mimegen.evaluation.cues import CONDITIONS, CueRequest, cue_questions, read_cue_wording
from mimegen.evaluation.question import Question, read_questions, write_questions
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.manifest.row import Row
from questions_rows import library_rows, written
from running import invoked

CUES = {
    "arms_crossed": ("arms", "guarding oneself", "self comfort"),
    "neck_massage": ("neck", "stress", "relief of tension"),
    "face_palm": ("face", "disbelief", "annoyance"),
    "chin_stroke": ("chin", "careful thought", "weighing a choice"),
    "foot_tap": ("feet", "impatience", "boredom"),
    "chest_out": ("chest", "pride", "confidence"),
    "head_shake": ("head", "refusal", "disagreement"),
    "thumbs_up": ("hands", "approval", "agreement"),
    "wide_eyes": ("eyes", "surprise", "fear"),
}


# Of the region of one of these, and with the meaning of one.
ALIKE = {"neck_scratch": ("neck", "doubt", "an itch"), "brow_wipe": ("brow", "stress", "heat")}


def action_file(name: str) -> dict[str, Any]:
    region, *explanations = (CUES | ALIKE)[name]
    return {"id": name, "name": name, "labels": [name.replace("_", " ")],
            "semantic_group": f"cue of the {region}", "recognised_by": "what it looks like.",
            "licence": "CC0-1.0", "author": "a test",
            "cue": {"region": region, "explanations": explanations,
                    "means_in": [f"Somebody waits to be told off ({name})."],
                    "means_nothing_in": [f"It is very hot ({name})."]}}


def cue_library(folder: Path, names: tuple[str, ...] = tuple(CUES)) -> Path:
    for name in names:
        place = folder / "mocap" / name
        place.mkdir(parents=True)
        (place / "action.yaml").write_text(yaml.safe_dump(action_file(name)))
        (place / f"{name}.score.yaml").write_text(yaml.safe_dump({
            "action": name, "about": "a hand goes up and down", "duration": 6.0, "phases": [
                {"at": 0, "chest": {"lean": 2, "how": "pass"}},
                {"at": 3.0, "right_hand": {"to": "shoulder 16 22 26", "palm": "forward"}},
                {"at": 5.5, "right_hand": {"to": "hip 14 5 4", "loose": True}}]}))
        (place / f"{name}.timeline.yaml").write_text(
            "cue: {from: 1.5, peak: 3.0, to: 4.5, hand: right}\n"
            "steps: [{from: 1.5, to: 3, does: lifts a hand, hand: right}]\n")
    return folder


@pytest.fixture(scope="module")
def rows(tmp_path_factory) -> list[Row]:
    return rows_of(cue_library(tmp_path_factory.mktemp("library")), tuple(CUES))


def rows_of(library: Path, names: tuple[str, ...]) -> list[Row]:
    catalogue = Catalogue.with_libraries((library,))
    return [_row(library_take(catalogue.action(name), None, seed), variant)
            for name in names for seed in (0, 1) for variant in ("base+blank@0", "woman+blank@0")]


def _row(take, variant: str) -> Row:
    sample = f"{take.action}-seed{take.seed}-{variant}"
    return Row.model_validate({
        **take.facts(), "sample_id": sample, "file_name": f"clips/{sample}.mp4", "avatar": "man",
        "config_name": variant, "fps": 30, "frames": 200, "width": 64, "height": 36, "sha256": "0",
        "timeline": take.timeline})


def asked(rows, task="explanation", condition="video", seed=0) -> list[Question]:
    return cue_questions(rows, CueRequest(task, condition, read_cue_wording(None), seed))


def test_rows_say_what_a_cue_may_mean_and_when_it_is_seen(rows):
    [cue] = [one for one in rows[0].timeline or () if one.kind == "cue"]
    assert (cue.name, cue.hand) == ("arms crossed", "right")
    assert cue.cue is not None and cue.cue.explanations == ["guarding oneself", "self comfort"]
    assert (cue.start_s, cue.peak_s, cue.end_s) == pytest.approx((1.5, 3.0, 4.5), abs=0.1)


def test_four_seconds_about_the_peak_are_shown_at_eight_frames_a_second(rows):
    for one in asked(rows):
        assert one.frames is not None and len(one.frames) == 32
        start, end = one.window or (0, 0)
        assert end - start == pytest.approx(4.0)
        steps = {later - earlier for earlier, later in zip(one.frames, one.frames[1:],
                                                           strict=False)}
        assert steps <= {3, 4}
        [cue] = [step for row in rows if row.sample_id == one.sample_id
                 for step in row.timeline or () if step.kind == "cue"]
        assert (start + end) / 2 == pytest.approx(cue.peak_s)


def test_what_conditions_show_and_tell(rows):
    for condition in CONDITIONS:
        for one in asked(rows, condition=condition):
            name = one.action.replace("_", " ")
            assert (name in one.prompt) == (condition != "video")
            assert (one.frames == []) == (condition == "text")
            assert one.condition == condition


def test_no_clue_is_right_where_the_situation_says_nothing_and_as_often_as_any_option(rows):
    found = asked(rows)
    for one in found:
        hot = "very hot" in one.prompt
        assert one.answer == ("No clue" if hot else CUES[one.action][1])
        assert len(one.options) == 4 and "No clue" in one.options
    answers = Counter(one.answer == "No clue" for one in found)
    assert answers[False] == 3 * answers[True]


def test_cues_of_one_region_or_meaning_are_never_each_other_s_wrong_answer(tmp_path):
    known = CUES | ALIKE
    found = asked(rows_of(cue_library(tmp_path, tuple(known)), tuple(known)), "cue")
    assert {one.action for one in found} == {*known}
    for one in found:
        assert one.answer == one.action.replace("_", " ") and len({*one.options}) == 4
        region, *meanings = known[one.action]
        for wrong in {*one.options} - {one.answer}:
            other, *others = known[wrong.replace(" ", "_")]
            assert other != region and {*others}.isdisjoint(meanings), (one.answer, wrong)


def test_valid_invalid_and_no_clue_are_right_equally_often_and_known_from_cue_and_situation(rows):
    found = asked(rows, "validity", "text")
    assert Counter(one.answer for one in found) == dict.fromkeys(
        ("valid", "invalid", "No clue"), len(rows))
    own = {one: explanations for one, (_, *explanations) in CUES.items()}
    told: Counter[tuple[str, str]] = Counter()
    for one in found:
        assert one.options == ["valid", "invalid", "No clue"]
        [text] = [text for texts in own.values() for text in texts
                  if f"explains it by: {text}." in one.prompt]
        told[text, one.answer] += 1
        assert (text in own[one.action]) == (one.answer != "invalid")
        assert ("very hot" in one.prompt) == (one.answer == "No clue")
    balanced = [text for text, *_ in own.values()
                if told[text, "valid"] == told[text, "invalid"]]
    assert len(balanced) >= 8, "cues explain one another in pairs; of nine, one is left over"


@pytest.mark.parametrize("task", ["cue", "explanation", "validity"])
def test_options_give_nothing_away(tmp_path, rows, task):
    write_questions(tmp_path / "q.jsonl", asked(rows, task))
    tested, _ = audit(read_items(tmp_path / "q.jsonl"))
    assert [one.rule for one in tested if one.leaks] == []


def test_the_command_asks_about_cues_and_refuses_rows_without(tmp_path, rows):
    out = written(tmp_path / "out", rows)
    done = invoked("questions", out, "--format", "cue", "--asks", "validity", "--condition", "both")
    assert done.returncode == 0, done.stderr
    assert {one.asks for one in read_questions(out / "questions-cue.jsonl")} == {"validity"}
    none = written(tmp_path / "none", library_rows(("base+blank@0",), ("fishing",)))
    for arguments, said in (([], "no row shows a cue"), (["--asks", "label"], "does not apply to")):
        done = invoked("questions", none, "--format", "cue", *arguments)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
        assert re.search(said, done.stderr)


def test_a_cue_without_situations_can_be_named_but_not_weighed(rows):
    bare = [row.model_copy(update={"timeline": [
        one.model_copy(update={"cue": one.cue.model_copy(update={"means_nothing_in": []})})
        if one.cue else one for one in row.timeline or ()]}) for row in rows]
    assert len(asked(bare, "cue")) == len(rows)
    with pytest.raises(RequestError, match="means_nothing_in"):
        asked(bare, "validity")


@pytest.mark.parametrize(("wrong", "said"), [
    ({"region": "neck"}, "explanations"), ({"region": "neck", "explanations": []}, "explanations"),
    ({"region": "neck", "explanations": ["stress"], "context": "x"}, "unknown key")])
def test_a_cue_that_is_not_told_whole_is_refused(tmp_path, wrong, said):
    place = tmp_path / "arms_crossed"
    place.mkdir()
    (place / "action.yaml").write_text(yaml.safe_dump(action_file("arms_crossed") | {"cue": wrong}))
    with pytest.raises(RequestError, match=rf"action\.yaml: line \d+: .*{said}"):
        read_action(place / "action.yaml")
