"""Norms: worked examples, known reliabilities by simulation, and what people really write."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from mimegen.evaluation.norms import (
    ClipNorms,
    by_raters,
    h_statistic,
    norm,
    plain_name,
    raters_needed,
    reliability,
    stepped_up,
)
from mimegen.evaluation.question import Question, write_questions
from running import invoked


def question(name: str, options: tuple[str, ...] = (), action: str = "boxing") -> Question:
    return Question.model_validate({
        "question_id": f"{name}-{'mc' if options else 'free'}", "sample_id": name,
        "action": action, "format": "mc" if options else "free", "prompt": "?",
        "options": list(options), "answer": action, "labels": [action]})


def clip_of(shares: float, raters: int, chance: np.random.Generator) -> ClipNorms:
    named = (chance.random(raters) < shares).tolist()
    return ClipNorms(question("a"), names=["x" if one else "y" for one in named], named=named,
                     raters=[f"r{number:03d}" for number in range(raters)])


@pytest.mark.parametrize(("said", "name"), [
    ("The man is playing the violin.", "playing violin"), ("Playing a violin", "playing violin"),
    ("someone is boxing!", "boxing"), ("I think:\nshe was waving her hand", "waving hand"),
    ("", "")])
def test_names_are_what_people_mean(said: str, name: str) -> None:
    assert plain_name(said) == name


def test_h_is_that_of_worked_examples() -> None:
    """One name has no uncertainty, n equally common ones have log2 n bits."""
    assert h_statistic(["a"] * 7) == 0
    assert h_statistic(["a", "b", "c", "d"]) == pytest.approx(2)
    assert h_statistic(["a", "a", "a", "b"]) == pytest.approx(0.8113, abs=1e-4)


def test_a_row_has_agreement_with_wilson_s_interval() -> None:
    row = norm(ClipNorms(question("a"), names=["boxing"] * 8 + ["dancing"] * 2,
                         named=[True] * 8 + [False] * 2, raters=[str(n) for n in range(10)],
                         ratings={"confidence": [60.0, 80.0]}))
    assert row["modal_name"] == "boxing" and row["naming_agreement"] == 0.8
    # Wilson (1927): 8 of 10.
    assert (row["naming_agreement_low"], row["naming_agreement_high"]) == pytest.approx(
        (0.4902, 0.9433), abs=1e-4)
    assert row["confidence_mean"] == 70 and row["chosen"] is None


def test_reliability_is_the_correlation_of_two_samples_of_raters() -> None:
    """Split halves, stepped up, agree with what a second group of raters would have shown."""
    chance = np.random.default_rng(0)
    true = chance.beta(2, 2, 60)
    clips = [clip_of(share, 30, chance) for share in true]
    again = [np.mean(clip_of(share, 30, chance).named) for share in true]
    between = np.corrcoef([np.mean(one.named) for one in clips], again)[0, 1]
    found = reliability(clips)
    assert found is not None and found == pytest.approx(between, abs=0.05)
    # Beta(2, 2) has variance 1/20, an answer's own is 1/5: 30 raters leave (1/20) / (1/20 + 1/150).
    assert found == pytest.approx(0.882, abs=0.05)


@pytest.mark.slow
def test_raters_needed_follow_the_formula() -> None:
    chance = np.random.default_rng(1)
    clips = [clip_of(share, 200, chance) for share in chance.beta(2, 2, 200)]
    sizes = by_raters(clips)
    assert sizes[20] == pytest.approx(20 / (20 + 4), abs=0.03)
    assert raters_needed(sizes) in (30, 40), "36 by the formula"
    assert stepped_up(0.5, 2) == pytest.approx(2 / 3)


def test_clips_that_do_not_differ_have_no_reliability() -> None:
    clips = [ClipNorms(question("a"), ["x"] * 6, [True] * 6, list("abcdef")) for _ in range(5)]
    assert reliability(clips) is None and by_raters(clips) == {}


@pytest.mark.slow
def test_answers_of_a_study_become_a_table_and_a_plot(tmp_path: Path) -> None:
    asked = [question(f"clip{at}", (), action) for at, action in enumerate(
        ("boxing", "playing violin", "archery"))]
    asked += [question("clip0", ("boxing", "archery"))]
    write_questions(tmp_path / "questions.jsonl", asked)
    lines = [{"question_id": f"clip{clip}-free", "model": f"r{rater}", "rater": f"r{rater}",
              "output": said, "rt_ms": 900 + rater}
             for rater in range(4) for clip, said in enumerate(
                 ("boxing", "=HYPERLINK(1)" if rater else "violin", "archery" if rater else ""))]
    lines += [{"question_id": "clip0-mc", "model": "r0", "rater": "r0", "output": "A. boxing",
               "rt_ms": 123456},
              {"question_id": "clip1-free", "model": "some model", "output": "archery"}]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = invoked("study", "norms", str(tmp_path / "questions.jsonl"),
                   str(tmp_path / "answers.jsonl"), "--out", str(tmp_path / "norms"))
    assert done.returncode == 0, done.stderr
    with (tmp_path / "norms" / "norms.csv").open() as file:
        rows = {row["sample_id"]: row for row in csv.DictReader(file)}
    assert rows["clip0"]["naming_agreement"] == "1" and rows["clip0"]["chosen"] == "1"
    assert rows["clip0"]["free_median_rt_ms"] == "901.5"
    assert rows["clip0"]["choice_median_rt_ms"] == "123456"
    assert rows["clip2"]["names"] == "3", "nothing said is no name"
    assert not rows["clip1"]["modal_name"].startswith("=")
    assert (tmp_path / "norms" / "norms.pdf").read_bytes().startswith(b"%PDF")


def test_answers_of_models_alone_are_refused(tmp_path: Path) -> None:
    write_questions(tmp_path / "questions.jsonl", [question("clip0")])
    (tmp_path / "answers.jsonl").write_text(
        '{"question_id": "clip0-free", "model": "m", "output": "boxing"}\n')
    done = invoked("study", "norms", str(tmp_path / "questions.jsonl"),
                   str(tmp_path / "answers.jsonl"), "--out", str(tmp_path / "norms"))
    assert done.returncode == 2 and "no answers by people" in done.stderr
    assert not (tmp_path / "norms").exists()
