"""What models said: files of answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.evaluation.question import Question, json_lines


@dataclass(frozen=True)
class Answer:
    """A model's whole output to a question."""

    question: Question
    model: str
    output: str


def read_answers(paths: Sequence[Path], questions: Sequence[Question]) -> list[Answer]:
    """Read JSON lines ``{"question_id", "model", "output"}``; an output may be null.

    Raises RequestError naming the line that lacks a key, answers no question, or answers again.
    """
    known = {question.question_id: question for question in questions}
    answers: dict[tuple[str, str], Answer] = {}
    for path in paths:
        for number, content in json_lines(path):
            where = f"{path}: line {number}"
            name, model, output = (content.get(key) for key in ("question_id", "model", "output"))
            if not isinstance(name, str) or not isinstance(model, str) or "output" not in content:
                raise RequestError(f"{where}: expected question_id, model and output")
            if output is not None and not isinstance(output, str):
                raise RequestError(f"{where}: output: expected a text or null")
            if name not in known:
                raise RequestError(f"{where}: no question {name!r}; are these"
                                   " the answers to another file of questions?")
            if (name, model) in answers:
                raise RequestError(f"{where}: {model} answers question {name} twice")
            answers[name, model] = Answer(known[name], model, output or "")
    return list(answers.values())
