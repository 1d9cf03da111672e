"""Answers are read from logs that harnesses wrote of exports (tests/data/harness_logs)."""

import pytest

from mimegen.evaluation.answers import read_answers
from mimegen.evaluation.question import read_questions
from places import DATA
from pretended_model import saying

LOGS = DATA / "harness_logs"
ASKED = LOGS / "questions-mc.jsonl"


@pytest.mark.parametrize("name", ["inspect-mc.json", "lmms-eval-mc_samples_mimegen_mc.jsonl"])
def test_logs_give_back_every_word_that_the_model_said(name):
    questions = read_questions(ASKED)
    answers = {one.question.question_id: one for one in read_answers([LOGS / name], questions)}
    assert {name: one.output for name, one in answers.items()} == \
        {one.question_id: saying(one.prompt) for one in questions}
    assert {one.model.rpartition("/")[2] for one in answers.values()} == {"pretended"}


def test_the_archive_of_inspect_s_mock_model_says_what_that_says():
    answers = read_answers([LOGS / "inspect-mockllm-mc.eval"], read_questions(ASKED))
    assert {(one.model, one.output) for one in answers} == {("mockllm/model", "B")}
    assert len(answers) == 6
