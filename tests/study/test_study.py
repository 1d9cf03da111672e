"""Questions to a study's folder, and answers to lines: what people see, and what nobody may."""

import csv
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from mimegen.base.errors import RequestError
from mimegen.evaluation.answers import read_answers
from mimegen.evaluation.question import Question, read_questions, write_questions
from mimegen.study.export import answer_lines, saved_person
from mimegen.study.folder import Study, read_study
from mimegen.study.left_out import divided, known_left_out, left_out
from mimegen.study.making import StudyRequest, make_study
from mimegen.study.markup import as_html
from mimegen.study.psychds import write_psychds
from mimegen.study.public import session_order
from mimegen.study.responses import read_response
from mimegen.study.settings import read_settings
from psychds_rules import psychds_errors
from running import invoked
from study_rows import ACTIONS, VARIANTS, Made, asked_questions, make_clip

SLIDERS = ("subject", "completeness", "interaction")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return asked_questions(tmp_path_factory.mktemp("study") / "out")


def settings_file(folder: Path, **changed: Any) -> Path:
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(changed))
    return path


def make(made: Made, out: Path, tasks: str | None = None, file: Path | None = None,
         **changed: Any) -> Study:
    settings = read_settings(settings_file(out.parent, **changed) if changed else None)
    return make_study(StudyRequest(file or made.file, made.file.parent, out, tasks, settings))


def seen(study: Study, out: Path) -> list[list[Question]]:
    """The questions of each list, the last one of a trial where it asks two."""
    known = {one.question_id: one for one in read_questions(out / "private" / "questions.jsonl")}
    return [[known[[*study.trials[name].questions.values()][-1]] for name in names]
            for names in study.lists]


def test_nobody_sees_an_action_twice_and_every_clip_is_shown_equally_often(made, tmp_path):
    study = make(made, tmp_path / "s", repeat_options=True)
    lists = seen(study, tmp_path / "s")
    for asked in lists:
        assert max(Counter(one.action for one in asked).values()) == 1
    kept = {read_questions_of(study, tmp_path / "s", name).action
            for name in (*study.golden, *study.practice)}
    assert len(kept) == 3
    assert not kept & {one.action for asked in lists for one in asked}
    shown = Counter(one.sample_id for asked in lists for one in asked)
    rest = {one.sample_id for one in made.questions if one.action not in kept}
    assert {*shown} == rest
    takes = Counter(action for action, _ in {(one.action, one.take) for one in made.questions})
    for one in made.questions:
        if one.sample_id in rest:
            assert shown[one.sample_id] == max(takes.values()) / takes[one.action]


def read_questions_of(study: Study, out: Path, name: str) -> Question:
    known = {one.question_id: one for one in read_questions(out / "private" / "questions.jsonl")}
    return known[[*study.trials[name].questions.values()][-1]]


def test_variants_are_balanced_for_each_person(made, tmp_path):
    study = make(made, tmp_path / "s", repeat_options=True)
    for asked in seen(study, tmp_path / "s"):
        counts = Counter(one.variant for one in asked)
        assert {*counts} == {*VARIANTS}
        assert max(counts.values()) - min(counts.values()) <= 1


def test_nobody_meets_the_same_options_twice_unless_told_so(made, tmp_path):
    for asked in seen(make(made, tmp_path / "s"), tmp_path / "s"):
        assert max(Counter(tuple(sorted(one.options)) for one in asked).values()) == 1
    repeated = seen(make(made, tmp_path / "t", repeat_options=True), tmp_path / "t")
    assert max(Counter(tuple(sorted(one.options)) for one in repeated[0]).values()) > 1


def test_practice_and_attention_checks_do_not_show_the_options_of_other_trials(made, tmp_path):
    study = make(made, tmp_path / "s")
    known = [{*study.trials[name].options} for name in (*study.practice, *study.golden)]
    for names in study.lists:
        asked = [{*study.trials[name].options} for name in names]
        assert not [options for options in known if options in asked]
    ids = {one for names in study.lists for name in names
           for one in study.trials[name].questions.values()}
    assert not ids & {*study.trials[study.practice[0]].questions.values()}
    few = changed_questions(made, tmp_path, semantic_group="one group")
    alike = make(made, tmp_path / "alike", file=few, golden=0)
    assert len(alike.trials[alike.practice[0]].options) == 4


def test_what_is_not_asked_is_said_and_why(made, tmp_path):
    study = make(made, tmp_path / "kept")
    line, = left_out(study, made.questions)
    kept = {one.action for one in made.questions} - {
        one.action for names in seen(study, tmp_path / "kept") for one in names}
    assert kept and all(action in line for action in kept)
    count = sum(one.action in kept for one in made.questions)
    assert f"{count} of {len(made.questions)} questions" in line and "practice" in line
    assert not left_out(make(made, tmp_path / "all", practice=0, golden=0), made.questions)


def test_sessions_can_be_kept_short(made, tmp_path):
    study = make(made, tmp_path / "s", "ratings", trials=4)
    assert {len(names) for names in study.lists} == {3}
    parts = seen(study, tmp_path / "s")[:3]
    assert len({one.action for asked in parts for one in asked}) == len(ACTIONS) - 3


def test_half_of_the_pairs_are_the_same_action_and_no_action_is_there_twice(made, tmp_path):
    study = make(made, tmp_path / "s", "same")
    for asked in seen(study, tmp_path / "s"):
        answers = Counter(one.answer for one in asked)
        assert answers == {"the same action": 3, "different actions": 3}
        actions: list[str] = []
        for one in asked:
            second = one.model_dump()["second"]
            assert (one.action == second["action"]) == (one.answer == "the same action")
            assert one.sample_id != second["sample_id"]
            actions += {one.action, second["action"]}
        assert len(actions) == len({*actions}) == len(ACTIONS) - 3


def test_pairs_of_one_variant_do_not_tell_that_the_actions_differ(made, tmp_path):
    lacking = {action: VARIANTS[number % 3] for number, action in enumerate(ACTIONS) if number % 2}
    kept = [one for one in made.questions if lacking.get(one.action) != one.variant]
    write_questions(made.file.with_name("uneven.jsonl"), kept)
    study = make(made, tmp_path / "s", "same", made.file.with_name("uneven.jsonl"))
    pairs = [one for asked in seen(study, tmp_path / "s") for one in asked]
    assert {one.answer for one in pairs} == {"the same action", "different actions"}
    assert not [one for one in pairs if one.variant == one.model_dump()["second"]["variant"]]


def test_the_same_request_makes_the_same_design_under_other_names(made, tmp_path):
    one, other = (make(made, tmp_path / name) for name in "st")
    assert not {*one.trials} & {*other.trials}
    assert [[one.trials[name].questions for name in names] for names in one.lists] \
        == [[other.trials[name].questions for name in names] for names in other.lists]


def test_nothing_that_a_browser_may_see_tells_an_answer(made, tmp_path):
    out = tmp_path / "s"
    study = make(made, out)
    private = read_questions(out / "private" / "questions.jsonl")
    telling = {one.question_id for one in private} | {one.clip for one in private} \
        | {one.sample_id for one in private} | {one.file_name for one in private} \
        | {*VARIANTS, "golden", "aligned", "adversarial", study.secret}
    for file in {*(out / "public").rglob("*")} - {*(out / "public" / "jspsych").rglob("*")}:
        content = file.read_bytes() if file.is_file() else b""
        for word in telling:
            assert word not in file.name
            assert word.encode() not in content, (file, word)
    script = (out / "public" / "study-data.js").read_text()
    content = json.loads(script.removeprefix("window.STUDY = ").strip().removesuffix(";"))
    assert {key for trial in content["trials"].values() for key in trial} \
        == {"id", "practice", "tasks", "ask", "clips", "options"}
    assert (out / "private").stat().st_mode & 0o077 == 0


def test_a_clip_beside_itself_has_two_names(made, tmp_path):
    study = make(made, tmp_path / "s", "same")
    for name in study.golden:
        trial = study.trials[name]
        assert trial.sources[0] == trial.sources[1]
        assert trial.clips[0] != trial.clips[1]
        assert trial.right == 0


def test_golden_choices_have_wrong_answers_of_other_groups(made, tmp_path):
    study = make(made, tmp_path / "s")
    groups = {one.answer: one.semantic_group for one in made.questions}
    for name in study.golden:
        question = read_questions_of(study, tmp_path / "s", name)
        trial = study.trials[name]
        assert trial.right is not None
        assert trial.options[trial.right] == question.answer
        assert question.variant == "base+aligned@0"
        for option in {*question.options} - {question.answer}:
            assert groups[option] is None or groups[option] != question.semantic_group


def test_nothing_on_the_page_is_loaded_from_elsewhere(made, tmp_path):
    make(made, tmp_path / "s")
    for file in (tmp_path / "s" / "public").rglob("*"):
        if file.suffix in (".html", ".css", ".js") and file.parent.name != "jspsych":
            assert not re.search(r"https?://|//[a-z]+\.", file.read_text()), file
        if file.suffix in (".html", ".css", ".js"):
            assert "sourceMappingURL" not in file.read_text()


def test_own_words_are_shown_and_nothing_in_them_is_html(made, tmp_path):
    make(made, tmp_path / "s", consent="Hello </script> <b>&\n\n- one\n- **two**",
         words={"next": "Weiter"}, language="de")
    script = (tmp_path / "s" / "public" / "study-data.js").read_text()
    content = json.loads(script.removeprefix("window.STUDY = ").strip().removesuffix(";"))
    assert content["consent"] == "<p>Hello &lt;/script&gt; &lt;b&gt;&amp;</p>" \
        "<ul><li>one</li><li><strong>two</strong></li></ul>"
    assert content["words"]["next"] == "Weiter"
    assert content["words"]["back"] == "Back"
    assert "</script" not in script
    assert '<html lang="de">' in (tmp_path / "s" / "public" / "index.html").read_text()


def test_paragraphs_lists_and_bold() -> None:
    assert as_html("a\nb\n\nc") == "<p>a\nb</p><p>c</p>"
    assert as_html("- a - b\n- c") == "<ul><li>a - b</li><li>c</li></ul>"


@pytest.mark.parametrize(("changed", "said"), [
    ({"consnt": "x"}, "unknown key"),
    ({"golden": -1}, "golden"),
    ({"completion_address": "http://example.org"}, "completion_address"),
    ({"golden": [{"sample_id": "x", "expected": {"beauty": 5}}]}, "unknown slider"),
    ({"time_limit_s": {"free": 0}}, "free"),
    ({"words": {"next": ""}}, "next"),
])
def test_settings_say_what_is_wrong_with_them(tmp_path, changed, said):
    with pytest.raises(RequestError, match=said) as found:
        read_settings(settings_file(tmp_path, **changed))
    assert str(found.value).startswith(str(tmp_path / "mine.yaml"))


def changed_questions(made: Made, tmp_path: Path, **changes: Any) -> Path:
    file = tmp_path / "changed.jsonl"
    write_questions(file, [one.model_copy(update=changes) for one in made.questions])
    return file


@pytest.mark.parametrize(("changes", "tasks", "said"), [
    ({"format": "timeline"}, None, "cannot show questions of format 'timeline'"),
    ({"frames": [1, 2]}, None, "single frames"),
    ({"file_name": "clips/a.gif"}, None, "not a clip that browsers play"),
    ({"options": [], "format": "free"}, "choice", "no options"),
    ({}, "choice,ratings", "would give an answer away"),
    ({}, "dance", "expected free"),
    ({"file_name": "clips/absent.mp4"}, None, "absent.mp4: the clip cannot be read"),
])
def test_what_cannot_be_asked_is_refused(made, tmp_path, changes, tasks, said):
    with pytest.raises(RequestError, match=said):
        make(made, tmp_path / "s", tasks, changed_questions(made, tmp_path, **changes))
    assert not (tmp_path / "s").exists()


def test_too_few_actions_for_the_checks_that_are_set_are_refused(made, tmp_path):
    file = changed_questions(made, tmp_path, action="driving")
    with pytest.raises(RequestError, match="too few"):
        make(made, tmp_path / "s", None, file, practice=1, golden=2)


@pytest.mark.parametrize(("actions", "reserved"), [(6, 0), (7, 3)])
def test_few_actions_are_all_asked_about(made, tmp_path, actions, reserved):
    names = sorted({one.action for one in made.questions})[:actions]
    file = tmp_path / "few.jsonl"
    few = [one for one in made.questions if one.action in names]
    write_questions(file, few)
    study = make(made, tmp_path / "s", "ratings", file)
    assert len(study.golden) + len(study.practice) == reserved
    assert {len(asked) for asked in study.lists} == {actions - reserved}
    line = known_left_out(study, few)
    assert line is None if reserved else line and f"only {actions} actions" in line


def test_people_who_see_only_some_actions_are_told(made, tmp_path):
    study = make(made, tmp_path / "s")
    most = max(map(len, study.lists))
    assert f"at most {most} of {len(ACTIONS) - 3} actions" in (divided(study, made.questions) or "")
    assert divided(make(made, tmp_path / "t", repeat_options=True), made.questions) is None
    assert divided(make(made, tmp_path / "u", "ratings"), made.questions) is None


def test_what_is_no_clip_is_refused(made, tmp_path):
    shutil.copytree(made.file.parent, tmp_path / "out")
    clip = tmp_path / "out" / made.questions[0].file_name
    clip.write_bytes(b"")
    done = invoked("study", tmp_path / "out" / made.file.name, "--out", tmp_path / "s",
                   "--no-verify")
    assert done.returncode == 2
    assert done.stderr.startswith(f"mimegen: {clip}: not MP4 data")
    assert done.stderr.count("\n") == 1


def response(study: Study, name: str, **answer: Any) -> dict[str, Any]:
    """An answer to every task of a trial."""
    values: dict[str, dict[str, Any]] = {
        "free": {"text": "rowing a boat"}, "choice": {"option": 1}, "same": {"option": 1},
        "ratings": {"ratings": dict.fromkeys(SLIDERS, 40)}}
    rest = {"rt_ms": 900, "replays": 1, "timed_out": False}
    return {"answers": {task: {**values[task], **rest, **answer}
                        for task in study.trials[name].tasks}}


def saved(study: Study, path: Path, changed: dict[str, Any] | None = None) -> Path:
    """A file as a page without a server saves it."""
    order = session_order(study, 1, 0)
    path.write_text(json.dumps({
        "study": study.name, "rater": "rater-1", "ids": {}, "order": order,
        "answers": {name: response(study, name) for name in order}} | (changed or {})))
    return path


def test_answers_are_lines_that_evaluate_reads(made, tmp_path):
    study = make(made, tmp_path / "s")
    file = saved(study, tmp_path / "saved.json")
    out = tmp_path / "answers.jsonl"
    done = invoked("study", "export", tmp_path / "s", file, "--out", out)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    counted = [*study.lists[0], *study.golden]
    assert len(lines) == 2 * len(counted)
    assert {line["place"] for line in lines} == {*range(1, len(counted) + 1)}
    questions = read_questions(tmp_path / "s" / "private" / "questions.jsonl")
    answers = read_answers([out], questions)
    assert {one.question.format for one in answers} == {"free", "mc"}
    for one in answers:
        assert one.output == ("rowing a boat" if one.question.format == "free"
                              else f"B. {one.question.options[1]}")
    golden = [line for line in lines if line["golden"] and line["task"] == "choice"]
    right = {study.trials[name].questions["choice"]: study.trials[name].right == 1
             for name in study.golden}
    assert {line["question_id"]: line["passed"] for line in golden} == right
    # A model that answers all questions of the study is scored on those that people were asked.
    model = tmp_path / "model.jsonl"
    model.write_text("".join(json.dumps({
        "question_id": one.question_id, "model": "m", "output": one.answer}) + "\n"
        for one in questions))
    evaluated = invoked("evaluate", tmp_path / "s" / "private" / "questions.jsonl", out, model,
                        "--json")
    assert evaluated.returncode == 0, evaluated.stderr
    kinds = {(one["model"], one["format"]): one for one in json.loads(evaluated.stdout)["models"]}
    real = len({name for names in study.lists for name in names})
    assert [kinds["m", "mc"][key] for key in ("asked", "answered")] == [real, real]
    assert kinds["people", "mc"]["answered"] == len(study.lists[0])


def test_answers_leave_as_a_psych_ds_data_set(made, tmp_path):
    study = make(made, tmp_path / "s", "free,choice")
    changed = saved(study, tmp_path / "saved.json")
    people = json.loads(changed.read_text())
    first = next(name for name in people["order"] if name not in study.practice)
    people["answers"][first]["answers"]["free"]["text"] = '=HYPERLINK("x"), "quoted"\nand on'
    changed.write_text(json.dumps(people))
    done = invoked("study", "export", tmp_path / "s", changed, "--out", tmp_path / "a.jsonl",
                   "--psych-ds", tmp_path / "d")
    assert done.returncode == 0, done.stderr
    about = json.loads((tmp_path / "d" / "dataset_description.json").read_text())
    assert psychds_errors(tmp_path / "d") == set()
    [table] = (tmp_path / "d" / "data").glob("*_data.csv")
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [one["name"] for one in about["variableMeasured"]] == list(rows[0])
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [row["question_id"] for row in rows] == [line["question_id"] for line in lines]
    assert any(row["output"] == '\'=HYPERLINK("x"), "quoted"\nand on' for row in rows)
    assert {row["complete"] for row in rows} <= {"true", "false"}
    rated = make(made, tmp_path / "r", "ratings")
    lines = [*answer_lines(rated, saved_person(rated, saved(rated, tmp_path / "rated.json")))]
    write_psychds(tmp_path / "e", rated.name, lines, b"{}\n")
    assert psychds_errors(tmp_path / "e") == set()
    [table] = (tmp_path / "e" / "data").glob("*_data.csv")
    assert {row["rating_subject"] for row in csv.DictReader(table.open(newline=""))} == {"40.0"}
    again = invoked("study", "export", tmp_path / "s", changed, "--out", tmp_path / "b.jsonl",
                    "--psych-ds", tmp_path / "d")
    assert again.returncode == 2 and "is not empty" in again.stderr
    assert not (tmp_path / "b.jsonl").exists()


def test_ratings_are_kept_and_golden_ones_checked(made, tmp_path):
    named = [{"sample_id": made.questions[0].sample_id, "expected": {"subject": 90}},
             {"sample_id": next(one.sample_id for one in made.questions
                                if one.action != made.questions[0].action),
              "expected": {"subject": 50, "completeness": 30}}]
    study = make(made, tmp_path / "s", "ratings", golden=named)
    person = saved_person(study, saved(study, tmp_path / "saved.json"))
    lines = list(answer_lines(study, person))
    assert all(line["ratings"] == dict.fromkeys(SLIDERS, 40) and line["output"] is None
               for line in lines)
    passed = {line["question_id"]: line["passed"] for line in lines if line["golden"]}
    assert [passed[study.trials[name].questions["ratings"]] for name in study.golden] \
        == [False, True]
    drawn = make(made, tmp_path / "t", "ratings")
    for name in drawn.golden:
        question = read_questions_of(drawn, tmp_path / "t", name)
        assert drawn.trials[name].action_shown == question.answer
        assert question.answer not in question.labels
        assert drawn.trials[name].expected == {"completeness": (0.0, 50.0)}


@pytest.mark.parametrize(("changed", "said"), [
    ({"study": "another"}, "another study"),
    ({"order": ["nothing"]}, "no trial nothing"),
    ({"rater": "a b"}, "expected a file saved by a study's page"),
])
def test_files_that_are_not_from_its_page_are_refused(made, tmp_path, changed, said):
    study = make(made, tmp_path / "s")
    with pytest.raises(RequestError, match=said):
        saved_person(study, saved(study, tmp_path / "saved.json", changed))


def test_the_same_file_twice_is_refused(made, tmp_path):
    file = saved(make(made, tmp_path / "s"), tmp_path / "saved.json")
    done = invoked("study", "export", tmp_path / "s", file, file, "--out", tmp_path / "a.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "rater-1 occurs 2 times" in done.stderr


def test_two_sessions_of_one_person_are_refused(made, tmp_path):
    study = make(made, tmp_path / "s")
    files = [saved(study, tmp_path / f"{number}.json", {"rater": f"rater-{number}", "ids": ids})
             for number, ids in enumerate(({"participant": "7"}, {"participant": "7"}, {}, {}))]
    done = invoked("study", "export", tmp_path / "s", *files, "--out", tmp_path / "a.jsonl")
    assert done.returncode == 2
    assert "7 took part 2 times (rater-0, rater-1)" in done.stderr
    done = invoked("study", "export", tmp_path / "s", *files[1:], "--out", tmp_path / "a.jsonl")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("answer", [
    {"option": 4}, {"option": -1}, {"option": None}, {"option": True}, {"option": "1"},
    {"text": "x"}, {"rt_ms": -1}, {"rt_ms": 1.5}, {"replays": 10**9}, {"extra": 1},
    {"ratings": {}},
])
def test_answers_that_no_page_sends_are_refused(made, tmp_path, answer):
    study = make(made, tmp_path / "s", "choice")
    name = study.lists[0][0]
    with pytest.raises(ValueError, match=":"):
        read_response(study, name, response(study, name, **answer))


@pytest.mark.parametrize("tasks", ["free", "free,choice", "same"])
def test_a_speeded_study_has_one_choice_in_each_trial(made, tmp_path, tasks):
    with pytest.raises(RequestError, match="requires --tasks choice"):
        make(made, tmp_path / "s", tasks, speeded=True)
    study = make(made, tmp_path / "s", "choice", speeded=True)
    page = (tmp_path / "s" / "public" / "study-data.js").read_text()
    assert study.settings.speeded and '"speeded": true' in page
    assert "while it plays" in page and "When it is over" not in page


@pytest.mark.parametrize("ratings", [
    {"subject": 50}, dict.fromkeys(SLIDERS, 101), dict.fromkeys(SLIDERS, "5"),
    dict.fromkeys((*SLIDERS, "beauty"), 5), None,
])
def test_ratings_that_no_page_sends_are_refused(made, tmp_path, ratings):
    study = make(made, tmp_path / "s", "ratings")
    name = study.lists[0][0]
    with pytest.raises(ValueError, match=":"):
        read_response(study, name, response(study, name, ratings=ratings))
    if ratings == {"subject": 50}:  # what was there when the time was over
        read_response(study, name, response(study, name, ratings=ratings, timed_out=True))


def test_texts_are_neither_empty_nor_endless(made, tmp_path):
    study = make(made, tmp_path / "s", "free")
    name = study.lists[0][0]
    for text in (" ", "x" * 501):
        with pytest.raises(ValueError, match=":"):
            read_response(study, name, response(study, name, text=text))


def test_a_folder_that_is_no_study_is_refused(made, tmp_path):
    for command in (["serve", tmp_path], ["export", tmp_path, "--out", tmp_path / "a"]):
        done = invoked("study", *command)
        assert done.returncode == 2
        assert re.fullmatch(r"mimegen: .*: not a study .*\n", done.stderr)
    make(made, tmp_path / "s")
    key = tmp_path / "s" / "private" / "key.json"
    key.write_text(key.read_text()[:-100])
    with pytest.raises(RequestError, match="not the key of a study"):
        read_study(tmp_path / "s")


def test_made_again_it_keeps_its_names_and_what_is_not_needed_goes(made, tmp_path):
    first = make(made, tmp_path / "s")
    assert make(made, tmp_path / "s", consent="Other words").trials == first.trials
    clips = {path.name for path in (tmp_path / "s" / "public" / "clips").iterdir()}
    assert clips == {clip for trial in first.trials.values() for clip in trial.clips}
    make(made, tmp_path / "s", golden=0, practice=0, trials=2)
    (tmp_path / "s" / "private" / "answers.sqlite").write_bytes(b"")
    with pytest.raises(RequestError, match="has participants"):
        make(made, tmp_path / "s")


def test_a_clip_that_people_were_shown_stays_what_it_was(tmp_path):
    made = asked_questions(tmp_path / "out")
    study = make(made, tmp_path / "s")
    source = next(iter(study.trials.values())).sources[0]
    make_clip(made.file.parent / source, 0.8)
    make(made, tmp_path / "s")
    (tmp_path / "s" / "private" / "answers.sqlite").write_bytes(b"")
    make(made, tmp_path / "s", consent="Other words")
    make_clip(made.file.parent / source, 0.4)
    with pytest.raises(RequestError, match="is not the clip that they were shown"):
        make(made, tmp_path / "s")
