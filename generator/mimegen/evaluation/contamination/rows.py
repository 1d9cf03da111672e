"""Read and check files of scored answers, and join them with the manifests of their clips."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mimegen.base.errors import RequestError, near_misses
from mimegen.evaluation.question import json_lines
from mimegen.manifest.file import MANIFEST, rows_of
from mimegen.manifest.row import Row

Clips = Mapping[str, Row]


class ScoredRow(BaseModel):
    """One scored answer. Further fields of its line are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)

    sample_id: str = Field(min_length=1)
    model: str = Field(min_length=1)
    correct: bool | int | float = Field(ge=0, le=1)
    action: str | None = None
    variant: str | None = None
    question_id: str | None = None
    rater: Any = None
    control: Any = None


@dataclass(frozen=True)
class StudyArm:
    """The answers about one set of clips, with action and variant, and the clips' rows if given."""

    name: str
    path: Path
    rows: Sequence[ScoredRow]
    clips: Clips

    def samples(self) -> set[str]:
        """Return the sample_ids of the clips."""
        return {row.sample_id for row in self.rows}


def read_clips(places: Iterable[Path]) -> dict[str, Row]:
    """Return the rows of manifests by sample_id; a place is a manifest or its folder.

    Raises RequestError if there is no manifest, or two manifests give different clips one name.
    """
    clips: dict[str, Row] = {}
    for place in places:
        folder = place if place.is_dir() else place.parent
        if not (folder / MANIFEST).is_file() or (not place.is_dir() and place.name != MANIFEST):
            raise RequestError(f"{place}: expected a {MANIFEST} or a folder with one")
        for row in rows_of(folder):
            if clips.setdefault(row.sample_id, row).sha256 != row.sha256:
                raise RequestError(f"{place}: {row.sample_id} is a different clip in another"
                                   " manifest")
    return clips


def read_arm(name: str, path: Path, clips: Clips) -> StudyArm:
    """Return the answers in a file of JSON lines, each with its action and variant.

    Answers to control questions, which show less than the clip, are skipped. With ``clips``, every
    answer must be about one of them. Raises RequestError, naming the file and line, for an invalid
    or duplicate answer, an unknown clip, and an action or variant that is missing or contradicts
    the clip's row.
    """
    rows: list[ScoredRow] = []
    first: dict[tuple[str, str, str], int] = {}
    for number, content in json_lines(path):
        row = _joined(_scored(content, path, number), clips, f"{path}: line {number}")
        if row.control:
            continue
        # People count as one model, of which several raters may answer a question.
        who = (row.model, row.question_id or row.sample_id, str(row.rater))
        if who in first:
            raise RequestError(f"{path}: line {number}: duplicate answer of {row.model} to"
                               f" {who[1]}, first in line {first[who]}; keep one of them")
        first[who] = number
        rows.append(row)
    return StudyArm(name, path, rows, {row.sample_id: clips[row.sample_id] for row in rows}
                    if clips else {})


def _scored(content: Any, path: Path, number: int) -> ScoredRow:
    """Return one line as a scored row. Raises RequestError naming the line if invalid."""
    try:
        return ScoredRow.model_validate(content)
    except ValidationError as problem:
        first = problem.errors()[0]
        field = str(first["loc"][0]) if first["loc"] else "it"
        found = f"{field} is {first['input']!r}" if first["type"] != "missing" else f"no {field}"
        expected = ("expected 0, 1 or a share of a point between" if field == "correct"
                    else first["msg"])
        raise RequestError(f"{path}: line {number}: {found}; {expected}") from problem


def _joined(row: ScoredRow, clips: Clips, place: str) -> ScoredRow:
    """Return a row with its clip's action and variant."""
    clip = clips.get(row.sample_id)
    if clips and clip is None:
        raise RequestError(f"{place}: no manifest has a row for {row.sample_id}"
                           f"{near_misses(row.sample_id, list(clips)[:2000])[:200]}")
    fields: dict[str, Any] = {}
    for key in ("action", "variant"):
        known = getattr(clip, key, None)
        given = getattr(row, key)
        if given is not None and known is not None and given != known:
            raise RequestError(f"{place}: {key} is {given!r}, but the manifest says {known!r}")
        fields[key] = given if given is not None else known
        if fields[key] is None:
            raise RequestError(f"{place}: {key} is missing; add it, or give the clips' manifest"
                               " with --manifest")
    return row.model_copy(update=fields)
