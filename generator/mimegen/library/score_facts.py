"""What plans need to know of a score, without reading it: mimegen's own lie in one file.

`mocap/score_facts.json` has them by the hash of a score's file, so that a score that was edited,
and any of a user's, is read. ``tools/bake_plans.py`` writes it; no key depends on it.
"""

import json
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from mimegen.base.files import file_hash
from mimegen.base.paths import data_folder
from mimegen.choreography.length import seconds_of
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import Score

FILE = Path("mocap", "score_facts.json")
SCORES = ("mocap/*/*.score.yaml", "cues/*/*.score.yaml", "directed/*/*.score.yaml")


class ScoreFacts(NamedTuple):
    """How many people a score has, in which stances it is told, and its seconds as written."""

    performers: int
    stances: tuple[str, ...]
    seconds: float


def score_facts(file: Path) -> ScoreFacts:
    """Return what is known of a score. Raises RequestError as ``read_score``."""
    content = file_hash(file)
    known = _baked().get(content)
    return _facts_of(file, content) if known is None else known


def read_facts(file: Path) -> ScoreFacts:
    """Return what a score says itself. Raises RequestError as ``read_score``."""
    return facts_from(read_score(file))


def facts_from(score: Score) -> ScoreFacts:
    """Return what a score says."""
    return ScoreFacts(len(score.parts()), tuple(score.stances), float(seconds_of(score)))


@lru_cache(maxsize=4096)
def _facts_of(file: Path, content: str) -> ScoreFacts:
    return read_facts(file)


@cache
def _baked() -> dict[str, ScoreFacts]:
    """Return what the file has; nothing where it is missing or is not as it was written."""
    try:
        found = json.loads((data_folder() / FILE).read_text(encoding="utf-8"))
        return {key: ScoreFacts(*_checked(*facts[1:])) for key, facts in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _checked(performers: int, stances: list[str], seconds: float
             ) -> tuple[int, tuple[str, ...], float]:
    return int(performers), tuple(map(str, stances)), float(seconds)


def baked_text() -> str:
    """Return the file's text as the library's scores are now: a line for each, by path."""
    folder = data_folder()
    lines: list[str] = []
    for file in sorted(file for pattern in SCORES for file in folder.glob(pattern)):
        facts: list[Any] = [file.relative_to(folder).as_posix(), *read_facts(file)]
        lines.append(f"{json.dumps(file_hash(file))}: {json.dumps(facts)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
