"""Tables of a study, computed anew with pandas from the database and the key of the study."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mimegen.evaluation.conditions import factors
from mimegen.evaluation.question import Question, read_questions
from mimegen.study.database import Database
from mimegen.study.export import answer_lines, stored_people
from mimegen.study.folder import Study, read_study
from mimegen.study.making import StudyRequest, make_study
from mimegen.study.public import session_order
from mimegen.study.responses import Ids, Screen
from mimegen.study.settings import read_settings
from running import invoked
from study_rows import asked_questions

DAY_MS = 24 * 3600 * 1000
SCREEN = Screen(width=1, height=1, touch=False)
FILES = ("trials", "participants", "conditions", "participants_by_condition")


def answer(trial: Any, task: str, right: bool, rt_ms: int, right_text: str) -> dict[str, Any]:
    place = trial.options.index(right_text) if task == "choice" else 0
    return {"rt_ms": rt_ms, "replays": 0, "timed_out": False} | (
        {"text": right_text if right else "xylophone"} if task == "free" else
        {"option": place if right else (place + 1) % len(trial.options)})


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that hostile people took part in: hurried, slow, gone, with clips that did not play.
    """
    root = tmp_path_factory.mktemp("tables")
    made = asked_questions(root / "out")
    (root / "s.yaml").write_text("repeat_options: true\n")
    study = make_study(StudyRequest(made.file, made.file.parent, root / "s", None,
                                    read_settings(root / "s.yaml")))
    chance = np.random.default_rng(5)
    with Database(root / "s" / "private" / "answers.sqlite", study.name) as database:
        for number in range(9):
            session = database.begin(Ids(), SCREEN, len(study.lists), None, 0.0)
            assert session is not None
            order = session_order(study, session.number, session.list)
            # One begins and answers nothing, two stop early, the last fails each check.
            for name in order[:{3: 0, 4: 2, 5: 7}.get(number)]:
                response = responded(study, root / "s", name, chance, number)
                database.store(session, name, json.dumps(response), None, 0.0)
                # Sent again with another answer: the first one counts.
                database.store(session, name, '{"answers": {}, "broken": true}', None, 0.0)
            if number not in (3, 4, 5):
                database.finish(session, 1.0)
    return root / "s"


def responded(study: Study, folder: Path, name: str, chance: np.random.Generator, number: int
              ) -> dict[str, Any]:
    known = {one.question_id: one for one in read_questions(folder / "private/questions.jsonl")}
    trial = study.trials[name]
    if chance.random() < 0.1:
        return {"answers": {}, "broken": True, "left": 2}
    right = not (number == 8 and name in study.golden) and chance.random() < 0.7
    times = [0, 3, 150, 1200, 2500, 4000, 9000, DAY_MS]
    found = {task: answer(trial, task, right, int(chance.choice(times)),
                          known[trial.questions[task]].answer) for task in trial.tasks}
    if chance.random() < 0.1:
        found = {task: {"rt_ms": 60_000, "replays": 0, "timed_out": True} for task in found}
    return {"answers": found, "left": int(chance.integers(3)), "broken": False}


def own_trials(folder: Path) -> pd.DataFrame:
    """The answers read anew, from SQLite and JSON alone."""
    key = json.loads((folder / "private/key.json").read_text())
    questions = {one["question_id"]: one for one in map(
        json.loads, (folder / "private/questions.jsonl").read_text().splitlines())}
    stored = sqlite3.connect(folder / "private/answers.sqlite")
    rows = []
    for rater, finished, name, text in stored.execute(
            "SELECT rater, finished, trial, response FROM answers JOIN sessions"
            " ON session = number"):
        trial, response = key["trials"][name], json.loads(text)
        for task, question_id in trial["questions"].items():
            given = response["answers"].get(task)
            question = questions[question_id]
            right = np.nan
            if given is not None:
                right = float(given.get("text") == question["answer"] if task == "free" else
                              given.get("option") is not None
                              and trial["options"][given["option"]] == question["answer"])
            rows.append({
                "participant": rater, "complete": finished is not None, "task": task,
                "question_id": question_id, "condition": question["variant"], "correct": right,
                "kind": "practice" if name in key["practice"] else
                        "check" if name in key["golden"] else "main",
                "rt_ms": np.nan if given is None else given["rt_ms"],
                "lapse": given is not None and given["timed_out"] and not (
                    given.get("text") or given.get("option") is not None),
                "broken": given is None, "left": response["left"]})
    return pd.DataFrame(rows)


def tables(folder: Path, out: Path, *options: Any) -> dict[str, pd.DataFrame]:
    done = invoked("study", "tables", folder, "--out", out, *options)
    assert done.returncode == 0, done.stderr
    return {name: pd.read_csv(out / f"{name}.csv") for name in FILES}


@pytest.mark.parametrize("limits", [(0, np.inf), (200, 10_000)])
def test_all_tables_agree_with_pandas_on_hostile_data(served, tmp_path, limits):
    low, high = limits
    options = [] if high == np.inf else ["--min-rt", low, "--max-rt", high]
    found = tables(served, tmp_path / "t", *options)
    own = own_trials(served)
    trials = found["trials"]
    assert len(trials) == len(own) and trials["simulated"].sum() == 0
    both = trials.merge(own, on=["participant", "question_id"], suffixes=("", "_own"))
    assert len(both) == len(own)
    # What a free answer to a check is worth is unknown.
    known = ~((both["kind"] == "check") & (both["task"] == "free"))
    assert both.loc[known, "correct"].equals(both.loc[known, "correct_own"])
    assert both.loc[~known, "correct"].isna().all()
    for column in ("task", "condition", "kind", "complete", "broken", "left"):
        assert (both[column] == both[f"{column}_own"]).all(), column
    assert both["rt_ms"].equals(both["rt_ms_own"])
    counts = own["rt_ms"].between(low, high)
    main = own[(own["kind"] == "main")]
    for (person, task), part in main.groupby(["participant", "task"]):
        row, = found["participants"].query(
            f"participant == {person!r} and task == {task!r}").to_dict("records")
        check(row, part, counts)
        apart = own.query(f"participant == {person!r} and task == {task!r} and kind != 'main'")
        tried = apart[apart["correct"].notna() & (apart["kind"] == "practice")]
        assert (row["practice"], row["practice_correct"]) == (len(tried), tried["correct"].sum())
        checks = apart[apart["correct"].notna() & (apart["kind"] == "check") & (task == "choice")]
        assert (row["checks"], row["checks_passed"]) == (len(checks), checks["correct"].sum())
    for key, part in main.groupby(["task", "condition"]):
        row, = found["conditions"].query(
            f"task == {key[0]!r} and condition == {key[1]!r}").to_dict("records")
        check(row, part, counts)
        shares = part[counts.reindex(part.index)].groupby("participant")["correct"].mean()
        assert row["participants"] == len(shares)
        assert row["mean"] == pytest.approx(shares.mean())
        assert row["sd"] == pytest.approx(shares.std(ddof=1))
        reach = stats.t.ppf(0.975, len(shares) - 1) * shares.sem() or np.nan
        span = (shares.mean() - reach, shares.mean() + reach)
        assert (row["low"], row["high"]) == pytest.approx(span, nan_ok=True)
    for key, part in main.groupby(["participant", "task", "condition"]):
        row, = found["participants_by_condition"].query(
            f"participant == {key[0]!r} and task == {key[1]!r} and condition == {key[2]!r}"
        ).to_dict("records")
        check(row, part, counts)


def check(row: dict[str, Any], part: pd.DataFrame, counts: pd.Series) -> None:
    kept = part[counts.reindex(part.index)]
    assert row["trials"] == len(part) and row["n"] == len(kept)
    assert row["correct"] == kept["correct"].sum()
    assert row["lapses"] == kept["lapse"].sum()
    assert row["excluded"] == len(part) - len(kept)
    assert row["accuracy"] == pytest.approx(kept["correct"].mean(), nan_ok=True)
    assert row["median_rt_ms"] == pytest.approx(
        kept[kept["correct"] == 1]["rt_ms"].median(), nan_ok=True)


def test_the_accuracy_of_conditions_is_that_of_evaluate(served, tmp_path):
    found = tables(served, tmp_path / "t")["conditions"].set_index(["task", "condition"])
    done = invoked("study", "export", served, "--out", tmp_path / "a.jsonl")
    assert done.returncode == 0, done.stderr
    done = invoked("evaluate", served / "private/questions.jsonl", tmp_path / "a.jsonl", "--json")
    for kind in json.loads(done.stdout)["models"]:
        task = "choice" if kind["format"] == "mc" else "free"
        for variant, share in kind["variants"].items():
            row = found.loc[task, variant]
            assert (row["n"], row["correct"]) == (share["answered"], share["right"])


def test_people_can_be_left_out_and_stay_in_the_trials(served, tmp_path):
    everyone = tables(served, tmp_path / "t")
    found = tables(served, tmp_path / "u", "--exclude", "unfinished,failed_check")
    people = found["participants"]
    gone = people[people["left_out"].notna()]
    assert {*gone.loc[gone["left_out"] == "unfinished", "participant"]} \
        == {*people.loc[~people["complete"], "participant"]}
    failed = everyone["trials"].query("kind == 'check' and correct == 0")["participant"]
    assert {*gone["participant"]} == {*people.loc[~people["complete"], "participant"]} | {*failed}
    assert (gone["n"] == 0).all() and len(found["trials"]) == len(everyone["trials"])
    left = everyone["trials"].query("kind == 'main' and task == 'choice' and not broken")
    left = left[~left["participant"].isin(gone["participant"])]
    assert found["conditions"].query("task == 'choice'")["n"].sum() == len(left)


def test_a_check_without_a_text_is_not_a_failed_check(served):
    study = read_study(served)
    lines = [line for person in stored_people(study, served)
             for line in answer_lines(study, person) if line["golden"] and line["task"] == "free"]
    assert lines and {line["passed"] for line in lines} == {None}


@pytest.mark.parametrize(("options", "said"), [
    (["--exclude", "unfinishd"], "did you mean"), (["--min-rt", "-1"], "min-rt"),
    (["--simulated"], "has no simulated participants")])
def test_what_tables_cannot_do_is_said(served, tmp_path, options, said):
    done = invoked("study", "tables", served, "--out", tmp_path / "t", *options)
    assert done.returncode == 2 and said in done.stderr
    assert not (tmp_path / "t").exists()


def test_factors_of_a_grid_are_columns_of_their_own() -> None:
    asked = Question(question_id="q", sample_id="s", action="walk", format="factor", prompt="?",
                     answer="a", labels=["a"], variant="speed=0.8, happy=-3, condition=upright")
    assert factors(asked) == [("speed", "0.8"), ("happy", "-3"), ("condition", "upright")]
