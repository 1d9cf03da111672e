"""Questions about a user's own actions, and with a user's own wrong answers."""

import json
import shutil
from pathlib import Path

import pytest

from mimegen.base.files import file_hash
from mimegen.evaluation.audit import own_labels, read_items
from mimegen.evaluation.question import Question, read_questions
from mimegen.manifest.row import Row
from questions_rows import library_rows, written
from running import invoke
from study_rows import make_clip

# Labels that lie far apart in meaning, for the ten nearest of a label are barred.
MINE = {"punching": "throwing punches", "kneading": "kneading dough", "sawing": "sawing wood",
        "saluting": "saluting a flag", "knitting": "knitting a scarf", "rowing": "rowing a boat",
        "juggling_eggs": "juggling eggs", "bell": "ringing a church bell"}
GROUPS = {"punching": "a", "kneading": "a", "sawing": "b", "saluting": "b", "knitting": "c",
          "rowing": "c", "juggling_eggs": "d", "bell": "d"}


def my_rows(group: str | None, names: tuple[str, ...] = tuple(MINE)) -> list[Row]:
    """Rows as renders of imported takes have them."""
    [row] = library_rows(("base+blank@0",), ("boxing",))
    return [row.model_copy(update={
        "sample_id": f"{name}-1", "file_name": f"clips/{name}-1.mp4", "action": name, "take": name,
        "labels": [MINE[name]], "label": MINE[name], "semantic_group": group, "intentions": None})
        for name in names]


def library(folder: Path, groups: dict[str, str]) -> Path:
    """A user's library with these groups in the present ``action.yaml``."""
    for name, group in groups.items():
        (folder / "mocap" / name).mkdir(parents=True)
        (folder / "mocap" / name / "action.yaml").write_text(
            f"id: {name}\nlabels: [{MINE[name]}]\nsemantic_group: {group}\n")
    return folder


def asked(out: Path, *words: object, status: int = 0) -> list[Question]:
    done = invoke("questions", out, *words)
    assert done.exit_code == status, done.output
    return read_questions(out / "questions-mc.jsonl")


@pytest.mark.parametrize(("group", "noted"), [(None, True), ("combat sport", False)])
def test_actions_in_no_group_are_named(tmp_path, group, noted):
    done = invoke("questions", written(tmp_path / "out", my_rows(group)))
    assert ("in no semantic group" in done.output) == noted
    assert ("throwing punches" in done.output) or not noted


@pytest.mark.parametrize("group", ["not stated", None])
def test_an_unknown_group_is_nobody_s_group(tmp_path, group):
    out = written(tmp_path / "out", my_rows(group))
    questions = asked(out)
    assert {text for one in questions for text in one.options} == {*MINE.values()}
    assert {one.semantic_group for one in questions} == {None}
    found = own_labels(read_items(out / "questions-mc.jsonl"))
    assert found is not None and not found.leaks
    assert {*found.counts.values()} == {4} and len(found.counts) == len(MINE)


def test_a_group_that_is_stated_still_keeps_its_actions_apart(tmp_path):
    rows = my_rows(None)
    out = written(tmp_path / "out", [row.model_copy(update={"semantic_group": GROUPS[row.action]})
                                     for row in rows])
    group_of = {MINE[name]: group for name, group in GROUPS.items()}
    for one in asked(out):
        assert all(group_of[text] != group_of[one.answer] for text in one.options
                   if text in group_of and text != one.answer)


def test_the_present_groups_of_a_library_that_is_given_count(tmp_path):
    out = written(tmp_path / "out", my_rows("not stated"))
    folder = library(tmp_path / "mine", GROUPS)
    questions = asked(out, "--library", folder)
    assert {one.action: one.semantic_group for one in questions} == GROUPS
    (out / "questions-mc.jsonl").unlink()
    changed = written(tmp_path / "again", [
        row.model_copy(update={"semantic_group": "of old"}) for row in my_rows(None)])
    assert {one.semantic_group for one in asked(changed, "--library", folder)} == {*"abcd"}


def test_a_set_of_two_whose_wrong_answers_are_borrowed_is_too_small_to_judge(tmp_path):
    out = written(tmp_path / "out", my_rows(None, ("punching", "sawing")))
    asked(out)
    done = invoke("questions", "--audit", out / "questions-mc.jsonl")
    assert done.exit_code == 0 and "too few questions to judge" in done.stdout
    assert "the data set's own labels: " in done.stdout and "%" not in done.stdout
    told = json.loads(invoke("questions", "--audit", out / "questions-mc.jsonl", "--json").stdout)
    assert told["verdict"] == "too_few_questions" and not told["leaks"]
    assert told["own_labels"]["leaks"]
    assert len(told["own_labels"]["counts"]) == 2


def test_a_study_of_imported_clips_is_made(tmp_path):
    make_clip(tmp_path / "clip.mp4", 0.1)
    digest = file_hash(tmp_path / "clip.mp4")
    out = written(tmp_path / "out", [row.model_copy(update={"sha256": digest})
                                     for row in my_rows("not stated")])
    (out / "clips").mkdir(exist_ok=True)
    for row in my_rows(None):
        shutil.copyfile(tmp_path / "clip.mp4", out / row.file_name)
    asked(out)
    for tasks in ("choice", "free,choice"):
        done = invoke("study", out / "questions-mc.jsonl", "--tasks", tasks, "--out",
                      tmp_path / tasks)
        assert done.exit_code == 0, done.output


def test_one_s_own_wrong_answers_are_asked_and_drawn_by_the_seed(tmp_path):
    out = written(tmp_path / "out", my_rows(None))
    file = tmp_path / "wrong.yaml"
    file.write_text("punching: [waving, clapping, pointing, throwing punches]\n"
                    "Sawing Wood: [filing, sanding, planing, drilling, hammering]\n")
    plain = {one.action: one for one in asked(out)}
    questions = {one.action: one for one in asked(out, "--distractors", file)}
    assert {*questions["punching"].options} == {"throwing punches", "waving", "clapping",
                                                "pointing"}
    assert {wrong["origin"] for wrong in questions["sawing"].distractors} == {"given"}
    assert {wrong["origin"] for wrong in questions["rowing"].distractors}.isdisjoint({"given"})
    assert plain["sawing"].question_id != questions["sawing"].question_id
    again = {one.action: one for one in asked(out, "--distractors", file)}
    assert again == questions
    (tmp_path / "wrong.json").write_text(json.dumps({"punching": ["waving", "bowing", "sitting"]}))
    of_json = {one.action: one for one in asked(out, "--distractors", tmp_path / "wrong.json")}
    assert {*of_json["punching"].options} == {"throwing punches", "waving", "bowing", "sitting"}


@pytest.mark.parametrize(("text", "said"), [
    ("punchin: [a b, c d, e f]", "did you mean punching"),
    ("punching: [waving]", "expected 3 wrong answers"),
    ("punching: [waving, Waving, bowing]", "distinct wrong answers"),
    ("punching: waving", "punching"), ("- punching", "expected a mapping"),
    ("punching: [waving, '', bowing]", "not blank"), ("punching: []", "punching")])
def test_lists_that_are_none_are_refused_in_one_line(tmp_path, text, said):
    out = written(tmp_path / "out", my_rows(None))
    (tmp_path / "wrong.yaml").write_text(text + "\n")
    done = invoke("questions", out, "--distractors", tmp_path / "wrong.yaml")
    assert done.exit_code == 2 and said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (out / "questions-mc.jsonl").exists()


def test_open_questions_take_no_wrong_answers(tmp_path):
    out = written(tmp_path / "out", my_rows(None))
    (tmp_path / "wrong.yaml").write_text("punching: [waving, bowing, sitting]\n")
    done = invoke("questions", out, "--format", "free", "--distractors", tmp_path / "wrong.yaml")
    assert done.exit_code == 2 and "--format free" in done.stderr
