"""What people reach: measured where they answered, expected where that is published, else unknown.
"""

import json
from typing import Any

import pytest

from mimegen.commands.evaluate import _human
from mimegen.evaluation.answers import PEOPLE
from mimegen.evaluation.expected import UNKNOWN, human_share, with_expectation
from mimegen.evaluation.making import QuestionRequest, questions_of
from mimegen.evaluation.question import Question
from mimegen.evaluation.results.page import _kinds
from mimegen.evaluation.scoring import ScoredAnswer
from mimegen.evaluation.tables import report
from mimegen.evaluation.templates import read_templates
from questions_rows import library_rows


def question(number: int = 0, **more: Any) -> Question:
    content = {"question_id": f"q{number}", "sample_id": f"s{number}", "action": f"a{number % 4}",
               "variant": "base+blank@0", "format": "mc", "prompt": "?", "answer": "a",
               "options": ["a", "b", "c", "d"], "labels": ["a"],
               "distractors": [{"text": text, "origin": "block"} for text in "bcd"],
               "background_config": "blank", "versions": {"mimegen": "1"}}
    return Question.model_validate(content | more)


@pytest.mark.parametrize(("more", "accuracy"), [
    # MIME's Tables 1 to 3, read anew from the paper.
    ({}, 0.996), ({"format": "free", "options": [], "distractors": []}, 0.895),
    ({"variant": "base+misaligned@0", "background_config": "misaligned"}, 0.992),
    ({"variant": "base+blank@270", "format": "free"}, 0.851),
    ({"variant": "woman+blank@0", "avatar": "woman"}, 0.985),
    ({"variant": "adversarial+misaligned@0", "format": "free"}, 0.95),
    ({"format": "3afc", "variant": "upright", "people": 2}, 0.935),
    ({"format": "3afc", "variant": "pointlight@0"}, 0.9333),
])
def test_what_was_measured_on_such_clips_is_an_expectation(more: dict[str, Any], accuracy: float
                                                           ) -> None:
    found = human_share([question(**more)])
    assert found["accuracy"] == accuracy
    assert found["source"].startswith("expected from other clips: ")
    assert with_expectation([question(**more)])[0].human == found


@pytest.mark.parametrize("more", [
    # Other clips than MIME's people saw: sides, people, performers, displays.
    {"variant": "base+blank@45"}, {"variant": "woman+blank@90"}, {"variant": None},
    {"variant": "random:3+blank@0"}, {"avatar": "random:3"}, {"people": 2}, {"variant": "upright"},
    # Other questions: about intentions, with other wrong answers, with less to see.
    {"asks": "intention"}, {"difficulty": "near"}, {"control": "frame"},
    {"distractors": [{"text": text, "origin": "given"} for text in "bcd"]}, {"condition": "text"},
    # Questions of other programs, with other wrong answers or another wording.
    {"distractors": []}, {"distractors": [{"text": text} for text in "bcd"]}, {"versions": {}},
    {"options": ["a", "x", "y", "z"]},
    {"format": "free", "options": [], "distractors": [], "versions": {}},
    # ActPLD's people chose labels of upright displays seen from the front.
    {"format": "3afc"}, {"format": "3afc", "variant": "upright", "asks": "intention"},
    {"format": "3afc", "variant": "pointlight:inverted@0"},
    {"format": "3afc", "variant": "pointlight@90"}, {"format": "3afc", "variant": "scrambled"},
    # The halves of pairs of the background ask MIME's question, but of another performer.
    {"pair": "p1"},
])
def test_what_was_not_measured_is_unknown(more: dict[str, Any]) -> None:
    assert human_share([question(**more)]) == {"accuracy": None, "source": UNKNOWN}


@pytest.mark.parametrize(("format_", "accuracy"), [("mc", 0.996), ("free", 0.895)])
def test_mimegens_own_questions_have_an_expectation(format_: str, accuracy: float) -> None:
    made = questions_of(library_rows(("base+blank@0",)), QuestionRequest(
        format_, "label", "zero-shot", read_templates(format_, None)))
    found = {one.people: one.human for one in with_expectation(made)}
    assert found[1] is not None and found[1]["accuracy"] == accuracy


@pytest.mark.parametrize(("format_", "name"), [
    ("pair", "minimal pairs"), ("probe", "probes"), ("timeline", "timelines"), ("cue", "cues"),
    ("number", "a number"), ("match", "several clips"), ("factor", "factors")])
def test_of_own_kinds_of_questions_it_is_said_that_no_figure_exists(format_: str, name: str
                                                                    ) -> None:
    found = human_share([question(format=format_)])
    assert found["accuracy"] is None
    assert found["source"].startswith("no published figure for ") and name in found["source"]


def test_the_accuracy_over_variants_is_the_mean_of_all_that_were_measured() -> None:
    asked = [question(0), question(1, variant="base+aligned@0")]
    assert human_share(asked)["accuracy"] == pytest.approx((0.996 + 0.985) / 2)
    assert human_share([*asked, question(2, variant="base+blank@45")])["accuracy"] is None


def test_answers_of_people_take_precedence() -> None:
    asked = [question(number) for number in range(8)]
    scored = [ScoredAnswer(one, model, "a", right, rater=rater)
              for number, one in enumerate(asked)
              for model, right, rater in (("m", False, None), (PEOPLE, number > 1, "p1"),
                                          (PEOPLE, True, "p2"))]
    content = report(scored, asked)
    for kind in content["models"]:
        assert kind["human"] == {"accuracy": 14 / 16,
                                 "source": "measured: 16 answers of 2 people"}
    page = "".join(section.html for section in _kinds(content | {"models": content["models"]}))
    assert ">People</th>" in page and "87.5 %" in page and "expected" not in page


def pages(content: dict[str, Any]) -> str:
    return "".join(section.html for section in _kinds(content))


def texts(content: dict[str, Any]) -> str:
    return "\n".join(line for one in content["models"] for line in _human(one))


def test_reports_mark_what_is_only_expected_by_variant() -> None:
    variants = ("base+blank@0", "base+misaligned@0", "base+blank@45")
    asked = [question(number, variant=variants[number % 3]) for number in range(12)]
    content = report([ScoredAnswer(one, "m", "a", True) for one in asked], asked)
    assert content["models"][0]["human"] == {"accuracy": None, "source": UNKNOWN}
    found = {name: one["human"]["accuracy"]
             for name, one in content["models"][0]["variants"].items()}
    assert found == {"base+blank@0": 0.996, "base+misaligned@0": 0.992, "base+blank@45": None}
    page, text = pages(content), texts(content)
    assert page.count("expected 99.6 %") == page.count("expected 99.2 %") == 1
    assert page.count("expected") == 3 and "MIME, Tables 1 to 3" in page
    assert text.startswith("people: 99.6% for base+blank@0, 99.2% for base+misaligned@0; expected")
    assert "45" not in text


@pytest.mark.parametrize("format_", ["pair", "probe"])
def test_reports_of_pairs_and_probes_show_no_human_accuracy(format_: str) -> None:
    asked = [question(number, format=format_, pair=f"p{number // 2}") for number in range(8)]
    content = report([ScoredAnswer(one, "m", "a", True) for one in asked], asked)
    assert ">People</th>" not in pages(content) and "expected" not in pages(content)
    assert "no published figure for" in pages(content)
    assert texts(content).startswith("people: no published figure for")
    assert "accuracy" in content["models"][0]["human"] and "92.9" not in json.dumps(content)
