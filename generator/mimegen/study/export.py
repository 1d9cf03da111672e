"""Convert stored answers to the lines that ``mimegen evaluate`` reads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mimegen.base.errors import RequestError
from mimegen.evaluation.answers import SIMULATED
from mimegen.evaluation.templates import LETTERS
from mimegen.study.database import Database
from mimegen.study.folder import ANSWERS, PRIVATE, SIMULATED_ANSWERS, Study
from mimegen.study.public import session_order
from mimegen.study.responses import Id, Ids, Response, Sent, TaskAnswer, read_response
from mimegen.study.settings import Task

# In bytes. A saved file has about 100 KB.
MAX_SAVED = 4 * 2**20
# Fields of lines: times of an answer, and the size at which the trial's clip was shown.
TIMES = ("rt_ms", "first_input_ms", "last_input_ms")
SHOWN_SIZE = ("shown_width", "shown_height", "pixel_ratio")


@dataclass(frozen=True)
class Person:
    """One person's responses by trial; ``order`` is the order of the trials."""

    rater: str
    ids: Ids
    order: Sequence[str]
    responses: Mapping[str, Response]
    complete: bool
    is_simulated: bool = False


class Saved(Sent):
    """The file that a page without a server lets people save at the end."""

    study: str
    rater: Id
    ids: Ids
    order: list[str]
    answers: dict[str, Any]


def stored_people(study: Study, folder: Path) -> Iterator[Person]:
    """Yield everyone in a study's database; nothing if there is no database.

    Raises RequestError if it is damaged or contains trials that the study does not have.
    """
    path = folder / PRIVATE / ANSWERS
    if path.exists():
        yield from _people_in(path, study, study.name)


def simulated_people(study: Study, folder: Path) -> Iterator[Person]:
    """Yield the simulated participants of a study.

    Raises RequestError if there are none, or they belong to an earlier design of the study.
    """
    path = folder / PRIVATE / SIMULATED_ANSWERS
    if not path.exists():
        raise RequestError(f"{folder}: has no simulated participants; run mimegen study simulate"
                           f" {folder}")
    try:
        found = [*_people_in(path, study, study.simulated_name)]
    except RequestError as problem:
        raise RequestError(f"{path}: is damaged, or was simulated for an earlier version of the"
                           f" study; run mimegen study simulate {folder} again") from problem
    yield from (replace(person, is_simulated=True) for person in found)


def _people_in(path: Path, study: Study, name: str) -> Iterator[Person]:
    """Yield everyone in a database, whose study has a name."""
    with Database(path, name) as database:
        for session in database.sessions():
            stored = {name: _response(study, name, text, f"{path}: {session.rater}")
                      for name, text in database.answers(session).items()}
            yield Person(session.rater, session.ids,
                         session_order(study, session.number, session.list), stored,
                         session.finished is not None)


def saved_person(study: Study, path: Path) -> Person:
    """Read a file that a participant saved and sent. Raises RequestError if it is invalid."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_SAVED + 1)
        saved = Saved.model_validate_json(text)
    except OSError as problem:
        raise RequestError(f"{path}: cannot be read ({problem.strerror})") from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        raise RequestError(f"{path}: expected a file saved by a study's page"
                           f" ({' '.join(map(str, first['loc']))}: {first['msg']})") from problem
    if saved.study != study.name:
        raise RequestError(f"{path}: contains answers to another study")
    unknown = {*saved.order, *saved.answers} - {*study.trials}
    if unknown:
        raise RequestError(f"{path}: the study has no trial {min(unknown)}")
    responses = {}
    for name, content in saved.answers.items():
        try:
            responses[name] = read_response(study, name, content)
        except ValueError as problem:
            raise RequestError(f"{path}: trial {name}: {problem}") from problem
    return Person(saved.rater, saved.ids, saved.order, responses,
                  {*saved.order} == {*saved.answers})


def _response(study: Study, name: str, text: str, where: str) -> Response:
    try:
        return Response.model_validate_json(text)
    except ValidationError as problem:
        raise RequestError(f"{where}: trial {name} is damaged ({problem.errors()[0]['msg']})"
                           ) from problem


def answer_lines(study: Study, person: Person) -> Iterator[dict[str, Any]]:
    """Yield a person's answers, without practice, in the order in which they were asked."""
    counted = [name for name in person.order if name not in study.practice]
    yield from _lines(study, person, counted, 1)


def practice_lines(study: Study, person: Person) -> Iterator[dict[str, Any]]:
    """Yield a person's answers in practice, whose places end at 0."""
    asked = [name for name in person.order if name in study.practice]
    yield from _lines(study, person, asked, 1 - len(asked))


def _lines(study: Study, person: Person, names: Sequence[str], first: int
           ) -> Iterator[dict[str, Any]]:
    """Yield the lines of a person's answers to trials, whose places begin at ``first``."""
    mark = {SIMULATED: True} if person.is_simulated else {}
    for place, name in enumerate(names, first):
        response = person.responses.get(name)
        if response is not None:
            for task in study.trials[name].tasks:
                yield _line(study, person, name, place, task, response.answers.get(task)) | {
                    "left": response.left,
                    **{part: getattr(response, part) for part in SHOWN_SIZE}, **mark}


def _line(study: Study, person: Person, name: str, place: int, task: Task,
          answer: TaskAnswer | None) -> dict[str, Any]:
    """Return the line of one answer; without a response the clip counts as broken."""
    trial, golden = study.trials[name], name in study.golden
    line = {
        "question_id": trial.questions[task], "model": person.rater,
        "output": _output(trial.options, answer), "rater": person.rater, "task": task,
        "place": place,
        **{time: getattr(answer, time) if answer else None for time in TIMES},
        "replays": answer.replays if answer else None,
        "timed_out": bool(answer and answer.timed_out), "broken": answer is None,
        "golden": golden, "passed": _passed(study, name, task, answer) if golden else None,
        "complete": person.complete}
    return line | ({"ratings": answer.ratings if answer else None} if task == "ratings" else {})


def _output(options: Sequence[str], answer: TaskAnswer | None) -> str | None:
    if answer is None:
        return None
    if answer.option is not None:
        return f"{LETTERS[answer.option]}. {options[answer.option]}"
    return answer.text


def _passed(study: Study, name: str, task: Task, answer: TaskAnswer | None) -> bool | None:
    """Return whether an attention check was passed; None if unknown, as for free text."""
    trial = study.trials[name]
    if answer is None or task == "free":
        return None
    if trial.right is not None:
        return answer.option == trial.right
    if not trial.expected:
        return None
    given = answer.ratings or {}
    return all(slider in given and low <= given[slider] <= high
               for slider, (low, high) in trial.expected.items())
