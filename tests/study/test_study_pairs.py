"""Minimal pairs in a study: each half is asked in its own words, both by the same person."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from exports_clips import half
from mimegen.evaluation.pairs import pair_questions, read_pair_wording, whole_pairs
from mimegen.evaluation.question import Question, read_questions, write_questions
from mimegen.study.making import StudyRequest, make_study
from mimegen.study.public import public_trial
from mimegen.study.settings import read_settings
from questions_rows import library_rows
from study_rows import make_clip


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pairs")
    make_clip(out / "clip.mp4")
    actions = ("archery", "bowling", "boxing", "driving", "fishing", "writing")
    rows = [half(row, f"{factor}-{number:04d}", factor, value)
            for number, row in enumerate(library_rows(("base+blank@0",), actions))
            for factor, values in (("speed", ("slow", "fast")), ("angle", ("0", "90")))
            for value in values]
    for row in rows:
        (out / row.file_name).parent.mkdir(exist_ok=True)
        shutil.copyfile(out / "clip.mp4", out / row.file_name)
    write_questions(out / "questions-pair.jsonl",
                    pair_questions(whole_pairs(rows), read_pair_wording(None), 0))
    return out / "questions-pair.jsonl"


@pytest.mark.parametrize("trials", [None, 7])
def test_each_person_answers_both_halves_of_a_pair_in_their_own_words(pairs, tmp_path, trials):
    own = tmp_path / "own.yaml"
    own.write_text(f"trials: {'null' if trials is None else trials}\n")
    study = make_study(StudyRequest(pairs, pairs.parent, tmp_path / "s", None, read_settings(own)))
    known = {one.question_id: one for one in
             read_questions(tmp_path / "s" / "private" / "questions.jsonl")}
    seen: Counter[str] = Counter()
    for names in study.lists:
        asked = [known[study.trials[name].questions["choice"]] for name in names]
        assert {*Counter(one.pair for one in asked).values()} == {2}
        assert trials is None or len(asked) <= trials + 1
        seen.update(one.question_id for one in asked)
        for name, one in zip(names, asked, strict=True):
            assert _words(study, name) == (
                "The video shows a person miming an action. Is it played in slow motion, or faster"
                " than the person moved?" if one.asks == "speed"
                else "Which of these is the person doing?")
    assert {*seen.values()} == {1} and len(seen) == len(read_questions(pairs))


def _words(study, name: str) -> str:
    return str(public_trial(study, name)["ask"]["choice"])


def test_the_words_of_a_pair_are_its_prompt_without_what_is_for_models(pairs):
    questions: list[Question] = read_questions(pairs)
    for one in questions:
        if one.asks == "speed":
            assert one.question and one.prompt.startswith(one.question)
            assert "letter" not in one.question and "A." not in one.question
