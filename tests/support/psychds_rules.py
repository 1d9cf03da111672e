"""What the official validator of Psych-DS (psychds-validator) calls errors.

Written after its published schema, so that tests need no Node.js. Warnings are not here:
recommended folders and keys.
"""

import csv
import json
import re
from pathlib import Path
from typing import Any

SCHEMA_ORG = re.compile(r"https?://(www\.)?schema\.org/?")
DATA_NAME = re.compile(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv")
REQUIRED = ("name", "description", "variableMeasured")


def psychds_errors(folder: Path) -> set[str]:
    """Return the codes of all errors in a data set."""
    found = {"EMPTY_FILE" for path in folder.rglob("*")
             if path.is_file() and not path.stat().st_size}
    description = folder / "dataset_description.json"
    if not description.is_file():
        return found | {"MISSING_DATASET_DESCRIPTION"}
    if not (folder / "data").is_dir():
        return found | {"MISSING_DATA_DIRECTORY"}
    try:
        content = json.loads(description.read_text(encoding="utf-8"))
    except ValueError:
        return found | {"INVALID_JSON_FORMATTING"}
    tables = list((folder / "data").rglob("*.csv"))
    found |= _of_metadata(content) | (set() if tables else {"MISSING_DATAFILE"})
    for table in tables:
        found |= _of_table(table, _columns(content))
    return found


def _of_metadata(content: dict[str, Any]) -> set[str]:
    found = set()
    if "@context" not in content:
        found.add("INVALID_JSONLD_FORMATTING")
    elif not SCHEMA_ORG.fullmatch(str(content["@context"])):
        found.add("JSON_KEY_REQUIRED")
    if "@type" not in content:
        found.add("MISSING_DATASET_TYPE")
    elif content["@type"] != "Dataset":
        found.add("INCORRECT_DATASET_TYPE")
    # JSON-LD leaves out what is null.
    if any(content.get(key) is None for key in REQUIRED):
        found.add("JSON_KEY_REQUIRED")
    return found


def _columns(content: dict[str, Any]) -> set[str]:
    return {one if isinstance(one, str) else one.get("name")
            for one in content.get("variableMeasured") or ()}


def _of_table(table: Path, columns: set[str]) -> set[str]:
    found = set() if DATA_NAME.fullmatch(table.name) else {"FILENAME_KEYWORD_FORMATTING_ERROR"}
    with table.open(newline="", encoding="utf-8") as file:
        try:
            rows = list(csv.reader(file, strict=True))
        except csv.Error:
            return found | {"CSV_FORMATTING_ERROR"}
    if not rows or not rows[0]:
        return found | {"CSV_HEADER_MISSING"}
    head, *body = rows
    if len({*head}) < len(head):
        found.add("CSV_HEADER_REPEATED")
    if any(len(row) != len(head) for row in body):
        found.add("CSV_HEADER_LENGTH_MISMATCH")
    if not {*head} <= columns:
        found.add("CSV_COLUMN_MISSING_FROM_METADATA")
    ids = [row[head.index("row_id")] for row in body] if "row_id" in head else []
    return found | ({"ROWID_VALUES_NOT_UNIQUE"} if len({*ids}) < len(ids) else set())
