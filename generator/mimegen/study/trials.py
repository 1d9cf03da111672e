"""The trials of a study: what people are asked, and what only the researcher knows."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import content_key
from mimegen.base.yaml_file import Strict
from mimegen.evaluation.question import Question
from mimegen.study.settings import Settings, Task

TASKS_OF_FORMAT: dict[str, tuple[Task, ...]] = {
    "mc": ("free", "choice"), "3afc": ("choice",), "free": ("free",), "description": ("free",),
    "factor": ("choice",), "probe": ("choice",), "number": ("free",), "match": ("choice",),
    "pair": ("choice",)}
# Formats whose questions have their own wording for each clip; the others use the study's.
WORDED = ("factor", "probe", "number", "match", "pair")
COMBINATIONS: dict[str, tuple[Task, ...]] = {
    "free": ("free",), "choice": ("choice",), "free,choice": ("free", "choice"),
    "same": ("same",), "ratings": ("ratings",)}
PLAYABLE = (".mp4", ".webm")


class Trial(Strict):
    """Clips and what is asked about them.

    ``sources`` are the clips relative to the manifest's folder, ``clips`` their names in
    ``public/clips``. ``question`` replaces the study's own wording. In a golden trial, ``right`` is
    the index of the correct option and ``expected`` the range of each rating. ``action_shown`` is
    the action that raters are told. ``questions`` are ids by task.
    """

    tasks: tuple[Task, ...]
    sources: tuple[str, ...]
    clips: tuple[str, ...] = ()
    questions: dict[Task, str]
    asks: str = "label"
    options: tuple[str, ...] = ()
    question: str | None = None
    action_shown: str | None = None
    right: int | None = None
    expected: dict[str, tuple[float, float]] = Field(default_factory=dict)


def parse_tasks(text: str | None, questions: Sequence[Question], source: Path) -> tuple[Task, ...]:
    """Return the tasks that people are given, by default those that fit the questions' format.

    Raises RequestError for unknown tasks, and for tasks that these questions do not allow.
    """
    format_ = _format_of(questions, source)
    tasks = TASKS_OF_FORMAT[format_]
    if text is not None:
        if text not in COMBINATIONS:
            why = "; ratings name the action, which would give an answer away" \
                if "ratings" in text.split(",") else ""
            raise RequestError(f"--tasks {text}: expected {', '.join(COMBINATIONS)}{why}")
        tasks = COMBINATIONS[text]
    if "choice" in tasks and not questions[0].options:
        raise RequestError(f"{source}: questions of format {format_} have no options to choose"
                           " from; make them with mimegen questions --format mc or 3afc")
    return tasks


def _format_of(questions: Sequence[Question], source: Path) -> str:
    """Return the common format of the questions. Raises RequestError if a study cannot ask them."""
    kinds = sorted({(one.format, "" if one.format in WORDED else one.asks) for one in questions})
    if len(kinds) > 1:
        raise RequestError(f"{source}: contains questions of {len(kinds)} kinds"
                           f" ({', '.join(' '.join(kind) for kind in kinds)}); a study has one"
                           " kind, so make a file for each")
    format_ = kinds[0][0]
    if format_ not in TASKS_OF_FORMAT:
        raise RequestError(f"{source}: a study cannot show questions of format {format_!r}"
                           f"{near_misses(format_, TASKS_OF_FORMAT)}")
    for one in questions:
        if one.further and format_ not in WORDED:
            raise RequestError(f"{source}: {one.question_id} shows {len(one.shown)} clips, which a"
                               " study does for questions of format match only; leave it out")
        if one.examples or one.frames is not None:
            what = "examples before its clip" if one.examples else "single frames of its clip"
            raise RequestError(f"{source}: {one.question_id} shows {what}, but a study shows only"
                               " whole clips; make the questions with --sampling video and without"
                               " few-shot")
        odd = [clip.file_name for clip in one.shown
               if Path(clip.file_name).suffix.lower() not in PLAYABLE]
        if odd:
            raise RequestError(f"{source}: {one.question_id}: {odd[0]} is not a clip that"
                               f" browsers play (expected {' or '.join(PLAYABLE)})")
    return format_


def trial_of(question: Question, tasks: tuple[Task, ...], settings: Settings
             ) -> tuple[Trial, list[Question]]:
    """Return the trial that asks a question, and the questions that its answers belong to."""
    asked = {task: _question_of(task, question, settings) for task in tasks}
    trial = Trial(
        tasks=tasks, sources=tuple(clip.file_name for clip in question.shown), asks=question.asks,
        questions={task: one.question_id for task, one in asked.items()},
        options=tuple(question.options) if "choice" in tasks else (),
        question=_own_wording(question, settings) if question.format in WORDED else None,
        action_shown=asked["ratings"].answer if "ratings" in tasks else None)
    return trial, list(asked.values())


def _own_wording(question: Question, settings: Settings) -> str | None:
    """Return a question's own wording; halves of pairs without one ask for the action."""
    return question.question or (settings.choice.label if question.format == "pair" else None)


def _question_of(task: Task, question: Question, settings: Settings) -> Question:
    """Return the question that a task's answer belongs to: this one, or one about the same clip."""
    if task == "choice" or (task == "free" and not question.options):
        return question
    if task == "ratings":
        return _open_question(question, "rating", settings.ratings.ask)
    return _open_question(question, "free", getattr(settings.free, question.asks))


def _open_question(question: Question, format_: str, prompt: str) -> Question:
    """Return a question without options about the same clip."""
    return question.model_copy(update={
        "question_id": content_key(format_, question.question_id)[:16], "format": format_,
        "prompt": prompt, "options": [], "distractors": [], "order": []})


def pair_trial(first: Question, second: Question, settings: Settings
               ) -> tuple[Trial, list[Question]]:
    """Return the trial that asks whether two clips show the same action."""
    right = 0 if first.action == second.action else 1
    options = settings.same.options
    question = first.model_copy(update={
        "question_id": content_key("same", first.question_id, second.question_id)[:16],
        "format": "same", "prompt": settings.same.ask, "options": list(options),
        "answer": options[right], "labels": [options[right]], "distractors": [], "order": [],
        "second": {key: getattr(second, key) for key in (
            "sample_id", "action", "variant", "take", "clip", "file_name")}})
    trial = Trial(tasks=("same",), sources=(first.file_name, second.file_name),
                  options=options, questions={"same": question.question_id}, right=right)
    return trial, [question]
