"""A question, and the file of questions: JSON lines."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mimegen.base.errors import RequestError
from mimegen.base.files import publish

LONGEST_LINE = 2**22


class Example(BaseModel):
    """A clip that is shown with its answer before the question (few-shot)."""

    model_config = ConfigDict(frozen=True)

    sample_id: str
    clip: str
    file_name: str
    prompt: str
    answer: str


class Question(BaseModel):
    """One question about one clip. Only ``prompt``, ``options`` and the clip are for a model.

    ``clip`` is a name that says nothing; the clip lies at ``file_name`` beside the manifest.
    ``answer`` is one of ``options``, or with none the best of ``labels``, which are all right.
    ``order`` has, for each option, 0 where it is the answer and n for the n-th of ``distractors``.
    ``performance`` is the same for all variants of a take and its seed.
    ``frames`` are the numbers of those to show, from 0; without, the clip is shown as it is.
    ``category`` is what a benchmark parts its tables by, ``aspect`` what is asked for, in which
    ``condition``, and ``question`` the question without the words around it, where it has any.
    ``people`` is how many the clip shows.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    question_id: str
    sample_id: str
    action: str
    variant: str | None
    format: str
    prompt: str
    options: list[str]
    answer: str
    labels: list[str] = Field(min_length=1)
    clip: str
    file_name: str
    take: str
    performance: str | None = None
    semantic_group: str | None = None
    asks: str = "label"
    prompting: str = "zero-shot"
    difficulty: str | None = None
    distractors: list[dict[str, Any]] = []
    order: list[int] = []
    examples: list[Example] = []
    window: list[float] | None = None
    sampling: str | None = None
    frames: list[int] | None = None
    background_config: str | None = None
    background_name: str | None = None
    avatar: str | None = None
    angle: float | None = None
    fold: int | None = None
    split: str | None = None
    category: str | None = None
    aspect: str | None = None
    condition: str | None = None
    people: int | None = None
    question: str | None = None
    seed: int = 0
    versions: dict[str, str] = {}

    @model_validator(mode="after")
    def _can_be_answered(self) -> Self:
        if self.options and self.answer not in self.options:
            raise ValueError(f"answer: expected one of the options, got {self.answer!r}")
        return self

    @property
    def way(self) -> tuple[str, str, str]:
        """Format, what is asked for and how: what tables are parted by."""
        alone = self.condition == "text" and self.prompting != "text"
        return self.format, self.asks, f"{self.prompting}, text only" if alone else self.prompting


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    """Publish a file of questions. Raises RequestError where it cannot be written."""
    publish(path, "".join(json.dumps(question.model_dump(mode="json"), ensure_ascii=False) + "\n"
                          for question in questions))


def read_questions(path: Path) -> list[Question]:
    """Read questions as ``write_questions`` leaves them.

    Raises RequestError naming the line that is none, or that says an id again.
    """
    questions: dict[str, Question] = {}
    for number, content in json_lines(path):
        try:
            question = Question.model_validate(content)
        except ValidationError as problem:
            first = problem.errors()[0]
            place = "".join(f"{part}: " for part in first["loc"])
            why = place + first["msg"].removeprefix("Value error, ")
            raise RequestError(f"{path}: line {number} is no question ({why})") from problem
        if question.question_id in questions:
            raise RequestError(f"{path}: line {number}: question_id {question.question_id!r} is"
                               " there twice")
        questions[question.question_id] = question
    return list(questions.values())


def json_lines(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return the objects of a file of JSON lines with their line numbers; blank lines are nothing.

    Raises RequestError for a file that cannot be read, has no line, or a line that is no object.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read ({problem.strerror})") from problem
    except UnicodeDecodeError as problem:
        raise RequestError(f"{path}: is no UTF-8 text; expected JSON lines") from problem
    found = [(number, _object(path, number, line)) for number, line in enumerate(lines, 1)
             if line.strip()]
    if not found:
        raise RequestError(f"{path}: is empty; expected JSON lines, one object each")
    return found


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise RequestError(f"{path}: line {number} is longer than {LONGEST_LINE // 2**20} MiB")
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise RequestError(f"{path}: line {number} is no JSON; expected one object a line"
                           ) from problem
    if not isinstance(content, dict):
        raise RequestError(f"{path}: line {number} is no JSON object")
    return content
