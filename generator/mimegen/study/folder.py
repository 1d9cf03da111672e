"""A study's folder: ``public`` is served to browsers, ``private`` holds the key."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.base.yaml_file import Strict
from mimegen.study.settings import Settings
from mimegen.study.trials import Trial

PUBLIC = "public"
PRIVATE = "private"
KEY = "key.json"
QUESTIONS = "questions.jsonl"
ANSWERS = "answers.sqlite"
# Answers of simulated participants, in the same form; the server never opens this file.
SIMULATED_ANSWERS = "simulated.sqlite"
STUDY_VERSION = 1


class Study(Strict):
    """A study as it is run; browsers receive only what ``public.py`` selects.

    Trial names cannot be guessed because they depend on ``secret``.
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
        """The study's name in browsers."""
        return hidden_name(self.secret, "study")

    @property
    def simulated_name(self) -> str:
        """The name in databases of simulated answers, so that none passes for one of real answers.

        It depends on the design, because answers to trials of an earlier one are of no use.
        """
        return f"simulated {self.name} {content_key(self.model_dump_json(exclude={'settings'}))}"


def hidden_name(secret: str, *parts: str) -> str:
    """Return a name that cannot be guessed without the secret (HMAC-SHA256, 80 bits)."""
    text = "\0".join(parts).encode()
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()[:20]


def key_content(folder: Path) -> dict[str, Any]:
    """Return the content of a study's key, whatever its version.

    Raises RequestError if the folder holds none, or a damaged one.
    """
    path = folder / PRIVATE / KEY
    try:
        content = json.loads(path.read_bytes())
    except OSError as problem:
        raise RequestError(f"{folder}: not a study ({path.relative_to(folder)}:"
                           f" {problem.strerror}); expected the folder that mimegen study QUESTIONS"
                           " --out wrote") from problem
    except (ValueError, RecursionError) as problem:
        raise RequestError(f"{path}: not the key of a study; restore it from a backup: answers are"
                           " unusable without it") from problem
    if not isinstance(content, dict) or not isinstance(content.get("secret"), str):
        raise RequestError(f"{path}: not the key of a study; it has no secret")
    return content


def read_study(folder: Path) -> Study:
    """Read a study's key. Raises RequestError as ``key_content``, and for another version."""
    try:
        return Study.model_validate_json(json.dumps(key_content(folder)))
    except ValidationError as problem:
        first = problem.errors()[0]
        raise RequestError(f"{folder / PRIVATE / KEY}: {' '.join(map(str, first['loc']))}:"
                           f" {first['msg']}; make the study again in the same folder, its answers"
                           " are kept"
                           ) from problem
