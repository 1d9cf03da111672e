import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.evaluation.answers import read_answers
from mimegen.evaluation.question import Question, write_questions
from mimegen.evaluation.raters import (
    Rating,
    against_scores,
    equal_share,
    mean_opinions,
    people_report,
    read_people,
    read_scores,
    z_scores,
)
from running import invoked

NAN = np.nan


def question(name: str, format_: str = "rating", options: tuple[str, ...] = ()) -> Question:
    return Question.model_validate({
        "question_id": name, "sample_id": f"clip {name}", "action": name, "variant": "base+blank@0",
        "format": format_, "prompt": "", "options": list(options), "answer": "boxing",
        "labels": ["boxing"], "clip": "x.mp4", "file_name": "x.mp4", "take": "t"})


def test_z_scores_take_away_each_rater_s_own_mean_and_spread():
    table = np.array([[10, 20, 30.0], [60, 80, 100.0], [50, 50, 50.0], [NAN, 7, NAN]])
    z = z_scores(table)
    assert z[0] == pytest.approx([-1, 0, 1]) and z[1] == pytest.approx([-1, 0, 1])
    assert np.isnan(z[2:]).all()


def test_mean_opinions_have_student_s_interval():
    ratings = [Rating(f"r{number}", question("a"), "subject", value)
               for number, value in enumerate((40.0, 50.0, 60.0, 70.0))]
    [one] = mean_opinions(ratings)
    # Mean 55, standard deviation 12.91, t(3) = 3.182: worked by hand.
    assert one["mos"] == 55
    assert one["interval"] == pytest.approx([34.46, 75.54], abs=0.01)
    assert one["z"] is None


def test_correlations_with_given_scores_are_those_of_known_numbers():
    clips: list[dict[str, Any]] = [{"question_id": f"q{number}", "sample_id": "", "mos": mos}
             for number, mos in enumerate((10.0, 20.0, 30.0, 40.0, 50.0))]
    scores = {f"q{number}": value for number, value in enumerate((1.0, 3.0, 2.0, 5.0, 4.0))}
    found = against_scores(clips, scores)
    # Spearman: 1 - 6 * 4 / (5 * 24) = 0.8, and Pearson's is the same here.
    assert found["srcc"] == pytest.approx(0.8) and found["plcc"] == pytest.approx(0.8)
    assert found["srcc_interval"][0] < 0.8 < found["srcc_interval"][1] <= 1
    assert against_scores(clips[:3], scores)["srcc"] is None
    alike = against_scores(clips, {name: one["mos"] ** 2 for name, one in zip(
        scores, clips, strict=True)})
    assert alike["srcc"] == pytest.approx(1) and alike["srcc_interval"] is None


def test_equal_share_is_that_of_the_commonest():
    assert equal_share([50, 50, 50, 10, 20]) == 0.6
    assert equal_share([]) == 0.0


def line(name: str, rater: str, **more: object) -> dict[str, object]:
    return {"question_id": name, "model": rater, "rater": rater, "output": None, "place": 1,
            "rt_ms": 1000, "replays": 0, "timed_out": False, "golden": False, "passed": None,
            "complete": True} | more


def rated(rater: str, values: list[float]) -> list[dict[str, object]]:
    return [line(f"q{number}", rater, task="ratings", ratings={"subject": value})
            for number, value in enumerate(values)]


def study(tmp_path: Path) -> tuple[Path, Path]:
    asked = [question(f"q{number}") for number in range(6)]
    asked += [question("c0", "mc", ("boxing", "fishing")),
              question("gold", "mc", ("boxing", "fishing"))]
    lines = [*rated("ann", [10, 30, 50, 70, 90, 20]), *rated("bob", [20, 40, 55, 75, 95, 25]),
             *rated("line", [50, 50, 50, 50, 60, 70])]
    for rater, passed in (("ann", True), ("bob", False)):
        lines += [line("gold", rater, task="choice", output="A. boxing", golden=True,
                       passed=passed), line("c0", rater, task="choice", output="A. boxing")]
    write_questions(tmp_path / "q.jsonl", asked)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return tmp_path / "q.jsonl", tmp_path / "a.jsonl"


def test_people_who_click_in_a_line_or_fail_golden_clips_are_flagged(tmp_path):
    questions, answers = study(tmp_path)
    from mimegen.evaluation.question import read_questions
    asked = read_questions(questions)
    found = people_report(read_people([answers], asked))
    flags = {one["rater"]: one["flags"] for one in found["raters"]}
    assert flags == {"ann": [], "bob": ["failed 1 of 1 attention checks"],
                     "line": ["67% of ratings are equal"]}
    scale = found["scales"]["subject"]
    assert scale["alpha"] < 0.9 and scale["alpha_without_flagged"] is None
    assert [one["mos"] for one in scale["clips"]] == [10, 30, 50, 70, 90, 20]
    # Ratings and golden clips are no answers; people are one model.
    scored = read_answers([answers], asked)
    assert {(one.model, one.rater, one.question.question_id) for one in scored} == {
        ("people", "ann", "c0"), ("people", "bob", "c0")}


def test_the_command_says_what_people_agree_on(tmp_path):
    questions, answers = study(tmp_path)
    (tmp_path / "scores.jsonl").write_text("".join(json.dumps(
        {"sample_id": f"clip q{number}", "score": value}) + "\n"
        for number, value in enumerate((1, 3, 5, 7, 9, 2))))
    done = invoked("evaluate", questions, answers, "--scores", tmp_path / "scores.jsonl",
                   "--report", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    assert "bob: failed 1 of 1 attention checks" in done.stdout
    content = json.loads((tmp_path / "report" / "report.json").read_text())
    compared = content["people"]["scales"]["subject"]["against_scores"]
    assert compared["srcc"] == pytest.approx(1.0) and compared["plcc"] == pytest.approx(1.0)
    assert content["models"][0]["model"] == "people"
    page = (tmp_path / "report" / "index.html").read_text()
    assert "67% of ratings are equal" in page and "Krippendorff" in page


@pytest.mark.parametrize(("more", "said"), [
    ({"ratings": {"subject": 101}}, "expected a number from 0 to 100"),
    ({"ratings": {"subject": "x"}}, "expected a number from 0 to 100"),
    ({"ratings": [3]}, "expected a number from 0 to 100 for each scale"),
    ({"rater": 3}, "rater: expected a name")])
def test_bad_ratings_are_named_in_one_line(tmp_path, more, said):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(line("q0", "ann") | more))
    with pytest.raises(RequestError, match=said):
        read_people([path], [question("q0")])


def test_bad_scores_are_named_in_one_line(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text('{"sample_id": "x", "score": "high"}')
    with pytest.raises(RequestError, match="line 1: expected question_id or sample_id"):
        read_scores(path)
