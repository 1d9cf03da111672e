"""What a model said, and which option it chose: read by rules that would rather say nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.evaluation.question import Question, json_lines
from mimegen.evaluation.templates import LETTERS

_MARKS = " \t*_`'\"\u2018\u2019\u201c\u201d()[]{}<>.:;,!#$\\"
_LEADING = re.compile(r"^[\W_]*(?:(?:final\s+)?answer\s*(?:is|:)?|option)?[\W_]*([A-Z])"
                      r"(?:\s*[.):\]*]+\s*(?P<text>.*)|[\W_]*)$", re.IGNORECASE)
_SAID = re.compile(r"(?i:answer\s+is|answer\s*:|described\s+by|\\boxed\{)(?i:\s*option)?"
                   r"[\s*_(\"'\[:]*([A-Z])(?![A-Za-z])(?!\s*(?:,|/|or|and)\s*[A-Z]\b)")
_PREFIX = re.compile(r"^[\W_]*(?:final\s+)?answer\s*(?:is|:)\s*", re.IGNORECASE)


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


def chosen_option(output: str, options: Sequence[str]) -> int | None:
    """Return which option an output chooses; None where it does not say so in one way.

    The last line counts: a letter, perhaps with its option's text, or that text alone. Where it is
    neither, every ``answer is B`` and ``described by option B`` must name the same letter.
    """
    lines = [line for line in output.splitlines() if line.strip(_MARKS)]
    if not lines:
        return None
    last = lines[-1].strip()
    texts = [_plain(option) for option in options]
    if _plain(last) in texts:
        return texts.index(_plain(last))
    match = _LEADING.fullmatch(last)
    if match:
        return _agreed(match[1], match["text"] or "", texts)
    said = {letter.upper() for letter in _SAID.findall(output)}
    return _place(said.pop(), len(texts)) if len(said) == 1 else None


def final_phrase(output: str) -> str:
    """Return the last line of an output without marks and without ``Answer:``."""
    lines = [line for line in output.splitlines() if line.strip(_MARKS)]
    return _PREFIX.sub("", lines[-1]).strip(_MARKS) if lines else ""


def _agreed(letter: str, text: str, texts: list[str]) -> int | None:
    """Return a letter's place, unless the text behind it names another one."""
    place = _place(letter.upper(), len(texts))
    rest = _plain(text)
    if place is None or not rest:
        return place
    if rest in texts:
        return place if texts[place] == rest else None
    others = [word for word in text.split() if word.strip(_MARKS) in [*LETTERS[:len(texts)]]]
    return None if others else place


def _place(letter: str, count: int) -> int | None:
    place = LETTERS.index(letter)
    return place if place < count else None


def _plain(text: str) -> str:
    return " ".join(text.lower().strip(_MARKS).split())
