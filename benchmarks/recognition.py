"""What blind viewers said of the takes: docs/recognition.yaml."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from mimegen.base.errors import near_misses
from mimegen.base.yaml_file import Strict, YamlFile


def _share(answers: tuple[int, int]) -> tuple[int, int]:
    right, asked = answers
    if not 0 <= right <= asked or asked == 0:
        raise ValueError("expected [right, asked], as in [4, 5]")
    return answers


Answers = Annotated[tuple[int, int], AfterValidator(_share)]


class Recognition(Strict):
    """How many of the viewers asked were right: freely, and by choice among four labels."""

    free: Answers | None = None
    choice: Answers | None = None
    remarks: str = ""


class Viewers(Strict):
    """What was shown to whom (``about``), and the answers by ``action/take``."""

    about: str = ""
    takes: Mapping[str, Recognition] = {}


def read_recognition(path: Path, known: Collection[str]) -> Viewers:
    """Read what viewers said of takes, each among the ``known`` ones.

    Raises RequestError with file, line and key of the first thing that is wrong.
    """
    document = YamlFile(path)
    viewers = document.parsed(Viewers)
    for name in viewers.takes:
        if name not in known:
            raise document.error(("takes", name), f"no such take{near_misses(name, known)}")
    return viewers


def share(answers: list[tuple[int, int]]) -> str:
    """Return all answers together as text, or a dash where nobody was asked."""
    asked = sum(asked for _, asked in answers)
    right = sum(right for right, _ in answers)
    return f"{right} of {asked} ({100 * right / asked:.1f} %)" if asked else "not asked"
