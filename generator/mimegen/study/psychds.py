"""Write people's answers as a Psych-DS data set: a table and the meanings of its columns.

Follows the Psych-DS specification 0.4.0 (https://psych-ds.github.io): metadata in schema.org terms
in ``dataset_description.json``, tables in ``data/`` with names made of keywords and values.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mimegen.base.cells import csv_text, data_cell
from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.evaluation.answers import SIMULATED

SCHEMA_VERSION = "Psych-DS 0.4.0"
DESCRIPTION = "dataset_description.json"
README = "README.md"
DATA = "data"
# Columns in order, with their meanings. Each rating slider adds a column.
COLUMNS = {
    "question_id": "the question, by its name in materials/questions.jsonl",
    "rater": "random name of one person",
    "output": "what the person wrote, or the option chosen, as 'B. bowling'; empty where nothing"
              " was said; an apostrophe stands before texts that begin with = + - or @",
    "task": "free (naming), choice (among options), same (as another clip) or ratings",
    "place": "place of the trial in this person's session, from 1",
    "rt_ms": "time of Continue in milliseconds, counted from the task's appearance after the first"
             " showing; in a speeded study, of the choice, counted from the clip's first frame",
    "first_input_ms": "time of the first choice or key, counted as rt_ms; empty if there was none",
    "last_input_ms": "time of the last change of the answer, counted as rt_ms",
    "replays": "showings beyond the first, before this answer; reloading the page shows again",
    "left": "how often the person left the page during the trial, for another tab or program",
    "timed_out": "whether time was over",
    "shown_width": "width of the picture as it was shown, in CSS pixels",
    "shown_height": "height of the picture as it was shown, in CSS pixels",
    "pixel_ratio": "pixels of the screen along a side of a CSS pixel",
    "broken": "whether the clip could not be played",
    "golden": "whether the trial is an attention check",
    "passed": "whether the attention check was met; empty where that is not known",
    "complete": "whether this person came to the end",
}
RATING = "rating_"
MADE_UP = "whether mimegen study simulate made this participant up"
MATERIALS = "materials"
QUESTIONS = "questions.jsonl"


def write_psychds(folder: Path, name: str, lines: Sequence[Mapping[str, Any]], questions: bytes
                  ) -> None:
    """Write a data set into an empty or new folder.

    ``lines`` come from ``answer_lines``; ``questions`` is the study's question file. Raises
    RequestError if the folder is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RequestError(f"--psych-ds {folder}: is not empty; name a new folder")
    sliders = sorted({slider for line in lines for slider in line.get("ratings") or {}})
    made_up = {SIMULATED: MADE_UP} if any(line.get(SIMULATED) for line in lines) else {}
    columns = {**COLUMNS, **made_up, **{f"{RATING}{slider}": f"the slider {slider}, 0 to 100"
                             for slider in sliders}}
    publish(folder / DATA / f"study-{name}_data.csv", _table(lines, columns))
    publish(folder / MATERIALS / QUESTIONS, questions)
    publish(folder / README, _readme(name, lines))
    # Written last, so that a folder without it can be recognised as unfinished.
    publish(folder / DESCRIPTION, json.dumps(_description(name, lines, columns), indent=2) + "\n")


def _description(name: str, lines: Sequence[Mapping[str, Any]], columns: Mapping[str, str]
                 ) -> dict[str, Any]:
    """Return the metadata of the data set, with the meaning of each column."""
    return {
        "@context": "https://schema.org/", "@type": "Dataset", "schemaVersion": SCHEMA_VERSION,
        "name": f"Answers to study {name}",
        "description": f"{len(lines)} answers of {_people(lines)} to questions about video"
                       " clips made by mimegen.",
        "variableMeasured": [{"@type": "PropertyValue", "name": column, "description": meaning}
                             for column, meaning in columns.items()]}


def _readme(name: str, lines: Sequence[Mapping[str, Any]]) -> str:
    return (f"# Answers to study {name}\n\n{len(lines)} answers of {_people(lines)}."
            f" `{DESCRIPTION}` says what each column of the table in `{DATA}/` means;"
            f" `{MATERIALS}/{QUESTIONS}` has the questions with their right answers. The clips are"
            " in the published stimulus set.\n")


def _people(lines: Sequence[Mapping[str, Any]]) -> str:
    people = len({line["rater"] for line in lines})
    if any(line.get(SIMULATED) for line in lines):
        return counted(people, "simulated participant")
    return f"{people} people"


def _table(lines: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    return csv_text(columns, ([_cell(line, column) for column in columns] for line in lines))


def _cell(line: Mapping[str, Any], column: str) -> Any:
    value = (line.get("ratings") or {}).get(column.removeprefix(RATING)) \
        if column.startswith(RATING) else line[column]
    return data_cell(value)
