"""Parse and check what a page sends about a trial."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from mimegen.study.folder import Study
from mimegen.study.settings import Task

# In characters.
MAX_TEXT = 500
Milliseconds = Annotated[int, Field(ge=0, le=24 * 3600 * 1000)]
Count = Annotated[int, Field(ge=0, le=100_000)]
Length = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._~-]{1,128}$")]


class Sent(BaseModel):
    """Base class of what browsers send; unexpected fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TaskAnswer(Sent):
    """The answer to one task: ``text`` for free, ``option`` for choice and same, or ``ratings``.

    ``first_input_ms`` and ``last_input_ms`` are the times of the first and last choice or key.
    """

    text: Annotated[str, StringConstraints(max_length=MAX_TEXT)] | None = None
    option: Annotated[int, Field(ge=0)] | None = None
    ratings: dict[str, Annotated[float, Field(ge=0, le=100)]] | None = None
    rt_ms: Milliseconds
    first_input_ms: Milliseconds | None = None
    last_input_ms: Milliseconds | None = None
    replays: Count
    timed_out: bool


class Response(Sent):
    """All answers of a trial.

    ``left`` counts how often the person left the page; ``broken`` means that the clip did not play.
    ``shown_width`` and ``shown_height`` are the picture's size in CSS pixels, of which each has
    ``pixel_ratio`` of the screen's pixels along a side.
    """

    answers: dict[Task, TaskAnswer]
    shown_width: Length | None = None
    shown_height: Length | None = None
    pixel_ratio: Length | None = None
    left: Count = 0
    broken: bool = False


class Ids(Sent):
    """Ids in the address by which a person came: Prolific's, SONA's, or the researcher's own."""

    PROLIFIC_PID: Id | None = None
    STUDY_ID: Id | None = None
    SESSION_ID: Id | None = None
    survey_code: Id | None = None
    participant: Id | None = None

    @property
    def person(self) -> str | None:
        """The id that distinguishes people; None if the address contains none."""
        return self.PROLIFIC_PID or self.survey_code or self.participant

    def given(self) -> dict[str, str]:
        """Return the ids that are present."""
        return self.model_dump(exclude_none=True)


class Screen(Sent):
    """The size of the browser window, and whether it is a touch screen."""

    width: Count
    height: Count
    touch: bool


def read_response(study: Study, name: str, content: Any) -> Response:
    """Return a trial's response. Raises ValueError if it does not match what the trial asked."""
    try:
        response = Response.model_validate(content)
    except ValidationError as problem:
        first = problem.errors()[0]
        raise ValueError(f"{' '.join(map(str, first['loc']))}: {first['msg']}") from problem
    trial = study.trials[name]
    if {*response.answers} != ({*()} if response.broken else {*trial.tasks}):
        raise ValueError(f"answers: expected {', '.join(trial.tasks)}")
    for task, answer in response.answers.items():
        _check(study, name, task, answer)
    return response


def _check(study: Study, name: str, task: Task, answer: TaskAnswer) -> None:
    """Raise ValueError unless the answer has what its task asks for, or time ran out."""
    key = {"free": "text", "ratings": "ratings"}.get(task, "option")
    given = {one for one in ("text", "option", "ratings") if getattr(answer, one) is not None}
    if not given <= {key} or (not given and not answer.timed_out):
        raise ValueError(f"{task}: expected {key}")
    if answer.option is not None and answer.option >= len(study.trials[name].options):
        raise ValueError(f"{task}: no option {answer.option}")
    sliders = {slider.name for slider in study.settings.ratings.sliders}
    if answer.ratings is not None and (not {*answer.ratings} <= sliders or not (
            answer.timed_out or {*answer.ratings} == sliders)):
        raise ValueError(f"{task}: expected {', '.join(sorted(sliders))}")
    if answer.text is not None and not (answer.text.strip() or answer.timed_out):
        raise ValueError(f"{task}: expected text")
