"""Several files of questions, of which the answers to all may be in one file."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mimegen.base.errors import RequestError
from mimegen.evaluation.question import (
    MAX_LINE,
    QUESTION_FILES,
    Question,
    questions_in,
    read_questions,
)


@dataclass(frozen=True)
class QuestionSets:
    """Questions by the file that has them; a question of several files is that of the first.

    ``found`` are the files that were found in a folder, not named.
    """

    files: Mapping[Path, list[Question]]
    found: frozenset[Path] = frozenset()

    @classmethod
    def read(cls, paths: Iterable[Path]) -> Self:
        """Read files, and all files of questions in folders.

        Raises RequestError as ``read_questions``, for a folder without questions, and if two files
        have different questions of one question_id.
        """
        named = {path: _files_of(path) for path in paths}
        found = frozenset(file for path, files in named.items() for file in files if file != path)
        return cls(_read_all(file for files in named.values() for file in files),
                   found - named.keys())

    @property
    def questions(self) -> list[Question]:
        """All questions, each once."""
        return [question for questions in self.files.values() for question in questions]

    @property
    def folders(self) -> dict[str, Path]:
        """The folder of each question's file, by question_id."""
        return {question.question_id: file.parent for file, questions in self.files.items()
                for question in questions}

    def answered(self, answered: Collection[str]) -> Self:
        """Return the sets without those files, of the ones found in a folder, without any answer.

        ``answered`` are the ids of the questions that have answers.
        """
        left = {file: questions for file, questions in self.files.items() if file not in self.found
                or any(one.question_id in answered for one in questions)}
        return type(self)(left or self.files, self.found)


def holds_questions(path: Path) -> bool:
    """Return whether a path is a folder, or a file that begins with a question, not an answer."""
    if path.is_dir():
        return True
    try:
        with path.open("rb") as file:
            first = json.loads(file.readline(MAX_LINE).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, dict) and {"question_id", "prompt"} <= first.keys() \
        and not {"output", "model"} & first.keys() and bool({"answer", "labels"} & first.keys())


def _files_of(path: Path) -> list[Path]:
    """Return the files that a path stands for: itself, or the files of questions in a folder."""
    if not path.is_dir():
        return [path]
    return sorted(path.glob(QUESTION_FILES)) or [questions_in(path)]


def _read_all(paths: Iterable[Path]) -> dict[Path, list[Question]]:
    files: dict[Path, list[Question]] = {path: [] for path in paths}
    known: dict[str, tuple[Path, Question]] = {}
    for path, questions in files.items():
        for question in read_questions(path):
            first, same = known.setdefault(question.question_id, (path, question))
            if same != question:
                raise RequestError(f"{path}: question {question.question_id!r} differs from the"
                                   f" one in {first}; evaluate these files one at a time")
            if first == path:
                questions.append(question)
    return files
