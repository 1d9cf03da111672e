"""Which option models' answers choose, as a person reads them.

``misread.jsonl`` holds answers that mimegen 0.1 read wrongly or not at all. The held-back ones were
written and labelled before the rules were tried on them. Of the first 214, two were read wrongly
and two missed; of the second 236, three and 37; of the last 85, none and eleven.
"""
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.evaluation.exports.templates import copy_reading
from mimegen.evaluation.question import read_questions
from mimegen.evaluation.reading import (
    LETTER,
    MARKED,
    STATED,
    STRICT,
    WORDS,
    chosen_option,
    exactly_right,
    final_phrase,
    read_choice,
    read_strictly,
    spoken,
)
from places import DATA
from waiting import ending

ANSWERS = DATA / "answers"
OPTIONS = ["golf swing", "boxing", "typing on keyboard"]
LETTERS = "ABCDEFGH"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ANSWERS / name).read_text(encoding="utf-8").splitlines()]


def letter(output: str, options: list[str]) -> str | None:
    place = chosen_option(output, options)
    return None if place is None else LETTERS[place]


def test_answers_that_were_misread_are_read_as_a_person_reads_them():
    [question] = read_questions(ANSWERS / "question.jsonl")
    found = {one["model"]: letter(one["output"], question.options)
             for one in lines("misread.jsonl")}
    assert found == {one["model"]: one["expected_letter"] for one in lines("misread.jsonl")}
    assert len(found) == 37


@pytest.mark.parametrize("name", ["held_back.jsonl", "held_back_2.jsonl", "held_back_3.jsonl"])
def test_answers_of_many_kinds_are_read_and_never_wrongly(name):
    told = [(letter(one["output"], one["options"]), one["expected_letter"], one["output"])
            for one in lines(name)]
    assert [one for one in told if one[0] not in (one[1], None)] == []
    readable = [one for one in told if one[1] is not None]
    assert sum(found == right for found, right, _ in readable) >= 0.97 * len(readable)


def test_answers_with_explanations_in_other_languages_or_cut_off_are_not_read_wrongly():
    """An earlier version read 81 of these 890 wrongly, such as the last of the denied letters."""
    told = [(letter(one["output"], one["options"]), one["expected_letter"], one["output"])
            for one in lines("languages_and_logs.jsonl")]
    assert [one for one in told if one[0] not in (one[1], None)] == []
    readable = [one for one in told if one[1] is not None]
    assert sum(found == right for found, right, _ in readable) >= 0.9 * len(readable)


@pytest.mark.parametrize(("output", "rule"), [
    ('{"answer": "B"}', MARKED), ("<answer>B</answer>", MARKED), ("\\boxed{B}", MARKED),
    ("The answer is B.", STATED), ("B", STATED), ("B because of the fists", LETTER),
    ("The fists are up (option B)", LETTER), ("They are boxing.", WORDS), ("who knows", None)])
def test_the_rule_that_read_an_answer_is_told(output, rule):
    assert read_choice(output, OPTIONS).rule == rule


YES_NO = ["yes", "no"]
FAULT = ["no, nothing is wrong", "yes, something is wrong"]
TURN = ["clockwise", "counterclockwise", "it has not turned"]
STYLE = ["with large, exaggerated movements", "with small, restrained movements"]
WALKER = ["-6", "-3", "0", "3", "6"]


@pytest.mark.parametrize("options", [YES_NO, FAULT, TURN, STYLE, WALKER, ["0.5", "1", "1.5"],
                                     ["no clue", "standing still, not moving", "taking vitamin C"]])
@pytest.mark.parametrize("said", [
    "{letter}. {text}", "{letter}) {text}", "{letter}: {text}", "**{letter}. {text}**",
    "{letter}, {text}", "The answer is {letter}. {text}", "The correct answer is {letter}) {text}.",
    "Option {letter}: {text}", "<answer>{letter}. {text}</answer>", "{text}", "Answer: {text}",
    "The answer is: {text}.", "I looked at all frames.\n\n**Final answer:** {text}"])
def test_options_that_hold_denials_commas_letters_or_signs_are_read(options, said):
    found = [chosen_option(said.format(letter=letter, text=text), options)
             for letter, text in zip(LETTERS, options, strict=False)]
    assert found == [*range(len(options))]


@pytest.mark.parametrize(("output", "options", "place"), [
    ("B: no, they stay apart", YES_NO, 1), ("B\n\nA: yes is unlikely", YES_NO, 1),
    ("A: no. B: yes.", YES_NO, None), ("A. yes\nB. no", YES_NO, None), ("Yes.", FAULT, 1),
    ("They turn counter-clockwise", TURN, 1), ("They turn anti clockwise", TURN, 1),
    ("It is \u22126", WALKER, 0), ("3-6", WALKER, None), ("at 2.5 m/s", ["1", "2", "5"], None),
    ("A", ["C", "A", "B"], 0), ('{"answer": ["A", "B"]}', OPTIONS, None),
    ('{"answer": ["B"]}', OPTIONS, 1)])
def test_what_differs_from_an_option_is_not_read_as_it(output, options, place):
    assert chosen_option(output, options) == place


@pytest.mark.parametrize(("output", "place"), [
    ("No.", 1), ("no", 1), ("No, they do not touch.", 1), ("Yes they do", 0), ("**Yes**", 0),
    ("No video was provided.", None), ("No image is available, so I cannot answer.", None),
    ("No idea.", None), ("No hands are visible.", None), ("Yes and no.", None), ("Yes or no", None),
    ("No, I cannot see the video.", None), ("Yes, I can help with that! The answer is no.", 1),
    ("No problem! The answer is yes.", 0), ("I would say yes.", 0), ("Yes.\n\nNo, wait: no.", None),
    ("I see no reason to say yes.", None), ("No, they stay apart. No other contact is seen.", 1)])
def test_a_refusal_that_begins_with_no_is_no_answer(output, place):
    assert chosen_option(output, YES_NO) == place


@pytest.mark.parametrize(("output", "place"), [
    ("B", 1), ("b", 1), ("(B)", 1), ("**B.**", 1), ("B. boxing", 1), ("Answer: B", 1),
    ("The answer is (B) boxing, I think", 1), ("$\\boxed{C}$", 2), ("Boxing", 1),
    ("They punch.\nThis is most accurately described by option B.\n\nB", 1),
    ("This is most accurately described by option B.", 1), ("It could be A.\ngolf swing", 0),
    ("", None), ("E", None), ("A person is boxing", None), ("A or B", None), ("A. B. C.", None),
    ("B. golf swing", None), ("The answer is A. No, the answer is B, surely so", None),
    ("The answer is not B", None), ("<think>A</think>\n\nSo it is B, boxing", None)])
def test_the_strict_rule_is_the_one_of_the_first_version(output, place):
    assert read_strictly(output, OPTIONS).place == place
    assert read_strictly(output, OPTIONS).rule == (None if place is None else STRICT)


REPEATED = ("-", "A ", "A. ", "B, ", "C;", "<think>", "</think>", "\\boxed{", '{"answer":', '"',
            "not ", "(", "is ", "...", "```", "\n- A", "the answer is ", "_", " ", "answer: ",
            "boxing ", "[", "a.b ", "the the ", "x" * 50 + " ", "<|", "A\n", "assistant:\n", "选")


# What takes time by the square of the length takes minutes, this a moment.
LONG, SECONDS = 200_000, 20.0


@pytest.mark.parametrize("part", REPEATED)
@pytest.mark.parametrize("read", [read_choice, read_strictly])
def test_reading_ends_however_long_the_answer_is(part, read):
    text = part * (LONG // len(part)) + "}"
    with ending(SECONDS):
        read(text, OPTIONS)
        final_phrase(text)


PARTS = st.sampled_from([*"ABCab \n.,:;()<>/\\{}\"'*_-?!", "think", "answer", "not", "is", "boxing",
                         "选", "か"])


@given(st.lists(PARTS, max_size=60).map("".join), st.integers(0, 4))
def test_whatever_is_said_one_option_or_none_is_read(output, count):
    options = ["golf swing", "boxing", "A", "yes"][:count]
    for read in (read_choice, read_strictly):
        choice = read(output, options)
        assert choice.place is None or 0 <= choice.place < count
        assert (choice.place is None) == (choice.rule is None)


@given(st.sampled_from("ABC"), st.sampled_from("ABC"))
def test_what_is_thought_or_denied_decides_nothing(thought, said):
    assert letter(f"<think>The answer is {thought}.</think>The answer is {said}.",
                  OPTIONS) == said
    assert letter(f"<think>The answer is {thought}.", OPTIONS) is None
    assert letter(f"I don't think the answer is {thought}.", OPTIONS) is None
    if thought != said:
        assert letter(f"The answer is not {thought}. It is {said}.", OPTIONS) == said


def test_tokens_of_chat_templates_are_not_said():
    assert spoken("<|im_start|>assistant\nC<|im_end|>") == "C"
    assert final_phrase("<think>\nrunning\n</think>\ngolf swing</s>") == "golf swing"
    assert exactly_right("**Answer:** B</s>", OPTIONS, "boxing", ["boxing"])
    assert exactly_right("<think>no</think>\nBoxing.<|im_end|>", [], "boxing", ["boxing"])


def test_the_single_file_in_exports_reads_as_the_modules_do(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_reading(tmp_path)
    assert "mimegen." not in (tmp_path / "mimegen_reading.py").read_text(encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mimegen_reading", raising=False)
    alone = import_module("mimegen_reading")
    outputs = [one["output"] for one in lines("misread.jsonl")]
    for output in outputs:
        found, wanted = alone.read_choice(output, OPTIONS), read_choice(output, OPTIONS)
        assert (found.place, found.rule) == (wanted.place, wanted.rule), output
    monkeypatch.delitem(sys.modules, "mimegen_reading")
