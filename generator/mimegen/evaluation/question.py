"""The question model, and files of questions as JSON lines."""

import json
from collections.abc import Iterable, Sequence
from math import isfinite
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, publish
from mimegen.base.names import inner_path, plain_name
from mimegen.manifest.pair import Needs

# In bytes.
MAX_LINE = 2**22
# Files of questions in a folder of clips.
QUESTION_FILES = "questions-*.jsonl"
# Some of a question's texts are used as paths of clips, plots or folders. "" means not given.
InnerPath = Annotated[str, AfterValidator(lambda text: text and inner_path(text))]
# Written by imports of earlier versions for an action without a group.
NO_GROUP = "not stated"


def stated_group(group: Any) -> Any:
    """Return a semantic group; None for one that is not stated."""
    return None if group == NO_GROUP else group


Group = Annotated[str | None, BeforeValidator(stated_group)]
PlainName = Annotated[str, AfterValidator(plain_name)]


class Example(BaseModel):
    """A clip that is shown with its answer before the question (few-shot)."""

    model_config = ConfigDict(frozen=True)

    sample_id: str
    clip: InnerPath
    file_name: InnerPath
    prompt: str
    answer: str


class FurtherClip(BaseModel):
    """A clip that is shown after a question's first one, and which of its frames to show."""

    model_config = ConfigDict(frozen=True)

    sample_id: str
    clip: InnerPath
    file_name: InnerPath
    frames: list[int] | None = None


class Question(BaseModel):
    """One question about one clip, or about several clips in order.

    Models are given only ``prompt``, ``options`` and the clips.

    Files of other programs need nine fields, from ``question_id`` to ``labels``; ``variant`` and
    ``options`` may be null, and all other fields may be left out.

    - ``clip`` is an opaque name; the clip is at ``file_name``, relative to the manifest's folder.
    - ``answer`` is one of ``options`` (in files also its letter, or its number from 0); without
      options it is the best of ``labels``, which are all right.
    - ``order`` has for each option 0 if it is the answer, or n for the n-th of ``distractors``.
    - ``performance`` is the same for all variants of a take and seed. Without it and ``take``,
      results do not compare variants.
    - ``frames`` are the numbers of the frames to show, from 0; without them, the whole clip.
    - ``category`` groups the tables of a benchmark, ``aspect`` is what is asked about, and
      ``condition`` how. ``question`` is the question without the words around it, if any.
    - ``further`` are the clips after the first. ``people`` is the number of people in the clip.
    - ``pair`` names the minimal pair that is asked about.
    - ``needs`` is whether one frame can tell the answers of a pair or probe apart.
    - ``control`` names what a control question shows, and ``control_of`` the question it controls.
    - ``tolerance`` is how far a number may be from ``answer`` and still be right.
    - A free answer that is nearer to one of ``contrasts`` than to the labels is wrong.
    - ``human`` is the expected accuracy of people, with its source (see ``expected.py``).
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    question_id: str
    sample_id: str
    action: str
    variant: str | None = None
    format: str
    prompt: str
    options: list[str] = []
    answer: str
    labels: list[str] = Field(min_length=1)
    clip: InnerPath = ""
    file_name: InnerPath = ""
    take: str = ""
    performance: str | None = None
    semantic_group: Group = None
    asks: str = "label"
    prompting: str = "zero-shot"
    difficulty: str | None = None
    distractors: list[dict[str, Any]] = []
    order: list[int] = []
    examples: list[Example] = []
    further: list[FurtherClip] = []
    window: list[float] | None = None
    sampling: str | None = None
    frames: list[int] | None = None
    background_config: str | None = None
    background_name: str | None = None
    avatar: str | None = None
    angle: float | None = None
    fold: int | None = None
    split: PlainName | None = None
    category: str | None = None
    aspect: str | None = None
    condition: str | None = None
    people: int | None = None
    pair: str | None = None
    needs: Needs | None = None
    control: str | None = None
    control_of: str | None = None
    tolerance: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    question: str | None = None
    contrasts: list[str] = []
    human: dict[str, Any] | None = None
    seed: int = 0
    versions: dict[str, str] = {}

    def __repr__(self) -> str:
        """Return format, clip and options in a line; ``dict(question)`` has every field."""
        options = " / ".join(self.options) or "free answer"
        return (f"<Question: {self.format} about {self.action}, {self.variant or 'no variant'}:"
                f" {options}; answer: {self.answer}>")

    @property
    def shown(self) -> tuple[FurtherClip, ...]:
        """All clips that the question shows, its own first."""
        own = FurtherClip(sample_id=self.sample_id, clip=self.clip, file_name=self.file_name,
                          frames=self.frames)
        return own, *self.further

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, content: Any) -> Any:
        """Return a question of another program's file in the form of mimegen's own files."""
        if not isinstance(content, dict):
            return content
        given = {key: value for key, value in content.items()
                 if value is not None or key not in _MAY_BE_NULL}
        return given | _answered(given.get("options"), given.get("answer"), given.get("labels"))

    @model_validator(mode="after")
    def _has_a_number(self) -> Self:
        """Refuse a tolerance if the answer is not a number."""
        if self.tolerance is not None:
            try:
                is_number = isfinite(float(self.answer))
            except ValueError:
                is_number = False
            if not is_number:
                raise ValueError(f"answer: expected a number, because of tolerance, got"
                                 f" {self.answer!r}")
        return self

    @property
    def counts(self) -> bool:
        """Whether answers are results: those to a study's practice and attention checks are not."""
        extra = self.model_extra or {}
        return not (extra.get("golden") or extra.get("practice"))

    @property
    def performance_id(self) -> str:
        """The performance that all its variants share, prefixed by its action.

        The action is included because takes of two actions may have the same name.
        """
        return "/".join(filter(None, (self.action, self.performance or self.take)))

    @property
    def question_type(self) -> tuple[str, str, str]:
        """Format, what is asked, and prompting; results are given separately for each combination.
        """
        if self.control is not None:
            return self.format, self.asks, f"{self.prompting}, {self.control}"
        alone = self.condition == "text" and self.prompting != "text"
        return self.format, self.asks, f"{self.prompting}, text only" if alone else self.prompting


_MAY_BE_NULL = {"options", "labels", "answer", "clip", "file_name", "take", "examples", "further",
                "distractors", "order", "asks", "prompting", "seed", "versions"}


def _answered(options: object, answer: object, labels: object) -> dict[str, Any]:
    """Return the answer as text and the labels, each taken from the other if it is missing.

    Raises ValueError if the answer is none of the options.
    """
    labels = [labels] if isinstance(labels, str) and labels else labels
    if options and isinstance(options, list):
        place = right_option(options, answer)
        if place is None:
            raise ValueError("answer: expected one of the options, its letter or its number from"
                             f" 0, got {answer!r}")
        return {"answer": options[place], "labels": labels or [options[place]]}
    if answer is None and isinstance(labels, list) and labels:
        answer = labels[0]
    return {"answer": answer, "labels": labels or [answer]}


def right_option(options: Sequence[str], answer: object) -> int | None:
    """Return the index of an answer that is an option, its letter or its number from 0.

    None for any other.
    """
    if isinstance(answer, bool) or not isinstance(answer, (int, str)):
        return None
    if isinstance(answer, int):
        return answer if 0 <= answer < len(options) else None
    if answer in options:
        return options.index(answer)
    letter = answer.strip().upper().strip("().")
    place = ascii_uppercase.find(letter) if len(letter) == 1 else -1
    return place if 0 <= place < len(options) else None


def named_by_content(questions: Iterable[Question]) -> list[Question]:
    """Return questions with ids that depend on all that is asked, sorted by id.

    So answers to an earlier file are refused where a question has other options since, perhaps
    because OUT got more clips, instead of being read as other options.
    """
    named = [one.model_copy(update={"question_id": content_key(
        one.question_id, one.prompt, one.options, one.answer,
        [clip.sample_id for clip in one.shown],
        [(example.sample_id, example.prompt) for example in one.examples])[:16]})
        for one in questions]
    return sorted(named, key=lambda one: one.question_id)


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    """Publish a file of questions. Raises RequestError if it cannot be written."""
    publish(path, "".join(json.dumps(question.model_dump(mode="json"), ensure_ascii=False) + "\n"
                          for question in questions))


def questions_in(path: Path) -> Path:
    """Return a file of questions: the path itself, or the only one in a folder of clips.

    Raises RequestError for a folder with none or several.
    """
    if not path.is_dir():
        return path
    found = sorted(path.glob(QUESTION_FILES))
    if len(found) != 1:
        raise RequestError(f"{path}: expected a file of questions; "
                           + (f"name one: {', '.join(map(str, found))}" if found else
                              f"make some with mimegen questions {path}"))
    return found[0]


def read_questions(path: Path) -> list[Question]:
    """Read a file of questions.

    Raises RequestError naming a line that is not a question or repeats an id.
    """
    questions: dict[str, Question] = {}
    for number, content in json_lines(path):
        try:
            question = Question.model_validate(content)
        except ValidationError as problem:
            first = problem.errors()[0]
            place = "".join(f"{part}: " for part in first["loc"])
            why = place + first["msg"].removeprefix("Value error, ")
            raise RequestError(f"{path}: line {number} is not a question ({why})") from problem
        if question.question_id in questions:
            raise RequestError(f"{path}: line {number}: duplicate question_id"
                               f" {question.question_id!r}")
        questions[question.question_id] = question
    return list(questions.values())


def json_lines(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return the objects in a file of JSON lines with their line numbers; skip blank lines.

    Raises RequestError for a file that cannot be read or is empty, and a line that is not an
    object.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read ({problem.strerror})") from problem
    except UnicodeDecodeError as problem:
        raise RequestError(f"{path}: not UTF-8 text; expected JSON lines") from problem
    found = [(number, _object(path, number, line)) for number, line in enumerate(lines, 1)
             if line.strip()]
    if not found:
        raise RequestError(f"{path}: is empty; expected JSON lines, one object each")
    return found


def well_formed(content: Any) -> Any:
    """Return JSON content with lone surrogates replaced by U+FFFD (``"\\ud800"``).

    JSON can contain a lone surrogate, but files, terminals and hashes cannot.
    """
    text = json.dumps(content, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return json.loads(whole)
    return content


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise RequestError(f"{path}: line {number} is longer than {MAX_LINE // 2**20} MiB")
    try:
        content = well_formed(json.loads(line))
    except (ValueError, RecursionError) as problem:
        raise RequestError(f"{path}: line {number} is not valid JSON; expected one object per line"
                           ) from problem
    if not isinstance(content, dict):
        raise RequestError(f"{path}: line {number} is not a JSON object")
    return content
