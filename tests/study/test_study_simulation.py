"""Simulated participants: as accurate as asked for, and never taken for real people."""

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mimegen.base.errors import RequestError
from mimegen.evaluation.question import read_questions
from mimegen.study.database import Database
from mimegen.study.export import simulated_people
from mimegen.study.folder import Study, read_study
from mimegen.study.making import StudyRequest, make_study
from mimegen.study.power import PowerRequest, needed, power_rows
from mimegen.study.public import session_order
from mimegen.study.responses import Ids, Screen, read_response
from mimegen.study.settings import read_settings
from mimegen.study.simulation import (
    Asked,
    Simulation,
    centre,
    guessing,
    known,
    parse_accuracies,
    simulated_sessions,
)
from running import invoked
from study_rows import Made, asked_questions

HARD = "adversarial+blank@0"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return asked_questions(tmp_path_factory.mktemp("simulated") / "out")


def study_of(made: Made, out: Path, tasks: str | None = None, **seed: int) -> Study:
    (out.parent / "s.yaml").write_text("repeat_options: true\n")
    return make_study(StudyRequest(made.file, made.file.parent, out, tasks,
                                   read_settings(out.parent / "s.yaml"), **seed))


def asked_of(study: Study, out: Path) -> Asked:
    return Asked(study, read_questions(out / "private" / "questions.jsonl"))


@pytest.fixture(scope="module")
def studied(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("simulated") / "s"
    study_of(made, out)
    done = invoked("study", "simulate", out, "--participants", 12, "--seed", 3,
                   "--accuracy", 0.95, "--accuracy", f"{HARD}=0.6", "--unfinished", 0.3)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("tasks", ["free,choice", "same", "ratings"])
def test_what_they_answer_is_what_a_page_could_send(made, tmp_path, tasks):
    study = study_of(made, tmp_path / "s", tasks)
    wanted = Simulation(7, 0, {"": 0.7}, careless=0.3, unfinished=0.5)
    sessions = [*simulated_sessions(asked_of(study, tmp_path / "s"), wanted)]
    assert [one.list for one in sessions] == [place % len(study.lists) for place in range(7)]
    for number, one in enumerate(sessions, 1):
        order = session_order(study, number, one.list)
        assert [*one.responses] == order[:len(one.responses)]
        assert one.is_finished == (len(one.responses) == len(order))
        for name, response in one.responses.items():
            assert read_response(study, name, response.model_dump(exclude_none=True)) == response
    assert {one.is_finished for one in sessions} == {True, False}


def test_a_seed_gives_the_same_people_however_many_there_are(made, tmp_path):
    asked = asked_of(study_of(made, tmp_path / "s"), tmp_path / "s")
    few, many, other = ([*simulated_sessions(asked, Simulation(count, seed, {"": 0.8}))]
                        for count, seed in ((3, 1), (6, 1), (3, 2)))
    assert many[:3] == few and other != few


@pytest.mark.parametrize("share", [0.0, 0.25, 0.6, 0.95, 1.0])
def test_the_share_of_right_answers_over_people_and_clips_is_the_one_asked_for(share):
    chance = np.random.default_rng(0)
    logits = centre(share) + chance.normal(0, np.sqrt(0.5**2 + 0.8**2 + 0.5**2), 400_000)
    assert (1 / (1 + np.exp(-logits))).mean() == pytest.approx(share, abs=2e-3)


@pytest.mark.parametrize(("share", "options", "guess"), [
    (0.9, 4, 0.25), (0.25, 4, 0.25), (0.1, 4, 0.0), (0.8, 2, 0.5), (0.8, 0, 0.0), (1.0, 4, 0.25)])
def test_who_does_not_know_guesses(made, share, options, guess):
    question = made.questions[0].model_copy(update={"options": ["x"] * options})
    assert guessing(share, question) == guess
    assert guess + (1 - guess) * known(share, guess) == pytest.approx(share)


def test_conditions_and_tasks_have_the_accuracy_that_was_asked_for(made, tmp_path):
    asked = asked_of(study_of(made, tmp_path / "s"), tmp_path / "s")
    accuracy = parse_accuracies(["1", f"{HARD}=0", "free=0.5"])
    asked.check(accuracy)
    found: Counter[tuple[str | None, bool]] = Counter()
    for one in simulated_sessions(asked, Simulation(12, 0, accuracy)):
        for name, response in one.responses.items():
            if name not in (*asked.study.golden, *asked.study.practice):
                question = asked.question(name, "choice")
                option = response.answers["choice"].option
                if option is not None:
                    found[question.variant, question.options[option] == question.answer] += 1
    assert {(variant, right) for variant, right in found} == {
        ("base+blank@0", True), ("base+aligned@0", True), (HARD, False)}


def test_they_are_marked_in_all_that_is_exported(studied, tmp_path):
    done = invoked("study", "export", studied, "--simulated", "--out", tmp_path / "a.jsonl",
                   "--psych-ds", tmp_path / "d")
    assert done.returncode == 0 and "from 12 simulated participants" in done.stdout
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert all(line["simulated"] is True and line["rater"].startswith("simulated-")
               for line in lines)
    [table] = (tmp_path / "d" / "data").glob("*.csv")
    assert pd.read_csv(table)["simulated"].all()
    assert "12 simulated participants" in (tmp_path / "d" / "README.md").read_text()
    done = invoked("study", "tables", studied, "--simulated", "--out", tmp_path / "t")
    assert done.returncode == 0 and "12 simulated participants, of whom" in done.stdout
    for file in (tmp_path / "t").iterdir():
        assert pd.read_csv(file)["simulated"].all(), file
    questions = studied / "private" / "questions.jsonl"
    done = invoked("evaluate", questions, tmp_path / "a.jsonl", "--json", "--report",
                   tmp_path / "r")
    content = json.loads(done.stdout)
    assert {one["model"] for one in content["models"]} == {"simulated people"}
    assert not any(one["human"]["source"].startswith("measured") for one in content["models"])
    assert content["people"]["simulated"] is True
    page = (tmp_path / "r" / "index.html").read_text()
    assert "<h2>Simulated people</h2>" in page and "<h2>People</h2>" not in page
    done = invoked("study", "norms", questions, tmp_path / "a.jsonl", "--out", tmp_path / "n")
    assert "by simulated participants" in done.stdout
    assert json.loads((tmp_path / "n" / "norms.json").read_text())["simulated"] is True


def test_they_are_never_pooled_with_people(made, studied, tmp_path):
    shutil.copytree(studied, tmp_path / "s")
    study = read_study(tmp_path / "s")
    invoked("study", "export", tmp_path / "s", "--simulated", "--out", tmp_path / "made_up.jsonl")
    done = invoked("study", "export", tmp_path / "s", "--out", tmp_path / "a.jsonl")
    assert done.returncode == 2 and "no complete answers yet" in done.stderr
    # A real person: export and tables see that one alone, and evaluate refuses both together.
    with Database(tmp_path / "s/private/answers.sqlite", study.name) as database:
        session = database.begin(Ids(), Screen(width=1, height=1, touch=False),
                                 len(study.lists), None, 0.0)
        assert session is not None
        for name in session_order(study, session.number, session.list):
            person = next(iter(simulated_people(study, tmp_path / "s")))
            database.store(session, name, person.responses[name].model_dump_json(), None, 0.0)
    done = invoked("study", "export", tmp_path / "s", "--out", tmp_path / "a.jsonl")
    assert done.returncode == 0 and "from 1 person" in done.stdout
    assert "simulated" not in (tmp_path / "a.jsonl").read_text()
    questions = tmp_path / "s/private/questions.jsonl"
    for command in (("evaluate",), ("study", "norms", "--out", tmp_path / "n")):
        done = invoked(*command, questions, tmp_path / "a.jsonl", tmp_path / "made_up.jsonl")
        assert done.returncode == 2 and "evaluate them separately" in done.stderr
        assert done.stderr.count("\n") == 1
    # Their file is not taken for one of real answers, nor for one of another design.
    shutil.copy(tmp_path / "s/private/simulated.sqlite", tmp_path / "s/private/answers.sqlite")
    done = invoked("study", "export", tmp_path / "s", "--out", tmp_path / "b.jsonl")
    assert done.returncode == 2 and "belongs to another study" in done.stderr
    (tmp_path / "s/private/answers.sqlite").unlink()
    study_of(made, tmp_path / "s", seed=7)
    done = invoked("study", "export", tmp_path / "s", "--simulated", "--out", tmp_path / "b.jsonl")
    assert done.returncode == 2 and "run mimegen study simulate" in done.stderr


@pytest.mark.parametrize(("texts", "said"), [
    (["1.5"], "expected a number from 0 to 1"), (["x=0.5"], "no such condition or task"),
    (["adversarial+blank@O=0.5"], f"did you mean {HARD}"), (["nan"], "expected a number")])
def test_accuracies_that_mean_nothing_are_refused(made, tmp_path, texts, said):
    asked = asked_of(study_of(made, tmp_path / "s"), tmp_path / "s")
    with pytest.raises(RequestError, match=said.replace("+", r"\+")):
        asked.check(parse_accuracies(texts))


def test_power_grows_with_people_and_is_the_level_without_a_difference(made, tmp_path):
    asked = asked_of(study_of(made, tmp_path / "s"), tmp_path / "s")
    rows = power_rows(asked, PowerRequest((12, 48), {"": 0.95, HARD: 0.7}, repeats=100))
    own = {row["participants"]: row for row in rows if row["second"] == "base+blank@0"}
    for test in ("over_participants", "over_actions"):
        assert own[12][test] < own[48][test]
    assert own[48]["over_participants"] > 0.9
    # Differences too small to find: the tests are significant in about one of twenty studies.
    rows = power_rows(asked, PowerRequest((24,), {"": 0.9, HARD: 0.9 - 1e-9}, repeats=300))
    for row in rows:
        assert row["over_actions"] < 0.1
    again = power_rows(asked, PowerRequest((24,), {"": 0.9, HARD: 0.9 - 1e-9}, repeats=300))
    assert rows == again
    with pytest.raises(RequestError, match="two conditions of different accuracy"):
        power_rows(asked, PowerRequest((24,), {"": 0.9}))


def test_the_fewest_participants_are_those_from_which_on_the_power_suffices() -> None:
    rows = [{"first": "a", "second": "b", "participants": size, "over_actions": power}
            for size, power in ((12, 0.85), (24, 0.79), (48, 0.81), (96, 0.9))]
    assert needed(rows, "a", "b", "over_actions") == 48
    assert needed(rows[:2], "a", "b", "over_actions") is None


def test_power_is_told_for_each_number_of_participants(studied):
    done = invoked("study", "power", studied, "--accuracy", 0.95, "--accuracy", f"{HARD}=0.6",
                   "--participants", "6,12", "--repeats", 20, "--json")
    rows = json.loads(done.stdout)
    assert {(row["participants"], row["second"]) for row in rows} == {
        (size, name) for size in (6, 12) for name in ("base+aligned@0", "base+blank@0")}
    done = invoked("study", "power", studied, "--participants", "1")
    assert done.returncode == 2 and "expected numbers from 2" in done.stderr
