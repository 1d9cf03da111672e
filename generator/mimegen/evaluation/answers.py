"""Answers of models and people: read from files of answers and from logs of harnesses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.evaluation.logs import LoggedAnswer, logged_answers
from mimegen.evaluation.question import Question

# All people together are one row of the results, because each of them sees only some clips.
PEOPLE = "people"
# The same for participants that ``mimegen study simulate`` made up.
SIMULATED_PEOPLE = "simulated people"
# The field that marks their answers.
SIMULATED = "simulated"
# Of the names of fields that an error quotes.
MOST_CHARACTERS = 200


@dataclass(frozen=True)
class Answer:
    """A model's whole output to a question; for people, ``rater`` identifies the person.

    ``model`` is ``PEOPLE`` for people, or ``SIMULATED_PEOPLE`` for simulated participants.
    """

    question: Question
    model: str
    output: str
    rater: str | None = None


def read_answers(paths: Sequence[Path], questions: Sequence[Question]) -> list[Answer]:
    """Read JSON lines ``{"question_id", "model", "output"}`` or logs of harnesses.

    An output may be null. People's ratings, their attention checks, and their answers to clips that
    could not be played are skipped. Raises RequestError naming the line that lacks a key, has an
    unknown question, answers a question a second time, or is of a simulated participant beside
    real ones.
    """
    known = {question.question_id: question for question in questions}
    return _answers(lines_in(paths, known), known)


def checked_answers(placed: Iterable[tuple[str, dict[str, Any]]],
                    questions: Sequence[Question]) -> list[Answer]:
    """Return answers from pairs of a location, named in errors, and an answer's content.

    Raises RequestError as ``read_answers``.
    """
    known = {question.question_id: question for question in questions}
    return _answers(_unmixed((where, _checked(LoggedAnswer(where, content), known))
                             for where, content in placed), known)


def _answers(placed: Iterable[tuple[str, dict[str, Any]]], known: dict[str, Question]
             ) -> list[Answer]:
    """Return the distinct answers, without ratings, attention checks and unplayable clips."""
    answers: dict[tuple[str, str], Answer] = {}
    for where, content in placed:
        if content.get("task") == "ratings" or any(
                content.get(key) for key in ("ratings", "golden", "broken")):
            continue
        name, rater = content["question_id"], content.get("rater")
        # People's answers to these do not count, so a model beside them has the same questions.
        if not known[name].counts:
            continue
        who = content["model"] if rater is None else f"rater {rater}"
        if (name, who) in answers:
            raise RequestError(f"{where}: {who} answers question {name} twice")
        answers[name, who] = Answer(known[name], content["model"] if rater is None
                                    else group_of(content), content["output"] or "", rater)
    return list(answers.values())


def group_of(content: Mapping[str, Any]) -> str:
    """Return the name under which a person's answer is counted: people or simulated people."""
    return SIMULATED_PEOPLE if content.get(SIMULATED) else PEOPLE


def _unmixed(placed: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield answers. Raises RequestError at the first that mixes real and simulated people."""
    found: dict[str, str] = {}
    for where, content in placed:
        if content.get("rater") is not None:
            found.setdefault(group_of(content), where)
            if len(found) > 1:
                raise RequestError(f"{found[SIMULATED_PEOPLE]}: a simulated participant, but"
                                   f" {found[PEOPLE]} is an answer of a real one; evaluate them"
                                   " separately")
        yield where, content


def lines_in(paths: Sequence[Path], known: dict[str, Question]
             ) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the location and content of each answer. Raises RequestError as ``read_answers``."""
    yield from _unmixed((entry.where, _checked(entry, known))
                        for path in paths for entry in logged_answers(path))


def _checked(entry: LoggedAnswer, known: dict[str, Question]) -> dict[str, Any]:
    """Return the content of an entry after checking its fields and its question."""
    content = entry.content
    name, model, output = (content.get(key) for key in ("question_id", "model", "output"))
    if not isinstance(name, str) or not isinstance(model, str) or "output" not in content:
        found = ", ".join(map(repr, sorted(content)))[:MOST_CHARACTERS]
        raise RequestError(f"{entry.where}: expected question_id and model as text, and output;"
                           f" found {found or 'no field'}")
    if output is not None and not isinstance(output, str):
        raise RequestError(f"{entry.where}: output: expected text or null")
    if not isinstance(content.get("rater", ""), str):
        raise RequestError(f"{entry.where}: rater: expected a name")
    if model == PEOPLE and "rater" not in content:
        raise RequestError(f"{entry.where}: model {PEOPLE!r} without rater: expected each person's"
                           " name as rater, or another name for the model")
    if not isinstance(content.get(SIMULATED, False), bool):
        raise RequestError(f"{entry.where}: {SIMULATED}: expected true or false")
    if name not in known:
        raise RequestError(f"{entry.where}: unknown question {name!r}; check that the answers"
                           " belong to this file of questions")
    return content
