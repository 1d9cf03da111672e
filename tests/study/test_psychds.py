"""People's answers as a Psych-DS data set: no error by its rules, whatever people wrote."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mimegen.study.psychds import COLUMNS, write_psychds
from psychds_rules import psychds_errors

# What people write and spreadsheets misread: quotes, ends of lines, formulas, half a quote.
WRITTEN = ("bowling", '"quoted", and\non', "=1+1", 'one " alone', "\r\n", "é ü 漢", "", None)


def line(number: int, output: str | None, **more: Any) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {
        "question_id": f"q{number}", "rater": "r1", "output": output, "task": "free",
        "place": number + 1, "rt_ms": 900.5, "replays": 0, "timed_out": False, "broken": False,
        "golden": False, "complete": True} | more


@pytest.fixture
def data_set(tmp_path: Path) -> Path:
    lines = [line(number, text) for number, text in enumerate(WRITTEN)]
    lines.append(line(9, None, task="ratings", ratings={"subject": 40, "completeness": 1}))
    write_psychds(tmp_path / "d", "0123abcdef", lines, b'{"question_id": "q0"}\n')
    return tmp_path / "d"


def test_the_validator_s_rules_find_no_error(data_set: Path) -> None:
    assert psychds_errors(data_set) == set()


def described(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    """What changes the description of a data set."""
    def changed(folder: Path) -> None:
        file = folder / "dataset_description.json"
        content = json.loads(file.read_text())
        change(content)
        file.write_text(json.dumps(content))
    return changed


def table(folder: Path) -> Path:
    [found] = (folder / "data").glob("*.csv")
    return found


@pytest.mark.parametrize(("damage", "code"), [
    (lambda folder: (folder / "dataset_description.json").unlink(), "MISSING_DATASET_DESCRIPTION"),
    (lambda folder: (folder / "dataset_description.json").write_text("{"),
     "INVALID_JSON_FORMATTING"),
    (lambda folder: table(folder).rename(folder / "data" / "answers.csv"),
     "FILENAME_KEYWORD_FORMATTING_ERROR"),
    (lambda folder: table(folder).unlink(), "MISSING_DATAFILE"),
    (lambda folder: (folder / "data" / "study-x_data.csv").write_text("a,b\n1\n"),
     "CSV_HEADER_LENGTH_MISMATCH"),
    (lambda folder: (folder / "data" / "study-x_data.csv").write_text("task,task\n1,2\n"),
     "CSV_HEADER_REPEATED"),
    (lambda folder: (folder / "materials" / "questions.jsonl").write_text(""), "EMPTY_FILE"),
    (described(lambda content: content["variableMeasured"].pop()),
     "CSV_COLUMN_MISSING_FROM_METADATA"),
    (described(lambda content: content.pop("description")), "JSON_KEY_REQUIRED"),
    (described(lambda content: content.pop("@context")), "INVALID_JSONLD_FORMATTING"),
    (described(lambda content: content.pop("@type")), "MISSING_DATASET_TYPE"),
    (described(lambda content: content.update({"@type": "Person"})), "INCORRECT_DATASET_TYPE"),
])
def test_the_rules_find_what_is_wrong(data_set: Path, damage: Callable[[Path], object], code: str
                                      ) -> None:
    damage(data_set)
    assert code in psychds_errors(data_set)
