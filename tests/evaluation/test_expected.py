"""What people reach: measured where they answered, expected where that is published, else unknown.
"""

from typing import Any

import pytest

from mimegen.evaluation.answers import PEOPLE
from mimegen.evaluation.expected import UNKNOWN, human_share, with_expectation
from mimegen.evaluation.question import Question
from mimegen.evaluation.results.page import _kinds
from mimegen.evaluation.scoring import ScoredAnswer
from mimegen.evaluation.tables import report


def question(number: int = 0, **more: Any) -> Question:
    content = {"question_id": f"q{number}", "sample_id": f"s{number}", "action": f"a{number % 4}",
               "variant": "base+blank@0", "format": "mc", "prompt": "?", "answer": "a",
               "options": ["a", "b", "c", "d"], "labels": ["a"],
               "background_config": "blank"}
    return Question.model_validate(content | more)


@pytest.mark.parametrize(("more", "accuracy", "where"), [
    ({}, 0.996, "expected from other clips: MIME"),
    ({"format": "3afc", "variant": "upright", "people": 2}, 0.935, "social"),
    ({"format": "3afc", "variant": "pointlight@0"}, 0.9333, "one person"),
    # What was found with figures on blank, or with upright dots, is no expectation of others.
    ({"background_config": "misaligned", "variant": "base+misaligned@0"}, None, UNKNOWN),
    ({"format": "3afc"}, None, UNKNOWN), ({"variant": "upright"}, None, UNKNOWN),
    ({"format": "3afc", "variant": "pointlight:inverted@0"}, None, UNKNOWN),
    ({"format": "3afc", "variant": "scrambled"}, None, UNKNOWN),
    ({"format": "cue", "condition": "video", "variant": "inverted"}, None, UNKNOWN),
    ({"format": "probe", "asks": "turn"}, 0.952, "expected from other clips: TOMATO"),
    ({"format": "probe", "asks": "turn", "prompting": "open"}, None, UNKNOWN),
    ({"control": "frame"}, None, UNKNOWN), ({"asks": "intention"}, None, UNKNOWN),
    ({"format": "number"}, None, UNKNOWN), ({"format": "match"}, None, UNKNOWN),
    ({"format": "cue", "condition": "text"}, None, UNKNOWN),
    ({"format": "timeline", "condition": "video", "prompting": "open"}, 0.86, "MimeQA"),
])
def test_what_is_published_is_an_expectation(more: dict[str, Any], accuracy: float | None,
                                             where: str) -> None:
    found = human_share([question(**more)])
    assert found["accuracy"] == accuracy and where in found["source"]
    assert with_expectation([question(**more)])[0].human == found


def test_answers_of_people_take_precedence() -> None:
    asked = [question(number) for number in range(8)]
    scored = [ScoredAnswer(one, model, "a", right, rater=rater)
              for number, one in enumerate(asked)
              for model, right, rater in (("m", False, None), (PEOPLE, number > 1, "p1"),
                                          (PEOPLE, True, "p2"))]
    content = report(scored, asked)
    for kind in content["models"]:
        assert kind["human"] == {"accuracy": 14 / 16, "of": "answers",
                                 "source": "measured: 16 answers of 2 people"}
    page = "".join(section.html for section in _kinds(content | {"models": content["models"]}))
    assert ">People</th>" in page and "87.5 %" in page and "expected" not in page


def test_the_page_says_what_is_only_expected_and_of_what() -> None:
    asked = [question(number, format="pair", pair=f"p{number // 2}") for number in range(8)]
    content = report([ScoredAnswer(one, "m", "a", True) for one in asked], asked)
    human = content["models"][0]["human"]
    assert human["accuracy"] == 0.929 and human["of"] == "pairs"
    page = "".join(section.html for section in _kinds(content))
    # Nothing is known of single answers, so the table by variant has no column for people.
    assert "expected 92.9 %" in page and page.count(">People</th>") == 1
    assert "MVP (Krojer et al., 2025)" in page
