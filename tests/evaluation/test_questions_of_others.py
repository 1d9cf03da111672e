"""Questions that have only what Contract 12 asks for: nine fields, some of them null."""

import json
from pathlib import Path
from typing import Any

import pytest

from mimegen.evaluation.question import Question, read_questions
from running import invoke

LABELS = ("boxing", "bowling", "golf swing", "driving", "fishing", "archery", "writing", "rowing")
OPTIONAL = ("variant", "options", "labels", "clip", "file_name", "take", "prompting", "asks",
            "seed", "examples", "distractors", "order", "versions", "performance")


def question(number: int, **changed: Any) -> dict[str, Any]:
    """A question as another program's author writes it."""
    options = [LABELS[(number + step) % len(LABELS)] for step in range(4)]
    return {"question_id": f"q{number}", "sample_id": f"s{number}", "action": options[0],
            "variant": "base", "format": "mc", "prompt": "What is it?", "options": options,
            "answer": options[0], "labels": [options[0]]} | changed


def write(path: Path, content: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in content))
    return path


@pytest.mark.parametrize("answer", ["boxing", "A", "a", " (A). ", 0])
def test_an_answer_is_an_option_its_letter_or_its_number(answer):
    assert Question.model_validate(question(0, answer=answer)).answer == "boxing"


@pytest.mark.parametrize("answer", ["E", "swimming", 4, -1, True, None, ["boxing"]])
def test_any_other_answer_is_refused_in_one_line(tmp_path, answer):
    file = write(tmp_path / "q.jsonl", [question(0, answer=answer)])
    answers = write(tmp_path / "a.jsonl", [
        {"question_id": question(0)["question_id"], "model": "m", "output": "A"}])
    for words in (("evaluate", file, answers), ("questions", "--audit", file)):
        done = invoke(*words)
        assert done.exit_code == 2 and len(done.stderr.splitlines()) == 1
        assert "answer" in done.stderr and "line 1" in done.stderr


def test_what_is_null_or_missing_has_its_usual_value(tmp_path):
    file = write(tmp_path / "q.jsonl", [
        question(0, **dict.fromkeys(OPTIONAL), answer="boxing"),
        {key: value for key, value in question(1, options=None).items()
         if key not in ("variant", "labels")},
        question(2, options=None, answer=None)])
    first, second, third = read_questions(file)
    assert (first.options, first.labels, first.variant) == ([], ["boxing"], None)
    assert (second.options, second.labels) == ([], ["bowling"])
    assert third.answer == "golf swing"


def test_nine_fields_are_evaluated_and_audited(tmp_path):
    asked = [question(number, answer="A" if number % 2 else LABELS[number])
             for number in range(8)]
    free = [question(10 + number, format="free", options=None) for number in range(2)]
    file = write(tmp_path / "q.jsonl", [*asked, *free])
    answers = write(tmp_path / "a.jsonl", [
        {"question_id": one["question_id"], "model": "m",
         "output": "AB"[place % 2] if one["options"] else one["labels"][0]}
        for place, one in enumerate([*asked, *free])])
    done = invoke("evaluate", file, answers, "--json", "--report", tmp_path / "report")
    assert done.exit_code == 0, done.output
    scores = {one["format"]: one["accuracy"] for one in json.loads(done.stdout)["models"]}
    assert scores == {"mc": 0.5, "free": 1.0}
    audited = invoke("questions", "--audit", file, "--json")
    assert audited.exit_code in (0, 1)
    assert json.loads(audited.stdout)["questions"] == 8


SEEDS, BACKGROUNDS = (0, 1), ("blank", "aligned", "misaligned")


def of_two_seeds(**named: str) -> list[dict[str, Any]]:
    """Questions about clips of two seeds of every action, on three backgrounds.

    Texts of ``named`` may have the seed filled in.
    """
    return [question(place, question_id=f"q{place}{seed}{background}",
                     sample_id=f"clip {place}{seed}{background}",
                     variant=f"base+{background}@0", background_config=background,
                     **{field: text.format(seed=seed) for field, text in named.items()})
            for place in range(len(LABELS)) for seed in SEEDS for background in BACKGROUNDS]


def evaluated(folder: Path, asked: list[dict[str, Any]]) -> tuple[str, dict[str, Any], str]:
    """Return the text, tables and page of a model that is right on all but some blank clips."""
    wrong = {one["question_id"] for one in asked
             if "blank" in one["question_id"] and one["question_id"] > "q1"}
    file = write(folder / "q.jsonl", asked)
    answers = write(folder / "a.jsonl", [
        {"question_id": one["question_id"], "model": "m",
         "output": "B" if one["question_id"] in wrong else "A"} for one in asked])
    shown = invoke("evaluate", file, answers, "--report", folder / "report")
    assert shown.exit_code == 0, shown.output
    content = json.loads((folder / "report" / "report.json").read_text())
    [table] = content["models"]
    return (shown.stdout, table | {"reliance": content["reliance"]},
            (folder / "report" / "index.html").read_text())


def test_clips_are_not_taken_for_variants_of_one_performance_unless_questions_say_so(tmp_path):
    """Nine fields tell no seeds apart, and neither does the name of a take of two seeds."""
    for named in ({}, {"take": "one"}):
        shown, table, page = evaluated(tmp_path, of_two_seeds(**named))
        assert table["contrasts"] == [] and "whole" not in table and not table["reliance"]
        [said] = [line for line in shown.splitlines() if "field performance" in line]
        assert said.startswith(f"{table['answered']} clips left out")
        assert "right in all variants:" not in shown and "not compared" not in shown
        assert "give them the field performance" in page


@pytest.mark.parametrize("field", ["performance", "take"])
def test_stated_performances_are_compared(tmp_path, field):
    shown, table, page = evaluated(tmp_path, of_two_seeds(**{field: "take of seed {seed}"}))
    [aligned, _] = table["contrasts"]
    assert (aligned["pairs"], aligned["gained"], aligned["lost"]) == (16, 14, 0)
    assert (table["whole"]["right"], table["whole"]["answered"]) == (2, 16)
    assert table["whole"]["chance"] == pytest.approx(0.25 ** 3)
    assert "field performance" not in shown + page
    [reliance] = table["reliance"]
    assert reliance["background"]["performances"] == 16


@pytest.mark.parametrize("variant", ["own", None])
def test_clips_in_one_variant_need_no_performance(tmp_path, variant):
    shown, table, _ = evaluated(tmp_path, [one | {"variant": variant} for one in of_two_seeds()])
    assert "whole" not in table and "field performance" not in shown
