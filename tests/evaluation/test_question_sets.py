"""Answers to several files of questions are scored together."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import mimegen as mg
from mimegen.evaluation.question import Question, write_questions
from running import invoked

ACTIONS = ("boxing", "golf", "archery", "bowling")


def question(number: int, action: str, **fields: object) -> Question:
    return Question(question_id=f"q{number}", sample_id=f"clip-{number}", action=action,
                    variant="base+blank@0", format="mc", prompt="What is done?",
                    options=list(ACTIONS), answer=action, labels=[action],
                    **fields)  # type: ignore[arg-type]


FIRST = [question(number, action) for number, action in enumerate(ACTIONS)]
SECOND = [question(number, action) for number, action in enumerate(ACTIONS[:2], start=4)]


def write_answers(path: Path, questions: Sequence[Question]) -> Path:
    """Answers of a model that always says boxing."""
    path.write_text("".join(json.dumps({"question_id": one.question_id, "model": "m",
                                        "output": "boxing"}) + "\n" for one in questions))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "questions-mc.jsonl", tmp_path / "questions-more.jsonl"
    for path, questions in zip(paths, (FIRST, SECOND), strict=True):
        write_questions(path, questions)
    return paths


def scored(*arguments: object) -> dict[str, Any]:
    done = invoked("evaluate", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    (model,) = json.loads(done.stdout)["models"]
    return dict(model)


def test_answers_to_two_files_are_scored_together(files: tuple[Path, Path], tmp_path: Path) -> None:
    answers = write_answers(tmp_path / "answers.jsonl", [*FIRST, *SECOND])
    for order in ((*files, answers), (files[0], answers, files[1]), (tmp_path, answers)):
        model = scored(*order)
        assert (model["asked"], model["answered"], model["right"]) == (6, 6, 2)
    assert len(mg.evaluate([*files], answers).scored) == 6
    assert len(mg.evaluate([*FIRST, *SECOND], answers).scored) == 6
    assert len(mg.evaluate(tmp_path, answers).scored) == 6


def test_one_file_is_as_before(files: tuple[Path, Path], tmp_path: Path) -> None:
    answers = write_answers(tmp_path / "answers.jsonl", FIRST)
    assert scored(files[0], answers)["asked"] == 4
    done = invoked("evaluate", files[1], answers)
    assert done.returncode == 2 and "unknown question 'q0'" in done.stderr


def test_files_of_a_folder_without_answers_do_not_count(files: tuple[Path, Path],
                                                        tmp_path: Path) -> None:
    answers = write_answers(tmp_path / "answers.jsonl", SECOND)
    done = invoked("evaluate", tmp_path, answers, "--json")
    assert json.loads(done.stdout)["models"][0]["asked"] == 2
    assert done.stderr == f"no answers to the questions of {files[0]}\n"
    assert json.loads(done.stdout)["questions"] == str(files[1])
    # Files that are named count, as questions that the model did not answer.
    assert scored(*files, answers)["asked"] == 6


def test_a_question_of_two_files_counts_once(files: tuple[Path, Path], tmp_path: Path) -> None:
    write_questions(files[1], [FIRST[0], *SECOND])
    answers = write_answers(tmp_path / "answers.jsonl", [*FIRST, *SECOND])
    assert scored(*files, answers)["answered"] == 6


def test_different_questions_of_one_id_are_refused_in_a_line(files: tuple[Path, Path],
                                                             tmp_path: Path) -> None:
    write_questions(files[1], [question(0, "golf")])
    answers = write_answers(tmp_path / "answers.jsonl", FIRST)
    for given in ((*files, answers), (tmp_path, answers)):
        done = invoked("evaluate", *given)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert f"{files[1]}: question 'q0' differs from the one in {files[0]}" in done.stderr


def test_without_answers_it_is_said_what_is_expected(files: tuple[Path, Path]) -> None:
    done = invoked("evaluate", *files)
    assert done.returncode == 2 and "expected a file of answers after" in done.stderr


def test_answers_with_the_words_of_their_question_are_answers(files: tuple[Path, Path],
                                                              tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps({**one.model_dump(), "model": "m", "output": "A"}) + "\n"
                               for one in FIRST))
    assert scored(files[0], answers)["answered"] == 4


def test_a_report_finds_the_clips_beside_each_file(tmp_path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Path] = []
    monkeypatch.setattr("mimegen.evaluation.results.clips._small",
                        lambda folder, name: looked.append(folder))
    paths = [tmp_path / name / "questions-mc.jsonl" for name in ("one", "two")]
    for path, questions in zip(paths, (FIRST[:2], SECOND[:1]), strict=True):
        path.parent.mkdir()
        write_questions(path, questions)
    other = question(9, "archery")
    write_questions(paths[1], [*SECOND[:1], other])
    answers = write_answers(tmp_path / "answers.jsonl", [*FIRST[:2], SECOND[0], other])
    done = invoked("evaluate", *paths, answers, "--report", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in looked} == {"one", "two"}
