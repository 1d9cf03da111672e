"""A study's folder: what browsers may see in ``public``, and the key to it in ``private``."""

import hashlib
import hmac
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from mimegen.base.errors import RequestError
from mimegen.base.yaml_file import Strict
from mimegen.study.settings import Settings
from mimegen.study.trials import Trial

PUBLIC, PRIVATE = "public", "private"
KEY, QUESTIONS, ANSWERS = "key.json", "questions.jsonl", "answers.sqlite"
STUDY_VERSION = 1


class Study(Strict):
    """A study as it is carried out; nothing of it is for browsers but what ``pages`` takes.

    Trials have names that cannot be guessed: they depend on ``secret``.
    """

    study_version: Annotated[int, Field(ge=1, le=STUDY_VERSION)] = STUDY_VERSION
    secret: str = Field(min_length=32)
    seed: int
    settings: Settings
    trials: dict[str, Trial]
    practice: tuple[str, ...]
    golden: tuple[str, ...]
    lists: tuple[tuple[str, ...], ...] = Field(min_length=1)

    @property
    def name(self) -> str:
        """What browsers know the study by."""
        return hidden_name(self.secret, "study")


def hidden_name(secret: str, *parts: str) -> str:
    """Return a name that nobody guesses who lacks the secret (HMAC-SHA256, 80 bits)."""
    text = "\0".join(parts).encode()
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()[:20]


def read_study(folder: Path) -> Study:
    """Read a study's key. Raises RequestError where a folder holds none, or one that is damaged."""
    path = folder / PRIVATE / KEY
    try:
        text = path.read_bytes()
    except OSError as problem:
        raise RequestError(f"{folder}: is no study ({path.relative_to(folder)}:"
                           f" {problem.strerror}); name the folder that mimegen study QUESTIONS"
                           " --out wrote") from problem
    try:
        return Study.model_validate_json(text)
    except ValidationError as problem:
        first = problem.errors()[0]
        place = " ".join(map(str, first["loc"]))
        raise RequestError(f"{path}: is no key of a study ({place + ': ' if place else ''}"
                           f"{first['msg']}); make the study again, answers stay") from problem
