"""Facts about scores that plans need, available without reading the scores.

`mocap/score_facts.json` has those of mimegen's own scores, by the hash of the score's file; edited
scores and users' own are read instead. ``tools/bake_plans.py`` writes it; no content key depends on
it.
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
    """A score's number of performers, its stances, and its duration as written, in seconds."""

    performers: int
    stances: tuple[str, ...]
    seconds: float


def score_facts(file: Path) -> ScoreFacts:
    """Return the facts about a score. Raises RequestError as ``read_score``."""
    content = file_hash(file)
    known = _baked().get(content)
    return _facts_of(file, content) if known is None else known


def read_facts(file: Path) -> ScoreFacts:
    """Return the facts about a score by reading it. Raises RequestError as ``read_score``."""
    return facts_from(read_score(file))


def facts_from(score: Score) -> ScoreFacts:
    """Return the facts about a score that has been read."""
    return ScoreFacts(len(score.parts()), tuple(score.stances), float(seconds_of(score)))


@lru_cache(maxsize=4096)
def _facts_of(file: Path, content: str) -> ScoreFacts:
    return read_facts(file)


@cache
def _baked() -> dict[str, ScoreFacts]:
    """Return the facts in the file; empty if it is missing or damaged."""
    try:
        found = json.loads((data_folder() / FILE).read_text(encoding="utf-8"))
        return {key: ScoreFacts(*_checked(*facts[1:])) for key, facts in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _checked(performers: int, stances: list[str], seconds: float
             ) -> tuple[int, tuple[str, ...], float]:
    return int(performers), tuple(map(str, stances)), float(seconds)


def baked_text() -> str:
    """Return the file's new text for the library's current scores: one line each, by path."""
    folder = data_folder()
    lines: list[str] = []
    for file in sorted(file for pattern in SCORES for file in folder.glob(pattern)):
        facts: list[Any] = [file.relative_to(folder).as_posix(), *read_facts(file)]
        lines.append(f"{json.dumps(file_hash(file))}: {json.dumps(facts)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
