"""Questions that are answered with a number: what is asked, how answers are read and scored."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mimegen as mg
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.choreography.happenings import TIMELINE_SUFFIX, read_happenings
from mimegen.choreography.reading import read_score
from mimegen.evaluation.counting import has_certain_number
from mimegen.evaluation.numbers import (
    COUNT,
    MOMENT_S,
    is_right,
    number_questions,
    read_number,
    read_number_wording,
)
from mimegen.evaluation.question import Question
from mimegen.evaluation.subjects import subject_of_row
from mimegen.evaluation.timeline.asks import AskWording, asks_of
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import Interval
from questions_rows import library_rows, written
from running import invoke

WORDING = read_number_wording(None)
HITS = ("knocks", "taps", "claps", "pats", "dabs", "plucks", "hammers", "stamps")


def steps(*parts: tuple[str, float, float]) -> Row:
    """A row of ten seconds in which somebody does this."""
    row = library_rows(("base+blank@0",))[0]
    timeline = [Interval(kind="step", name=name, start_s=start, end_s=end)
                for name, start, end in parts]
    return row.model_copy(update={"timeline": timeline, "frames": 240, "fps": 24.0,
                                  "partner_avatar": None})


def asked(row: Row) -> dict[tuple[str, str], Question]:
    return {(one.asks, one.answer): one for one in number_questions([row], WORDING, 1)}


def test_what_is_asked_is_what_the_timeline_says() -> None:
    made = asked(steps(("claps", 1, 1.4), ("claps", 2, 2.4), ("claps", 3, 3.4), ("bows", 5, 8)))
    assert {*made} == {("count", "3"), ("start", "5"), ("duration", "3")}
    assert made["count", "3"].tolerance == 0
    assert made["start", "5"].tolerance == pytest.approx(1.0)
    assert "The person claps." in made["count", "3"].prompt
    assert not any(one.options for one in made.values())


@pytest.mark.parametrize("parts", [
    [("waves", 1, 2), ("waves once more", 4, 5)], [("dips a wand in a bottle", 1, 2), (
        "dips the wand again", 5, 6)], [("claps twice", 1, 2)],
    [("jumps up", 1, 2), ("jumps up", 3, 4), ("jumps up with the knees drawn up", 5, 6)],
    [("shakes the dice to and fro", 1, 4), ("shakes the dice to and fro", 5, 8)],
])
def test_what_viewers_would_count_otherwise_is_not_counted(
        parts: list[tuple[str, float, float]]) -> None:
    row = steps(*parts, ("bows", 7, 8), ("steps back", 8, 9))
    made = number_questions([row], WORDING, 1)
    assert {str(one.question).split("The person ")[1] for one in made if one.asks == "count"} == {
        "bows.", "steps back."}
    often = [one for one in asks_of(row.timeline or (), subject_of_row(row, {}, "label"),
                                    AskWording("nothing", "", "")) if one.aspect == "often"]
    assert {one.words["step"] for one in often} == {"bows", "steps back"}


@pytest.mark.parametrize("path", sorted(data_folder().glob("mocap/*/*.score.yaml")),
                         ids=lambda path: path.parent.name)
def test_what_the_library_counts_hits_something_once(path: Path) -> None:
    """Of a hand that knocks, taps, claps or pats: scores know its impacts."""
    score = read_score(path)
    said = read_happenings(path.with_name(score.take + TIMELINE_SUFFIX), score)
    mine = [one for one in said.steps if one.who == "performer"]
    for one in mine:
        names = [other.does for other in mine]
        if one.does.split()[0] not in HITS or not has_certain_number(one.does, names) or (
                names.count(one.does) == 1 and one.end - one.start > MOMENT_S):
            continue
        for side in ("left", "right") if one.hand is None else (one.hand,):
            hits = [phase.at for phase in score.phases for track, key in phase.moves()
                    if track in (f"{side}_hand", "hands") and key.how == "impact"
                    and one.start <= phase.at <= one.end]
            assert len(hits) <= 1, one.does


def test_what_begins_at_once_or_ends_with_the_clip_is_not_asked_for() -> None:
    assert not asked(steps(("bows", 0.2, 9.8)))
    assert {kind for kind, _ in asked(steps(("bows", 3, 9.9)))} == {"start"}


@pytest.mark.parametrize(("output", "number"), [
    ("3", 3), ("3 times", 3), ("The person claps three times.", 3), ("Twice", 2), ("**2.5**", 2.5),
    ("2,5 seconds", 2.5), ("I see claps at 1 s and 2 s.\nAnswer: 4", 4),
    ("<think>maybe 7</think>5", 5), ("2 or 3", None), ("", None), ("many", None),
    ("between 2 and 3 seconds", None), ("3. Three", 3), ("someone", None),
    ("twenty-one times", 21), ("Thirty five", 35), ("sixteen", 16), ("forty", 40),
    ("one and a half seconds", None), ("two hundred", None), ("two dozen", None),
    ("-1", None), ("Answer: \u22121", None), ("minus one", None), ("No one claps.", None),
    ("I cannot count claps in 8 frames.", None), ("Impossible to tell from one frame.", None),
    ("- 3", 3), ("Count: 3 (claps)", 3),
])
def test_the_number_that_an_answer_ends_with_is_read(output: str, number: float | None) -> None:
    assert read_number(output) == number


@given(st.integers(0, 10**6))
def test_every_number_is_read_in_digits(value: int) -> None:
    assert read_number(f"Answer: {value}") == value


@given(st.text(max_size=200))
def test_no_text_is_a_traceback(text: str) -> None:
    assert read_number(text) is None or isinstance(read_number(text), float)


def test_times_are_right_within_the_tolerance_and_counts_only_exactly() -> None:
    made = asked(steps(("claps", 1, 1.4), ("claps", 2, 2.4), ("bows", 5, 6.5)))
    start, count = made["start", "5"], made["count", "2"]
    assert is_right(start, 6.0) and is_right(start, 4.0) and not is_right(start, 6.1)
    assert is_right(count, 2) and not is_right(count, 2.5) and not is_right(count, None)


def test_numbers_are_asked_answered_and_scored(tmp_path) -> None:
    rows = [steps(("claps", 1, 1.4), ("claps", 2, 2.4), ("bows", 5, 6.5))]
    written(tmp_path / "out", rows)
    done = invoke("questions", tmp_path / "out", "--format", "number", "--no-verify")
    assert done.exit_code == 0, done.output
    file = tmp_path / "out" / "questions-number.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    answers = [{"question_id": one["question_id"], "model": "m",
                "output": one["answer"] if one["asks"] == COUNT else "99"} for one in lines]
    found = mg.evaluate(file, answers)
    assert [one.right for one in found.scored].count(True) == 1
    # Nothing was offered, so there is no chance level.
    assert all(one["chance"] is None for one in found.report["models"])
    refused = invoke("export", file, "--to", "inspect", "--clips", tmp_path / "out", "--out",
                     tmp_path / "x")
    assert refused.exit_code == 2 and "tolerance" in refused.output
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("answer", ["many", "nan", "inf"])
def test_a_tolerance_about_no_number_is_one_line(tmp_path, answer: str) -> None:
    question = asked(steps(("bows", 3, 9.9)))["start", "3"].model_dump(mode="json")
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(question | {"answer": answer, "labels": [answer]}) + "\n")
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"question_id": question["question_id"], "model": "m",
                                   "output": "3"}) + "\n")
    done = invoke("evaluate", file, answers)
    assert done.exit_code == 2 and "expected a number" in done.output
    assert done.output.strip().count("\n") == 0


def test_rows_without_timelines_are_refused() -> None:
    with pytest.raises(RequestError, match="has a timeline"):
        number_questions([steps().model_copy(update={"timeline": None})], WORDING, 0)


@pytest.mark.parametrize("sampling", ["window:0:2:8", "middle:8"])
@pytest.mark.parametrize("format_", ["number", "timeline"])
def test_what_needs_all_of_a_clip_is_not_asked_of_a_part(tmp_path, format_: str, sampling: str
                                                        ) -> None:
    rows = [steps(("claps", 1, 1.4), ("claps", 2, 2.4), ("bows", 5, 6.5))]
    written(tmp_path / "out", rows)
    done = invoke("questions", tmp_path / "out", "--format", format_, "--no-verify", "--sampling",
                  sampling)
    assert done.exit_code == 2 and "shows a part of each clip" in done.output
